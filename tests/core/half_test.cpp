// fp16 and bf16: every code both ways, against the meaning of the bits worked out in F64 here.
#include <llambda/core/half.hpp>

#include <cmath>
#include <limits>

#include "../catch.hpp"

using namespace llambda;

namespace {

/// Value of a binary format with `exponent_bits` and `mantissa_bits`, by the definition.
double meaning(unsigned code, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = code & ((1u << mantissa_bits) - 1);
  const unsigned exponent = (code >> mantissa_bits) & ((1u << exponent_bits) - 1);
  const double sign = (code >> (exponent_bits + mantissa_bits)) & 1 ? -1.0 : 1.0;
  if (exponent == (1u << exponent_bits) - 1) {
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  const double fraction = std::ldexp(static_cast<double>(mantissa), -mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias);
  return sign * std::ldexp(1.0 + fraction, static_cast<int>(exponent) - bias);
}

template <class ToFloat, class FromFloat>
std::size_t wrong_codes(int exponent_bits, int mantissa_bits, ToFloat to_float, FromFloat from_float) {
  std::size_t wrong = 0;
  for (unsigned code = 0; code < 65536; ++code) {
    const float value = to_float(static_cast<std::uint16_t>(code));
    const double expected = meaning(code, exponent_bits, mantissa_bits);
    if (std::isnan(expected)) {
      wrong += !std::isnan(value) || !std::isnan(to_float(from_float(value)));
    } else {
      wrong += static_cast<double>(value) != expected || std::signbit(value) != std::signbit(expected) ||
               from_float(value) != code;
    }
  }
  return wrong;
}

/// Between each finite code and the next: just below, at and just above the middle.
template <class ToFloat, class FromFloat>
std::size_t wrong_roundings(unsigned largest, ToFloat to_float, FromFloat from_float) {
  std::size_t wrong = 0;
  for (unsigned code = 0; code < largest; ++code) {
    const float low = to_float(static_cast<std::uint16_t>(code)), high = to_float(static_cast<std::uint16_t>(code + 1));
    const float middle = static_cast<float>((static_cast<double>(low) + static_cast<double>(high)) / 2);
    const unsigned even = code % 2 == 0 ? code : code + 1;
    wrong += from_float(middle) != even;
    wrong += from_float(std::nextafter(middle, 0.0f)) != code;
    wrong += from_float(std::nextafter(middle, std::numeric_limits<float>::infinity())) != code + 1;
  }
  return wrong;
}

}  // namespace

TEST_CASE("half: every code and every rounding") {
  CHECK(wrong_codes(5, 10, half_to_float, float_to_half) == 0);
  CHECK(wrong_roundings(0x7bff, half_to_float, float_to_half) == 0);
  CHECK(float_to_half(65519.0f) == 0x7bff);
  CHECK(float_to_half(65520.0f) == 0x7c00);
  CHECK(float_to_half(-1e30f) == 0xfc00);
  CHECK(float_to_half(std::ldexp(1.0f, -25)) == 0);  // a tie goes to the even zero
}

TEST_CASE("bf16: every code and every rounding") {
  CHECK(wrong_codes(8, 7, bf16_to_float, float_to_bf16) == 0);
  CHECK(wrong_roundings(0x7f7f, bf16_to_float, float_to_bf16) == 0);
  CHECK(float_to_bf16((std::numeric_limits<float>::max)()) == 0x7f80);
}
