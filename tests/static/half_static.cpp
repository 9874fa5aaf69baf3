// fp16 and bf16 at compile time: the corners of both formats, and round trips of the codes around them.
// The vector conversions are tested against these functions at run time (tests/simd).
#include <llambda/core/half.hpp>

#include <limits>

using namespace llambda;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

// fp16 to float
static_assert(half_to_float(0x0000) == 0.0f && bits(half_to_float(0x8000)) == 0x80000000u);
static_assert(half_to_float(0x3c00) == 1.0f && half_to_float(0xc000) == -2.0f);
static_assert(half_to_float(0x7bff) == 65504.0f);
static_assert(half_to_float(0x0001) == 0x1p-24f && half_to_float(0x03ff) == 1023 * 0x1p-24f);
static_assert(half_to_float(0x0400) == 0x1p-14f);
static_assert(half_to_float(0x7c00) == inf && half_to_float(0xfc00) == -inf);
static_assert(bits(half_to_float(0x7e00)) == 0x7fc00000u);
static_assert(bits(half_to_float(0x7c01)) == 0x7fc02000u);  // signalling becomes quiet, the payload stays

// float to fp16: nearest, ties to even
static_assert(float_to_half(1.0f) == 0x3c00 && float_to_half(-0.0f) == 0x8000);
static_assert(float_to_half(1.0f + 0x1p-11f) == 0x3c00);           // tie, to the even neighbour below
static_assert(float_to_half(1.0f + 3 * 0x1p-11f) == 0x3c02);       // tie, to the even neighbour above
static_assert(float_to_half(1.0f + 0x1p-11f + 0x1p-20f) == 0x3c01);
static_assert(float_to_half(65504.0f) == 0x7bff && float_to_half(65519.0f) == 0x7bff);
static_assert(float_to_half(65520.0f) == 0x7c00 && float_to_half(-1e30f) == 0xfc00);
static_assert(float_to_half(0x1p-24f) == 0x0001);
static_assert(float_to_half(0x1p-25f) == 0x0000);                  // tie with zero
static_assert(float_to_half(0x1.8p-25f) == 0x0001);
static_assert(float_to_half(0x1.ff8p-15f) == 0x03ff);             // the largest subnormal
static_assert(float_to_half(0x1.ffcp-15f) == 0x0400);             // its tie with the smallest normal
static_assert(float_to_half(inf) == 0x7c00);
static_assert((float_to_half(std::numeric_limits<float>::quiet_NaN()) & 0x7e00) == 0x7e00);

// bf16
static_assert(bf16_to_float(0x3f80) == 1.0f && bf16_to_float(0xff80) == -inf);
static_assert(float_to_bf16(1.0f) == 0x3f80);
static_assert(float_to_bf16(1.0f + 0x1p-8f) == 0x3f80);            // tie to even
static_assert(float_to_bf16(1.0f + 3 * 0x1p-8f) == 0x3f82);
static_assert(float_to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
static_assert((float_to_bf16(std::bit_cast<float>(0x7f800001u)) & 0x7fc0) == 0x7fc0);  // NaN stays NaN

/// Codes [begin, begin + 4096) survive the way through float; a quarter of the compiler's default step limit.
template <unsigned Begin>
constexpr bool round_trip = [] {
  for (unsigned i = Begin; i < Begin + 4096; ++i) {
    const auto code = static_cast<std::uint16_t>(i);
    const bool half_nan = (code & 0x7c00) == 0x7c00 && (code & 0x3ff) != 0;
    const bool bf16_nan = (code & 0x7f80) == 0x7f80 && (code & 0x7f) != 0;
    if (float_to_half(half_to_float(code)) != (half_nan ? code | 0x200 : code)) return false;
    if (float_to_bf16(bf16_to_float(code)) != (bf16_nan ? code | 0x40 : code)) return false;
  }
  return true;
}();
// Subnormals and the first normals, the largest numbers and NaN, both signs; tests/core goes through all of them.
static_assert(round_trip<0x0000> && round_trip<0x7000> && round_trip<0x8000> && round_trip<0xf000>);

}  // namespace
