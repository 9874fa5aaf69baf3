// From the stem of a tensor (its member name) to its name in GGUF files:
//   token_embd -> token_embd.weight,   attn_q of layer 3 -> blk.3.attn_q.weight,   attn_q_bias -> blk.3.attn_q.bias
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

/// Name of a tensor that is no layer's.
inline std::string gguf_name(std::string_view stem) {
  constexpr std::string_view bias = "_bias";
  if (stem.ends_with(bias)) return std::string(stem.substr(0, stem.size() - bias.size())) + ".bias";
  return std::string(stem) + ".weight";
}

/// Name of a tensor of layer `layer`.
inline std::string gguf_name(std::size_t layer, std::string_view stem) {
  return "blk." + std::to_string(layer) + "." + gguf_name(stem);
}

}  // namespace llambda::inline LLAMBDA_ABI
