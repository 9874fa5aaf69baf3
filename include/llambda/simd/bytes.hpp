// N unsigned bytes in a register, and the few operations that take weight codes out of their packed bits. Formats are
// written in it once; the scalar meaning stands first.
//   u8_vec<A, code_bytes<A>>  four codes of each row of a part of the 16 rows: 64 bytes in an AVX-512 register,
//                             twice 32 in AVX2, sixteen times 4 in scalar code
//   u8_vec<A, 16>             a byte of each of the 16 rows (scales)
#pragma once

#include <llambda/simd/f32x16.hpp>

#include <cstring>

namespace llambda::inline LLAMBDA_ABI {

/// Bytes of a group (16 rows x 4 codes) that one register holds.
template <Arch A> inline constexpr std::size_t code_bytes = lanes * 4 / f32x16<A>::parts;

namespace detail {

/// A field of a byte after a shift to the right (or left, if negative) keeps no bit of its neighbour.
constexpr bool field_is_clean(int shift, unsigned mask) noexcept {
  return shift >= 0 ? mask <= (0xffu >> shift) : mask <= 0xffu && (mask & ((1u << -shift) - 1u)) == 0;
}

}  // namespace detail

template <Arch A, std::size_t N> struct u8_vec {
  std::uint8_t v[N];

  static LLAMBDA_INLINE u8_vec load(const std::byte* p) noexcept {
    u8_vec r;
    std::memcpy(r.v, p, N);
    return r;
  }
  LLAMBDA_INLINE void store(std::byte* p) const noexcept { std::memcpy(p, v, N); }

  /// (byte >> Shift) & Mask; a negative shift goes left.
  template <int Shift, unsigned Mask> LLAMBDA_INLINE u8_vec field() const noexcept {
    static_assert(detail::field_is_clean(Shift, Mask));
    u8_vec r;
    for (std::size_t i = 0; i < N; ++i) {
      const unsigned x = v[i];
      r.v[i] = static_cast<std::uint8_t>((Shift >= 0 ? x >> (Shift >= 0 ? Shift : 0) : x << (Shift < 0 ? -Shift : 0)) &
                                         Mask);
    }
    return r;
  }
  friend LLAMBDA_INLINE u8_vec operator|(const u8_vec& a, const u8_vec& b) noexcept {
    u8_vec r;
    for (std::size_t i = 0; i < N; ++i) r.v[i] = a.v[i] | b.v[i];
    return r;
  }
  /// byte - Bias, modulo 256.
  template <int Bias> LLAMBDA_INLINE u8_vec minus() const noexcept {
    u8_vec r;
    for (std::size_t i = 0; i < N; ++i) r.v[i] = static_cast<std::uint8_t>(v[i] - Bias);
    return r;
  }
  /// table[byte]. Precondition: every byte is below 16.
  LLAMBDA_INLINE u8_vec lookup(const std::int8_t (&table)[16]) const noexcept {
    u8_vec r;
    for (std::size_t i = 0; i < N; ++i) r.v[i] = static_cast<std::uint8_t>(table[v[i]]);
    return r;
  }
};

#if LLAMBDA_HAS_AVX2

// The three register widths differ in nothing but the prefix of the intrinsics.
#define LLAMBDA_U8_VEC(CONSTRAINT, N_, REG, P, BITS)                                                              \
  template <CONSTRAINT A> struct u8_vec<A, N_> {                                                                  \
    REG v;                                                                                                        \
    static LLAMBDA_INLINE u8_vec load(const std::byte* p) noexcept {                                              \
      return {P##_loadu_si##BITS(reinterpret_cast<const REG*>(p))};                                               \
    }                                                                                                             \
    LLAMBDA_INLINE void store(std::byte* p) const noexcept { P##_storeu_si##BITS(reinterpret_cast<REG*>(p), v); } \
    template <int Shift, unsigned Mask> LLAMBDA_INLINE u8_vec field() const noexcept {                            \
      static_assert(detail::field_is_clean(Shift, Mask));                                                         \
      REG x = v;                                                                                                  \
      if constexpr (Shift > 0) x = P##_srli_epi16(v, Shift);                                                      \
      if constexpr (Shift < 0) x = P##_slli_epi16(v, -Shift);                                                     \
      if constexpr (Mask != 0xff) x = P##_and_si##BITS(x, P##_set1_epi8(static_cast<char>(Mask)));                \
      return {x};                                                                                                 \
    }                                                                                                             \
    friend LLAMBDA_INLINE u8_vec operator|(const u8_vec& a, const u8_vec& b) noexcept {                           \
      return {P##_or_si##BITS(a.v, b.v)};                                                                         \
    }                                                                                                             \
    template <int Bias> LLAMBDA_INLINE u8_vec minus() const noexcept {                                            \
      return {P##_sub_epi8(v, P##_set1_epi8(static_cast<char>(Bias)))};                                           \
    }                                                                                                             \
    LLAMBDA_INLINE u8_vec lookup(const std::int8_t (&table)[16]) const noexcept {                                 \
      return {P##_shuffle_epi8(detail::table_register<N_>(table), v)};                                            \
    }                                                                                                             \
  };

namespace detail {

/// The table in every 128-bit part of a register of N bytes.
template <std::size_t N> LLAMBDA_INLINE auto table_register(const std::int8_t (&table)[16]) noexcept {
  const __m128i t = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
  if constexpr (N == 16) return t;
  if constexpr (N == 32) return _mm256_broadcastsi128_si256(t);
#if LLAMBDA_HAS_AVX512
  if constexpr (N == 64) return _mm512_broadcast_i32x4(t);
#endif
}

}  // namespace detail

LLAMBDA_U8_VEC(Avx2Arch, 16, __m128i, _mm, 128)
LLAMBDA_U8_VEC(Avx2Arch, 32, __m256i, _mm256, 256)
#if LLAMBDA_HAS_AVX512
LLAMBDA_U8_VEC(Avx512Arch, 64, __m512i, _mm512, 512)
#endif
#undef LLAMBDA_U8_VEC

#endif

}  // namespace llambda::inline LLAMBDA_ABI
