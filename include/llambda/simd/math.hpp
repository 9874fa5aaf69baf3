// exp on the virtual vector with the same bits on every instruction set: only correctly rounded operations, in one
// order. Error below 2 ulp over the whole range (measured over every float in tests/simd/math_test.cpp); x > 88.73
// gives infinity, x < -87.34 flushes to zero where the results would be subnormal, NaN stays NaN.
#pragma once

#include <llambda/simd/f32x16.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// exp of one register. Cody-Waite: x = n ln 2 + r with |r| <= ln 2 / 2, exp(x) = 2^n exp(r), exp(r) by a polynomial
/// of degree 6 (coefficients: minimax fit by the Remez method in F64). 2^n is multiplied on in two halves, so that
/// both factors are normal numbers over the whole range.
template <class P>
LLAMBDA_INLINE P exp_register(const P& x_in) noexcept {
  const auto c = [](float value) LLAMBDA_LAMBDA { return compat::broadcast(value, P{}); };
  const P magic = c(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  P x = (compat::min)(c(89.0f), x_in);  // the constant first: NaN passes through
  x = (compat::max)(c(-104.0f), x);
  const P n = compat::fma(x, c(1.44269504088896341f), magic) - magic;
  P r = compat::fma(n, c(-0.693145751953125f), x);
  r = compat::fma(n, c(-1.42860682030941723e-6f), r);
  P p = compat::fma(r, c(1.38145988e-3f), c(8.36871658e-3f));
  p = compat::fma(r, p, c(4.16683890e-2f));
  p = compat::fma(r, p, c(1.66665211e-1f));
  p = compat::fma(r, p, c(4.99999940e-1f));
  p = compat::fma(r, p, c(1.0f));
  p = compat::fma(r, p, c(1.0f));
  const P half = compat::fma(n, c(0.5f), magic);  // n / 2 rounded, still biased
  const P rest = n - (half - magic);
  return (p * compat::power_of_two(half)) * compat::power_of_two(rest + magic);
}

}  // namespace detail

/// e^x, lane by lane.
template <Arch A>
LLAMBDA_INLINE f32x16<A> exp(const f32x16<A>& x) noexcept {
  return lanewise<A>([](const auto& v) LLAMBDA_LAMBDA { return detail::exp_register(v); }, x);
}

/// e^x of one number, the same bits as a lane of the vector function.
inline float exp_f32(float x) noexcept { return detail::exp_register(x); }

/// x / (1 + e^-x), lane by lane.
template <Arch A>
LLAMBDA_INLINE f32x16<A> silu(const f32x16<A>& x) noexcept {
  const f32x16<A> one = f32x16<A>::broadcast(1.0f);
  return x / (one + exp<A>(f32x16<A>::zero() - x));
}

}  // namespace llambda::inline LLAMBDA_ABI
