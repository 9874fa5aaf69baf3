// fp16 and bf16 are stored as their 16 bits; these functions give them meaning, exactly and in constexpr.
// The vector conversions of simd/convert.hpp must agree with them on all 65,536 codes.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <bit>
#include <cstdint>

namespace llambda::inline LLAMBDA_ABI {

/// IEEE binary16 bits to float, exact. NaN stays NaN (made quiet), as vcvtph2ps does.
constexpr float half_to_float(std::uint16_t h) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t exponent = (h >> 10) & 0x1fu;
  std::uint32_t mantissa = h & 0x3ffu;
  if (exponent == 0x1f) {
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa ? 0x400000u : 0u) | (mantissa << 13));
  }
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  if (mantissa == 0) return std::bit_cast<float>(sign);
  std::uint32_t e = 113;  // subnormal: normalise
  while (!(mantissa & 0x400u)) mantissa <<= 1, --e;
  return std::bit_cast<float>(sign | (e << 23) | ((mantissa & 0x3ffu) << 13));
}

/// float to IEEE binary16 bits, round to nearest even; overflow gives infinity, NaN stays a quiet NaN.
constexpr std::uint16_t float_to_half(float f) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {
    return static_cast<std::uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // rounds past 65504
  std::uint32_t exponent = magnitude >> 23;
  if (exponent <= 101) return sign;  // below half of the smallest subnormal
  std::uint32_t mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const std::uint32_t shift = exponent >= 113 ? 13 : 126 - exponent;
  const std::uint32_t half_ulp = 1u << (shift - 1);
  const std::uint32_t rest = mantissa & ((1u << shift) - 1);
  mantissa >>= shift;
  if (rest > half_ulp || (rest == half_ulp && (mantissa & 1u))) ++mantissa;
  // For normal numbers the implicit bit adds one to the exponent field, hence 113.
  const std::uint32_t biased = exponent >= 113 ? ((exponent - 113) << 10) + mantissa : mantissa;
  return static_cast<std::uint16_t>(sign | biased);
}

/// bfloat16 bits to float, exact.
constexpr float bf16_to_float(std::uint16_t b) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

/// float to bfloat16 bits, round to nearest even; NaN stays a quiet NaN.
constexpr std::uint16_t float_to_bf16(float f) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// E8M0 (OCP Microscaling 1.0) exponent to half of its power of two, 2^(x - 128), exact; ggml reads 255 as any other.
constexpr float e8m0_to_float_half(std::uint8_t x) noexcept {
  return std::bit_cast<float>(x < 2 ? std::uint32_t{0x00200000u} << x : (x - 1u) << 23);
}

}  // namespace llambda::inline LLAMBDA_ABI
