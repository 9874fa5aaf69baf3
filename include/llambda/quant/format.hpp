// The contract of a storage format. Format<Q> says what the bits mean, how a tile of 16 rows is packed so that a SIMD
// lane is an output row, and how packed weights are multiplied. Each format is one header that specialises it.
//
// Packed layout: a tile holds `lanes` = 16 rows. A step is `step` consecutive columns of all 16 rows and takes
// `step_bytes` bytes of the tile. Lane r of every accumulator belongs to row r, and adds its columns from the first to
// the last: that order is part of the format, the same for one token or many and on every instruction set.
#pragma once

#include <llambda/config/quant_kind.hpp>
#include <llambda/core/aligned.hpp>
#include <llambda/simd/f32x16.hpp>

#include <concepts>
#include <cstring>

namespace llambda::inline LLAMBDA_ABI {

/// What a format's kernel multiplies its weights with.
enum class activation_kind : std::uint8_t {
  f32,  ///< the activations as they are
  q8,   ///< int8 codes with one float scale a 32 (quant/activation.hpp)
};

template <quant Q> inline constexpr bool format_is_missing = false;

/// Primary template: names what is missing.
template <quant Q> struct Format {
  static_assert(format_is_missing<Q>, "llambda: format: this storage format has no kernels; add quant/<format>.hpp");
};

/// Sixteen rows of a file, to be packed together; a null pointer is a row of zeros past the end of the matrix.
using tile_rows = const std::byte* const (&)[lanes];

template <quant Q, class A>
concept PackableFormat = requires(const std::byte* in, std::byte* out, float* values, tile_rows rows,
                                  f32x16<A> (&acc)[1][1], const std::byte* const (&one)[1]) {
  { Format<Q>::kind } -> std::convertible_to<quant>;
  { Format<Q>::block } -> std::convertible_to<std::size_t>;       // elements a block in the file
  { Format<Q>::step } -> std::convertible_to<std::size_t>;        // columns a packed step
  { Format<Q>::step_bytes } -> std::convertible_to<std::size_t>;  // bytes of 16 rows of a step
  { Format<Q>::activation } -> std::convertible_to<activation_kind>;
  Format<Q>::decode(in, std::size_t{}, values);                     // file row -> floats: the meaning of the bits
  Format<Q>::pack(rows, std::size_t{}, out);                        // 16 file rows -> one tile
  Format<Q>::unpack_row(in, std::size_t{}, std::size_t{}, values);  // lane of a tile -> floats
  Format<Q>::template multiply<A, 256, 1, 1>(acc, one, one, std::size_t{}, std::size_t{});
  requires Format<Q>::block == info(Q).block;
};

/// Bytes of a packed tile of `cols` columns: its steps, and up to 63 bytes so that the next tile starts aligned.
template <quant Q> constexpr std::size_t tile_bytes(std::size_t cols) noexcept {
  return aligned_bytes(round_up(cols, Format<Q>::step) / Format<Q>::step * Format<Q>::step_bytes);
}

/// Tiles of `rows` rows.
constexpr std::size_t tile_count(std::size_t rows) noexcept { return round_up(rows, lanes) / lanes; }

}  // namespace llambda::inline LLAMBDA_ABI
