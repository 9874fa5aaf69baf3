// The bit layouts that the formats with blocks of 32 share: 16 bytes whose low nibbles are codes 0 .. 15 and whose high
// nibbles are codes 16 .. 31, and 32 bits with one more bit of each code. Scalar meaning and packed tile side by side.
#pragma once

#include <llambda/quant/block_format.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Levels of IQ4_NL and IQ4_XS (ggml's kvalues_iq4nl).
inline constexpr std::int8_t iq4_levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                               1,    13,   25,  38,  53,  69,  89,  113};

/// Code i of 32 in the 16 bytes at `p`.
LLAMBDA_INLINE int nibble_of_32(const std::byte* p, std::size_t i) noexcept {
  return static_cast<std::uint8_t>(p[i % 16]) >> (i / 16 * 4) & 15;
}

/// Codes 4 G .. 4 G + 3 of the rows of a part: `p` is where the four words of nibbles of the part are.
template <Arch A, std::size_t G> LLAMBDA_INLINE auto nibbles_of_32(const std::byte* p) noexcept {
  return u8_vec<A, code_bytes<A>>::load(p + G % 4 * 64).template field<G / 4 * 4, 15>();
}

/// 16 where bit i of the 32 bits at `p` is set, or 0.
LLAMBDA_INLINE int high_bit_of_32(const std::byte* p, std::size_t i) noexcept {
  return (static_cast<std::uint8_t>(p[i / 8]) >> i % 8 & 1) << 4;
}

/// The same for codes 4 G .. 4 G + 3 of the rows of a part, from spread bits.
template <Arch A, std::size_t G> LLAMBDA_INLINE auto high_bit_of_32(const std::byte* p) noexcept {
  return u8_vec<A, code_bytes<A>>::load(p).template field<static_cast<int>(G) - 4, 16>();
}

/// Bit 4 g + j of the 32 bits at `p` moves to bit g of byte j, so that byte j of a row's word serves its code j of
/// every group.
inline void spread_high_bits(std::byte* p) noexcept {
  std::uint32_t in, out = 0;
  std::memcpy(&in, p, 4);
  for (unsigned g = 0; g < 8; ++g) out |= (((in >> 4 * g & 15) * 0x00204081u) & 0x01010101u) << g;
  std::memcpy(p, &out, 4);
}

/// The inverse.
inline void gather_high_bits(std::byte* p) noexcept {
  std::uint32_t in, out = 0;
  std::memcpy(&in, p, 4);
  for (unsigned i = 0; i < 32; ++i) out |= (in >> (i % 4 * 8 + i / 4) & 1u) << i;
  std::memcpy(p, &out, 4);
}

/// For traits: codes of 4 bits.
struct four_bit_codes {
  static constexpr code_range codes{false, 15};
  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return nibbles_of_32<A, G>(p);
  }
};
/// Codes of 5 bits: 32 high bits, then nibbles.
struct five_bit_codes {
  static constexpr code_range codes{false, 31};
  template <Arch A, std::size_t S, std::size_t G> static LLAMBDA_INLINE auto code(const std::byte* p) noexcept {
    return nibbles_of_32<A, G>(p + 64) | high_bit_of_32<A, G>(p);
  }
  static void transform(std::byte* bytes) noexcept { spread_high_bits(bytes); }
  static void restore(std::byte* bytes) noexcept { gather_high_bits(bytes); }
};

}  // namespace llambda::inline LLAMBDA_ABI
