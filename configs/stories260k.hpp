// stories260K: the 260,000-parameter Llama that karpathy trained on TinyStories, small enough for tests.
// Source: karpathy/tinyllamas, stories260K/stories260K.bin (header of the file). Rows of 172 are not whole Q8_0 blocks.
#pragma once

#include <llambda/config/spec.hpp>

/// Every matrix in format Q, as llama-quantize writes pure files; norms are F32.
template <llambda::quant Q = llambda::quant::f32>
struct stories260k {
  static constexpr llambda::ModelSpec spec = [] {
    using namespace llambda;
    return ModelSpec{
        .name = "stories260K",
        .hidden = 64,
        .layers = 5,
        .heads = 8,
        .kv_heads = 4,
        .ffn = 172,
        .vocab = 512,
        .context = 512,
        .norm_eps = 1e-5f,
        .rope = {.theta = 10000.0f},
        .token_embd = Q,
        .output = Q,  // llama2.c ties it; the GGUF file stores it again
        .kinds = {{LayerSpec::all(Q)}},
    };
  }();
};
