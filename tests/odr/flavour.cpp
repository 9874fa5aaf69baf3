// The library compiled as FLAVOUR: sizes of its public types, and the logits of a tiny model with made-up weights.
// No unit outside sees a type of the library, so that two flavours can meet in one program.
#include "flavour.hpp"

#include <llambda/io/bind.hpp>
#include <llambda/model/transformer.hpp>

namespace FLAVOUR {

using namespace llambda;

struct config {
  static constexpr ModelSpec spec{.name = "flavour", .hidden = 64, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 96,
                                  .vocab = 48, .context = 16, .token_embd = quant::q8_0,
                                  .kinds = {{LayerSpec::all(quant::q8_0)}}};
  static constexpr Limits limits{.context = 16, .batch = 4, .threads = 1};
};

/// Reproducible bytes of a tensor: small codes and scales.
template <class T>
std::vector<std::byte> made_up(std::string_view name) {
  std::uint32_t state = 12345;
  for (char c : name) state = state * 31 + static_cast<unsigned char>(c);
  const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 24; };
  std::vector<std::byte> bytes(T::file_bytes);
  if constexpr (T::format == quant::f32) {
    for (std::size_t i = 0; i < T::cols; ++i) {
      const float value = 0.5f + static_cast<float>(next()) / 256.0f;
      std::memcpy(bytes.data() + i * 4, &value, 4);
    }
  } else {
    for (std::size_t i = 0; i < bytes.size(); i += 34) {
      const std::uint16_t scale = float_to_half(static_cast<float>(1 + next() % 7) / 2048.0f);
      std::memcpy(bytes.data() + i, &scale, 2);
      for (std::size_t k = 2; k < 34; ++k) bytes[i + k] = static_cast<std::byte>(next());
    }
  }
  return bytes;
}

Weights<config> weights(thread_pool& pool) {
  Weights<config> w;
  w.memory = arena(MemoryPlan<config>::model_arena);
  detail::for_each_weight<config>(w, [&]<class T>(const std::string& name, T& tensor) {
    const std::vector<std::byte> bytes = made_up<T>(name);
    detail::fill(tensor, std::span<const std::byte>(bytes), w.memory, pool);
  });
  detail::fill_rope_table<config>(w, pool);
  return w;
}

flavour_report report() {
  thread_pool pool(1);
  const Transformer<config> model(weights(pool));
  const auto ctx = std::make_unique<Context<config>>();
  const std::array<token_id, 5> tokens{1, 7, 47, 0, 12};
  model.forward(*ctx, tokens, pool);
  flavour_report r{};
  r.sizes = {sizeof(ModelSpec),       sizeof(Limits),         sizeof(LayerSpec),      sizeof(arena),
             sizeof(thread_pool),     sizeof(error),          sizeof(load_error),     sizeof(gguf_file),
             sizeof(Weights<config>), sizeof(Context<config>), sizeof(KvCache<config>), sizeof(Transformer<config>),
             sizeof(f32x16<default_arch>), MemoryPlan<config>::total(), sizeof(trace_rows), sizeof(worker)};
  for (std::size_t i = 0; i < r.logits.size(); ++i) r.logits[i] = ctx->logits()[i * 5];
  return r;
}

}  // namespace FLAVOUR

#define FLAVOUR_FUNCTION_(name) flavour_##name
#define FLAVOUR_FUNCTION(name) FLAVOUR_FUNCTION_(name)
flavour_report FLAVOUR_FUNCTION(FLAVOUR)() { return FLAVOUR::report(); }
