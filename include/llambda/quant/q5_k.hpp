// Q5_K: superblocks of 256 weights in 8 blocks of 32, w = d * s * q - dmin * m.  176 bytes: binary16 d, binary16 dmin,
// 12 bytes with 6-bit s and m (k_scales.hpp), 32 bytes with bit 4 of q (bit b of byte l: column 32 b + l), 128 bytes of
// nibbles as in Q4_K. 5.5 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/k_scales.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q5_k_traits : k_scales_and_minima {
  static constexpr quant kind = quant::q5_k;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{false, 31};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{16, 4, 8}, {48, 4, 32}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    using vec = u8_vec<A, code_bytes<A>>;
    return vec::load(p + (8 + S / 2 * 8 + G) * 64).template field<S % 2 * 4, 15>() |
           vec::load(p + G * 64).template field<static_cast<int>(S) - 4, 16>();
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    decode_with(in, out, [&](std::size_t k) {
      const unsigned low = static_cast<unsigned>(in[48 + k / 64 * 32 + k % 32]) >> k / 32 % 2 * 4 & 15;
      return low | (static_cast<unsigned>(in[16 + k % 32]) >> k / 32 & 1u) << 4;
    });
  }
};

template <> struct Format<quant::q5_k> : BlockFormat<q5_k_traits> {};

static_assert(PackableFormat<quant::q5_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
