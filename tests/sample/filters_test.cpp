// Typical, XTC, top-n-sigma, dynamic temperature and mirostat: the tables of llama.cpp's tests, the edges, and random
// candidates against the plain reference.
#include "../catch.hpp"
#include "reference.hpp"

#include <llambda/sample/filters.hpp>
#include <llambda/sample/stages.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <vector>

using llambda::candidate;
using llambda::token_id;
using test::code_of;
using test::make;
using floats = std::vector<float>;
namespace sampling = llambda::sampling;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

floats logs(floats p) {
  for (float& x : p) x = std::log(x);
  return p;
}

/// Ids that `filter` leaves of candidates of `logits`, in its order.
template <class F>
std::vector<token_id> left(const floats& logits, F filter) {
  auto c = make(logits);
  std::vector<token_id> out;
  for (const candidate& x : filter(c)) out.push_back(x.id);
  return out;
}

using ids = std::vector<token_id>;

ids sorted(ids v) {
  std::sort(v.begin(), v.end());
  return v;
}

/// Random logits of several kinds: smooth, with many ties, with exclusions, single.
floats random_logits(std::mt19937& random, int round) {
  std::normal_distribution<float> normal;
  floats logits(1 + random() % (round % 10 == 0 ? 2000 : 40));
  const float spread = static_cast<float>(random() % 8);
  for (float& x : logits) {
    x = round % 2 == 0 ? spread * normal(random) : static_cast<float>(random() % 5);
    if (round % 7 == 0 && random() % 3 == 0) x = -infinity;
  }
  logits[random() % logits.size()] = 1;
  return logits;
}

const floats four = logs({.1f, .2f, .3f, .4f});

}  // namespace

TEST_CASE("typical", "[filters]") {
  const auto typical = [](const floats& logits, float p) {
    return left(logits, [&](auto& c) { return sampling::typical(c, p); });
  };
  CHECK(typical(logs({.97f, .01f, .01f, .01f}), .5f) == ids{0});
  CHECK(typical(logs({.4f, .2f, .2f, .2f}), .5f) == ids{1, 2, 3});
  CHECK(typical(logs({.4f, .2f, .2f, .2f}), .1f) == ids{1});
  CHECK(typical(four, 1) == ids{0, 1, 2, 3});
  CHECK(typical(four, 0).size() == 1);
  CHECK(typical({5}, .3f) == ids{0});
  CHECK(typical({0, -infinity, 0}, .99f) == ids{0, 2});
  CHECK(typical({infinity, 3, infinity, infinity}, .5f) == ids{0, 2});
  CHECK(typical(floats(1000, 2.0f), .5f).size() == 501);
  CHECK(code_of([&] { typical(four, -.1f); }) == "bad_argument");
  CHECK(code_of([&] { typical(four, nan_value); }) == "bad_argument");
  CHECK(code_of([&] { typical({1, nan_value}, .5f); }) == "non_finite_logits");
  CHECK(code_of([&] { typical({-infinity, -infinity}, .5f); }) == "non_finite_logits");
}

TEST_CASE("XTC", "[filters]") {
  const auto xtc = [](const floats& logits, float threshold) {
    return left(logits, [&](auto& c) { return sampling::xtc(c, threshold); });
  };
  CHECK(xtc(four, .09f) == ids{0});
  CHECK(xtc(four, .19f) == ids{0, 1});
  CHECK(xtc(four, .29f) == ids{0, 1, 2});
  CHECK(xtc(four, .39f) == ids{0, 1, 2, 3});
  CHECK(xtc(four, 0) == ids{0});
  CHECK(xtc({0, 0, 0}, .1f) == ids{2});  // the last of equals stays
  CHECK(xtc({5}, .1f) == ids{0});
  CHECK(xtc({0, -infinity, 0}, 0) == ids{1, 2});
  CHECK(xtc({infinity, 3, infinity}, .1f) == ids{1, 2});
  CHECK(code_of([&] { xtc(four, -.1f); }) == "bad_argument");
  CHECK(code_of([&] { xtc(four, 1.1f); }) == "bad_argument");
  CHECK(code_of([&] { xtc(four, nan_value); }) == "bad_argument");
  CHECK(code_of([&] { xtc({1, nan_value}, .1f); }) == "non_finite_logits");
}

TEST_CASE("XTC acts by chance", "[filters]") {
  const auto acted = [](float probability, float threshold) {
    llambda::pcg32 random(5);
    std::vector<float> edited(4);
    std::vector<candidate> room(4);
    int n = 0;
    for (int i = 0; i < 10000; ++i) {
      llambda::sampling_step step(four, {}, random, edited, room);
      llambda::stages::xtc{probability, threshold}.apply(step);
      n += step.candidates().size() < 4;
    }
    return n;
  };
  CHECK(acted(0, .1f) == 0);
  CHECK(acted(1, .05f) == 10000);
  CHECK(acted(1, .51f) == 0);
  CHECK(std::abs(acted(.25f, .05f) - 2500) < 4 * 44);  // four standard deviations
}

TEST_CASE("top-n-sigma", "[filters]") {
  const auto top = [](const floats& logits, float n) {
    const ids list = left(logits, [&](auto& c) { return sampling::top_n_sigma(c, n); });
    if (n > 0) {
      std::vector<candidate> room(logits.size());
      ids all;
      for (const candidate& x : sampling::top_n_sigma(logits, n, room)) all.push_back(x.id);
      CHECK(all == list);
    }
    return list;
  };
  CHECK(top(four, 1) == ids{2, 3});
  CHECK(top(four, 3) == ids{0, 1, 2, 3});
  CHECK(top(four, 0) == ids{0, 1, 2, 3});
  CHECK(top(four, -1) == ids{0, 1, 2, 3});
  CHECK(top(four, infinity) == ids{0, 1, 2, 3});
  CHECK(top({2, 2, 2}, 1) == ids{0, 1, 2});
  CHECK(top({2, 2, 2}, infinity) == ids{0, 1, 2});
  CHECK(top({5}, .1f) == ids{0});
  CHECK(top({infinity, 3, infinity}, 1) == ids{0, 2});
  CHECK(top({3e38f, -3e38f, 3e38f}, 1) == ids{0, 2});
  CHECK(top({0, -infinity, 1, 2}, 1.0f) == ids{3});  // what is excluded does not count: deviation .816, not more
  CHECK(top({0, -infinity, 1, 2}, 1.3f) == ids{2, 3});
  CHECK(code_of([&] { top(four, nan_value); }) == "bad_argument");
  CHECK(code_of([&] { top({1, nan_value}, 1); }) == "non_finite_logits");
  CHECK(code_of([&] { top({-infinity}, 1); }) == "non_finite_logits");
}

TEST_CASE("dynamic temperature", "[filters]") {
  const auto dynamic = [](const floats& logits, float t, float range, float exponent) {
    auto c = make(logits);
    return sampling::dynamic_temperature(c, t, range, exponent);
  };
  CHECK(dynamic(four, .8f, 0, 1) == .8f);
  CHECK(dynamic({0, 0, 0}, 1, .5f, 1) == 1.5f);                 // nothing is certain
  CHECK(dynamic({0, -1e4f, -1e4f}, 1, .5f, 1) == .5f);          // everything is
  CHECK(dynamic({0, -1e4f, -1e4f}, 1, .5f, 0) == 1.5f);         // x^0 is 1
  CHECK(dynamic({0, -1e4f}, .2f, .5f, 1) == 0);                 // never below 0
  CHECK(dynamic({7}, .9f, .5f, 1) == .9f);
  CHECK(dynamic(four, infinity, .5f, 1) == infinity);
  CHECK(dynamic({infinity, infinity, 0, 0}, 1, 1, 1) == 1);     // half of the largest entropy
  CHECK(dynamic({0, 0}, 3e38f, 3e38f, 1) == (std::numeric_limits<float>::max)());
  CHECK(code_of([&] { dynamic({1, nan_value}, 1, 1, 1); }) == "non_finite_logits");
  for (const float bad : {nan_value, -1.0f, infinity}) {
    if (bad != infinity) CHECK(code_of([&] { dynamic(four, bad, 1, 1); }) == "bad_argument");
    CHECK(code_of([&] { dynamic(four, 1, bad, 1); }) == "bad_argument");
    CHECK(code_of([&] { dynamic(four, 1, 1, bad); }) == "bad_argument");
  }
}

TEST_CASE("mirostat 2", "[filters]") {
  const auto cut = [](const floats& logits, double mu) {
    return left(logits, [&](auto& c) { return sampling::mirostat_cut(c, mu); });
  };
  CHECK(cut(four, 10) == ids{0, 1, 2, 3});
  CHECK(cut(four, 3) == ids{1, 2, 3});  // 3.32, 2.32, 1.74 and 1.32 bits
  CHECK(cut(four, 1.4) == ids{3});
  CHECK(cut(four, 1) == ids{3});        // none is: the best
  CHECK(cut(four, -1e300) == ids{3});
  CHECK(cut(four, 1e300) == ids{0, 1, 2, 3});
  CHECK(cut({2, 5, 5}, 0) == ids{1});
  CHECK(cut({infinity, 3, infinity}, 1) == ids{0, 2});
  CHECK(cut({infinity, 3, infinity}, .9) == ids{0});
  CHECK(code_of([&] { cut({1, nan_value}, 1); }) == "non_finite_logits");

  // The surprise of what it draws settles at tau, which a cut by hand would have to know the distribution for.
  std::mt19937 numbers(3);
  std::normal_distribution<float> normal;
  floats logits(2000);
  for (float& x : logits) x = 2 * normal(numbers);
  const std::vector<double> p = test::reference(logits).probabilities();
  llambda::pcg32 random(1);
  floats edited(logits.size());
  std::vector<candidate> room(logits.size());
  llambda::stages::mirostat stage{.version = 2, .tau = 4, .eta = .1f};
  stage.prepare(logits.size());
  CHECK(stage.mu == 8);
  double mu = 8, bits = 0;
  int differ = 0;
  constexpr int steps = 3000;
  for (int i = 0; i < steps; ++i) {
    llambda::sampling_step step(logits, {}, random, edited, room);
    stage.apply(step);
    REQUIRE(step.is_chosen());
    double kept = 0;  // what its own surprise is relative to
    for (const double x : p) kept += -std::log2(x) <= mu ? x : 0;
    const double chosen = p[static_cast<std::size_t>(step.chosen())];
    differ += -std::log2(chosen) > mu + 1e-4;
    mu -= static_cast<double>(.1f) * (-std::log2(chosen / kept) - 4);
    differ += !(std::fabs(stage.mu - mu) < 1e-4);
    mu = stage.mu;
    bits += -std::log2(chosen / kept);
  }
  CHECK(differ == 0);
  CHECK(std::fabs(bits / steps - 4) < .05);
  stage.reset();
  CHECK(stage.mu == 8);
}

TEST_CASE("the filters on random candidates against the plain reference", "[filters]") {
  std::mt19937 random(21);
  int differ = 0, judged = 0;
  for (int round = 0; round < 4000; ++round) {
    const floats logits = random_logits(random, round);
    const float p = static_cast<float>(random() % 1000) / 1000;
    const float threshold = static_cast<float>(random() % 500) / 1000;
    const float n = static_cast<float>(random() % 400) / 100;
    const auto agrees = [&](const ids& got, test::reference& want) {
      if (want.ambiguous) return;
      ++judged;
      ids expected;
      for (const auto& row : want.rows) expected.push_back(row.first);
      differ += sorted(got) != sorted(expected);
    };
    test::reference typical(logits);
    typical.typical(static_cast<double>(p));
    agrees(left(logits, [&](auto& c) { return sampling::typical(c, p); }), typical);
    test::reference xtc(logits);
    xtc.xtc(static_cast<double>(threshold));
    agrees(left(logits, [&](auto& c) { return sampling::xtc(c, threshold); }), xtc);
    test::reference sigma(logits);
    sigma.top_n_sigma(static_cast<double>(n));
    std::vector<candidate> room(logits.size());
    if (n > 0) agrees(left(logits, [&](auto&) { return sampling::top_n_sigma(logits, n, room); }), sigma);

    const float t = static_cast<float>(random() % 300) / 100, range = static_cast<float>(random() % 300) / 100,
                exponent = static_cast<float>(random() % 300) / 100;
    auto c = make(logits);
    const double want = test::reference(logits).dynamic_temperature(t, range, exponent);
    differ += !(std::fabs(static_cast<double>(sampling::dynamic_temperature(c, t, range, exponent)) - want) <= 2e-6);
  }
  CHECK(differ == 0);
  CHECK(judged > 9000);
}
