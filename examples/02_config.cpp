// A model is a type that carries a ModelSpec. Everything else follows from it at compile time: sizes, layer kinds,
// whether it makes sense at all. Change a number and the compiler says which rule it breaks.
#include <llambda/config/derived.hpp>
#include <llambda/config/describe.hpp>

#include <cstdio>

struct smollm2_like {
  static constexpr llambda::ModelSpec spec = [] {
    using namespace llambda;
    ModelSpec s{.name = "smollm2-like",
                .hidden = 576,
                .layers = 30,
                .heads = 9,
                .kv_heads = 3,
                .ffn = 1536,
                .vocab = 49152,
                .context = 8192,
                .rope = {.theta = 100000.0f},
                .token_embd = quant::q8_0};
    s.kinds[0] = LayerSpec::all(quant::q8_0);
    s.kinds[1] = LayerSpec::all(quant::q8_0);
    s.kinds[1].ffn_down = quant::f16;  // files often keep some layers finer
    s.kind_of[0] = s.kind_of[29] = 1;
    return s;
  }();
};

static_assert(llambda::ModelConfig<smollm2_like>);
static_assert(llambda::head_dim<smollm2_like> == 64 && llambda::group<smollm2_like> == 3);

int main() {
  llambda::for_each_field(smollm2_like::spec, [](const char* field, const std::string& value) {
    std::printf("%-14s %s\n", field, value.c_str());
  });
  std::printf("layer kinds    %zu: %zu layers of kind 0, %zu of kind 1\n", llambda::kind_count<smollm2_like>,
              llambda::layers_of_kind<smollm2_like, 0>, llambda::layers_of_kind<smollm2_like, 1>);
}
