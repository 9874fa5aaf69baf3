// Sixteen stored numbers (fp16, bf16, int8, int32) to the virtual float vector, and float to fp16.
// xsimd has no fp16 or bf16, and its converting loads of int8 go through the stack with g++-12: these atoms are ours.
#pragma once

#include <llambda/core/half.hpp>
#include <llambda/simd/bytes.hpp>
#include <llambda/simd/f32x16.hpp>

#include <cstring>

namespace llambda::inline LLAMBDA_ABI {

/// Scalar meaning; specialised below.
template <Arch A> struct convert {
  static LLAMBDA_INLINE f32x16<A> from_half(const std::uint16_t* p) noexcept {
    f32x16<A> r;
    for (std::size_t i = 0; i < lanes; ++i) r.v[i] = half_to_float(p[i]);
    return r;
  }
  static LLAMBDA_INLINE f32x16<A> from_bf16(const std::uint16_t* p) noexcept {
    f32x16<A> r;
    for (std::size_t i = 0; i < lanes; ++i) r.v[i] = bf16_to_float(p[i]);
    return r;
  }
  static LLAMBDA_INLINE f32x16<A> from_u8(const u8_vec<A, lanes>& x) noexcept {
    f32x16<A> r;
    for (std::size_t i = 0; i < lanes; ++i) r.v[i] = static_cast<float>(x.v[i]);
    return r;
  }
  static LLAMBDA_INLINE f32x16<A> from_i8(const u8_vec<A, lanes>& x) noexcept {
    f32x16<A> r;
    for (std::size_t i = 0; i < lanes; ++i) r.v[i] = static_cast<float>(static_cast<std::int8_t>(x.v[i]));
    return r;
  }
  /// Half of the power of two that E8M0 (OCP MX) exponents stand for: 2^(x - 128).
  static LLAMBDA_INLINE f32x16<A> from_e8m0_half(const u8_vec<A, lanes>& x) noexcept {
    f32x16<A> r;
    for (std::size_t i = 0; i < lanes; ++i) r.v[i] = e8m0_to_float_half(x.v[i]);
    return r;
  }
  static LLAMBDA_INLINE void to_half(const f32x16<A>& x, std::uint16_t* p) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) p[i] = float_to_half(x.v[i]);
  }
  /// Nearest integers, ties to even, as int8. Precondition: |x| <= 127.5 or NaN (any value comes out).
  static LLAMBDA_INLINE void to_i8(const f32x16<A>& x, std::int8_t* p) noexcept {
    for (std::size_t i = 0; i < lanes; ++i) {
      const float shifted = x.v[i] + 12582912.0f;  // rounds to nearest even; the integer is in the low bits
      p[i] = static_cast<std::int8_t>(std::bit_cast<std::uint32_t>(shifted) & 0xffu);
    }
  }
};

#if LLAMBDA_HAS_AVX2
template <Avx2Arch A> struct convert<A> {
  static LLAMBDA_INLINE f32x16<A> from_half(const std::uint16_t* p) noexcept {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) return {{_mm512_cvtph_ps(bits)}};
#endif
    if constexpr (f32x16<A>::parts == 2) {
      return {{_mm256_cvtph_ps(_mm256_castsi256_si128(bits)), _mm256_cvtph_ps(_mm256_extracti128_si256(bits, 1))}};
    }
  }
  static LLAMBDA_INLINE f32x16<A> from_bf16(const std::uint16_t* p) noexcept {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) {
      return {{_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16))}};
    }
#endif
    if constexpr (f32x16<A>::parts == 2) {
      const auto widen = [](__m128i half) LLAMBDA_LAMBDA {
        return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(half), 16));
      };
      return {{widen(_mm256_castsi256_si128(bits)), widen(_mm256_extracti128_si256(bits, 1))}};
    }
  }
  static LLAMBDA_INLINE f32x16<A> from_u8(const u8_vec<A, lanes>& x) noexcept {
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) return {{_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(x.v))}};
#endif
    if constexpr (f32x16<A>::parts == 2) {
      return {{_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x.v)),
               _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(x.v, 8)))}};
    }
  }
  static LLAMBDA_INLINE f32x16<A> from_i8(const u8_vec<A, lanes>& x) noexcept {
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) return {{_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(x.v))}};
#endif
    if constexpr (f32x16<A>::parts == 2) {
      return {{_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x.v)),
               _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(x.v, 8)))}};
    }
  }
  /// Half of the power of two that E8M0 exponents stand for: exponent bits x - 1, or a subnormal below 2.
  static LLAMBDA_INLINE f32x16<A> from_e8m0_half(const u8_vec<A, lanes>& x) noexcept {
    const auto eight = [](__m128i bytes) LLAMBDA_LAMBDA {
      const __m256i e = _mm256_cvtepu8_epi32(bytes), one = _mm256_set1_epi32(1);
      const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, one), 23);
      const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
      return _mm256_castsi256_ps(_mm256_blendv_epi8(subnormal, normal, _mm256_cmpgt_epi32(e, one)));
    };
    const __m256 low = eight(x.v), high = eight(_mm_srli_si128(x.v, 8));
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) return {{_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1)}};
#endif
    if constexpr (f32x16<A>::parts == 2) return {{low, high}};
  }
  static LLAMBDA_INLINE void to_half(const f32x16<A>& x, std::uint16_t* p) noexcept {
    constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(x.v[0], nearest));
    }
#endif
    if constexpr (f32x16<A>::parts == 2) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(x.v[0], nearest));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(x.v[1], nearest));
    }
  }
  static LLAMBDA_INLINE void to_i8(const f32x16<A>& x, std::int8_t* p) noexcept {
    const f32x16<A> shifted = x + f32x16<A>::broadcast(12582912.0f);
#if LLAMBDA_HAS_AVX512
    if constexpr (f32x16<A>::parts == 1) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(_mm512_castps_si512(shifted.v[0])));
      return;
    }
#endif
    const __m256i low = _mm256_castps_si256(compat::in_halves(shifted.v).low);
    const __m256i high = _mm256_castps_si256(compat::in_halves(shifted.v).high);
    // byte 0 of each 32-bit lane to the front of each 128-bit half, then the four groups of four side by side
    const __m256i pick = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12, -1,
                                          -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i l = _mm256_shuffle_epi8(low, pick), h = _mm256_shuffle_epi8(high, pick);
    const __m128i low8 = _mm_unpacklo_epi32(_mm256_castsi256_si128(l), _mm256_extracti128_si256(l, 1));
    const __m128i high8 = _mm_unpacklo_epi32(_mm256_castsi256_si128(h), _mm256_extracti128_si256(h, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_unpacklo_epi64(low8, high8));
  }
};
#endif

}  // namespace llambda::inline LLAMBDA_ABI
