// TinyLlama-1.1B: 1,100,048,384 parameters, Llama 2's shape and vocabulary, output matrix of its own.
// Source: TinyLlama/TinyLlama-1.1B-Chat-v1.0, config.json.
#pragma once

#include <llambda/config/spec.hpp>

/// Every matrix in format Q, as llama-quantize writes pure files; norms are F32.
template <llambda::quant Q = llambda::quant::q8_0>
struct tinyllama_1_1b {
  static constexpr llambda::ModelSpec spec = [] {
    using namespace llambda;
    return ModelSpec{
        .name = "TinyLlama-1.1B",
        .hidden = 2048,
        .layers = 22,
        .heads = 32,
        .kv_heads = 4,
        .ffn = 5632,
        .vocab = 32000,
        .context = 2048,
        .norm_eps = 1e-5f,
        .rope = {.theta = 10000.0f},
        .token_embd = Q,
        .output = Q,
        .kinds = {{LayerSpec::all(Q)}},
    };
  }();
};
