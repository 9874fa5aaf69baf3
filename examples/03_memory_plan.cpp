// Every byte is known before the program runs, so a budget can be a static_assert.
#include <llambda/model/memory_plan.hpp>

#include <cstdio>

#include "../configs/smollm2_135m.hpp"

struct on_a_small_board : smollm2_135m<llambda::quant::q8_0> {
  static constexpr llambda::Limits limits{.context = 2048, .batch = 32, .kv = llambda::quant::f16, .threads = 4};
};

using plan = llambda::MemoryPlan<on_a_small_board>;
using namespace llambda;  // for the literal _MiB
static_assert(plan::total() < 640_MiB);
static_assert(MemoryBudget<on_a_small_board, 640_MiB>::fits);  // the same, with both numbers in the compiler's message

int main() {
  for (const plan_entry& entry : plan::entries()) {
    std::printf("%-16s %12zu\n", std::string(entry.name).c_str(), entry.bytes);
  }
  std::printf("%-16s %12zu\nKV cache a token %12zu\n", "total", plan::total(), plan::kv_per_token);
}
