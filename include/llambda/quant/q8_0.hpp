// Q8_0: blocks of 32 weights, w = d * q.  File block, 34 bytes: fp16 d, then 32 int8 q. 8.5 bits a weight; error of a
// weight at most d / 2 plus the rounding of d (relative 2^-11), d = max |w| / 127.
//
// Packed step: 32 columns of 16 rows, 544 bytes, no larger than in the file:
//   8 groups of 64 bytes: group g holds columns 4 g .. 4 g + 3 of row 0, then of row 1, ... row 15
//   16 fp16 d, one a row
// Per step and row: i = sum of 32 integer products, exact;  acc = fma(float(i), d_w * d_x, acc).
// Trick: four neighbouring codes of a row fill a 32-bit lane, which is what the integer dot product instructions add up.
// Cost: 8 dot steps and one fp16 load, convert, multiply, fma for 512 weights.
#pragma once

#include <llambda/quant/activation.hpp>
#include <llambda/quant/format.hpp>
#include <llambda/simd/dot_i8.hpp>

namespace llambda::inline LLAMBDA_ABI {

template <>
struct Format<quant::q8_0> {
  static constexpr quant kind = quant::q8_0;
  static constexpr std::size_t block = 32;
  static constexpr std::size_t block_bytes = 34;
  static constexpr std::size_t step = block;
  static constexpr std::size_t codes_bytes = lanes * block;
  static constexpr std::size_t step_bytes = codes_bytes + lanes * sizeof(std::uint16_t);
  static constexpr activation_kind activation = activation_kind::q8;
  static_assert(block_bytes == info(kind).block_bytes);

  static void decode(const std::byte* row, std::size_t cols, float* out) noexcept {
    for (std::size_t b = 0; b < cols / block; ++b, row += block_bytes) {
      const float d = half_to_float(load_u16(row));
      for (std::size_t i = 0; i < block; ++i) {
        out[b * block + i] = d * static_cast<float>(static_cast<std::int8_t>(row[2 + i]));
      }
    }
  }

  static void pack(tile_rows rows, std::size_t cols, std::byte* tile) noexcept {
    for (std::size_t b = 0; b < cols / block; ++b, tile += step_bytes) {
      for (std::size_t r = 0; r < lanes; ++r) {
        const std::byte* from = rows[r] ? rows[r] + b * block_bytes : nullptr;
        for (std::size_t g = 0; g < block / 4; ++g) {
          std::byte* to = tile + g * 64 + r * 4;
          if (from) std::memcpy(to, from + 2 + g * 4, 4);
          else std::memset(to, 0, 4);
        }
        const std::uint16_t d = from ? load_u16(from) : std::uint16_t{0};
        std::memcpy(tile + codes_bytes + r * 2, &d, 2);
      }
    }
  }

  static void unpack_row(const std::byte* tile, std::size_t lane, std::size_t cols, float* out) noexcept {
    for (std::size_t b = 0; b < cols / block; ++b, tile += step_bytes) {
      const float d = half_to_float(load_u16(tile + codes_bytes + lane * 2));
      for (std::size_t i = 0; i < block; ++i) {
        const auto q = static_cast<std::int8_t>(tile[i / 4 * 64 + lane * 4 + i % 4]);
        out[b * block + i] = d * static_cast<float>(q);
      }
    }
  }

  /// acc[r][t] += columns [begin, end) of tile w[r] times activations x[t] (q8_row<Cols>). Whole steps only.
  template <Arch A, std::size_t Cols, std::size_t R, std::size_t T>
  static LLAMBDA_INLINE void multiply(f32x16<A> (&acc)[R][T], const std::byte* const (&w)[R],
                                      const std::byte* const (&x)[T], std::size_t begin, std::size_t end) noexcept {
    using row = q8_row<round_up(Cols, block)>;
    for (std::size_t b = begin / block; b < end / block; ++b) {
      unroll<R>([&](auto r) LLAMBDA_LAMBDA {
        const std::byte* step_data = w[r] + b * step_bytes;
        typename dot_i8<A>::sums sums[T];
        unroll<T>([&](auto t) LLAMBDA_LAMBDA { sums[t] = dot_i8<A>::zero(); });
        unroll<block / 4>([&](auto g) LLAMBDA_LAMBDA {
          unroll<T>([&](auto t) LLAMBDA_LAMBDA {
            dot_i8<A>::add(sums[t], reinterpret_cast<const std::int8_t*>(step_data) + g * 64,
                           row::codes(x[t]) + b * block + g * 4);
          });
        });
        const f32x16<A> d = convert<A>::from_half(reinterpret_cast<const std::uint16_t*>(step_data + codes_bytes));
        unroll<T>([&](auto t) LLAMBDA_LAMBDA {
          const f32x16<A> scale = d * f32x16<A>::broadcast(row::scales(x[t])[b]);
          acc[r][t] = fma<A>(dot_i8<A>::to_float(sums[t]), scale, acc[r][t]);
        });
      });
    }
  }

 private:
  static std::uint16_t load_u16(const std::byte* p) noexcept {
    std::uint16_t value;
    std::memcpy(&value, p, 2);
    return value;
  }
};

static_assert(PackableFormat<quant::q8_0, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
