// Q6_K: superblocks of 256 weights in 16 blocks of 16, w = d * s * (q - 32).  210 bytes: 128 bytes with the low nibbles
// of q, 64 bytes with its high 2 bits, 16 int8 s, binary16 d. Of each 128 columns, byte l of 64 holds columns l (low
// nibble) and 64 + l; byte l of 32 holds the high bits of columns l, 32 + l, 64 + l, 96 + l. 6.56 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q6_k_traits {
  static constexpr quant kind = quant::q6_k;
  static constexpr std::size_t sub = 16;
  static constexpr code_range codes{false, 63};
  static constexpr int zero_shift = 5;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{0, 4, 32}, {128, 4, 16}};
  static constexpr file_field meta_fields[] = {{192, 1, 16}, {208, 2, 1}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    using vec = u8_vec<A, code_bytes<A>>;
    constexpr int quarter = S % 4;  // of 128 columns
    return vec::load(p + (S / 4 * 16 + quarter % 2 * 8 + G) * 64).template field<quarter / 2 * 4, 15>() |
           vec::load(p + (32 + S / 4 * 8 + G) * 64).template field<quarter * 2 - 4, 0x30>();
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 16) * convert<A>::from_i8(byte_of_rows<A>(meta, B));
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in + 208));
    for (std::size_t k = 0; k < 256; ++k) {
      const unsigned low = static_cast<std::uint8_t>(in[k / 128 * 64 + k % 64]) >> k / 64 % 2 * 4 & 15;
      const unsigned high = static_cast<std::uint8_t>(in[128 + k / 128 * 32 + k % 32]) >> k / 32 % 4 * 2 & 3;
      const auto s = static_cast<float>(static_cast<std::int8_t>(in[192 + k / 16]));
      out[k] = compat::rounded(d * s) * static_cast<float>(static_cast<int>(low | high << 4) - 32);
    }
  }
};

template <> struct Format<quant::q6_k> : BlockFormat<q6_k_traits> {};

static_assert(PackableFormat<quant::q6_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
