// Activations as the integer formats multiply them: int8 codes with one scale a 32, made once a product and used for
// every row. Layout of a row: the codes, padding to a cache line, then one record a block of 32.
//   d = max |x| / 127,  code = round(x / d), ties to even;  x is about d * code, error at most d / 2
// An infinity or NaN in a block makes its scale infinite or NaN, so that it reaches the result.
#pragma once

#include <llambda/simd/convert.hpp>
#include <llambda/simd/dot_i8.hpp>
#include <llambda/simd/math.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// What a product needs of 32 activation codes besides the codes. The sums are stored with the sign they are used
/// with: a weight code with zero point z counts as w - z, which takes z times the activations off the product.
struct q8_block {
  float scale;
  std::int32_t minus_sum;      ///< of all 32 codes
  std::int32_t minus_half[2];  ///< of the first and the last 16
};

/// Where the parts of a quantised row of `Cols` elements are. Cols is a multiple of 32.
template <std::size_t Cols> struct q8_row {
  static constexpr std::size_t block = 32;
  static constexpr std::size_t blocks = Cols / block;
  static constexpr std::size_t blocks_at = aligned_bytes(Cols);
  /// Of a row, and from row to row of a batch.
  static constexpr std::size_t bytes = row_stride_bytes(blocks_at + blocks * sizeof(q8_block));

  static LLAMBDA_INLINE const std::int8_t* codes(const std::byte* row) noexcept {
    return reinterpret_cast<const std::int8_t*>(row);
  }
  static LLAMBDA_INLINE const q8_block* info(const std::byte* row) noexcept {
    return reinterpret_cast<const q8_block*>(row + blocks_at);
  }
};

/// Bytes a row of `cols` elements needs, for plans.
constexpr std::size_t q8_row_bytes(std::size_t cols) noexcept {
  return row_stride_bytes(aligned_bytes(cols) + (cols + 31) / 32 * sizeof(q8_block));
}

/// 32 floats as codes; returns their scale.
template <Arch A>
LLAMBDA_INLINE float quantise_block(const float* x, std::int8_t* codes) noexcept {
  using vec = f32x16<A>;
  const vec zero = vec::zero();
  const vec low = vec::load(x), high = vec::load(x + lanes);
  const vec largest = max_or_second<A>(max_or_second<A>(low, zero - low), max_or_second<A>(high, zero - high));
  const float max_abs = reduce_max<A>(largest);
  const float poison = reduce_add<A>(fma<A>(low, zero, high * zero));  // 0, or NaN if any x is not finite
  const vec inverse = vec::broadcast(max_abs > 0.0f ? 127.0f / max_abs : 0.0f);
  convert<A>::to_i8(low * inverse, codes);
  convert<A>::to_i8(high * inverse, codes + lanes);
  return max_abs / 127.0f + poison;
}

/// Quantises x (Cols floats) into `row` (q8_row<Cols>::bytes bytes).
template <std::size_t Cols, Arch A> void quantise_q8(const float* x, std::byte* row) noexcept {
  static_assert(Cols % 32 == 0, "llambda: quantise_q8: rows must be whole blocks of 32; choose another format");
  auto* codes = reinterpret_cast<std::int8_t*>(row);
  auto* info = reinterpret_cast<q8_block*>(row + q8_row<Cols>::blocks_at);
  for (std::size_t b = 0; b < q8_row<Cols>::blocks; ++b) {
    info[b].scale = quantise_block<A>(x + b * 32, codes + b * 32);
    minus_sums<A>(codes + b * 32, info[b].minus_half);
    info[b].minus_sum = info[b].minus_half[0] + info[b].minus_half[1];
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
