// Q4_K: superblocks of 256 weights in 8 blocks of 32, w = d * s * q - dmin * m.  144 bytes: binary16 d, binary16 dmin,
// 12 bytes with 6-bit s and m (k_scales.hpp), 128 bytes q: the low nibbles of each 32 bytes are one block, the high
// nibbles the next. 4.5 bits a weight.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/k_scales.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q4_k_traits : k_scales_and_minima {
  static constexpr quant kind = quant::q4_k;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{false, 15};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{16, 4, 32}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return u8_vec<A, code_bytes<A>>::load(p + (S / 2 * 8 + G) * 64).template field<S % 2 * 4, 15>();
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    decode_with(in, out, [&](std::size_t k) {
      return static_cast<unsigned>(in[16 + k / 64 * 32 + k % 32]) >> k / 32 % 2 * 4 & 15;
    });
  }
};

template <> struct Format<quant::q4_k> : BlockFormat<q4_k_traits> {};

static_assert(PackableFormat<quant::q4_k, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
