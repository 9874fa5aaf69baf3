// The memory plan is no estimate: what is used after loading equals what was planned, for every format and shape, and
// the parts add up. Sizes are also computed here from the layouts' definitions.
#include "golden_models.hpp"

using namespace llambda;

namespace {

template <class C> void check() {
  INFO(std::string(C::spec.name));
  using plan = MemoryPlan<C>;
  thread_pool pool(2);
  const auto file = std::make_shared<const gguf_file>(gguf_file::open(test::golden_path<C>()));
  std::size_t in_file = 0;
  for (const gguf_tensor& t : file->tensors()) in_file += static_cast<std::size_t>(t.bytes);
  const auto weights = llambda::bind_weights<C>(file, pool);
  CHECK(weights.memory.used() == plan::model_arena);
  CHECK(weights.memory.size() == plan::model_arena);
  CHECK(plan::weights_in_file == in_file);
  const auto ctx = std::make_unique<Context<C>>();
  CHECK(ctx->memory_used() == plan::context_arena);
  CHECK(ctx->memory_size() == plan::context_arena);

  std::size_t sum = 0;
  for (const plan_entry& e : plan::entries()) sum += e.bytes;
  CHECK(sum == plan::total());
  CHECK(plan::model_arena + plan::weights_mapped + plan::context_arena == plan::total());
  CHECK(plan::model_arena == plan::weights_packed + plan::tables);
  CHECK(plan::context_arena == plan::kv_cache + plan::activations + plan::scratch);
  CHECK(plan::weights_mapped ==
        (tied<C> ? 0 : static_cast<std::size_t>(file->find_tensor("token_embd.weight")->bytes)));
  for (std::size_t bytes : {plan::model_arena, plan::context_arena, plan::kv_cache, plan::activations, plan::scratch}) {
    CHECK(bytes % buffer_alignment == 0);
  }
  // The cache: keys padded to 16 positions, values to 16 elements; these models have 64 positions and F32.
  const std::size_t blocks = C::spec.layers * C::spec.kv_heads;
  CHECK(plan::kv_cache == blocks * 64 * (head_dim<C> + padded(head_dim<C>)) * 4);
  CHECK(plan::tables == 64 * rope_dim<C> * 4);
}

struct f16_cache {
  static constexpr ModelSpec spec = gqa_odd::spec;
  static constexpr Limits limits{.context = 2048, .batch = 8, .kv = quant::f16, .threads = 2};
};
struct one_thread {
  static constexpr ModelSpec spec = gqa_odd::spec;
  static constexpr Limits limits{.context = 2048, .batch = 8, .kv = quant::f32, .threads = 1};
};

}  // namespace

TEST_CASE("plan: planned and used bytes are equal") {
  check<gqa_odd>();
  check<tied_q8>();
  check<f16_partial_rope>();
  check<bf16_freqs>();
  check<mixed_kinds>();
}

TEST_CASE("plan: tensors of one model by hand") {
  // tied_q8: hidden 64, 2 layers, 4/2 heads of 32, ffn 96, vocab 300 (19 tiles), all Q8_0 but the norms.
  constexpr std::size_t tile64 = 2 * 544, tile96 = 3 * 544 + 32, tile128 = 4 * 544;  // whole cache lines
  constexpr std::size_t layer = (8 + 4 + 4) * tile64 + 4 * tile128 + 6 * tile64 * 2 + 4 * tile96 + 2 * 64 * 4;
  CHECK(MemoryPlan<tied_q8>::weights_packed == 2 * layer + 19 * tile64 + 64 * 4);
}

TEST_CASE("plan: limits set the size of the cache and the scratch") {
  CHECK(MemoryPlan<f16_cache>::kv_cache * 2 == MemoryPlan<one_thread>::kv_cache);
  CHECK(MemoryPlan<f16_cache>::kv_per_token == 3 * (12 + 16) * 2);
  CHECK(MemoryPlan<f16_cache>::scratch == 2 * MemoryPlan<one_thread>::scratch);
  CHECK(MemoryPlan<f16_cache>::weights_packed == MemoryPlan<gqa_odd>::weights_packed);
  CHECK(MemoryBudget<f16_cache, 16_MiB>::fits);
}
