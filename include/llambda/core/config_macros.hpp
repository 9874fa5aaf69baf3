// Version, inlining attributes and the conditions under which the library may be compiled at all.
// Everything lives in `llambda::inline LLAMBDA_ABI`: the name of that namespace follows the instruction set the
// translation unit is compiled for, so that two translation units with different -m flags never share a symbol of ours.
#pragma once

#define LLAMBDA_VERSION_MAJOR 0
#define LLAMBDA_VERSION_MINOR 1
#define LLAMBDA_VERSION_PATCH 0
#define LLAMBDA_VERSION_STRING "0.1.0"

#if defined(_MSVC_LANG) ? _MSVC_LANG < 202002L : __cplusplus < 202002L
#error "llambda: config_macros: C++20 is needed; compile with -std=c++20"
#endif

// NaN and infinity are part of the results, and the order of every sum is part of the type: a compiler that is
// allowed to reorder sums or to assume that NaN never happens breaks both silently.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "llambda: config_macros: -ffast-math and -ffinite-math-only break the numerics; compile without them"
#endif

// MinGW keeps the stack aligned to 16 bytes only, so that 32-byte vectors spilled to it fault.
#if defined(__MINGW32__)
#error "llambda: config_macros: MinGW is not supported (its stack is not aligned for AVX); use MSVC, clang-cl or Linux"
#endif

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__FMA__) && defined(__F16C__)
#if defined(__AVX512VNNI__)
#define LLAMBDA_ABI abi_avx512vnni
#else
#define LLAMBDA_ABI abi_avx512
#endif
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#if defined(__AVXVNNI__)
#define LLAMBDA_ABI abi_avxvnni
#else
#define LLAMBDA_ABI abi_avx2
#endif
#else
#define LLAMBDA_ABI abi_scalar
#endif

#if defined(__GNUC__) || defined(__clang__)
#define LLAMBDA_INLINE inline __attribute__((always_inline))
/// After the parameters of a lambda: noexcept and always inlined. The compilers disagree about the order.
#if defined(__clang__)
#define LLAMBDA_LAMBDA __attribute__((always_inline)) noexcept
#else
#define LLAMBDA_LAMBDA noexcept __attribute__((always_inline))
#endif
#define LLAMBDA_NOINLINE __attribute__((noinline))
#define LLAMBDA_RESTRICT __restrict__
#else
#define LLAMBDA_INLINE inline
#define LLAMBDA_LAMBDA noexcept
#define LLAMBDA_NOINLINE
#define LLAMBDA_RESTRICT
#endif

namespace llambda::inline LLAMBDA_ABI {

/// Version of the library, "major.minor.patch".
inline constexpr char version[] = LLAMBDA_VERSION_STRING;

}  // namespace llambda::inline LLAMBDA_ABI
