// BF16: the upper half of a binary32, little-endian. 1 sign, 8 exponent, 7 mantissa bits; 16 bits a weight.
// Relative error of a stored weight at most 2^-8 over the whole range of a float.
#pragma once

#include <llambda/quant/plain.hpp>
#include <llambda/simd/convert.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct bf16_traits {
  using stored = std::uint16_t;
  static constexpr quant kind = quant::bf16;
  static constexpr float to_float(std::uint16_t x) noexcept { return bf16_to_float(x); }
  template <Arch A>
  static LLAMBDA_INLINE f32x16<A> load(const std::uint16_t* p) noexcept {
    return convert<A>::from_bf16(p);
  }
};

template <>
struct Format<quant::bf16> : PlainFormat<bf16_traits> {};

static_assert(PackableFormat<quant::bf16, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
