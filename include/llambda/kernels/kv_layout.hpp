// How the KV cache of one key/value head is laid out, and how a position is written into it.
//   keys:   (positions / 16, head_dim, 16)  a tile of 16 positions by element, so that a lane is a position
//   values: (positions, head_dim padded to 16)  a row a position, so that a lane is an element
// Stored as f32 or f16.
#pragma once

#include <llambda/quant/format.hpp>
#include <llambda/simd/convert.hpp>

#include <type_traits>

namespace llambda::inline LLAMBDA_ABI {

template <quant Q> using kv_element = std::conditional_t<Q == quant::f16, std::uint16_t, float>;

template <quant Q, std::size_t HeadDim> struct kv_layout {
  using element = kv_element<Q>;
  static constexpr std::size_t value_stride = padded(HeadDim);
  static constexpr std::size_t tile_elements = HeadDim * lanes;

  /// Elements of the keys of one head for `positions` positions.
  static constexpr std::size_t key_elements(std::size_t positions) noexcept { return padded(positions) * HeadDim; }
  static constexpr std::size_t value_elements(std::size_t positions) noexcept { return positions * value_stride; }

  /// Writes key and value (HeadDim floats each) at `position`.
  template <Arch A>
  static void append(const float* key, const float* value, std::size_t position, element* keys,
                     element* values) noexcept {
    element* tile = keys + position / lanes * tile_elements + position % lanes;
    element* row = values + position * value_stride;
    for (std::size_t d = 0; d < HeadDim; d += lanes) {
      const std::size_t n = HeadDim - d < lanes ? HeadDim - d : lanes;
      alignas(buffer_alignment) element narrow[lanes];
      store<A>(key + d, n, narrow);
      for (std::size_t i = 0; i < n; ++i) tile[(d + i) * lanes] = narrow[i];
      store<A>(value + d, n, narrow);
      std::memcpy(row + d, narrow, sizeof narrow);
    }
  }

  template <Arch A> static LLAMBDA_INLINE f32x16<A> load(const element* p) noexcept {
    if constexpr (Q == quant::f16)
      return convert<A>::from_half(p);
    else
      return f32x16<A>::load(p);
  }

 private:
  /// n floats and zeros behind them, narrowed. What follows them is the next head's, perhaps another thread's.
  template <Arch A> static LLAMBDA_INLINE void store(const float* from, std::size_t n, element* to) noexcept {
    alignas(buffer_alignment) float whole[lanes] = {};
    if (n < lanes) {
      std::memcpy(whole, from, n * sizeof(float));
      from = whole;
    }
    if constexpr (Q == quant::f16)
      convert<A>::to_half(f32x16<A>::load(from), to);
    else
      f32x16<A>::load(from).store(to);
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
