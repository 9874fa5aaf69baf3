// Activations as the integer formats multiply them: int8 codes with one scale a 32, made once a product and used for
// every row. Layout of a row of `cols` elements: cols codes, padding to a cache line, cols / 32 float scales.
//   d = max |x| / 127,  code = round(x / d), ties to even;  x is about d * code, error at most d / 2
// An infinity or NaN in a block makes its scale infinite or NaN, so that it reaches the result.
#pragma once

#include <llambda/simd/convert.hpp>
#include <llambda/simd/math.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Where the parts of a quantised row of `Cols` elements are. Cols is a multiple of 32.
template <std::size_t Cols>
struct q8_row {
  static constexpr std::size_t block = 32;
  static constexpr std::size_t blocks = Cols / block;
  static constexpr std::size_t scales_at = aligned_bytes(Cols);
  static constexpr std::size_t bytes = aligned_bytes(scales_at + blocks * sizeof(float));

  static LLAMBDA_INLINE const std::int8_t* codes(const std::byte* row) noexcept {
    return reinterpret_cast<const std::int8_t*>(row);
  }
  static LLAMBDA_INLINE const float* scales(const std::byte* row) noexcept {
    return reinterpret_cast<const float*>(row + scales_at);
  }
};

/// Bytes a row of `cols` elements needs, for plans.
constexpr std::size_t q8_row_bytes(std::size_t cols) noexcept {
  return aligned_bytes(aligned_bytes(cols) + (cols + 31) / 32 * sizeof(float));
}

/// Quantises x (Cols floats) into `row` (q8_row<Cols>::bytes bytes).
template <std::size_t Cols, Arch A>
void quantise_q8(const float* x, std::byte* row) noexcept {
  static_assert(Cols % 32 == 0, "llambda: quantise_q8: rows must be whole blocks of 32; choose another format");
  using vec = f32x16<A>;
  auto* codes = reinterpret_cast<std::int8_t*>(row);
  auto* scales = reinterpret_cast<float*>(row + q8_row<Cols>::scales_at);
  const vec zero = vec::zero();
  for (std::size_t b = 0; b < q8_row<Cols>::blocks; ++b) {
    const vec low = vec::load(x + b * 32), high = vec::load(x + b * 32 + lanes);
    const vec largest = max_or_second<A>(max_or_second<A>(low, zero - low), max_or_second<A>(high, zero - high));
    const float max_abs = reduce_max<A>(largest);
    const float poison = reduce_add<A>(fma<A>(low, zero, high * zero));  // 0, or NaN if any x is not finite
    const vec inverse = vec::broadcast(max_abs > 0.0f ? 127.0f / max_abs : 0.0f);
    scales[b] = max_abs / 127.0f + poison;
    convert<A>::to_i8(low * inverse, codes + b * 32);
    convert<A>::to_i8(high * inverse, codes + b * 32 + lanes);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
