// Filters on random candidates: against the plain reference, and those that have two forms against each other.
#include "../catch.hpp"
#include "reference.hpp"

#include <llambda/sample/samplers.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <vector>

using llambda::candidate;
using test::code_of;
using test::make;
namespace sampling = llambda::sampling;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

bool near_to(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance; }

}  // namespace

TEST_CASE("top_k of raw logits is top_k of candidates", "[samplers]") {
  std::mt19937 random(4);
  std::vector<candidate> room(3000);
  int differ = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<float> logits(1 + random() % 3000);
    for (float& x : logits) x = static_cast<float>(random() % 500) - 250;  // many ties
    const int k = 1 + static_cast<int>(random() % 100);
    auto all = make(logits);
    const auto want = sampling::top_k(all, k);
    const auto got = sampling::top_k(logits, k, room);
    differ += got.size() != want.size();
    for (std::size_t i = 0; i < (std::min)(got.size(), want.size()); ++i) {
      differ += got[i].id != want[i].id || got[i].logit != want[i].logit;
    }
  }
  CHECK(differ == 0);
  const std::vector<float> few = {-infinity, 1, -infinity, 2};
  CHECK(sampling::top_k(few, 3, room).size() == 2);
  CHECK(code_of([&] { sampling::top_k(few, 0, room); }) == "bad_argument");
  CHECK(code_of([&] { sampling::top_k(few, 2, std::span(room).first(3)); }) == "bad_argument");
  const std::vector<float> broken = {1, 2, nan_value};
  CHECK(code_of([&] { sampling::top_k(broken, 1, room); }) == "non_finite_logits");
}

TEST_CASE("top_p, min_p and top_n_sigma of raw logits are those of candidates", "[samplers]") {
  std::mt19937 random(14);
  std::normal_distribution<float> normal;
  std::vector<candidate> room(3000);
  int differ = 0;
  const auto compare = [&](std::span<const candidate> got, std::span<const candidate> want) {
    differ += got.size() != want.size();
    for (std::size_t i = 0; i < (std::min)(got.size(), want.size()); ++i) {
      differ += got[i].id != want[i].id || got[i].logit != want[i].logit;
    }
  };
  for (int round = 0; round < 600; ++round) {
    std::vector<float> logits(1 + random() % 3000);
    for (float& x : logits) {
      x = round % 2 == 0 ? 4 * normal(random) : static_cast<float>(random() % 50);
      if (round % 3 == 0 && random() % 3 == 0) x = -infinity;
    }
    logits[random() % logits.size()] = round % 50 == 0 ? infinity : 3;
    const float p = static_cast<float>(random() % 1000) / 1000;
    auto all = make(logits);
    std::erase_if(all, [](const candidate& x) { return x.logit == -infinity; });
    auto list = all;
    compare(sampling::top_p(logits, p, room), sampling::top_p(list, p));
    list = all;
    compare(sampling::min_p(logits, p + 1e-6f, room), sampling::min_p(list, p + 1e-6f));
    compare(sampling::gather(logits, static_cast<double>(-infinity), room), all);
  }
  CHECK(differ == 0);
  for (std::size_t i = 0; i < 200; ++i) {  // a NaN is found wherever it stands
    std::vector<float> broken(200, -5.0f);
    broken[0] = 1;
    broken[i] = nan_value;
    CHECK(code_of([&] { sampling::top_p(broken, .5f, room); }) == "non_finite_logits");
    CHECK(code_of([&] { sampling::min_p(broken, .5f, room); }) == "non_finite_logits");
    CHECK(code_of([&] { sampling::gather(broken, 0, room); }) == "non_finite_logits");
  }
}

TEST_CASE("filters against the plain reference", "[samplers]") {
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  int differ = 0;
  int judged = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<float> logits(1 + random() % (round % 10 == 0 ? 2000 : 40));
    const float spread = static_cast<float>(random() % 8);
    for (float& x : logits) {
      x = round % 2 == 0 ? spread * normal(random) : static_cast<float>(random() % 5);
      if (round % 7 == 0 && random() % 3 == 0) x = -infinity;
    }
    logits[random() % logits.size()] = 1;
    const int k = random() % 3 == 0 ? static_cast<int>(random() % 50) : 0;
    const float p = random() % 3 == 0 ? 1 : static_cast<float>(random() % 1000) / 1000;
    const float m = random() % 3 == 0 ? 0 : static_cast<float>(random() % 1000) / 2000;
    const float t = 0.05f + static_cast<float>(random() % 200) / 100;

    test::reference want(logits);
    want.top_k(k);
    want.top_p(static_cast<double>(p));
    want.min_p(static_cast<double>(m));
    if (want.ambiguous) continue;
    ++judged;
    auto all = make(logits);
    auto kept = sampling::min_p(sampling::top_p(sampling::top_k(all, k), p), m);
    if (k != 0 || p < 1) differ += !std::is_sorted(kept.begin(), kept.end(), sampling::before);
    kept = sampling::temperature(kept, t);
    sampling::softmax(kept);
    auto distribution = want.distribution(static_cast<double>(t));
    double total = 0;
    for (const candidate& x : kept) {
      const auto at = distribution.find(x.id);
      const double expected = at == distribution.end() ? 0 : at->second;
      differ += !near_to(static_cast<double>(x.p), expected, 1e-6 + 1e-5 * expected);
      total += expected;
    }
    differ += !near_to(total, 1, 1e-6);
  }
  CHECK(differ == 0);
  CHECK(judged > 3000);
}
