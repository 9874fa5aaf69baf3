// The chain that options describe: order of steps, frequencies against the reference, reproducibility,
// log-probabilities, hostile logits and parameters, and no allocation.
#include "../catch.hpp"
#include "../io/alloc_count.hpp"
#include "reference.hpp"

#include <llambda/sample/sampler.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

using llambda::sampler;
using llambda::sampling_params;
using llambda::token_id;
using llambda::token_log_prob;
using test::code_of;
using ids = std::vector<token_id>;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

std::vector<float> normal_logits(std::size_t n, float spread, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(n);
  for (float& x : out) x = spread * normal(random);
  return out;
}

// Chi-square of the frequencies of `draws` samples against the reference, divided by what 99.99 % stay below.
double misfit(const sampling_params& params, const std::vector<float>& logits, const ids& history, int draws) {
  test::reference reference(logits);
  reference.filter(params, history);
  REQUIRE_FALSE(reference.ambiguous);
  if (params.xtc_probability > 0) reference.xtc(static_cast<double>(params.xtc_threshold));
  const auto want = reference.distribution(
      reference.dynamic_temperature(static_cast<double>(params.temperature), static_cast<double>(params.dynatemp_range),
                                    static_cast<double>(params.dynatemp_exponent)));
  sampler s(params, logits.size());
  std::map<int, int> seen;
  for (int i = 0; i < draws; ++i) ++seen[s.sample(logits, history)];
  double sum = 0;
  double rest_want = 0;
  double rest_seen = 0;
  int bins = 0;
  for (const auto& [id, n] : seen) {
    if (want.count(id) == 0) return 1e9;  // a token that cannot come
  }
  for (const auto& [id, p] : want) {
    const double expected = p * draws;
    const double got = seen.count(id) != 0 ? seen[id] : 0;
    if (expected < 8) {
      rest_want += expected;
      rest_seen += got;
      continue;
    }
    sum += (got - expected) * (got - expected) / expected;
    ++bins;
  }
  if (rest_want >= 8) {
    sum += (rest_seen - rest_want) * (rest_seen - rest_want) / rest_want;
    ++bins;
  }
  // Wilson and Hilferty's approximation of the 99.99 % point of chi-square.
  const double dof = (std::max)(bins - 1, 1);
  const double root = 1 - 2 / (9 * dof) + 3.719 * std::sqrt(2 / (9 * dof));
  return sum / (dof * root * root * root);
}

}  // namespace

TEST_CASE("frequencies are those of the reference", "[sampler]") {
  const auto logits = normal_logits(300, 2, 1);
  const ids history = {5, 17, 17, 200, 3, 299, 42};
  CHECK(misfit({}, logits, history, 100000) < 1);
  CHECK(misfit({.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0, .seed = 3}, logits, history, 150000) < 1);
  CHECK(misfit({.temperature = 1.7f, .top_k = 12, .top_p = 1, .min_p = 0, .seed = 4}, logits, history, 100000) < 1);
  CHECK(misfit({.temperature = .6f, .top_k = 0, .top_p = .7f, .min_p = 0, .seed = 5}, logits, history, 100000) < 1);
  CHECK(misfit({.temperature = 1, .top_k = 0, .top_p = 1, .min_p = .1f, .seed = 6}, logits, history, 100000) < 1);
  CHECK(misfit({.repeat_penalty = 1.5f, .repeat_last_n = -1, .seed = 7}, logits, history, 100000) < 1);
  CHECK(misfit({.repeat_penalty = 1.5f, .repeat_last_n = 2, .seed = 8}, logits, history, 100000) < 1);
  CHECK(misfit({.repeat_penalty = .5f, .repeat_last_n = 64, .seed = 9}, logits, history, 100000) < 1);
  CHECK(misfit({.dynatemp_range = .7f, .dynatemp_exponent = .6f, .seed = 10}, logits, history, 100000) < 1);
  CHECK(misfit({.temperature = 1.3f, .typical_p = .6f, .seed = 11}, logits, history, 100000) < 1);
  CHECK(misfit({.temperature = 1.3f, .top_k = 0, .top_n_sigma = 1.5f, .seed = 12}, logits, history, 100000) < 1);
  CHECK(misfit({.xtc_probability = 1, .seed = 13}, logits, history, 100000) < 1);
  CHECK(misfit({.presence_penalty = 2, .frequency_penalty = 1, .seed = 14}, logits, history, 100000) < 1);
  const ids repeating = {1, 2, 3, 4, 9, 1, 2, 3, 4, 9, 1, 2, 3, 4};
  CHECK(misfit({.temperature = 2, .top_k = 0, .top_p = 1, .min_p = 0, .dry_multiplier = .1f,
                .logit_bias = {{9, 6}, {7, 5}, {8, -infinity}}, .seed = 15}, logits, repeating, 100000) < 1);
}

TEST_CASE("filters act before temperature", "[sampler]") {
  // At temperature 100 the two would be all but equal, and top_p = 0.6 would then keep both.
  const std::vector<float> logits = {2, 1};
  sampler s({.temperature = 100, .top_k = 0, .top_p = .6f, .min_p = 0}, 2);
  int second = 0;
  for (int i = 0; i < 1000; ++i) second += s.sample(logits);
  CHECK(second == 0);
}

TEST_CASE("greedy: largest after the penalty, first on ties", "[sampler]") {
  const std::vector<float> logits = {1, 5, 5, 4.9f};
  for (const float t : {0.0f, -0.0f, 1e-45f}) {
    sampler s({.temperature = t, .repeat_penalty = 2}, 4);
    CHECK(s.sample(logits) == 1);
    CHECK(s.sample(logits, ids{1}) == 2);
    CHECK(s.sample(logits, ids{1, 2}) == 3);
    CHECK(s.sample(logits, ids{3, 2, 2, 2, 1}) == 1);
  }
}

TEST_CASE("greedy: typical and XTC may take the best away, the other filters not", "[sampler]") {
  const std::vector<float> logits = {std::log(.4f), std::log(.2f), std::log(.2f), std::log(.2f)};
  CHECK(sampler({.temperature = 0, .top_k = 3, .top_p = .1f, .min_p = 1, .top_n_sigma = .1f}, 4).sample(logits) == 0);
  CHECK(sampler({.temperature = 0, .top_p = 1, .typical_p = .5f}, 4).sample(logits) == 1);
  CHECK(sampler({.temperature = 0, .xtc_probability = 1}, 4).sample(logits) == 3);
  CHECK(sampler({.temperature = 0, .top_k = 2, .xtc_probability = 1}, 4).sample(logits) == 1);  // of what top-k leaves
  CHECK(sampler({.temperature = 0, .logit_bias = {{2, 5}}}, 4).sample(logits) == 2);
  // around 0 by less than the entropy of the choice: not greedy
  sampler s({.temperature = 0, .dynatemp_range = 5, .top_p = 1, .min_p = 0}, 4);
  int best = 0;
  for (int i = 0; i < 1000; ++i) best += s.sample(logits) == 0;
  CHECK(best < 500);
}

TEST_CASE("mirostat replaces the filters, not bias and penalties", "[sampler]") {
  const auto logits = normal_logits(200, 2, 12);
  sampler filtered({.top_k = 1, .top_p = .1f, .min_p = 1, .mirostat = 2, .seed = 3}, 200);
  sampler plain({.top_k = 0, .top_p = 1, .min_p = 0, .mirostat = 2, .seed = 3}, 200);
  sampler banned({.logit_bias = {{sampler({.temperature = 0}, 200).sample(logits), -infinity}}, .mirostat = 2}, 200);
  int differ = 0, best = 0;
  for (int i = 0; i < 200; ++i) {
    differ += filtered.sample(logits) != plain.sample(logits);
    best += logits[static_cast<std::size_t>(banned.sample(logits))] ==
            *std::max_element(logits.begin(), logits.end());
  }
  CHECK(differ == 0);
  CHECK(best == 0);
  filtered.reset(3);  // what it learned is forgotten
  plain = sampler({.top_k = 0, .top_p = 1, .min_p = 0, .mirostat = 2, .seed = 3}, 200);
  for (int i = 0; i < 50; ++i) differ += filtered.sample(logits) != plain.sample(logits);
  CHECK(differ == 0);
}

TEST_CASE("the seed fixes the tokens", "[sampler]") {
  const auto logits = normal_logits(500, 1, 2);
  const auto run = [&](sampler& s) {
    ids out;
    for (int i = 0; i < 200; ++i) out.push_back(s.sample(logits, out));
    return out;
  };
  sampler a({.repeat_penalty = 1.1f, .seed = 99}, 500);
  sampler b({.repeat_penalty = 1.1f, .seed = 99}, 500);
  sampler other({.repeat_penalty = 1.1f, .seed = 100}, 500);
  const ids first = run(a);
  CHECK(run(b) == first);
  CHECK(run(other) != first);
  CHECK(run(a) != first);
  a.reset(99);
  CHECK(run(a) == first);
  CHECK(a.params().seed == 99);
}

TEST_CASE("the tokens of a seed are the same on every machine", "[sampler]") {
  // Logits of no library's making. The number is the same without AVX, with AVX2 and with AVX-512, at -O0 and -O3.
  llambda::pcg32 random(7);
  const std::vector<sampling_params> all = {
      {},
      {.temperature = 1, .top_k = 0, .top_p = 1, .min_p = 0},
      {.dynatemp_range = .5f, .dynatemp_exponent = 1.3f, .top_k = 0, .min_p = .01f},
      {.temperature = 1.2f, .top_k = 0, .typical_p = .7f},
      {.top_k = 0, .top_p = 1, .min_p = 0, .top_n_sigma = 1.5f, .xtc_probability = .5f, .xtc_threshold = .05f},
      {.repeat_penalty = 1.1f, .presence_penalty = .3f, .frequency_penalty = .2f, .dry_multiplier = .8f},
      {.mirostat = 2, .mirostat_tau = 3}};
  std::uint64_t hash = 0;
  for (const sampling_params& params : all) {
    sampler s(params, 3000);
    ids tokens;
    for (int i = 0; i < 200; ++i) {
      std::vector<float> logits(3000);
      for (float& x : logits) {
        const float a = random.uniform_float();
        x = std::fma(12 * a, random.uniform_float(), -3.0f);
      }
      tokens.push_back(s.sample(logits, tokens));
      token_log_prob top[3];
      s.top_log_probs(logits, top);
      hash = (hash ^ static_cast<std::uint64_t>(tokens.back())) * 0x100000001b3u;
      for (const auto& t : top) hash = (hash ^ std::bit_cast<std::uint32_t>(t.log_prob)) * 0x100000001b3u;
    }
  }
  CHECK(hash == 0xa18b987f7a7708da);
}

TEST_CASE("log-probabilities are those of the raw logits (B67)", "[sampler]") {
  const auto logits = normal_logits(1000, 3, 3);
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x));
  const auto want = [&](token_id id) {
    return static_cast<double>(logits[static_cast<std::size_t>(id)]) - std::log(sum);
  };

  sampler s({.temperature = 0, .repeat_penalty = 3}, 1000);
  const token_id chosen = s.sample(logits);
  std::vector<token_log_prob> top(5);
  REQUIRE(s.top_log_probs(logits, top) == 5);
  CHECK(top[0].id == chosen);
  double total = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(std::fabs(static_cast<double>(top[i].log_prob) - want(top[i].id)) < 1e-5);
    if (i > 0) CHECK(top[i].log_prob <= top[i - 1].log_prob);
    total += std::exp(static_cast<double>(top[i].log_prob));
  }
  CHECK(total <= 1);
  CHECK(s.log_prob(logits, chosen) == top[0].log_prob);

  const token_id second = s.sample(logits, ids{chosen});  // the penalty changes the choice, not the log-probabilities
  CHECK(std::fabs(static_cast<double>(s.log_prob(logits, second)) - want(second)) < 1e-5);

  const std::vector<float> few = {0, -infinity, 0};
  sampler small_one({}, 3);
  CHECK(small_one.top_log_probs(few, top) == 2);
  CHECK(std::fabs(static_cast<double>(top[1].log_prob) + std::log(2.0)) < 1e-6);
  CHECK(small_one.log_prob(few, 1) == -infinity);
  CHECK(small_one.top_log_probs(few, {}) == 0);
  small_one.log_prob_row(few, 2, top);  // the chosen token, then the best, then nothing
  CHECK(top[0].id == 2);
  CHECK(top[1].id == 0);
  CHECK(top[2].id == 2);
  CHECK(top[0].log_prob == top[2].log_prob);
  CHECK(top[3].id == llambda::token_none);
  CHECK(top[4].log_prob == -infinity);
  CHECK(code_of([&] { small_one.log_prob(few, 3); }) == "bad_token_id");
  CHECK(code_of([&] { small_one.log_prob(few, -1); }) == "bad_token_id");
  const std::vector<float> forced = {0, infinity, 0};
  CHECK(small_one.log_prob(forced, 1) == 0);
  CHECK(small_one.log_prob(forced, 0) == -infinity);
  const std::vector<float> broken = {0, nan_value, 0};
  CHECK(code_of([&] { small_one.log_prob(broken, 0); }) == "non_finite_logits");
  CHECK(code_of([&] { small_one.top_log_probs(broken, top); }) == "non_finite_logits");
}

TEST_CASE("parameters outside their range are refused at construction", "[sampler]") {
  const auto code = [](const sampling_params& params) { return code_of([&] { sampler(params, 10); }); };
  CHECK(code({}) == "none");
  CHECK(code({.temperature = infinity, .top_k = 0, .top_p = 7, .min_p = 2, .repeat_last_n = -1}) == "none");
  for (const float bad : {nan_value, -1.0f, -infinity, -1e-45f}) {
    CHECK(code({.temperature = bad}) == "bad_argument");
    CHECK(code({.top_p = bad}) == "bad_argument");
    CHECK(code({.min_p = bad}) == "bad_argument");
    CHECK(code({.repeat_penalty = bad}) == "bad_argument");
  }
  CHECK(code({.repeat_penalty = 0}) == "bad_argument");
  CHECK(code({.repeat_penalty = infinity}) == "bad_argument");
  for (const float bad : {nan_value, infinity, -infinity}) {
    CHECK(code({.presence_penalty = bad}) == "bad_argument");
    CHECK(code({.frequency_penalty = bad}) == "bad_argument");
  }
  for (const float bad : {nan_value, -1.0f, infinity}) {
    CHECK(code({.dynatemp_range = bad}) == "bad_argument");
    CHECK(code({.dynatemp_exponent = bad}) == "bad_argument");
    CHECK(code({.xtc_probability = bad}) == "bad_argument");
    CHECK(code({.xtc_threshold = bad}) == "bad_argument");
    CHECK(code({.dry_multiplier = bad}) == "bad_argument");
    CHECK(code({.dry_base = bad}) == "bad_argument");
    CHECK(code({.mirostat_tau = bad}) == "bad_argument");
    CHECK(code({.mirostat_eta = bad}) == "bad_argument");
    CHECK(code({.typical_p = bad}) == (bad == infinity ? "none" : "bad_argument"));
  }
  CHECK(code({.top_n_sigma = nan_value}) == "bad_argument");
  CHECK(code({.dry_allowed_length = -1}) == "bad_argument");
  CHECK(code({.dry_penalty_last_n = -2}) == "bad_argument");
  CHECK(code({.dry_breakers = {{}}}) == "bad_argument");
  CHECK(code({.logit_bias = {{3, nan_value}}}) == "bad_argument");
  CHECK(code({.logit_bias = {{10, 1}}}) == "bad_token_id");
  CHECK(code({.mirostat = 1}) == "bad_argument");
  CHECK(code({.temperature = 0, .top_k = -1}) == "bad_argument");  // where it would not be asked, too
  CHECK(code({.typical_p = -1, .mirostat = 2}) == "bad_argument");
  try {
    sampling_params{.xtc_threshold = 2}.validate();
    FAIL("accepted");
  } catch (const llambda::error& e) {
    CHECK(std::string(e.what()) == "llambda: sampling: xtc_threshold must be 0 to 1; above 0.5 is off; got 2.000000");
  }
  CHECK(code({.top_k = -1}) == "bad_argument");
  CHECK(code({.repeat_last_n = -2}) == "bad_argument");
  CHECK(code_of([] { sampler({}, 0); }) == "bad_argument");
  CHECK(code_of([] { sampler({}, std::size_t{1} << 31); }) == "bad_argument");
  sampler s({}, 10);
  CHECK(code_of([&] { s.sample(std::vector<float>(9)); }) == "bad_argument");
  CHECK(code_of([&] { s.sample(std::vector<float>(11)); }) == "bad_argument");
}

TEST_CASE("any logits and parameters: a token of the vocabulary or a typed error", "[sampler]") {
  std::mt19937 random(8);
  const std::vector<float> odd = {nan_value, infinity, -infinity, 0, -0.0f, 1e-45f, 3.4e38f, -3.4e38f, 1, -1, 0.5f, 88};
  const auto pick = [&](float usual) { return random() % 4 == 0 ? odd[random() % odd.size()] : usual; };
  int faults = 0;
  int tokens = 0;
  int errors = 0;
  for (int round = 0; round < 100000; ++round) {
    const std::size_t n = 1 + random() % (round % 100 == 0 ? 1000 : 12);
    std::vector<float> logits(n);
    const bool wild = random() % 2 == 0;
    for (float& x : logits)
      x = wild && random() % 3 == 0 ? odd[random() % odd.size()] : static_cast<float>(random() % 9);
    ids history(random() % 6);
    for (token_id& id : history) id = static_cast<token_id>(random() % (n + (random() % 50 == 0)));
    const bool many = random() % 2 == 0;  // half of the rounds with the rarer stages
    const auto rare = [&](float off, float usual) { return many ? pick(random() % 2 == 0 ? usual : off) : off; };
    const sampling_params params{.temperature = pick(0.8f),
                                 .dynatemp_range = rare(0, 0.5f),
                                 .dynatemp_exponent = rare(1, 2),
                                 .top_k = static_cast<int>(random() % 8) - (random() % 16 == 0),
                                 .top_p = pick(0.9f),
                                 .min_p = pick(0.05f),
                                 .typical_p = rare(1, 0.6f),
                                 .top_n_sigma = rare(-1, 1.5f),
                                 .xtc_probability = rare(0, 0.5f),
                                 .xtc_threshold = rare(0.1f, 0.05f),
                                 .repeat_penalty = pick(1.2f),
                                 .repeat_last_n = static_cast<int>(random() % 8) - 1,
                                 .presence_penalty = rare(0, 1),
                                 .frequency_penalty = rare(0, -1),
                                 .dry_multiplier = rare(0, 0.8f),
                                 .dry_base = rare(1.75f, 1),
                                 .dry_allowed_length = static_cast<int>(random() % 3),
                                 .dry_penalty_last_n = static_cast<int>(random() % 8) - 1,
                                 .logit_bias = {{static_cast<token_id>(random() % n), rare(0, 2)}},
                                 .mirostat = many && random() % 4 == 0 ? 2 : 0,
                                 .mirostat_tau = rare(5, 1),
                                 .mirostat_eta = rare(0.1f, 2),
                                 .seed = random()};
    try {
      sampler s(params, n);
      for (int i = 0; i < 3; ++i) {
        const token_id id = s.sample(logits, history);
        faults += id < 0 || static_cast<std::size_t>(id) >= n;
        if (faults == 0) faults += logits[static_cast<std::size_t>(id)] == -infinity;
        ++tokens;
      }
      for (const float x : logits) faults += x != x;  // a NaN never goes unnoticed
    } catch (const llambda::error& e) {
      ++errors;
      const bool expected = e.code() == llambda::errc::bad_argument || e.code() == llambda::errc::bad_token_id ||
                            e.code() == llambda::errc::non_finite_logits;
      faults += !expected;
    }
  }
  CHECK(faults == 0);
  CHECK(tokens > 50000);
  CHECK(errors > 10000);
}

TEST_CASE("sample allocates nothing", "[sampler]") {
  if (!test::counts_allocations()) return;
  const auto logits = normal_logits(5000, 2, 5);
  const ids history(300, 7);
  std::vector<token_log_prob> top(20);
  for (const sampling_params& params :
       {sampling_params{}, sampling_params{.temperature = 0}, sampling_params{.top_k = 0, .repeat_penalty = 1.1f},
        sampling_params{.top_k = 0, .top_p = 1, .min_p = 0, .repeat_penalty = 1.1f, .repeat_last_n = -1},
        sampling_params{.dynatemp_range = .5f, .typical_p = .9f, .top_n_sigma = 2, .xtc_probability = .5f,
                        .presence_penalty = 1, .frequency_penalty = 1, .dry_multiplier = 1,
                        .dry_breakers = {{1}, {2, 3}}, .logit_bias = {{7, 1}}},
        sampling_params{.top_k = 0, .typical_p = .9f}, sampling_params{.mirostat = 2}}) {
    sampler s(params, logits.size());
    std::vector<token_log_prob> row(6);
    const std::size_t before = test::bytes_asked();
    for (int i = 0; i < 50; ++i) {
      const token_id id = s.sample(logits, history);
      s.log_prob(logits, id);
      s.top_log_probs(logits, top);
      s.log_prob_row(logits, id, row);
    }
    const std::size_t after = test::bytes_asked();
    CHECK(after == before);
  }
}
