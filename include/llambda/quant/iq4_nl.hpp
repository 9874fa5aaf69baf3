// IQ4_NL: blocks of 32 weights, w = d * table[q].  18 bytes as Q4_0: binary16 d, then 16 bytes of nibbles. 4.5 bits a
// weight; the 16 levels are denser near zero, where most weights are.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct iq4_nl_traits : one_scale {
  static constexpr quant kind = quant::iq4_nl;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{true, 127};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{2, 4, 4}};
  static constexpr file_field meta_fields[] = {{0, 2, 1}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return nibbles_of_32<A, G>(p).lookup(iq4_levels);
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in));
    for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(iq4_levels[nibble_of_32(in + 2, i)]);
  }
};

template <> struct Format<quant::iq4_nl> : BlockFormat<iq4_nl_traits> {};

static_assert(PackableFormat<quant::iq4_nl, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
