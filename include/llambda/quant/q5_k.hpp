// Q5_K: superblocks of 256 weights in 8 blocks of 32, w = d * s * q - dmin * m.  176 bytes: binary16 d, binary16 dmin,
// 12 bytes with 6-bit s and m (k_scales.hpp), 32 bytes with bit 4 of q (bit b of byte l: column 32 b + l), 128 bytes of
// nibbles as in Q4_K. 5.5 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/k_scales.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q5_k_traits {
  static constexpr quant kind = quant::q5_k;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{false, 31};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{16, 4, 8}, {48, 4, 32}};
  static constexpr file_field meta_fields[] = {{0, 2, 2}, {4, 1, 12}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    using vec = u8_vec<A, code_bytes<A>>;
    return vec::load(p + (8 + S / 2 * 8 + G) * 64).template field<S % 2 * 4, 15>() |
           vec::load(p + G * 64).template field<static_cast<int>(S) - 4, 16>();
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
      const unsigned low = static_cast<std::uint8_t>(in[48 + k / 64 * 32 + k % 32]) >> k / 32 % 2 * 4 & 15;
      const unsigned q = low | (static_cast<std::uint8_t>(in[16 + k % 32]) >> k / 32 & 1u) << 4;
      const float minimum = compat::rounded(dmin * static_cast<float>(k_scales::minimum(in + 4, k / 32)));
      const float scale = compat::rounded(d * static_cast<float>(k_scales::scale(in + 4, k / 32)));
      out[k] = compat::rounded(scale * static_cast<float>(q)) - minimum;
    }
  }
};

template <> struct Format<quant::q5_k> : BlockFormat<q5_k_traits> {};

static_assert(PackableFormat<quant::q5_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
