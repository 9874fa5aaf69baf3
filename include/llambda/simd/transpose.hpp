// Transposition of 16 rows of memory into columns, which is all that packing a tile is. Bytes move and none changes, so
// every instruction set gives the same.
#pragma once

#include <llambda/simd/f32x16.hpp>

#include <cstring>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

#if LLAMBDA_HAS_AVX2
/// Words 0..3 of 4 rows `stride` bytes apart -> word i of the 4 rows in column[i].
LLAMBDA_INLINE void columns_of_4x4(const std::byte* row, std::size_t stride, __m128i (&column)[4]) noexcept {
  const auto words = [&](std::size_t r) LLAMBDA_LAMBDA {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + r * stride));
  };
  const __m128i low01 = _mm_unpacklo_epi32(words(0), words(1)), high01 = _mm_unpackhi_epi32(words(0), words(1));
  const __m128i low23 = _mm_unpacklo_epi32(words(2), words(3)), high23 = _mm_unpackhi_epi32(words(2), words(3));
  column[0] = _mm_unpacklo_epi64(low01, low23);
  column[1] = _mm_unpackhi_epi64(low01, low23);
  column[2] = _mm_unpacklo_epi64(high01, high23);
  column[3] = _mm_unpackhi_epi64(high01, high23);
}
#endif

}  // namespace detail

/// 32-bit word i of row r, at rows + r * stride + 4 i, goes to out + 64 i + 4 r, for i < Words and r < 16.
template <std::size_t Words>
LLAMBDA_INLINE void transpose_words(const std::byte* rows, std::size_t stride, std::byte* out) noexcept {
  constexpr std::size_t squares = LLAMBDA_HAS_AVX2 ? Words / 4 * 4 : 0;
#if LLAMBDA_HAS_AVX2
  for (std::size_t i = 0; i < squares; i += 4) {
    for (std::size_t r = 0; r < lanes; r += 4) {
      __m128i column[4];
      detail::columns_of_4x4(rows + r * stride + i * 4, stride, column);
      for (std::size_t k = 0; k < 4; ++k) {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + (i + k) * 64 + r * 4), column[k]);
      }
    }
  }
#endif
  for (std::size_t i = squares; i < Words; ++i) {
    for (std::size_t r = 0; r < lanes; ++r) std::memcpy(out + i * 64 + r * 4, rows + r * stride + i * 4, 4);
  }
}

/// 16-bit element i of row r, at rows + r * stride + 2 i, goes to out + 32 i + 2 r, for i < Halves and r < 16.
template <std::size_t Halves>
LLAMBDA_INLINE void transpose_halves(const std::byte* rows, std::size_t stride, std::byte* out) noexcept {
  constexpr std::size_t squares = LLAMBDA_HAS_AVX2 ? Halves / 8 * 8 : 0;
#if LLAMBDA_HAS_AVX2
  for (std::size_t i = 0; i < squares; i += 8) {
    for (std::size_t r = 0; r < lanes; r += 8) {
      __m128i upper[4], lower[4];  // a word is two neighbouring elements
      detail::columns_of_4x4(rows + r * stride + i * 2, stride, upper);
      detail::columns_of_4x4(rows + (r + 4) * stride + i * 2, stride, lower);
      for (std::size_t k = 0; k < 4; ++k) {
        const __m128i even = _mm_packus_epi32(_mm_and_si128(upper[k], _mm_set1_epi32(0xffff)),
                                              _mm_and_si128(lower[k], _mm_set1_epi32(0xffff)));
        const __m128i odd = _mm_packus_epi32(_mm_srli_epi32(upper[k], 16), _mm_srli_epi32(lower[k], 16));
        std::byte* to = out + (i + 2 * k) * 32 + r * 2;
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), even);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 32), odd);
      }
    }
  }
#endif
  for (std::size_t i = squares; i < Halves; ++i) {
    for (std::size_t r = 0; r < lanes; ++r) std::memcpy(out + i * 32 + r * 2, rows + r * stride + i * 2, 2);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
