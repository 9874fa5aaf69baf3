// The storage formats by name: what a config says of each tensor. One row a format: its name, its id in GGUF files and
// its block. How a format is decoded and multiplied stands in quant/<format>.hpp.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

enum class quant : std::uint8_t {
  none,
  f32,
  f16,
  bf16,
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  tq2_0
};

struct quant_info {
  quant kind;
  std::string_view name;  ///< enumerator, as generated configs write it
  std::uint32_t ggml_id;  ///< type id in GGUF files
  std::size_t block;      ///< elements a block
  std::size_t block_bytes;
};

inline constexpr quant_info quant_table[] = {
    {quant::none, "none", 0xffffffffu, 1, 0},
    {quant::f32, "f32", 0, 1, 4},
    {quant::f16, "f16", 1, 1, 2},
    {quant::bf16, "bf16", 30, 1, 2},
    {quant::q8_0, "q8_0", 8, 32, 34},
    {quant::q4_0, "q4_0", 2, 32, 18},
    {quant::q4_1, "q4_1", 3, 32, 20},
    {quant::q5_0, "q5_0", 6, 32, 22},
    {quant::q5_1, "q5_1", 7, 32, 24},
    {quant::q2_k, "q2_k", 10, 256, 84},
    {quant::q3_k, "q3_k", 11, 256, 110},
    {quant::q4_k, "q4_k", 12, 256, 144},
    {quant::q5_k, "q5_k", 13, 256, 176},
    {quant::q6_k, "q6_k", 14, 256, 210},
    {quant::iq4_nl, "iq4_nl", 20, 32, 18},
    {quant::iq4_xs, "iq4_xs", 23, 256, 136},
    {quant::mxfp4, "mxfp4", 39, 32, 17},
    {quant::tq2_0, "tq2_0", 35, 256, 66},
};

/// Row of `q` in the table.
constexpr const quant_info& info(quant q) noexcept { return quant_table[static_cast<std::size_t>(q)]; }

static_assert(
    [] {
      for (std::size_t i = 0; i < sizeof quant_table / sizeof *quant_table; ++i) {
        if (static_cast<std::size_t>(quant_table[i].kind) != i) return false;
      }
      return true;
    }(),
    "llambda: quant_kind: the table must be in the order of the enumerators");

/// Format of a GGUF type id, or quant::none when the library does not run it.
constexpr quant quant_from_ggml(std::uint32_t id) noexcept {
  for (const quant_info& q : quant_table) {
    if (q.kind != quant::none && q.ggml_id == id) return q.kind;
  }
  return quant::none;
}

/// Format of a name in the table, or quant::none.
constexpr quant quant_named(std::string_view name) noexcept {
  for (const quant_info& row : quant_table) {
    if (row.name == name) return row.kind;
  }
  return quant::none;
}

/// Formats a KV cache may have.
constexpr bool is_kv_format(quant q) noexcept {
  return q == quant::f32 || q == quant::f16 || q == quant::bf16 || q == quant::q8_0;
}

/// Bytes of a row of `cols` elements as files store it. Precondition: cols is a multiple of the block.
constexpr std::size_t row_bytes(quant q, std::size_t cols) noexcept {
  return cols / info(q).block * info(q).block_bytes;
}

}  // namespace llambda::inline LLAMBDA_ABI
