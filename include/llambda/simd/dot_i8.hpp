// Integer dot products: 16 rows at once, four products a row. The weights of a step are 64 bytes, four consecutive
// codes of each of 16 rows; the activations are four bytes, the same for every row.
//   sum[row] += w[row][0] x[0] + w[row][1] x[1] + w[row][2] x[2] + w[row][3] x[3]
// The sums are exact in 32 bits on every instruction set (no intermediate saturates, shown in the specialisations), so
// that which instructions are used never shows in a result.
#pragma once

#include <llambda/simd/f32x16.hpp>

#include <cstring>

namespace llambda::inline LLAMBDA_ABI {

/// 16 exact 32-bit sums and how to add to them. Weight codes in [-128, 127], activation codes in [-127, 127].
template <Arch A>
struct dot_i8 {
  struct sums {
    std::int32_t v[lanes] = {};
  };
  static LLAMBDA_INLINE sums zero() noexcept { return {}; }
  static LLAMBDA_INLINE void add(sums& s, const std::int8_t* w, const std::int8_t* x) noexcept {
    for (std::size_t row = 0; row < lanes; ++row) {
      for (std::size_t i = 0; i < 4; ++i) s.v[row] += w[row * 4 + i] * x[i];
    }
  }
  static LLAMBDA_INLINE f32x16<A> to_float(const sums& s) noexcept {
    f32x16<A> r;
    for (std::size_t row = 0; row < lanes; ++row) r.v[row] = static_cast<float>(s.v[row]);
    return r;
  }
};

#if LLAMBDA_HAS_AVX2
/// vpmaddubsw multiplies unsigned by signed bytes: |w| and x with w's sign moved to it. Its 16-bit pair sums are at most
/// 2 * 128 * 127 = 32512 in size, below the 32767 where it would saturate.
template <Avx2Arch A>
struct dot_i8<A> {
  struct sums {
    __m256i v[2];
  };
  static LLAMBDA_INLINE sums zero() noexcept { return {{_mm256_setzero_si256(), _mm256_setzero_si256()}}; }
  static LLAMBDA_INLINE void add(sums& s, const std::int8_t* w, const std::int8_t* x) noexcept {
    std::int32_t four;
    std::memcpy(&four, x, 4);
    const __m256i x4 = _mm256_set1_epi32(four);
    unroll<2>([&](auto half) LLAMBDA_LAMBDA {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 32 * half));
      const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(x4, codes));
      s.v[half] = _mm256_add_epi32(s.v[half], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    });
  }
  static LLAMBDA_INLINE f32x16<A> to_float(const sums& s) noexcept {
    return {{_mm256_cvtepi32_ps(s.v[0]), _mm256_cvtepi32_ps(s.v[1])}};
  }
};
#endif

#if LLAMBDA_HAS_AVX512
/// As AVX2; there is no vpsignb for 512 bits, so x is negated under the mask of w's sign bits.
template <Avx512Arch A>
struct dot_i8<A> {
  struct sums {
    __m512i v;
  };
  static LLAMBDA_INLINE sums zero() noexcept { return {_mm512_setzero_si512()}; }
  static LLAMBDA_INLINE void add(sums& s, const std::int8_t* w, const std::int8_t* x) noexcept {
    std::int32_t four;
    std::memcpy(&four, x, 4);
    const __m512i x4 = _mm512_set1_epi32(four);
    const __m512i codes = _mm512_loadu_si512(w);
    const __m512i signed_x = _mm512_mask_sub_epi8(x4, _mm512_movepi8_mask(codes), _mm512_setzero_si512(), x4);
    const __m512i pairs = _mm512_maddubs_epi16(_mm512_abs_epi8(codes), signed_x);
    s.v = _mm512_add_epi32(s.v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
  static LLAMBDA_INLINE f32x16<A> to_float(const sums& s) noexcept { return {{_mm512_cvtepi32_ps(s.v)}}; }
};
#endif

}  // namespace llambda::inline LLAMBDA_ABI
