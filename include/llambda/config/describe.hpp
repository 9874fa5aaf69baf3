// A ModelSpec as text: name and value of each field, for messages, reports and generated headers.
// Numbers are written so that reading them back gives the same bits.
#pragma once

#include <llambda/config/rules.hpp>

#include <charconv>
#include <string>

namespace llambda::inline LLAMBDA_ABI {

constexpr std::string_view name_of(architecture a) noexcept {
  switch (a) {
    case architecture::llama: return "llama";
  }
  return "unknown";
}

constexpr std::string_view name_of(rope_pairing p) noexcept {
  return p == rope_pairing::interleaved ? "interleaved" : "halves";
}

/// Shortest decimal text that reads back as the same float: "1e-05".
inline std::string exact_text(float x) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return {buffer, end};
}

/// Calls f(field, value text) for each field that a file and a config must agree on. Formats of layer tensors are
/// compared tensor by tensor; name and trained context do not change what is computed.
template <class F>
void for_each_field(const ModelSpec& s, F&& f) {
  f("architecture", std::string(name_of(s.arch)));
  f("hidden", std::to_string(s.hidden));
  f("layers", std::to_string(s.layers));
  f("heads", std::to_string(s.heads));
  f("kv_heads", std::to_string(s.kv_heads));
  f("head_dim", std::to_string(rules::head_dim(s)));
  f("ffn", std::to_string(s.ffn));
  f("vocab", std::to_string(s.vocab));
  f("norm_eps", exact_text(s.norm_eps));
  f("rope.theta", exact_text(s.rope.theta));
  f("rope.dim", std::to_string(rules::rope_dim(s)));
  f("rope.pairing", std::string(name_of(s.rope.pairing)));
  f("rope.factors", std::string(s.rope.factors ? "yes" : "no"));
  f("token_embd", std::string(info(s.token_embd).name));
  f("output", std::string(s.output == quant::none ? "tied" : info(s.output).name));
}

/// "[3072, 768]" as GGUF writes shapes: row length first.
inline std::string shape_text(std::size_t cols, std::size_t rows) {
  return rows == 1 ? "[" + std::to_string(cols) + "]"
                   : "[" + std::to_string(cols) + ", " + std::to_string(rows) + "]";
}

}  // namespace llambda::inline LLAMBDA_ABI
