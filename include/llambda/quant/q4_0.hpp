// Q4_0: blocks of 32 weights, w = d * (q - 8).  18 bytes: binary16 d, then 16 bytes whose low nibbles are q[0 .. 15]
// and whose high nibbles are q[16 .. 31]. 4.5 bits a weight; error at most d / 2, and d at the end that -8 d does not
// reach.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q4_0_traits : four_bit_codes, one_scale {
  static constexpr quant kind = quant::q4_0;
  static constexpr std::size_t sub = 32;
  static constexpr int zero_shift = 3;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{2, 4, 4}};
  static constexpr file_field meta_fields[] = {{0, 2, 1}};

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in));
    for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(nibble_of_32(in + 2, i) - 8);
  }
};

template <> struct Format<quant::q4_0> : BlockFormat<q4_0_traits> {};

static_assert(PackableFormat<quant::q4_0, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
