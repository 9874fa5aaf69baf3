// SmolLM2-135M: 134,515,008 parameters, embedding and output tied.
// Source: HuggingFaceTB/SmolLM2-135M, config.json; base and instruct models have the same shape.
#pragma once

#include <llambda/config/spec.hpp>

/// Every matrix in format Q, as llama-quantize writes pure files; norms are F32.
template <llambda::quant Q = llambda::quant::q8_0>
struct smollm2_135m {
  static constexpr llambda::ModelSpec spec = [] {
    using namespace llambda;
    return ModelSpec{
        .name = "SmolLM2-135M",
        .hidden = 576,
        .layers = 30,
        .heads = 9,
        .kv_heads = 3,
        .ffn = 1536,
        .vocab = 49152,
        .context = 8192,
        .norm_eps = 1e-5f,
        .rope = {.theta = 100000.0f},
        .token_embd = Q,
        .output = quant::none,  // tied
        .kinds = {{LayerSpec::all(Q)}},
    };
  }();
};
