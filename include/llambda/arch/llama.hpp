// GGUF architecture "llama": Llama 1 to 3.2, Mistral, SmolLM2, TinyLlama and whatever else has their shape.
// Pre-norm RMSNorm, grouped-query attention without biases, RoPE over neighbouring pairs (the converter permutes the
// rows of Wq and Wk for that), SwiGLU; output matrix tied when absent; rope_freqs.weight holds Llama 3's divisors.
#pragma once

#include <llambda/arch/source.hpp>
#include <llambda/tensor/names.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace arch {

/// ModelSpec of a llama file. Throws load_error: missing_key, wrong_type, bad_hparam (hyper-parameters are judged
/// first), missing_tensor, unsupported.
template <ModelSource F>
ModelSpec read_llama(const F& file) {
  ModelSpec s;
  const auto key = [](std::string_view name) { return "llama." + std::string(name); };
  const auto size = [&](std::string_view name) {
    return static_cast<std::size_t>(file.template get<std::uint64_t>(key(name)));
  };
  const auto size_or = [&](std::string_view name, std::size_t fallback) {
    return static_cast<std::size_t>(file.template get_or<std::uint64_t>(key(name), std::uint64_t{fallback}));
  };
  const auto refuse = [&](std::string_view name, std::string expected, std::string got) {
    throw load_error(errc::unsupported, std::string(file.path()), key(name), std::move(expected), std::move(got));
  };

  s.arch = architecture::llama;
  s.name = file.template get_or<std::string_view>("general.name", std::string_view("llama"));
  s.hidden = size("embedding_length");
  s.layers = size("block_count");
  s.heads = size("attention.head_count");
  s.kv_heads = size_or("attention.head_count_kv", s.heads);
  s.head_dim = size_or("attention.key_length", 0);
  s.ffn = size("feed_forward_length");
  s.context = size("context_length");
  s.norm_eps = file.template get<float>(key("attention.layer_norm_rms_epsilon"));
  s.rope.dim = size_or("rope.dimension_count", 0);
  s.rope.theta = file.template get_or<float>(key("rope.freq_base"), 10000.0f);
  s.rope.pairing = rope_pairing::interleaved;
  if (const auto* tokens = file.find("tokenizer.ggml.tokens")) {
    s.vocab = static_cast<std::size_t>(tokens->count());
  } else {
    s.vocab = size_or("vocab_size", 1);  // asked for again below: wrong numbers are named before absent ones
  }

  judge_spec(file, s, [&](std::string_view field) -> std::string {
    if (field == "hidden") return key("embedding_length");
    if (field == "layers") return key("block_count");
    if (field == "heads") return key("attention.head_count");
    if (field == "kv_heads") return key("attention.head_count_kv");
    if (field == "head_dim") return key("attention.key_length");
    if (field == "rope.dim") return key("rope.dimension_count");
    if (field == "rope.theta") return key("rope.freq_base");
    if (field == "ffn") return key("feed_forward_length");
    if (field == "context") return key("context_length");
    if (field == "norm_eps") return key("attention.layer_norm_rms_epsilon");
    if (field == "vocab") return "tokenizer.ggml.tokens";
    return key(field);
  });
  if (!file.find("tokenizer.ggml.tokens")) s.vocab = size("vocab_size");
  const std::size_t head_dim = rules::head_dim(s);
  if (const std::size_t n = size_or("attention.value_length", head_dim); n != head_dim) {
    refuse("attention.value_length", std::to_string(head_dim) + ", the length of a key", std::to_string(n));
  }
  if (const std::size_t n = size_or("expert_count", 0); n != 0) {
    refuse("expert_count", "0, a dense model", std::to_string(n));
  }
  const auto scaling = file.template get_or<std::string_view>(key("rope.scaling.type"), std::string_view("none"));
  if (scaling != "none") refuse("rope.scaling.type", "none (or divisors in rope_freqs.weight)", std::string(scaling));
  // The normal form of a spec: what can be derived is not stored.
  if (s.head_dim != 0 && s.heads * s.head_dim == s.hidden) s.head_dim = 0;
  if (s.rope.dim == head_dim) s.rope.dim = 0;

  tensor_judge<F> judge(file);
  s.token_embd = judge.required("token_embd.weight");
  s.output = judge.optional("output.weight");
  s.rope.factors = judge.optional("rope_freqs.weight") != quant::none;
  judge.required("output_norm.weight");
  std::size_t kinds = 0;
  for (std::size_t layer = 0; layer < s.layers; ++layer) {
    const auto format = [&](std::string_view stem) { return judge.required(gguf_name(layer, stem)); };
    format("attn_norm");
    format("ffn_norm");
    const LayerSpec kind{.attn_q = format("attn_q"), .attn_k = format("attn_k"), .attn_v = format("attn_v"),
                         .attn_output = format("attn_output"), .ffn_gate = format("ffn_gate"),
                         .ffn_up = format("ffn_up"), .ffn_down = format("ffn_down")};
    std::size_t i = 0;
    while (i < kinds && s.kinds[i] != kind) ++i;
    if (i == kinds) {
      if (kinds == max_kinds) refuse("block_count", "at most 32 different kinds of layers", "more");
      s.kinds[kinds++] = kind;
    }
    s.kind_of[layer] = static_cast<std::uint8_t>(i);
  }
  judge.finish();
  judge_spec(file, s, [&](std::string_view) { return std::string("tensor formats"); });  // now with formats
  return s;
}

}  // namespace arch

}  // namespace llambda::inline LLAMBDA_ABI
