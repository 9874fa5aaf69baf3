// The fixed virtual vector: 16 floats on every instruction set (16 scalars, two AVX2 registers, one AVX-512 register).
// Kernels are written in it, so that the order of every sum, and with it every bit of the result, is the same
// everywhere. Operations are lane-wise and correctly rounded; reduce_add and reduce_max fold the upper half onto the
// lower half: 16, 8, 4, 2, 1.
#pragma once

#include <llambda/core/aligned.hpp>
#include <llambda/core/unroll.hpp>
#include <llambda/simd/compat.hpp>

namespace llambda::inline LLAMBDA_ABI {

template <Arch A>
struct f32x16 {
  using part = typename float_register<A>::type;
  static constexpr std::size_t parts = lanes / float_register<A>::size;

  part v[parts];

  static LLAMBDA_INLINE f32x16 zero() noexcept { return broadcast(0.0f); }

  static LLAMBDA_INLINE f32x16 broadcast(float x) noexcept {
    f32x16 r;
    unroll<parts>([&](auto i) LLAMBDA_LAMBDA { r.v[i] = compat::broadcast(x, part{}); });
    return r;
  }
  /// 16 floats from memory, any alignment.
  static LLAMBDA_INLINE f32x16 load(const float* p) noexcept {
    f32x16 r;
    unroll<parts>([&](auto i) LLAMBDA_LAMBDA { r.v[i] = compat::load(p + i * (lanes / parts), part{}); });
    return r;
  }
  LLAMBDA_INLINE void store(float* p) const noexcept {
    unroll<parts>([&](auto i) LLAMBDA_LAMBDA { compat::store(p + i * (lanes / parts), v[i]); });
  }
};

/// Applies a function of registers to each register of the operands.
template <Arch A, class F, class... V>
LLAMBDA_INLINE f32x16<A> lanewise(F&& f, const f32x16<A>& a, const V&... rest) noexcept {
  f32x16<A> r;
  unroll<f32x16<A>::parts>([&](auto i) LLAMBDA_LAMBDA { r.v[i] = f(a.v[i], rest.v[i]...); });
  return r;
}

template <Arch A>
LLAMBDA_INLINE f32x16<A> operator+(const f32x16<A>& a, const f32x16<A>& b) noexcept {
  return lanewise<A>([](const auto& x, const auto& y) LLAMBDA_LAMBDA { return x + y; }, a, b);
}
template <Arch A>
LLAMBDA_INLINE f32x16<A> operator-(const f32x16<A>& a, const f32x16<A>& b) noexcept {
  return lanewise<A>([](const auto& x, const auto& y) LLAMBDA_LAMBDA { return x - y; }, a, b);
}
template <Arch A>
LLAMBDA_INLINE f32x16<A> operator*(const f32x16<A>& a, const f32x16<A>& b) noexcept {
  return lanewise<A>([](const auto& x, const auto& y) LLAMBDA_LAMBDA { return compat::rounded(x * y); }, a, b);
}
template <Arch A>
LLAMBDA_INLINE f32x16<A> operator/(const f32x16<A>& a, const f32x16<A>& b) noexcept {
  return lanewise<A>([](const auto& x, const auto& y) LLAMBDA_LAMBDA { return x / y; }, a, b);
}
/// a * b + c with one rounding.
template <Arch A>
LLAMBDA_INLINE f32x16<A> fma(const f32x16<A>& a, const f32x16<A>& b, const f32x16<A>& c) noexcept {
  return lanewise<A>([](const auto& x, const auto& y, const auto& z) LLAMBDA_LAMBDA {
    return compat::fma(x, y, z);
  }, a, b, c);
}
/// a < b ? a : b, so b where either is NaN.
template <Arch A>
LLAMBDA_INLINE f32x16<A> min_or_second(const f32x16<A>& a, const f32x16<A>& b) noexcept {
  return lanewise<A>([](const auto& x, const auto& y) LLAMBDA_LAMBDA { return (compat::min)(x, y); }, a, b);
}
/// a > b ? a : b, so b where either is NaN.
template <Arch A>
LLAMBDA_INLINE f32x16<A> max_or_second(const f32x16<A>& a, const f32x16<A>& b) noexcept {
  return lanewise<A>([](const auto& x, const auto& y) LLAMBDA_LAMBDA { return (compat::max)(x, y); }, a, b);
}

namespace detail {

/// f of the 16 lanes, upper half onto lower half at each step.
template <Arch A, class F> LLAMBDA_INLINE float fold(const f32x16<A>& a, F&& f) noexcept {
#if LLAMBDA_HAS_AVX2
  if constexpr (Avx2Arch<A>) {
    const compat::halves<8> eight = compat::in_halves(a.v);
    const compat::halves<4> four = compat::in_halves(f(eight.low, eight.high));
    const auto two = f(four.low, four.high);
    const auto one = f(two, compat::upper_pair(two));
    return compat::first(f(one, compat::odd_lane(one)));
  }
#endif
  float x[lanes];
  a.store(x);
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) x[i] = f(x[i], x[i + half]);
  }
  return x[0];
}

}  // namespace detail

/// Sum of the 16 lanes, upper half onto lower half at each step.
template <Arch A> LLAMBDA_INLINE float reduce_add(const f32x16<A>& a) noexcept {
  return detail::fold<A>(a, [](const auto& x, const auto& y) LLAMBDA_LAMBDA { return x + y; });
}

/// Largest of the 16 lanes; NaN lanes may or may not win.
template <Arch A> LLAMBDA_INLINE float reduce_max(const f32x16<A>& a) noexcept {
  return detail::fold<A>(a, [](const auto& x, const auto& y) LLAMBDA_LAMBDA { return (compat::max)(x, y); });
}

}  // namespace llambda::inline LLAMBDA_ABI
