// The hand-picked configs, and every size that follows from one: derived sizes, parameter counts from the tensor
// declarations (they must be the published ones), and a memory plan worked out by hand.
#include <llambda/model/memory_plan.hpp>
#include <llambda/quant/all.hpp>

#include "../../configs/llama_3_2_1b.hpp"
#include "../../configs/smollm2_135m.hpp"
#include "../../configs/stories260k.hpp"
#include "../../configs/tinyllama_1_1b.hpp"

using namespace llambda;

namespace {

/// Elements of all tensors of a model.
template <ModelConfig C>
constexpr std::size_t parameters = [] {
  constexpr auto elements = []<class T>() { return T::rows * T::cols; };
  std::size_t sum = sum_over_tensors<GlobalTensors<C>>(elements);
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((sum += sum_over_tensors<LayerTensors<C, K>>(elements) * layers_of_kind<C, K>), ...);
  }
  (std::make_index_sequence<kind_count<C>>{});
  return sum;
}();

static_assert(parameters<smollm2_135m<>> == 134'515'008);
static_assert(parameters<tinyllama_1_1b<>> == 1'100'048'384);
// rope_freqs.weight holds 32 numbers that follow from the config and are not trained
static_assert(parameters<llama_3_2_1b<>> - rope_dim<llama_3_2_1b<>> / 2 == 1'235'814'400);
// 260,032 in llama2.c's file, where the output matrix is the embedding
static_assert(parameters<stories260k<>> - 64 * 512 == 260'032);

// The count does not depend on the format; the bytes do.
static_assert(parameters<smollm2_135m<quant::f16>> == parameters<smollm2_135m<quant::q8_0>>);
static_assert(MemoryPlan<smollm2_135m<quant::f16>>::weights_in_file ==
              2 * 134'515'008 + 2 * 576 * (2 * 30 + 1));  // norms are F32
static_assert(MemoryPlan<smollm2_135m<quant::q8_0>>::weights_in_file ==
              (134'515'008 - 576 * 61) / 32 * 34 + 4 * 576 * 61);

static_assert(head_dim<smollm2_135m<>> == 64 && q_dim<smollm2_135m<>> == 576 && kv_dim<smollm2_135m<>> == 192);
static_assert(group<smollm2_135m<>> == 3 && tied<smollm2_135m<>> && widest<smollm2_135m<>> == 1536);
static_assert(head_dim<tinyllama_1_1b<>> == 64 && kv_dim<tinyllama_1_1b<>> == 256 && group<tinyllama_1_1b<>> == 8);
static_assert(!tied<tinyllama_1_1b<>> && widest<tinyllama_1_1b<>> == 5632);
static_assert(head_dim<llama_3_2_1b<>> == 64 && kv_dim<llama_3_2_1b<>> == 512 && group<llama_3_2_1b<>> == 4);
static_assert(rope_dim<llama_3_2_1b<>> == 64 && limits_of<llama_3_2_1b<>>.context == 4096);
static_assert(head_dim<stories260k<>> == 8 && kv_dim<stories260k<>> == 32 && widest<stories260k<>> == 176);
static_assert(limits_of<stories260k<>>.context == 512 && limits_of<stories260k<>>.batch == 96);

// Twice the positions, twice the cache; half of it as f16.
static_assert(MemoryPlan<smollm2_135m<>>::kv_cache == std::size_t{2} * 2 * 30 * 192 * 4096);

/// Head of 20 that is not hidden / heads, partial rotation, two layer kinds, sizes that are not whole vectors.
struct odd {
  static constexpr ModelSpec spec = [] {
    ModelSpec s{.name = "odd",
                .hidden = 24,
                .layers = 3,
                .heads = 4,
                .kv_heads = 2,
                .head_dim = 20,
                .ffn = 40,
                .vocab = 50,
                .context = 100,
                .rope = {.dim = 12},
                .token_embd = quant::f16,
                .output = quant::bf16};
    s.kinds[1] = LayerSpec::all(quant::f16);
    s.kind_of = {0, 1, 0};
    return s;
  }();
  static constexpr Limits limits{.context = 33, .batch = 48, .kv = quant::f32, .threads = 2};
};

static_assert(q_dim<odd> == 80 && kv_dim<odd> == 40 && group<odd> == 2 && rope_dim<odd> == 12 && widest<odd> == 80);
static_assert(kind_count<odd> == 2 && layers_of_kind<odd, 0> == 2 && layers_of_kind<odd, 1> == 1);
static_assert(index_in_kind<odd>[0] == 0 && index_in_kind<odd>[1] == 0 && index_in_kind<odd>[2] == 1);
static_assert(limits_of<odd>.batch == 33);  // a batch is at most a context

using plan = MemoryPlan<odd>;
constexpr std::size_t matrices = 80 * 24 + 2 * 40 * 24 + 24 * 80 + 3 * 40 * 24;  // elements of one layer
constexpr std::size_t norms = 2 * 24;
static_assert(plan::weights_in_file == matrices * (4 + 2 + 4) + 3 * norms * 4 + 24 * 4 + 50 * 24 * (2 + 2));
// Packed: rows go up to a multiple of 16, a norm to 32 floats (two cache lines); f32 kinds twice, the f16 kind once.
constexpr std::size_t packed = 80 * 24 + 2 * 48 * 24 + 32 * 80 + 2 * 48 * 24 + 32 * 40;
static_assert(plan::weights_packed == packed * (4 + 2 + 4) + 3 * 2 * 128 + 128 + 64 * 24 * 2);
static_assert(plan::weights_mapped == 50 * 24 * 2);  // an untied embedding is looked up where it lies
static_assert(plan::tables == (33 * 12 * 4 + 63) / 64 * 64);
// 33 positions go up to 48; the values of a position from 20 up to 32. 3 layers of 2 heads.
static_assert(plan::kv_cache == std::size_t{6} * (48 * 20 + 48 * 32) * 4);
static_assert(plan::scratch == 2 * 192);
static_assert(plan::activations == 2 * 33 * 48 * 4 + 2 * 33 * 80 * 4 + 4 * 33 * 48 * 4 + 64 * 4);
static_assert(plan::total() == plan::weights_packed + plan::weights_mapped + plan::tables + plan::kv_cache +
                                   plan::activations + plan::scratch);
static_assert([] {
  std::size_t sum = 0;
  for (const plan_entry& entry : plan::entries()) sum += entry.bytes;
  return sum;
}() == plan::total());
static_assert(MemoryBudget<odd, plan::total()>::fits);

}  // namespace
