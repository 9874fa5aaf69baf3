// Sizes that follow from a config, as constants, so that no code computes one twice.
// All in elements; memory_plan.hpp turns them into bytes.
#pragma once

#include <llambda/config/check.hpp>
#include <llambda/core/aligned.hpp>

namespace llambda::inline LLAMBDA_ABI {

template <ModelConfig C>
inline constexpr Limits limits_of = limits_of_config<C>();

template <ModelConfig C>
inline constexpr std::size_t head_dim = rules::head_dim(C::spec);

/// Elements of a head that rotate.
template <ModelConfig C>
inline constexpr std::size_t rope_dim = rules::rope_dim(C::spec);

/// Width of all query heads together; differs from hidden where head_dim is given.
template <ModelConfig C>
inline constexpr std::size_t q_dim = C::spec.heads * head_dim<C>;

/// Width of all key (or value) heads together.
template <ModelConfig C>
inline constexpr std::size_t kv_dim = C::spec.kv_heads * head_dim<C>;

/// Query heads that share a key/value head.
template <ModelConfig C>
inline constexpr std::size_t group = C::spec.heads / C::spec.kv_heads;

/// No output matrix of its own: token_embd is used for both ends.
template <ModelConfig C>
inline constexpr bool tied = C::spec.output == quant::none;

/// Layer kinds in use.
template <ModelConfig C>
inline constexpr std::size_t kind_count = [] {
  std::size_t n = 0;
  for (std::size_t i = 0; i < C::spec.layers; ++i) n = C::spec.kind_of[i] >= n ? C::spec.kind_of[i] + 1u : n;
  return n;
}();

/// Layers of one kind.
template <ModelConfig C, std::size_t Kind>
inline constexpr std::size_t layers_of_kind = [] {
  std::size_t n = 0;
  for (std::size_t i = 0; i < C::spec.layers; ++i) n += C::spec.kind_of[i] == Kind;
  return n;
}();

/// Position of each layer among those of its kind.
template <ModelConfig C>
inline constexpr auto index_in_kind = [] {
  std::array<std::uint16_t, max_layers> index{};
  std::array<std::uint16_t, max_kinds> next{};
  for (std::size_t i = 0; i < C::spec.layers; ++i) index[i] = next[C::spec.kind_of[i]]++;
  return index;
}();

/// Longest vector a layer multiplies by a matrix, padded.
template <ModelConfig C>
inline constexpr std::size_t widest = [] {
  const std::size_t a = C::spec.hidden, b = q_dim<C>, c = C::spec.ffn;
  return padded(a > b ? (a > c ? a : c) : (b > c ? b : c));
}();

}  // namespace llambda::inline LLAMBDA_ABI
