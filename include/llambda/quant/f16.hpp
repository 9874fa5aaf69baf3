// F16: IEEE binary16, little-endian. 1 sign, 5 exponent, 10 mantissa bits; 16 bits a weight.
// Relative error of a stored weight at most 2^-11 in the normal range, 6.1e-5 to 65504.
#pragma once

#include <llambda/quant/plain.hpp>
#include <llambda/simd/convert.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct f16_traits {
  using stored = std::uint16_t;
  static constexpr quant kind = quant::f16;
  static constexpr float to_float(std::uint16_t x) noexcept { return half_to_float(x); }
  template <Arch A>
  static LLAMBDA_INLINE f32x16<A> load(const std::uint16_t* p) noexcept {
    return convert<A>::from_half(p);
  }
};

template <>
struct Format<quant::f16> : PlainFormat<f16_traits> {};

static_assert(PackableFormat<quant::f16, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
