// Llama-3.2-1B: 1,235,814,400 parameters, embedding and output tied, frequencies divided by rope_freqs.weight.
// Source: meta-llama/Llama-3.2-1B, config.json; the converter writes its rope_scaling (factor 32) as 32 divisors.
#pragma once

#include <llambda/config/spec.hpp>

/// Every matrix in format Q, as llama-quantize writes pure files; norms are F32.
template <llambda::quant Q = llambda::quant::q8_0>
struct llama_3_2_1b {
  static constexpr llambda::ModelSpec spec = [] {
    using namespace llambda;
    return ModelSpec{
        .name = "Llama-3.2-1B",
        .hidden = 2048,
        .layers = 16,
        .heads = 32,
        .kv_heads = 8,
        .ffn = 8192,
        .vocab = 128256,
        .context = 131072,  // Limits::context, 4096 by default, sizes the cache
        .norm_eps = 1e-5f,
        .rope = {.theta = 500000.0f, .factors = true},
        .token_embd = Q,
        .output = quant::none,  // tied
        .kinds = {{LayerSpec::all(Q)}},
    };
  }();
};
