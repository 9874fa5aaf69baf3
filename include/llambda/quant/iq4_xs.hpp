// IQ4_XS: superblocks of 256 weights in 8 blocks of 32, w = d * (s - 32) * table[q] with the table of IQ4_NL.
// 136 bytes: binary16 d, 16 bits with the high 2 bits of s, 4 bytes with their low nibbles, 128 bytes of nibbles, 16 a
// block as in Q4_0. 4.25 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct iq4_xs_traits {
  static constexpr quant kind = quant::iq4_xs;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{true, 127};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{8, 4, 32}};
  static constexpr file_field meta_fields[] = {{0, 2, 1}, {2, 1, 6}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return nibbles_of_32<A, G>(p + S * 256).lookup(iq4_levels);
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    const auto s = byte_of_rows<A>(meta, 4 + B / 2).template field<B % 2 * 4, 15>() |
                   byte_of_rows<A>(meta, 2 + B / 4).template field<static_cast<int>(B % 4 * 2) - 4, 0x30>();
    return half_of_rows<A>(meta, 0) * convert<A>::from_i8(s.template minus<32>());
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in));
    for (std::size_t k = 0; k < 256; ++k) {
      const std::size_t b = k / 32;
      const unsigned low = static_cast<std::uint8_t>(in[4 + b / 2]) >> b % 2 * 4 & 15;
      const unsigned high = static_cast<std::uint8_t>(in[2 + b / 4]) >> b % 4 * 2 & 3;
      const float scale = compat::rounded(d * static_cast<float>(static_cast<int>(low | high << 4) - 32));
      out[k] = scale * static_cast<float>(iq4_levels[nibble_of_32(in + 8 + b * 16, k % 32)]);
    }
  }
};

template <> struct Format<quant::iq4_xs> : BlockFormat<iq4_xs_traits> {};

static_assert(PackableFormat<quant::iq4_xs, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
