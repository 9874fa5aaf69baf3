// Q5_0: blocks of 32 weights, w = d * (q - 16).  22 bytes: binary16 d, 32 bits that are bit 4 of q[0 .. 31], then 16
// bytes of nibbles as in Q4_0. 5.5 bits a weight; error at most d / 2, and d at the end that -16 d does not reach.
// In a tile the high bits are spread so that byte j of a row's word holds those of q[j], q[4 + j], q[8 + j] ...
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q5_0_traits : five_bit_codes, one_scale {
  static constexpr quant kind = quant::q5_0;
  static constexpr std::size_t sub = 32;
  static constexpr int zero_shift = 4;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{2, 4, 5}};
  static constexpr file_field meta_fields[] = {{0, 2, 1}};

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in));
    for (std::size_t i = 0; i < 32; ++i) {
      out[i] = d * static_cast<float>((nibble_of_32(in + 6, i) | high_bit_of_32(in + 2, i)) - 16);
    }
  }
};

template <> struct Format<quant::q5_0> : BlockFormat<q5_0_traits> {};

static_assert(PackableFormat<quant::q5_0, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
