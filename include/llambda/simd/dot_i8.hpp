// Integer dot products: one part of 16 rows at once, four products a row and instruction. Weight codes are four
// consecutive codes of each row; activation codes are four bytes, the same for every row.
//   sum[row] += w[row][0] x[0] + w[row][1] x[1] + w[row][2] x[2] + w[row][3] x[3]
// The sums are exact in 32 bits on every instruction set (no intermediate saturates, shown where it could), so that
// which instructions are used never shows in a result.
#pragma once

#include <llambda/core/unroll.hpp>
#include <llambda/simd/bytes.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// What values the weight codes of a format take: 0 .. max, or int8 (-128 .. 127).
struct code_range {
  bool is_signed;
  unsigned max;  ///< of |code|
};
inline constexpr code_range int8_codes{true, 128};

/// Exact sums of a part of the rows. Activation codes in [-127, 127]; columns added between two begin() <= 2^16.
///   codes    four codes of each row of a part, as the format decodes them
///   stored   the same as add() wants them: what a panel of decoded weights holds
///   begin<Shift>(n)  sums that start at *n * 2^Shift, or at 0 if Shift < 0. *n is minus the sum of the activation
///                    codes to come, which makes a weight code w count as w - 2^Shift
///   add<G, Stride>(s, w, x)  s[r][t] += G groups of 4 columns: w(r, g) are the stored codes of tile r, x + t * Stride
///                    the activation codes of token t
template <Arch A, code_range C> struct dot_i8 {
  using codes = u8_vec<A, code_bytes<A>>;
  static constexpr std::size_t rows = code_bytes<A> / 4;
  struct sums {
    std::int32_t v[rows];
  };

  static LLAMBDA_INLINE codes stored(const codes& w) noexcept { return w; }

  template <int Shift> static LLAMBDA_INLINE sums begin(const std::int32_t* n) noexcept {
    sums s{};
    if constexpr (Shift >= 0) {
      for (std::int32_t& v : s.v) v = static_cast<std::int32_t>(static_cast<std::uint32_t>(*n) << Shift);
    }
    return s;
  }
  template <std::size_t G, std::size_t Stride, std::size_t R, std::size_t T, class W>
  static LLAMBDA_INLINE void add(sums (&s)[R][T], W&& w, const std::int8_t* x) noexcept {
    for (std::size_t g = 0; g < G; ++g) {
      for (std::size_t r = 0; r < R; ++r) {
        const codes weight = w(r, g);
        for (std::size_t t = 0; t < T; ++t) {
          for (std::size_t i = 0; i < rows * 4; ++i) {
            const int code = C.is_signed ? static_cast<std::int8_t>(weight.v[i]) : weight.v[i];
            s[r][t].v[i / 4] += code * x[t * Stride + g * 4 + i % 4];
          }
        }
      }
    }
  }
  static LLAMBDA_INLINE typename f32x16<A>::part to_float(const sums& s) noexcept {
    static_assert(rows == 1);
    return static_cast<float>(s.v[0]);
  }
};

namespace detail {

/// Four neighbouring activation codes of a token.
LLAMBDA_INLINE std::int32_t four_codes(const std::int8_t* x) noexcept {
  std::int32_t four;
  std::memcpy(&four, x, 4);
  return four;
}

}  // namespace detail

#if LLAMBDA_HAS_AVX2

namespace detail {

/// The register that holds the codes of a part of the rows and its 32-bit sums, and what is done with it. In the
/// names of the instructions: `u` is unsigned bytes, `s` signed ones.
template <Avx2Arch A> struct dot_register {
  using type = __m256i;
  using sign = __m256i;
  static LLAMBDA_INLINE type every(std::int32_t x) noexcept { return _mm256_set1_epi32(x); }
  template <int N> static LLAMBDA_INLINE type shift_left(type x) noexcept { return _mm256_slli_epi32(x, N); }
  static LLAMBDA_INLINE type magnitude(type w) noexcept { return _mm256_abs_epi8(w); }
  static LLAMBDA_INLINE sign sign_of(type w) noexcept { return w; }
  static LLAMBDA_INLINE type with_sign(type x, sign w) noexcept { return _mm256_sign_epi8(x, w); }
  static LLAMBDA_INLINE type pairs(type u, type s) noexcept { return _mm256_maddubs_epi16(u, s); }
  static LLAMBDA_INLINE type add_16(type a, type b) noexcept { return _mm256_add_epi16(a, b); }
  static LLAMBDA_INLINE type add_pairs(type sum, type pairs) noexcept {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
  static LLAMBDA_INLINE __m256 to_float(type x) noexcept { return _mm256_cvtepi32_ps(x); }
};
#if LLAMBDA_HAS_AVX512
/// There is no vpsignb for 512 bits, so x is negated under the mask of w's sign bits.
template <Avx512Arch A> struct dot_register<A> {
  using type = __m512i;
  using sign = __mmask64;
  static LLAMBDA_INLINE type every(std::int32_t x) noexcept { return _mm512_set1_epi32(x); }
  template <int N> static LLAMBDA_INLINE type shift_left(type x) noexcept { return _mm512_slli_epi32(x, N); }
  static LLAMBDA_INLINE type magnitude(type w) noexcept { return _mm512_abs_epi8(w); }
  static LLAMBDA_INLINE sign sign_of(type w) noexcept { return _mm512_movepi8_mask(w); }
  static LLAMBDA_INLINE type with_sign(type x, sign w) noexcept {
    return _mm512_mask_sub_epi8(x, w, _mm512_setzero_si512(), x);
  }
  static LLAMBDA_INLINE type pairs(type u, type s) noexcept { return _mm512_maddubs_epi16(u, s); }
  static LLAMBDA_INLINE type add_16(type a, type b) noexcept { return _mm512_add_epi16(a, b); }
  static LLAMBDA_INLINE type add_pairs(type sum, type pairs) noexcept {
    return _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
  static LLAMBDA_INLINE __m512 to_float(type x) noexcept { return _mm512_cvtepi32_ps(x); }
};
#endif
#if LLAMBDA_HAS_AVXVNNI
template <AvxVnniArch A> struct dot_register<A> : dot_register<arch::avx2> {
  static LLAMBDA_INLINE __m256i dot(__m256i sum, __m256i u, __m256i s) noexcept {
    return _mm256_dpbusd_avx_epi32(sum, u, s);
  }
};
#endif
#if LLAMBDA_HAS_AVX512VNNI
template <Avx512VnniArch A> struct dot_register<A> : dot_register<arch::avx512> {
  static LLAMBDA_INLINE __m512i dot(__m512i sum, __m512i u, __m512i s) noexcept {
    return _mm512_dpbusd_epi32(sum, u, s);
  }
};
#endif

/// Sums in one register that start at *n * 2^Shift, or at 0 if Shift < 0.
template <class Register, int Shift>
LLAMBDA_INLINE typename Register::type sums_from(const std::int32_t* n) noexcept {
  if constexpr (Shift < 0) return Register::every(0);
  else return Register::template shift_left<Shift>(Register::every(*n));
}

}  // namespace detail

/// vpmaddubsw multiplies unsigned by signed bytes and adds two products in 16 bits, where it would saturate at 32767.
///   codes up to M: a pair is at most 2 * M * 127, and 32767 / (254 M) pairs are added in 16 bits before they are
///   widened: 8 for 4-bit codes (30480), 4 for 5 bits (31496), 2 for 6 bits (32004)
///   int8: |w| times x with w's sign moved to it; a pair is at most 2 * 128 * 127 = 32512
template <Avx2Arch A, code_range C>
struct dot_i8<A, C> {
  using codes = u8_vec<A, code_bytes<A>>;
  using reg = detail::dot_register<A>;
  struct sums {
    typename reg::type v;
  };
  static constexpr std::size_t pairs_in_16_bits = 32767 / (254 * C.max);
  static_assert(pairs_in_16_bits >= 1, "llambda: dot_i8: a pair of products does not fit in 16 bits");

  static LLAMBDA_INLINE codes stored(const codes& w) noexcept { return w; }

  template <int Shift>
  static LLAMBDA_INLINE sums begin(const std::int32_t* n) noexcept {
    return {detail::sums_from<reg, Shift>(n)};
  }
  template <std::size_t G, std::size_t Stride, std::size_t R, std::size_t T, class W>
  static LLAMBDA_INLINE void add(sums (&s)[R][T], W&& w, const std::int8_t* x) noexcept {
    constexpr std::size_t run = pairs_in_16_bits < G ? pairs_in_16_bits : G;
    typename reg::type pairs[R][T];
    LLAMBDA_UNROLL
    for (std::size_t g = 0; g < G; ++g) {
      typename reg::type size[R];
      typename reg::sign sign[R];
      LLAMBDA_UNROLL
      for (std::size_t r = 0; r < R; ++r) {
        const auto weight = w(r, g).v;
        size[r] = C.is_signed ? reg::magnitude(weight) : weight;
        sign[r] = C.is_signed ? reg::sign_of(weight) : typename reg::sign{};
      }
      LLAMBDA_UNROLL
      for (std::size_t t = 0; t < T; ++t) {
        const auto x4 = reg::every(detail::four_codes(x + t * Stride + g * 4));
        LLAMBDA_UNROLL
        for (std::size_t r = 0; r < R; ++r) {
          const auto pair = reg::pairs(size[r], C.is_signed ? reg::with_sign(x4, sign[r]) : x4);
          pairs[r][t] = g % run == 0 ? pair : reg::add_16(pairs[r][t], pair);
          if (g % run == run - 1 || g == G - 1) s[r][t].v = reg::add_pairs(s[r][t].v, pairs[r][t]);
        }
      }
    }
  }
  static LLAMBDA_INLINE typename f32x16<A>::part to_float(const sums& s) noexcept { return reg::to_float(s.v); }
};

/// vpdpbusd adds four products to 32 bits at once and never saturates. Signed codes are stored as w + 128, and the sums
/// begin 128 times the activations lower. With AVX-512 the four activation codes are broadcast by the instruction.
template <VnniArch A, code_range C>
  requires requires { &detail::dot_register<A>::dot; }
struct dot_i8<A, C> {
  using codes = u8_vec<A, code_bytes<A>>;
  using reg = detail::dot_register<A>;
  struct sums {
    typename reg::type v;
  };
  static LLAMBDA_INLINE codes stored(const codes& w) noexcept {
    if constexpr (C.is_signed) return w.template minus<-128>();
    else return w;
  }
  template <int Shift>
  static LLAMBDA_INLINE sums begin(const std::int32_t* n) noexcept {
    static_assert(!C.is_signed || Shift < 0);
    return {detail::sums_from<reg, C.is_signed ? 7 : Shift>(n)};
  }
  template <std::size_t G, std::size_t Stride, std::size_t R, std::size_t T, class W>
  static LLAMBDA_INLINE void add(sums (&s)[R][T], W&& w, const std::int8_t* x) noexcept {
    LLAMBDA_UNROLL
    for (std::size_t g = 0; g < G; ++g) {
      typename reg::type weight[R];
      LLAMBDA_UNROLL
      for (std::size_t r = 0; r < R; ++r) weight[r] = w(r, g).v;
      LLAMBDA_UNROLL
      for (std::size_t t = 0; t < T; ++t) {
        const auto x4 = reg::every(detail::four_codes(x + t * Stride + g * 4));
        LLAMBDA_UNROLL
        for (std::size_t r = 0; r < R; ++r) s[r][t].v = reg::dot(s[r][t].v, weight[r], x4);
      }
    }
  }
  static LLAMBDA_INLINE typename f32x16<A>::part to_float(const sums& s) noexcept { return reg::to_float(s.v); }
};

#endif

/// Minus the sums of codes [0, 16) and [16, 32).
template <Arch A> LLAMBDA_INLINE void minus_sums(const std::int8_t* codes, std::int32_t (&out)[2]) noexcept {
#if LLAMBDA_HAS_AVX2
  if constexpr (Avx2Arch<A>) {
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes));
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), x);
    const __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(-1));
    const __m256i eights = _mm256_add_epi32(fours, _mm256_shuffle_epi32(fours, 0x4e));
    const __m256i all = _mm256_add_epi32(eights, _mm256_shuffle_epi32(eights, 0xb1));
    out[0] = _mm256_cvtsi256_si32(all);
    out[1] = _mm_cvtsi128_si32(_mm256_extracti128_si256(all, 1));
    return;
  }
#endif
  for (std::size_t half = 0; half < 2; ++half) {
    out[half] = 0;
    for (std::size_t i = 0; i < 16; ++i) out[half] -= codes[half * 16 + i];
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
