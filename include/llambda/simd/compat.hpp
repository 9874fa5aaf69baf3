// xsimd, included here and nowhere else, and all differences between its versions (8.1 in Debian 12 to 14).
// Also the register type of each instruction set, and the few operations whose exact meaning the library depends on:
// a true fused multiply-add (xsimd 8.1 splits it for AVX-512), and min/max that return the second operand when either
// is NaN, as the machine does.
#pragma once

#include <llambda/simd/arch.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if LLAMBDA_HAS_AVX2
#pragma push_macro("min")
#pragma push_macro("max")
#pragma push_macro("small")
#pragma push_macro("ERROR")
#undef min
#undef max
#undef small
#undef ERROR
#include <immintrin.h>
#include <xsimd/xsimd.hpp>
#pragma pop_macro("min")
#pragma pop_macro("max")
#pragma pop_macro("small")
#pragma pop_macro("ERROR")
#endif

namespace llambda::inline LLAMBDA_ABI {

/// Register of floats of an instruction set: `type` and how many lanes it has.
template <Arch A>
struct float_register {
  using type = float;
  static constexpr std::size_t size = 1;
};

namespace compat {

LLAMBDA_INLINE float fma(float a, float b, float c) noexcept { return std::fma(a, b, c); }
// In parentheses wherever they are named: <windows.h> has macros min and max.
LLAMBDA_INLINE float (min)(float a, float b) noexcept { return a < b ? a : b; }
LLAMBDA_INLINE float (max)(float a, float b) noexcept { return a > b ? a : b; }
LLAMBDA_INLINE float load(const float* p, float) noexcept { return *p; }
LLAMBDA_INLINE void store(float* p, float v) noexcept { *p = v; }
LLAMBDA_INLINE float broadcast(float x, float) noexcept { return x; }

/// The value, rounded: the compiler may not fuse the product it comes from with an addition (g++ does even for
/// intrinsics), which would round differently from one instruction set and optimisation level to the next.
LLAMBDA_INLINE float rounded(float x) noexcept {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  __asm__("" : "+x"(x));
#endif
  return x;
}

/// 2^n for the integer n in [-126, 127] that sits in the low mantissa bits of `n + 1.5 * 2^23`.
LLAMBDA_INLINE float power_of_two(float biased) noexcept {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(biased) + 127u) << 23);
}

}  // namespace compat

#if LLAMBDA_HAS_AVX2

namespace compat {

template <class To, class X>
LLAMBDA_INLINE auto bits_as(const xsimd::batch<X, typename To::arch_type>& x) noexcept {
#if defined(XSIMD_VERSION_MAJOR) && XSIMD_VERSION_MAJOR >= 11
  return xsimd::bitwise_cast<typename To::value_type>(x);
#else
  return xsimd::bitwise_cast<To>(x);
#endif
}

template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> fma(const xsimd::batch<float, X>& a, const xsimd::batch<float, X>& b,
                                          const xsimd::batch<float, X>& c) noexcept {
#if LLAMBDA_HAS_AVX512
  if constexpr (xsimd::batch<float, X>::size == 16) return _mm512_fmadd_ps(a, b, c);
#endif
  if constexpr (xsimd::batch<float, X>::size == 8) return _mm256_fmadd_ps(a, b, c);
}

template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> (min)(const xsimd::batch<float, X>& a, const xsimd::batch<float, X>& b) noexcept {
  return (xsimd::min)(a, b);
}
template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> (max)(const xsimd::batch<float, X>& a, const xsimd::batch<float, X>& b) noexcept {
  return (xsimd::max)(a, b);
}
template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> load(const float* p, const xsimd::batch<float, X>&) noexcept {
  return xsimd::batch<float, X>::load_unaligned(p);
}
template <class X>
LLAMBDA_INLINE void store(float* p, const xsimd::batch<float, X>& v) noexcept {
  v.store_unaligned(p);
}
template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> broadcast(float x, const xsimd::batch<float, X>&) noexcept {
  return xsimd::batch<float, X>(x);
}
template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> rounded(xsimd::batch<float, X> x) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __asm__("" : "+v"(x.data));
#endif
  return x;
}
template <class X>
LLAMBDA_INLINE xsimd::batch<float, X> power_of_two(const xsimd::batch<float, X>& biased) noexcept {
  using ints = xsimd::batch<std::int32_t, X>;
  return bits_as<xsimd::batch<float, X>, std::int32_t>((bits_as<ints, float>(biased) + ints(127)) << 23);
}

/// Narrower registers, which only folding a vector to one number goes through.
using float8 = xsimd::batch<float, xsimd::fma3<xsimd::avx2>>;
using float4 = xsimd::batch<float, xsimd::sse4_1>;
template <std::size_t N> struct halves {
  std::conditional_t<N == 8, float8, float4> low, high;
};
LLAMBDA_INLINE halves<8> in_halves(const float8 (&x)[2]) noexcept { return {x[0], x[1]}; }
LLAMBDA_INLINE halves<4> in_halves(const float8& x) noexcept {
  return {float4(_mm256_castps256_ps128(x)), float4(_mm256_extractf128_ps(x, 1))};
}
#if LLAMBDA_HAS_AVX512
LLAMBDA_INLINE halves<8> in_halves(const xsimd::batch<float, xsimd::avx512bw> (&x)[1]) noexcept {
  return {float8(_mm512_castps512_ps256(x[0])), float8(_mm512_extractf32x8_ps(x[0], 1))};
}
#endif
LLAMBDA_INLINE float4 upper_pair(const float4& x) noexcept { return _mm_movehl_ps(x, x); }
LLAMBDA_INLINE float4 odd_lane(const float4& x) noexcept { return _mm_movehdup_ps(x); }
LLAMBDA_INLINE float first(const float4& x) noexcept { return _mm_cvtss_f32(x); }

}  // namespace compat

template <Avx2Arch A>
struct float_register<A> {
  using type = compat::float8;
  static constexpr std::size_t size = 8;
};

#if LLAMBDA_HAS_AVX512
template <Avx512Arch A>
struct float_register<A> {
  using type = xsimd::batch<float, xsimd::avx512bw>;
  static constexpr std::size_t size = 16;
};
#endif

#endif  // LLAMBDA_HAS_AVX2

}  // namespace llambda::inline LLAMBDA_ABI
