// MXFP4 (OCP Microscaling 1.0): blocks of 32 weights, w = 2^(e - 127) * f.  17 bytes: E8M0 exponent e, then 16 bytes
// whose low nibbles are f[0 .. 15] and whose high nibbles are f[16 .. 31], each an E2M1 number: 0, 1/2, 1, 3/2, 2, 3,
// 4, 6 and their negatives. 4.25 bits a weight. Codes are 2 f, so that they are integers, and the scale is half as
// large.
#pragma once

#include <llambda/quant/block_format.hpp>
#include <llambda/quant/nibbles.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Twice the 16 numbers of E2M1; the second half is negative.
inline constexpr std::int8_t e2m1_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

struct mxfp4_traits {
  static constexpr quant kind = quant::mxfp4;
  static constexpr std::size_t sub = 32;
  static constexpr code_range codes{true, 12};
  static constexpr int zero_shift = -1;
  static constexpr bool has_min = false;
  static constexpr file_field code_fields[] = {{1, 4, 4}};
  static constexpr file_field meta_fields[] = {{0, 1, 1}};

  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return nibbles_of_32<A, G>(p).lookup(e2m1_doubled);
  }
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    return convert<A>::from_e8m0_half(byte_of_rows<A>(meta, 0));
  }

  static void decode_block(const std::byte* in, float* out) noexcept {
    const float d = e8m0_to_float_half(static_cast<std::uint8_t>(in[0]));
    for (std::size_t i = 0; i < 32; ++i) out[i] = d * static_cast<float>(e2m1_doubled[nibble_of_32(in + 1, i)]);
  }
};

template <> struct Format<quant::mxfp4> : BlockFormat<mxfp4_traits> {};

static_assert(PackableFormat<quant::mxfp4, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
