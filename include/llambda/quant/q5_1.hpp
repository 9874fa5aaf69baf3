// Q5_1: blocks of 32 weights, w = d * q + m.  24 bytes: binary16 d, binary16 m, 32 bits that are bit 4 of q[0 .. 31],
// then 16 bytes of nibbles as in Q4_0. 6 bits a weight; error at most d / 2, d = (max w - min w) / 31.
// In a tile the high bits are spread as in Q5_0.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q5_1_traits : five_bit_codes, one_scale_and_minimum {
  static constexpr quant kind = quant::q5_1;
  static constexpr std::size_t sub = 32;
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{4, 4, 5}};
  static constexpr file_field meta_fields[] = {{0, 2, 2}};

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in)), m = half_to_float(load_u16(in + 2));
    for (std::size_t i = 0; i < 32; ++i) {
      const int q = nibble_of_32(in + 8, i) | high_bit_of_32(in + 4, i);
      out[i] = compat::rounded(d * static_cast<float>(q)) + m;
    }
  }
};

template <> struct Format<quant::q5_1> : BlockFormat<q5_1_traits> {};

static_assert(PackableFormat<quant::q5_1, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
