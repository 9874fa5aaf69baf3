// The storage types a GGUF tensor can have: id in the file, name, elements in a block, bytes of a block.
// The table says how long the data of a tensor is, for types this library can compute with and for the others, so that
// a file is checked in full before anything decides whether it can run. Ids that were removed (4, 5, 31..33, 36..38)
// are absent on purpose. Source: enum ggml_type and the block structs of ggml, state of August 2026.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

/// One storage type. Rows are whole blocks: a row of n elements takes n / block_length * block_bytes bytes.
struct ggml_type {
  std::uint32_t id;            ///< number in the file
  std::string_view name;       ///< "Q8_0"
  std::uint32_t block_length;  ///< elements in a block, never 0
  std::uint32_t block_bytes;   ///< bytes of a block

  /// Storage of one element, in bits.
  constexpr double bits_per_weight() const noexcept { return 8.0 * block_bytes / block_length; }
};

/// Every known type, ids ascending.
inline constexpr std::array<ggml_type, 35> ggml_types{{
    {0, "F32", 1, 4},         {1, "F16", 1, 2},         {2, "Q4_0", 32, 18},      {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},      {7, "Q5_1", 32, 24},      {8, "Q8_0", 32, 34},      {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},    {11, "Q3_K", 256, 110},   {12, "Q4_K", 256, 144},   {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},   {15, "Q8_K", 256, 292},   {16, "IQ2_XXS", 256, 66}, {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98}, {19, "IQ1_S", 256, 50},   {20, "IQ4_NL", 32, 18},   {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},   {23, "IQ4_XS", 256, 136}, {24, "I8", 1, 1},         {25, "I16", 1, 2},
    {26, "I32", 1, 4},        {27, "I64", 1, 8},        {28, "F64", 1, 8},        {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},       {34, "TQ1_0", 256, 54},   {35, "TQ2_0", 256, 66},   {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},    {41, "Q1_0", 128, 18},    {42, "Q2_0", 64, 18},
}};

/// The type with this id, or nullptr when there is none: removed, unknown or negative ids.
constexpr const ggml_type* find_ggml_type(std::uint32_t id) noexcept {
  for (const ggml_type& type : ggml_types) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

/// The type with this name ("Q8_0", upper case), or nullptr.
constexpr const ggml_type* find_ggml_type(std::string_view name) noexcept {
  for (const ggml_type& type : ggml_types) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

}  // namespace llambda::inline LLAMBDA_ABI
