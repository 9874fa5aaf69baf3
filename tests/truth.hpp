// What stored numbers mean, in F64 from the definitions of the formats; nothing here comes from the library.
// binary16: sign, 5 exponent bits (bias 15), 10 mantissa bits. bfloat16: the upper half of a binary32.
// Q8_0: blocks of 34 bytes, binary16 d then 32 int8 codes, value d * code.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace test {

/// 2^-24: largest relative error of one correctly rounded float operation.
inline constexpr double unit = 0x1p-24;

/// x as a float. The volatile keeps a compiler from fusing what led to x with what follows into one operation.
inline float rounded(double x) {
  volatile float once = static_cast<float>(x);
  return once;
}

inline double half_value(std::uint16_t code) {
  const int exponent = (code >> 10) & 31, mantissa = code & 1023;
  double magnitude = 0;
  if (exponent == 31) {
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    magnitude = std::ldexp(exponent ? 1024 + mantissa : mantissa, exponent ? exponent - 25 : -24);
  }
  return code & 0x8000 ? -magnitude : magnitude;
}

/// binary16 nearest to x, ties to even. x is not NaN.
inline std::uint16_t half_code(double x) {
  const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
  const double magnitude = std::fabs(x);
  if (magnitude >= 65520.0) return static_cast<std::uint16_t>(sign | 0x7c00u);
  int exponent = magnitude > 0 ? std::ilogb(magnitude) : -14;
  if (exponent < -14) exponent = -14;
  const double steps = std::nearbyint(std::ldexp(magnitude, 10 - exponent));  // of the last place; 2048 carries over
  return static_cast<std::uint16_t>(sign + static_cast<unsigned>((exponent + 14) * 1024) +
                                    static_cast<unsigned>(steps));
}

inline double bf16_value(std::uint16_t code) {
  const int exponent = (code >> 7) & 255, mantissa = code & 127;
  double magnitude = 0;
  if (exponent == 255) {
    magnitude = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else {
    magnitude = std::ldexp(exponent ? 128 + mantissa : mantissa, exponent ? exponent - 134 : -133);
  }
  return code & 0x8000 ? -magnitude : magnitude;
}

/// bfloat16 nearest to x, ties to even. x is not NaN.
inline std::uint16_t bf16_code(double x) {
  const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
  const double magnitude = std::fabs(x);
  if (magnitude >= std::ldexp(511, 119)) return static_cast<std::uint16_t>(sign | 0x7f80u);
  int exponent = magnitude > 0 ? std::ilogb(magnitude) : -126;
  if (exponent < -126) exponent = -126;
  const double steps = std::nearbyint(std::ldexp(magnitude, 7 - exponent));
  return static_cast<std::uint16_t>(sign + static_cast<unsigned>((exponent + 126) * 128) +
                                    static_cast<unsigned>(steps));
}

inline std::uint16_t load_u16(const std::byte* p) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(p[0]) | std::to_integer<unsigned>(p[1]) << 8);
}

inline double f32_value(const std::byte* p) {
  std::uint32_t bits = 0;
  for (int i = 3; i >= 0; --i) bits = bits << 8 | std::to_integer<std::uint32_t>(p[i]);
  return static_cast<double>(std::bit_cast<float>(bits));
}

/// Element k of a Q8_0 row.
inline double q8_0_value(const std::byte* row, std::size_t k) {
  const std::byte* block = row + k / 32 * 34;
  const int raw = std::to_integer<int>(block[2 + k % 32]);
  return half_value(load_u16(block)) * (raw < 128 ? raw : raw - 256);
}

}  // namespace test
