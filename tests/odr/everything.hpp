// What both translation units use: functions and templates of every layer, for one tiny config.
// Inline functions and templates have one address in a program; where the two units disagree, they differ.
#pragma once

#include <all_headers.hpp>

#include <array>

struct odr_config {
  static constexpr llambda::ModelSpec spec{.name = "odr",
                                           .hidden = 32,
                                           .layers = 2,
                                           .heads = 2,
                                           .kv_heads = 1,
                                           .ffn = 64,
                                           .vocab = 40,
                                           .context = 32,
                                           .token_embd = llambda::quant::q8_0,
                                           .kinds = {{llambda::LayerSpec::all(llambda::quant::q8_0)}}};
};

using address = const void*;

template <class F> address address_of(F* f) { return reinterpret_cast<address>(f); }

/// Instantiates the whole forward pass.
inline void run_step(const llambda::Transformer<odr_config>& model, llambda::Context<odr_config>& ctx,
                     std::span<const llambda::token_id> tokens, llambda::thread_pool& pool) {
  model.forward(ctx, tokens, pool);
}

inline std::array<address, 8> addresses() {
  using namespace llambda;
  return {address_of(&gemv<quant::q8_0, 32, default_arch, store_result>),
          address_of(&gemm<quant::q8_0, 32, default_arch, add_result>),
          address_of(&attention<quant::f16, 16, 2, default_arch>::tile),
          address_of(&detail::attend<quant::f16, 16, 2, default_arch>::run),
          address_of(&bind_weights<odr_config>),
          address_of(&emit_config),
          address_of(&version),
          address_of(&run_step)};
}

std::array<address, 8> addresses_in_two();
