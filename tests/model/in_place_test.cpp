// Matrices that stay in the file: the same bits as packed ones, and a plan that says so.
#include <llambda/model/plan_of.hpp>

#include "bits_checks.hpp"

using namespace llambda;

namespace {

template <class C> struct in_place {
  static constexpr ModelSpec spec = C::spec;
  static constexpr Limits limits = [] {
    Limits l = limits_of<C>;
    l.in_place = true;
    return l;
  }();
};

}  // namespace

TEMPLATE_TEST_CASE("in place: the bits of packed weights", "", gqa_odd, tied_q8, f16_partial_rope, mixed_kinds) {
  const auto tokens = test::random_tokens(20, TestType::spec.vocab, 9);
  thread_pool serial(1);
  const auto expected = test::all_logits(test::load<TestType>(serial), tokens, serial, 1);
  for (unsigned threads : {1u, 3u}) {
    thread_pool pool(threads);
    const auto model = test::load<in_place<TestType>>(pool);
    CHECK(model.weights().memory.used() == MemoryPlan<in_place<TestType>>::model_arena);
    for (std::size_t chunk : {1, 7}) CHECK(test::same_bits(test::all_logits(model, tokens, pool, chunk), expected));
  }
}

TEST_CASE("in place: the plan counts the file once, and a tile a thread") {
  using plan = MemoryPlan<in_place<tied_q8>>;
  using packed = MemoryPlan<tied_q8>;
  constexpr std::size_t norms = (2 * tied_q8::spec.layers + 1) * 64 * sizeof(float);
  CHECK(plan::weights_packed == norms);
  CHECK(plan::weights_mapped == packed::weights_in_file - norms);
  CHECK(plan::weights_in_file == packed::weights_in_file);
  CHECK(plan::scratch == packed::scratch + limits_of<tied_q8>.threads * 4 * 544);  // 128 columns are the widest
  CHECK(plan_of(tied_q8::spec, in_place<tied_q8>::limits) == plan_numbers_of<in_place<tied_q8>>());
  CHECK(plan_of(mixed_kinds::spec, in_place<mixed_kinds>::limits) == plan_numbers_of<in_place<mixed_kinds>>());
  CHECK(plan_of(gqa_odd::spec, in_place<gqa_odd>::limits) == plan_numbers_of<in_place<gqa_odd>>());
}
