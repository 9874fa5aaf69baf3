// TQ2_0: blocks of 256 ternary weights, w = d * (q - 1), q in {0, 1, 2} (3 reads as 2 d).  66 bytes: 64 bytes q, then
// binary16 d. Byte l of each 32 bytes holds q of columns l, 32 + l, 64 + l, 96 + l from its low bits up. 2.06 bits a
// weight; exact for ternary models.
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct tq2_0_traits : one_scale {
  static constexpr quant kind = quant::tq2_0;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{false, 3};
  static constexpr int zero_shift = 0;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{0, 4, 16}};
  static constexpr file_field meta_fields[] = {{64, 2, 1}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return u8_vec<A, code_bytes<A>>::load(p + (S / 4 * 8 + G) * 64).template field<2 * (S % 4), 3>();
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = half_to_float(load_u16(in + 64));
    for (std::size_t k = 0; k < 256; ++k) {
      const unsigned byte = static_cast<std::uint8_t>(in[k / 128 * 32 + k % 32]);
      out[k] = static_cast<float>(static_cast<int>(byte >> k / 32 % 4 * 2 & 3) - 1) * d;
    }
  }
};

template <> struct Format<quant::tq2_0> : BlockFormat<tq2_0_traits> {};

static_assert(PackableFormat<quant::tq2_0, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
