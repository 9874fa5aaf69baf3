// Each step of sampling: golden tables from peers' bug reports and tests, and the edges.
#include "../catch.hpp"
#include "reference.hpp"

#include <llambda/sample/samplers.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using llambda::candidate;
using llambda::token_id;
using test::code_of;
using test::make;
namespace sampling = llambda::sampling;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float denormal = 1e-45f;

// Logits of the probabilities .1 .2 .3 .4, the table of llama.cpp's test-sampling.cpp.
std::vector<candidate> four() { return make({std::log(.1f), std::log(.2f), std::log(.3f), std::log(.4f)}); }

bool near_to(double a, double b, double tolerance) { return std::fabs(a - b) <= tolerance; }

// What is left, normalised anew, is `want` in this order, within 1e-5.
bool leaves(std::span<candidate> kept, const std::vector<double>& want) {
  sampling::softmax(kept);
  if (kept.size() != want.size()) return false;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!near_to(static_cast<double>(kept[i].p), want[i], 1e-5)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("softmax (B59)", "[samplers]") {
  auto c = make({1e4f, 9999.0f, -1e4f});
  sampling::softmax(c);
  CHECK(near_to(static_cast<double>(c[0].p), 0.7310586, 1e-7));
  CHECK(near_to(static_cast<double>(c[1].p), 0.2689414, 1e-7));
  CHECK(c[2].p == 0);

  auto mixed = make({-infinity, 0.0f, -infinity});
  CHECK(leaves(mixed, {0, 1, 0}));
  auto forced = make({infinity, 3.0f, infinity, -infinity});
  CHECK(leaves(forced, {.5, 0, .5, 0}));

  auto none = make({-infinity, -infinity});
  CHECK(code_of([&] { sampling::softmax(none); }) == "non_finite_logits");
  auto broken = make({1.0f, nan_value, 2.0f});
  CHECK(code_of([&] { sampling::softmax(broken); }) == "non_finite_logits");
  std::vector<candidate> empty;
  CHECK(code_of([&] { sampling::softmax(empty); }) == "non_finite_logits");
}

TEST_CASE("top_k (B61)", "[samplers]") {
  auto c = four();
  CHECK(leaves(sampling::top_k(c, 0), {.1, .2, .3, .4}));
  CHECK(leaves(sampling::top_k(c, 1), {1}));
  c = four();
  CHECK(leaves(sampling::top_k(c, 3), {.44444, .33333, .22222}));
  c = four();
  CHECK(leaves(sampling::top_k(c, 4), {.4, .3, .2, .1}));
  c = four();
  CHECK(leaves(sampling::top_k(c, 1000), {.4, .3, .2, .1}));
  CHECK(code_of([&] { sampling::top_k(c, -1); }) == "bad_argument");
  CHECK(code_of([&] { sampling::top_k(c, (std::numeric_limits<int>::min)()); }) == "bad_argument");

  auto equal = make({1.0f, 2.0f, 2.0f, 1.0f, 2.0f});
  const auto kept = sampling::top_k(equal, 2);
  CHECK(kept[0].id == 1);
  CHECK(kept[1].id == 2);
}

TEST_CASE("top_p (B65)", "[samplers]") {
  const auto after = [](float p) {
    auto c = four();
    const auto kept = sampling::top_p(c, p);
    return std::vector<candidate>(kept.begin(), kept.end());
  };
  const auto check = [&](float p, const std::vector<double>& want) {
    auto kept = after(p);
    return leaves(kept, want);
  };
  CHECK(check(0, {1}));
  CHECK(check(.7f, {.571429, .428571}));
  CHECK(check(.8f, {.44444, .33333, .22222}));
  CHECK(check(1, {.1, .2, .3, .4}));
  CHECK(check(2, {.1, .2, .3, .4}));
  for (const std::size_t n : {1, 3, 7, 49, 1000}) {
    auto equal = make(std::vector<float>(n, 0.0f));
    const auto kept = sampling::top_p(equal, 0);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].id == 0);
    CHECK(sampling::top_p(equal, .9999999f).size() >= n - n / 100);
  }
  CHECK(code_of([&] { after(-.1f); }) == "bad_argument");
  CHECK(code_of([&] { after(nan_value); }) == "bad_argument");
}

TEST_CASE("min_p (B65)", "[samplers]") {
  const auto check = [](float p, const std::vector<double>& want) {
    auto c = four();
    return leaves(sampling::min_p(c, p), want);
  };
  CHECK(check(0, {.1, .2, .3, .4}));
  CHECK(check(.24f, {.1, .2, .3, .4}));
  CHECK(check(.26f, {.22222, .33333, .44444}));
  CHECK(check(.49f, {.22222, .33333, .44444}));
  CHECK(check(.51f, {.428571, .571429}));
  CHECK(check(.74f, {.428571, .571429}));
  CHECK(check(.76f, {1}));
  CHECK(check(1, {1}));
  CHECK(check(1.05f, {1}));
  CHECK(check(infinity, {1}));
  auto c = four();
  CHECK(code_of([&] { sampling::min_p(c, -.1f); }) == "bad_argument");
  CHECK(code_of([&] { sampling::min_p(c, nan_value); }) == "bad_argument");
}

TEST_CASE("temperature (B60)", "[samplers]") {
  const auto check = [](float t, const std::vector<double>& want) {
    auto c = four();
    return leaves(sampling::temperature(c, t), want);
  };
  CHECK(check(1, {.1, .2, .3, .4}));
  CHECK(check(.5f, {1. / 30, 4. / 30, 9. / 30, 16. / 30}));
  for (const float t : {0.0f, -0.0f, denormal}) {
    auto c = make({1.0f, 5.0f, 5.0f, 2.0f});
    const auto kept = sampling::temperature(c, t);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].id == 1);  // the first on ties
    CHECK(leaves(kept, {1}));
  }
  CHECK(check((std::numeric_limits<float>::min)(), {0, 0, 0, 1}));
  CHECK(check(infinity, {.25, .25, .25, .25}));
  auto excluded = make({3.0f, -infinity, 1.0f});
  CHECK(leaves(sampling::temperature(excluded, infinity), {.5, 0, .5}));
  auto forced = make({3.0f, infinity, -infinity});
  CHECK(leaves(sampling::temperature(forced, .7f), {0, 1, 0}));
  auto far_apart = make({3e38f, -3e38f});
  CHECK(leaves(sampling::temperature(far_apart, 1e-30f), {1, 0}));
  auto c = four();
  for (const float t : {-1.0f, nan_value, -infinity, -denormal}) {
    CHECK(code_of([&] { sampling::temperature(c, t); }) == "bad_argument");
  }
}

TEST_CASE("argmax", "[samplers]") {
  using v = std::vector<float>;
  CHECK(sampling::argmax(v{1, 3, 3, 2}) == 1);
  CHECK(sampling::argmax(v{-infinity, -5, -infinity}) == 1);
  CHECK(sampling::argmax(v{0, infinity, infinity}) == 1);
  CHECK(sampling::argmax(v{-0.0f, 0.0f}) == 0);
  CHECK(code_of([] { sampling::argmax(v{}); }) == "non_finite_logits");
  CHECK(code_of([] { sampling::argmax(v(100, -infinity)); }) == "non_finite_logits");
  std::mt19937 random(2);
  int differ = 0;
  for (std::size_t n = 1; n < 300; ++n) {
    v logits(n);
    for (float& x : logits) x = static_cast<float>(random() % 20);
    differ += sampling::argmax(logits) != std::max_element(logits.begin(), logits.end()) - logits.begin();
    logits[random() % n] = nan_value;
    differ += code_of([&] { sampling::argmax(logits); }) != "non_finite_logits";
  }
  CHECK(differ == 0);
}

TEST_CASE("draw", "[samplers]") {
  auto c = make({0, -infinity, 0, -infinity});
  sampling::softmax(c);
  CHECK(sampling::draw(c, 0).id == 0);
  CHECK(sampling::draw(c, 0.4999).id == 0);
  CHECK(sampling::draw(c, 0.5).id == 2);
  CHECK(sampling::draw(c, 1 - 0x1p-53).id == 2);
  std::vector<candidate> nothing = {{7, 0, 0}};
  CHECK(code_of([&] { sampling::draw(nothing, 0.5); }) == "non_finite_logits");
}
