// What must not compile further inside: a format without kernels, a plan over its budget, a broken config at the door
// of each template, and compiler settings that would break the results. As rules.cpp; a line "// flags n: ..." gives
// the compiler options that case n adds instead of a change of the source.
#include <llambda/model/transformer.hpp>

#ifndef BROKEN
#define BROKEN 0
#endif

using namespace llambda;

namespace {

template <bool Broken>
struct config {
  static constexpr ModelSpec spec{.name = "case", .hidden = 64, .layers = 2, .heads = Broken ? 0u : 4u, .kv_heads = 2,
                                  .ffn = 96, .vocab = 100, .context = 128};
};

// case 1: llambda: format: this storage format has no kernels; add quant/<format>.hpp
static_assert(Format<BROKEN == 1 ? quant::none : quant::f32>::block == 1);

// case 2: llambda: memory_plan: the plan needs more bytes than the budget allows
static_assert(MemoryBudget<config<false>, BROKEN == 2 ? 1_KiB : 1_GiB>::fits);

// case 3: llambda: config: heads must be 1 to 65536; set it to attention.head_count
using model = Transformer<config<BROKEN == 3>>;

// case 4: llambda: config: heads must be 1 to 65536; set it to attention.head_count
using context = Context<config<BROKEN == 4>>;

// case 5: llambda: config_macros: -ffast-math and -ffinite-math-only break the numerics; compile without them
// flags 5: -ffast-math
// case 6: llambda: config_macros: -ffast-math and -ffinite-math-only break the numerics; compile without them
// flags 6: -ffinite-math-only
// case 7: llambda: config_macros: -ffast-math and -ffinite-math-only break the numerics; compile without them
// flags 7: -Ofast
// case 8: llambda: config_macros: C++20 is needed; compile with -std=c++20
// flags 8: -std=c++17

}  // namespace
