// The 6-bit scales s and minima m of the 8 blocks of a Q4_K or Q5_K superblock, in 12 bytes x:
//   i < 4:  s = x[i] & 63,                            m = x[i + 4] & 63
//   i >= 4: s = x[i + 4] & 15 | (x[i - 4] >> 6) << 4,  m = x[i + 4] >> 4 | (x[i] >> 6) << 4
// In a tile they follow d and dmin, 4 bytes a row into the scales.
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace k_scales {

LLAMBDA_INLINE unsigned byte(const std::byte* x, std::size_t i) noexcept { return static_cast<std::uint8_t>(x[i]); }

LLAMBDA_INLINE unsigned scale(const std::byte* x, std::size_t i) noexcept {
  return i < 4 ? byte(x, i) & 63 : (byte(x, i + 4) & 15) | (byte(x, i - 4) >> 6) << 4;
}
LLAMBDA_INLINE unsigned minimum(const std::byte* x, std::size_t i) noexcept {
  return i < 4 ? byte(x, i + 4) & 63 : byte(x, i + 4) >> 4 | (byte(x, i) >> 6) << 4;
}

/// Of 16 rows, as floats.
template <Arch A, std::size_t I> LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
  if constexpr (I < 4) {
    return convert<A>::from_u8(byte_of_rows<A>(meta, 4 + I).template field<0, 63>());
  } else {
    return convert<A>::from_u8(byte_of_rows<A>(meta, 8 + I).template field<0, 15>() |
                               byte_of_rows<A>(meta, I).template field<2, 0x30>());
  }
}
template <Arch A, std::size_t I> LLAMBDA_INLINE f32x16<A> minimum(const std::byte* meta) noexcept {
  if constexpr (I < 4) {
    return convert<A>::from_u8(byte_of_rows<A>(meta, 8 + I).template field<0, 63>());
  } else {
    return convert<A>::from_u8(byte_of_rows<A>(meta, 8 + I).template field<4, 15>() |
                               byte_of_rows<A>(meta, 4 + I).template field<2, 0x30>());
  }
}

}  // namespace k_scales

}  // namespace llambda::inline LLAMBDA_ABI
