// The storage formats by name: what a config says of each tensor. One row a format: its name, its id in GGUF files and
// its block. How a format is decoded and multiplied stands in quant/<format>.hpp.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

enum class quant : std::uint8_t { none, f32, f16, bf16, q8_0 };

struct quant_info {
  quant kind;
  std::string_view name;      ///< enumerator, as generated configs write it
  std::uint32_t ggml_id;      ///< type id in GGUF files
  std::size_t block;          ///< elements a block
  std::size_t block_bytes;
};

inline constexpr quant_info quant_table[] = {
    {quant::none, "none", 0xffffffffu, 1, 0}, {quant::f32, "f32", 0, 1, 4},       {quant::f16, "f16", 1, 1, 2},
    {quant::bf16, "bf16", 30, 1, 2},          {quant::q8_0, "q8_0", 8, 32, 34},
};

/// Row of `q` in the table.
constexpr const quant_info& info(quant q) noexcept { return quant_table[static_cast<std::size_t>(q)]; }

static_assert([] {
  for (std::size_t i = 0; i < sizeof quant_table / sizeof *quant_table; ++i) {
    if (static_cast<std::size_t>(quant_table[i].kind) != i) return false;
  }
  return true;
}(), "llambda: quant_kind: the table must be in the order of the enumerators");

/// Format of a GGUF type id, or quant::none when the library does not run it.
constexpr quant quant_from_ggml(std::uint32_t id) noexcept {
  for (const quant_info& q : quant_table) {
    if (q.kind != quant::none && q.ggml_id == id) return q.kind;
  }
  return quant::none;
}

/// Bytes of a row of `cols` elements as files store it. Precondition: cols is a multiple of the block.
constexpr std::size_t row_bytes(quant q, std::size_t cols) noexcept { return cols / info(q).block * info(q).block_bytes; }

}  // namespace llambda::inline LLAMBDA_ABI
