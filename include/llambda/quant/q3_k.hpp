// Q3_K: superblocks of 256 weights in 16 blocks of 16, w = d * (s - 32) * (q - 4).  110 bytes: 32 bytes with bit 2 of q
// (bit b of byte l: column 32 b + l), 64 bytes with its low bits as in Q2_K, 12 bytes with s, binary16 d. 3.44 bits a
// weight.
//   s[i], i = 0 .. 15: low 4 bits in a nibble of bytes 0 .. 7 (low nibbles first), high 2 bits in byte 8 + i % 4
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q3_k_traits {
  static constexpr quant kind = quant::q3_k;
  static constexpr std::size_t sub = 16;
  static constexpr code_range codes{false, 7};
  static constexpr int zero_shift = 2;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{0, 4, 8}, {32, 4, 16}};
  static constexpr file_field meta_fields[] = {{96, 1, 12}, {108, 2, 1}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    using vec = u8_vec<A, code_bytes<A>>;
    return vec::load(p + (8 + S / 4 * 8 + G) * 64).template field<2 * (S % 4), 3>() |
           vec::load(p + G * 64).template field<static_cast<int>(S) - 2, 4>();
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    const auto s = byte_of_rows<A>(meta, B % 8).template field<B / 8 * 4, 15>() |
                   byte_of_rows<A>(meta, 8 + B % 4).template field<static_cast<int>(B / 4 * 2) - 4, 0x30>();
    return half_of_rows<A>(meta, 12) * convert<A>::from_i8(s.template minus<32>());
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in + 108));
    for (std::size_t k = 0; k < 256; ++k) {
      const std::size_t i = k / 16;
      const unsigned low = static_cast<std::uint8_t>(in[96 + i % 8]), high = static_cast<std::uint8_t>(in[104 + i % 4]);
      const int s = static_cast<int>((low >> i / 8 * 4 & 15) | (high >> i / 4 * 2 & 3) << 4) - 32;
      const unsigned bits = static_cast<std::uint8_t>(in[32 + k / 128 * 32 + k % 32]) >> k / 32 % 4 * 2 & 3;
      const unsigned top = static_cast<std::uint8_t>(in[k % 32]) >> k / 32 & 1;
      out[k] = compat::rounded(d * static_cast<float>(s)) * static_cast<float>(static_cast<int>(bits | top << 2) - 4);
    }
  }
};

template <> struct Format<quant::q3_k> : BlockFormat<q3_k_traits> {};

static_assert(PackableFormat<quant::q3_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
