// Q2_K: superblocks of 256 weights in 16 blocks of 16, w = d * s * q - dmin * m.  84 bytes: 16 bytes with s in the low
// and m in the high nibble, 64 bytes q, binary16 d, binary16 dmin. Byte l of each 32 bytes of q holds columns l, 32 +
// l, 64 + l, 96 + l from its low bits up. 2.625 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q2_k_traits {
  static constexpr quant kind = quant::q2_k;
  static constexpr std::size_t sub = 16;
  static constexpr code_range codes{false, 3};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{16, 4, 16}};
  static constexpr file_field meta_fields[] = {{0, 1, 16}, {80, 2, 2}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return u8_vec<A, code_bytes<A>>::load(p + (S / 4 * 8 + G) * 64).template field<2 * (S % 4), 3>();
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 16) * convert<A>::from_u8(byte_of_rows<A>(meta, B).template field<0, 15>());
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> minimum(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 18) * convert<A>::from_u8(byte_of_rows<A>(meta, B).template field<4, 15>());
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in + 80)), dmin = half_to_float(load_u16(in + 82));
    for (std::size_t k = 0; k < 256; ++k) {
      const unsigned sm = static_cast<std::uint8_t>(in[k / 16]);
      const unsigned byte = static_cast<std::uint8_t>(in[16 + k / 128 * 32 + k % 32]);
      const float scale = compat::rounded(d * static_cast<float>(sm & 15));
      const float minimum = compat::rounded(dmin * static_cast<float>(sm >> 4));
      out[k] = compat::rounded(scale * static_cast<float>(byte >> k / 32 % 4 * 2 & 3)) - minimum;
    }
  }
};

template <> struct Format<quant::q2_k> : BlockFormat<q2_k_traits> {};

static_assert(PackableFormat<quant::q2_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
