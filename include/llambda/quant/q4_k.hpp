// Q4_K: superblocks of 256 weights in 8 blocks of 32, w = d * s * q - dmin * m.  144 bytes: binary16 d, binary16 dmin,
// 12 bytes with 6-bit s and m (k_scales.hpp), 128 bytes q: the low nibbles of each 32 bytes are one block, the high
// nibbles the next. 4.5 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/k_scales.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q4_k_traits {
  static constexpr quant kind = quant::q4_k;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{false, 15};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{16, 4, 32}};
  static constexpr file_field meta_fields[] = {{0, 2, 2}, {4, 1, 12}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return u8_vec<A, code_bytes<A>>::load(p + (S / 2 * 8 + G) * 64).template field<S % 2 * 4, 15>();
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 0) * k_scales::scale<A, B>(meta);
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> minimum(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 2) * k_scales::minimum<A, B>(meta);
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in)), dmin = half_to_float(load_u16(in + 2));
    for (std::size_t k = 0; k < 256; ++k) {
      const unsigned q = static_cast<std::uint8_t>(in[16 + k / 64 * 32 + k % 32]) >> k / 32 % 2 * 4 & 15;
      const float minimum = compat::rounded(dmin * static_cast<float>(k_scales::minimum(in + 4, k / 32)));
      const float scale = compat::rounded(d * static_cast<float>(k_scales::scale(in + 4, k / 32)));
      out[k] = compat::rounded(scale * static_cast<float>(q)) - minimum;
    }
  }
};

template <> struct Format<quant::q4_k> : BlockFormat<q4_k_traits> {};

static_assert(PackableFormat<quant::q4_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
