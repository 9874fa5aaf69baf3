// Chains composed by hand: stages of the caller, any order, at compile time and at run time, and what a stage may see.
#include "../catch.hpp"
#include "../io/alloc_count.hpp"
#include "reference.hpp"

#include <llambda/sample/sampler.hpp>
#include <llambda/sample/stage_list.hpp>

#include <random>
#include <vector>

using llambda::sampling_chain;
using llambda::sampling_step;
using llambda::token_id;
using test::code_of;
using ids = std::vector<token_id>;
using floats = std::vector<float>;
namespace stages = llambda::stages;

namespace {

floats normal_logits(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  floats out(n);
  for (float& x : out) x = 2 * normal(random);
  return out;
}

/// A caller's stage: even ids only.
struct even_only {
  void apply(sampling_step& step) const {
    step.keep(llambda::sampling::keep_if(step.candidates(), [](const auto& c) { return c.id % 2 == 0; }));
  }
};

/// One with everything a stage may have.
struct counting {
  int* checks;
  int* prepared_for;
  int steps = 0;
  void check() const { ++*checks; }
  void prepare(std::size_t vocab_size) { *prepared_for = static_cast<int>(vocab_size); }
  void reset() { steps = 0; }
  void apply(sampling_step& step) {
    if (++steps > 2) step.choose(7);
  }
};

struct not_reached {
  void apply(sampling_step&) const { FAIL("asked after a token was chosen"); }
};

static_assert(llambda::SamplingStage<even_only> && llambda::SamplingStage<stages::dry>);
static_assert(!llambda::SamplingStage<int>);

template <class Chain>
ids run(Chain chain, const floats& logits, int n = 100) {
  ids out;
  for (int i = 0; i < n; ++i) out.push_back(chain.sample(logits, out));
  return out;
}

}  // namespace

TEST_CASE("a chain of the standard stages is the sampler", "[chain]") {
  const floats logits = normal_logits(400, 1);
  const ids want = run(llambda::sampler({.repeat_penalty = 1.2f, .seed = 9}, 400), logits);
  const stages::penalties penalties{.repeat = 1.2f};
  CHECK(run(sampling_chain(400, 9, penalties, stages::top_k{40}, stages::top_p{.95f}, stages::min_p{.05f},
                           stages::temperature{.8f}), logits) == want);
  stages::list list;
  list.add(penalties).add(stages::top_k{40}).add(stages::top_p{.95f}).add(stages::min_p{.05f});
  list.add(stages::temperature{.8f});
  CHECK(run(sampling_chain(400, 9, std::move(list)), logits) == want);
}

TEST_CASE("stages in any order", "[chain]") {
  const floats logits = {1, 3, 2, 4, 0};
  const ids seen = {3, 3};
  // penalties on a list: the first two of the logits, then 4 / 8
  sampling_chain late(5, 0, stages::top_k{2}, stages::penalties{.repeat = 8}, stages::greedy{});
  CHECK(late.sample(logits, seen) == 1);
  // ... and before it
  sampling_chain early(5, 0, stages::penalties{.repeat = 8}, stages::top_k{2}, stages::greedy{});
  CHECK(early.sample(logits, seen) == 1);
  // a list that was made is not made again: bias cannot bring back what is gone
  sampling_chain gone(5, 0, stages::top_k{2}, stages::logit_bias{{{4, 100}}}, stages::greedy{});
  CHECK(gone.sample(logits) == 3);
  sampling_chain there(5, 0, stages::logit_bias{{{4, 100}}}, stages::top_k{2}, stages::greedy{});
  CHECK(there.sample(logits) == 4);
  sampling_chain twice(5, 0, stages::logit_bias{{{4, 2}}}, stages::logit_bias{{{4, 1.5f}}}, stages::top_k{1});
  CHECK(twice.sample(logits) == 3);
  CHECK(logits == floats{1, 3, 2, 4, 0});  // the caller's are not touched
}

TEST_CASE("a chain without stages draws from all", "[chain]") {
  sampling_chain<> chain(3, 4);
  int seen[3] = {};
  for (int i = 0; i < 3000; ++i) ++seen[chain.sample(floats{0, -llambda::sampling::infinity, 0})];
  CHECK(seen[1] == 0);
  CHECK(std::abs(seen[0] - 1500) < 4 * 28);
  CHECK(code_of([&] { chain.sample(floats{0, std::nanf(""), 0}); }) == "non_finite_logits");
  CHECK(code_of([&] { chain.sample(floats(3, -llambda::sampling::infinity)); }) == "non_finite_logits");
}

TEST_CASE("a caller's stage", "[chain]") {
  const floats logits = normal_logits(101, 2);
  for (const token_id id : run(sampling_chain(101, 0, even_only{}, stages::top_k{20}), logits)) CHECK(id % 2 == 0);

  int checks = 0, prepared_for = 0;
  sampling_chain chain(101, 0, counting{&checks, &prepared_for}, stages::greedy{}, not_reached{});
  CHECK(checks == 1);
  CHECK(prepared_for == 101);
  const token_id best = chain.sample(logits);
  CHECK(best != 7);
  CHECK(chain.sample(logits) == best);
  CHECK(chain.sample(logits) == 7);
  chain.reset(0);
  CHECK(chain.sample(logits) == best);

  stages::list list;
  list.add(counting{&checks, &prepared_for}).add(stages::greedy{}).add(not_reached{});
  sampling_chain at_run_time(55, 0, std::move(list));
  CHECK(checks == 2);
  CHECK(prepared_for == 55);
  const floats few(logits.begin(), logits.begin() + 55);
  for (int i = 0; i < 2; ++i) CHECK(at_run_time.sample(few) != 7);
  CHECK(at_run_time.sample(few) == 7);
  at_run_time.reset(0);
  CHECK(at_run_time.sample(few) != 7);
}

TEST_CASE("the errors of stages are the chain's", "[chain]") {
  CHECK(code_of([] { sampling_chain(5, 0, stages::top_k{-1}); }) == "bad_argument");
  CHECK(code_of([] { sampling_chain(5, 0, stages::logit_bias{{{5, 1}}}); }) == "bad_token_id");
  CHECK(code_of([] { sampling_chain<>(0, 0); }) == "bad_argument");
  stages::list list;
  list.add(stages::xtc{.probability = 2});
  CHECK(code_of([&] { sampling_chain(5, 0, std::move(list)); }) == "bad_argument");
}
