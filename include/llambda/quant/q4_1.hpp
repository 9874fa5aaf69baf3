// Q4_1: blocks of 32 weights, w = d * q + m.  20 bytes: binary16 d, binary16 m, then 16 bytes whose low nibbles are
// q[0 .. 15] and whose high nibbles are q[16 .. 31]. 5 bits a weight; error at most d / 2, d = (max w - min w) / 15.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q4_1_traits : four_bit_codes, one_scale_and_minimum {
  static constexpr quant kind = quant::q4_1;
  static constexpr std::size_t sub = 32;
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = true;
  static constexpr file_field code_fields[] = {{4, 4, 4}};
  static constexpr file_field meta_fields[] = {{0, 2, 2}};

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in)), m = half_to_float(load_u16(in + 2));
    for (std::size_t i = 0; i < 32; ++i) {
      out[i] = compat::rounded(d * static_cast<float>(nibble_of_32(in + 4, i))) + m;
    }
  }
};

template <> struct Format<quant::q4_1> : BlockFormat<q4_1_traits> {};

static_assert(PackableFormat<quant::q4_1, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
