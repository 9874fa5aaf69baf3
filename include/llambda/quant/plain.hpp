// What f32, f16 and bf16 share: one number a weight, no scales. A packed step is one column of 16 rows.
//   acc[row] = fma(weight[row][k], x[k], acc[row])   for k = 0, 1, 2, ...
// One load (and widening) of 16 weights feeds one fused multiply-add a token. Cost: 2 flops a weight and token;
// memory-bound for one token.
#pragma once

#include <llambda/quant/format.hpp>
#include <llambda/simd/transpose.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Base of the unscaled formats. `Traits` gives the stored type, its scalar meaning and its vector load.
template <class Traits> struct PlainFormat {
  using stored = typename Traits::stored;

  static constexpr quant kind = Traits::kind;
  static constexpr std::size_t block = 1;
  static constexpr std::size_t step = 1;
  static constexpr std::size_t step_bytes = lanes * sizeof(stored);
  static constexpr activation_kind activation = activation_kind::f32;
  static_assert(sizeof(stored) == info(kind).block_bytes);

  static void decode(const std::byte* row, std::size_t cols, float* out) noexcept {
    for (std::size_t k = 0; k < cols; ++k) out[k] = Traits::to_float(read(row, k));
  }

  static void pack(tile_rows rows, std::size_t cols, std::byte* tile) noexcept {
    std::byte square[lanes][lanes * sizeof(stored)] = {};  // rows past the end stay zeros
    for (std::size_t first = 0; first < cols; first += lanes) {
      const std::size_t count = cols - first < lanes ? cols - first : lanes;
      std::byte* to = tile + first * step_bytes;
      for (std::size_t r = 0; r < lanes; ++r) {
        if (!rows[r]) continue;
        const std::byte* from = rows[r] + first * sizeof(stored);
        if (count == lanes) {
          std::memcpy(square[r], from, sizeof square[r]);
        } else {
          std::memcpy(square[r], from, count * sizeof(stored));
        }
      }
      if (count < lanes) {
        for (std::size_t k = 0; k < count; ++k) {
          for (std::size_t r = 0; r < lanes; ++r) {
            std::memcpy(to + (k * lanes + r) * sizeof(stored), square[r] + k * sizeof(stored), sizeof(stored));
          }
        }
      } else if constexpr (sizeof(stored) == 4) {
        transpose_words<lanes>(square[0], sizeof square[0], to);
      } else {
        transpose_halves<lanes>(square[0], sizeof square[0], to);
      }
    }
  }

  static void unpack_row(const std::byte* tile, std::size_t lane, std::size_t cols, float* out) noexcept {
    for (std::size_t k = 0; k < cols; ++k) out[k] = Traits::to_float(read(tile, k * lanes + lane));
  }

  /// acc[r][t] += columns [begin, end) of tile w[r] times activations x[t].
  /// Cols: columns of the matrix. R tiles and T tokens share the registers.
  template <Arch A, std::size_t Cols, std::size_t R, std::size_t T>
  static LLAMBDA_INLINE void multiply(f32x16<A> (&acc)[R][T], const std::byte* const (&w)[R],
                                      const std::byte* const (&x)[T], std::size_t begin, std::size_t end) noexcept {
    for (std::size_t k = begin; k < end; ++k) {
      f32x16<A> weight[R];
      unroll<R>([&](auto r) LLAMBDA_LAMBDA { weight[r] = load<A>(w[r], k); });
      unroll<T>([&](auto t) LLAMBDA_LAMBDA {
        const f32x16<A> value = f32x16<A>::broadcast(reinterpret_cast<const float*>(x[t])[k]);
        unroll<R>([&](auto r) LLAMBDA_LAMBDA { acc[r][t] = fma<A>(weight[r], value, acc[r][t]); });
      });
    }
  }

  /// Column k of 16 rows, widened.
  template <Arch A> static LLAMBDA_INLINE f32x16<A> load(const std::byte* tile, std::size_t k) noexcept {
    return Traits::template load<A>(reinterpret_cast<const stored*>(tile) + k * lanes);
  }

 private:
  static stored read(const std::byte* p, std::size_t i) noexcept {
    stored value;  // rows of a file need not be aligned
    std::memcpy(&value, p + i * sizeof(stored), sizeof value);
    return value;
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
