// Q8_0: blocks of 32 weights, w = d * q.  34 bytes: binary16 d, then 32 int8 q. 8.5 bits a weight; error of a weight at
// most d / 2 plus the rounding of d (relative 2^-11), d = max |w| / 127.
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct q8_0_traits : one_scale {
  static constexpr quant kind = quant::q8_0;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes = int8_codes;
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{2, 4, 8}};
  static constexpr file_field meta_fields[] = {{0, 2, 1}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return u8_vec<A, code_bytes<A>>::load(p + G * 64);
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in));
    for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<std::int8_t>(in[2 + i]));
  }
};

template <> struct Format<quant::q8_0> : BlockFormat<q8_0_traits> {};

static_assert(PackableFormat<quant::q8_0, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
