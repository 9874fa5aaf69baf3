// How the KV cache of one key/value head is laid out, and how a position is written into it. Both come in tiles of 16
// positions:
//   keys    (head_dim, 16)             a lane is a position, so that a score needs no sum across lanes
//   values  (16, head_dim padded)      a lane is an element
// Stored as f32, f16, bf16, or q8_0: int8 codes, and behind those of a tile the scales, fp16, (head_dim / 32, 16).
#pragma once

#include <llambda/quant/activation.hpp>
#include <llambda/quant/format.hpp>

#include <type_traits>

namespace llambda::inline LLAMBDA_ABI {

template <quant Q, std::size_t HeadDim> struct kv_layout {
  static_assert(is_kv_format(Q));
  static constexpr bool scaled = Q == quant::q8_0;
  static_assert(!scaled || HeadDim % 32 == 0, "llambda: kv cache: q8_0 needs a head_dim that is a multiple of 32");
  using element = std::conditional_t<Q == quant::f32, float, std::conditional_t<scaled, std::int8_t, std::uint16_t>>;

  static constexpr std::size_t width = padded(HeadDim);
  static constexpr std::size_t scale_block = scaled ? 32 : HeadDim;  ///< elements a scale
  static constexpr std::size_t scales_bytes = scaled ? HeadDim / 32 * lanes * sizeof(std::uint16_t) : 0;
  static constexpr std::size_t key_codes = HeadDim * lanes * sizeof(element);
  static constexpr std::size_t value_codes = width * lanes * sizeof(element);
  static constexpr std::size_t key_tile = key_codes + scales_bytes;      ///< bytes of 16 positions
  static constexpr std::size_t value_tile = value_codes + scales_bytes;  ///< bytes of 16 positions

  static constexpr std::size_t key_bytes(std::size_t positions) noexcept { return tile_count(positions) * key_tile; }
  static constexpr std::size_t value_bytes(std::size_t positions) noexcept {
    return tile_count(positions) * value_tile;
  }

  /// Writes key and value (HeadDim floats each) at `position`.
  template <Arch A>
  static void append(const float* key, const float* value, std::size_t position, std::byte* keys,
                     std::byte* values) noexcept {
    const std::size_t lane = position % lanes;
    std::byte* key_base = keys + position / lanes * key_tile;
    std::byte* value_base = values + position / lanes * value_tile;
    auto* column = reinterpret_cast<element*>(key_base) + lane;
    auto* row = reinterpret_cast<element*>(value_base) + lane * width;
    if constexpr (scaled) {
      for (std::size_t b = 0; b < HeadDim / 32; ++b) {
        alignas(buffer_alignment) element codes[32];
        put_scale(quantise_block<A>(key + b * 32, codes), key_base + key_codes, b, lane);
        for (std::size_t i = 0; i < 32; ++i) column[(b * 32 + i) * lanes] = codes[i];
        put_scale(quantise_block<A>(value + b * 32, row + b * 32), value_base + value_codes, b, lane);
      }
    } else {
      for (std::size_t d = 0; d < HeadDim; d += lanes) {
        const std::size_t n = HeadDim - d < lanes ? HeadDim - d : lanes;
        alignas(buffer_alignment) element narrow[lanes];
        store<A>(key + d, n, narrow);
        for (std::size_t i = 0; i < n; ++i) column[(d + i) * lanes] = narrow[i];
        store<A>(value + d, n, narrow);
        std::memcpy(row + d, narrow, sizeof narrow);
      }
    }
  }

  /// Element d of the keys of 16 positions, before their scale.
  template <Arch A> static LLAMBDA_INLINE f32x16<A> key(const std::byte* tile, std::size_t d) noexcept {
    return load<A>(tile + d * lanes * sizeof(element));
  }
  /// Elements d .. d + 15 of the value of position `lane` of a tile, before its scale.
  template <Arch A>
  static LLAMBDA_INLINE f32x16<A> value(const std::byte* tile, std::size_t lane, std::size_t d) noexcept {
    return load<A>(tile + (lane * width + d) * sizeof(element));
  }
  /// Scales of block b of 16 positions.
  template <Arch A> static LLAMBDA_INLINE f32x16<A> key_scale(const std::byte* tile, std::size_t b) noexcept {
    return convert<A>::from_half(reinterpret_cast<const std::uint16_t*>(tile + key_codes) + b * lanes);
  }
  template <Arch A> static LLAMBDA_INLINE f32x16<A> value_scale(const std::byte* tile, std::size_t b) noexcept {
    return convert<A>::from_half(reinterpret_cast<const std::uint16_t*>(tile + value_codes) + b * lanes);
  }

 private:
  template <Arch A> static LLAMBDA_INLINE f32x16<A> load(const std::byte* p) noexcept {
    if constexpr (Q == quant::f32) return f32x16<A>::load(reinterpret_cast<const float*>(p));
    if constexpr (Q == quant::f16) return convert<A>::from_half(reinterpret_cast<const std::uint16_t*>(p));
    if constexpr (Q == quant::bf16) return convert<A>::from_bf16(reinterpret_cast<const std::uint16_t*>(p));
    if constexpr (scaled) return convert<A>::from_i8(u8_vec<A, lanes>::load(p));
  }

  static LLAMBDA_INLINE void put_scale(float scale, std::byte* scales, std::size_t b, std::size_t lane) noexcept {
    reinterpret_cast<std::uint16_t*>(scales)[b * lanes + lane] = float_to_half(scale);
  }

  /// n floats and zeros behind them, narrowed. What follows them is the next head's, perhaps another thread's.
  template <Arch A> static LLAMBDA_INLINE void store(const float* from, std::size_t n, element* to) noexcept {
    alignas(buffer_alignment) float whole[lanes] = {};
    if (n < lanes) {
      std::memcpy(whole, from, n * sizeof(float));
      from = whole;
    }
    if constexpr (Q == quant::f32) f32x16<A>::load(from).store(to);
    if constexpr (Q == quant::f16) convert<A>::to_half(f32x16<A>::load(from), to);
    if constexpr (Q == quant::bf16) {
      for (std::size_t i = 0; i < lanes; ++i) to[i] = float_to_bf16(from[i]);
    }
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
