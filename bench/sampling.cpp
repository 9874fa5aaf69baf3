// What choosing a token costs for a vocabulary of 128,256 tokens (Llama 3), chain by chain, in microseconds a token.
// A decode step of a model of 1B parameters takes 25 ms or more on two cores: 1 % of it is 250 us.
#include <llambda/sample/sampler.hpp>

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

namespace {

using namespace llambda;

constexpr std::size_t vocab = 128256;

/// Logits as models give them: most of them around -2 with a deviation of 2.5, a few far above.
std::vector<float> make_logits() {
  pcg32 random(1);
  std::vector<float> out(vocab);
  for (float& x : out) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += random.uniform();  // all but normal
    x = static_cast<float>(2.5 * sum - 2);
  }
  for (int i = 0; i < 30; ++i) out[random.next() % vocab] = 8 + 8 * random.uniform_float();
  return out;
}

void choose(benchmark::State& state, const sampling_params& params) {
  const std::vector<float> logits = make_logits();
  const std::vector<token_id> history(1000, 17);
  sampler s(params, vocab);
  for (auto _ : state) benchmark::DoNotOptimize(s.sample(logits, history));
}

void log_probs(benchmark::State& state) {
  const std::vector<float> logits = make_logits();
  sampler s({}, vocab);
  std::vector<token_log_prob> row(11);
  for (auto _ : state) s.log_prob_row(logits, 5, row);
}

const int registered = [] {
  const auto add = [](const char* name, const sampling_params& params) {
    benchmark::RegisterBenchmark(name, [params](benchmark::State& state) { choose(state, params); })
        ->Unit(benchmark::kMicrosecond);
  };
  add("default", {});
  add("greedy", {.temperature = 0});
  add("default_penalties", {.repeat_penalty = 1.1f, .presence_penalty = .5f});
  add("default_dry", {.dry_multiplier = .8f});
  add("min_p_only", {.top_k = 0, .top_p = 1});
  add("top_p_only", {.top_k = 0, .min_p = 0});
  add("top_n_sigma_only", {.top_k = 0, .top_p = 1, .min_p = 0, .top_n_sigma = 1});
  add("typical_only", {.top_k = 0, .top_p = 1, .min_p = 0, .typical_p = .9f});
  add("temperature_only", {.top_k = 0, .top_p = 1, .min_p = 0});
  add("mirostat", {.mirostat = 2});
  benchmark::RegisterBenchmark("log_probs_top_10", log_probs)->Unit(benchmark::kMicrosecond);
  return 0;
}();

}  // namespace

BENCHMARK_MAIN();
