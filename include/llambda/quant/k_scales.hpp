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

/// For traits: binary16 d and dmin, then the 12 bytes; w = d s q - dmin m.
struct k_scales_and_minima {
  static constexpr file_field meta_fields[] = {{0, 2, 2}, {4, 1, 12}};

  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 0) * k_scales::scale<A, B>(meta);
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> minimum(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 2) * k_scales::minimum<A, B>(meta);
  }

 protected:
  /// The superblock at `in` whose code of column k is code(k).
  template <class Code> static void decode_with(const std::byte* in, float* out, Code&& code) noexcept {
    const float d = half_to_float(load_u16(in)), dmin = half_to_float(load_u16(in + 2));
    for (std::size_t k = 0; k < 256; ++k) {
      const float minimum = compat::rounded(dmin * static_cast<float>(k_scales::minimum(in + 4, k / 32)));
      const float scale = compat::rounded(d * static_cast<float>(k_scales::scale(in + 4, k / 32)));
      out[k] = compat::rounded(scale * static_cast<float>(code(k))) - minimum;
    }
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
