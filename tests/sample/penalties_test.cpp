// Bias, penalties and DRY: golden tables from peers' bug reports and tests, the edges, and random histories against the
// definitions in reference.hpp, which count and compare tokens the plain way.
#include "../catch.hpp"
#include "reference.hpp"

#include <llambda/sample/sampler.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using llambda::token_id;
using test::code_of;
using ids = std::vector<token_id>;
using floats = std::vector<float>;
namespace sampling = llambda::sampling;
namespace stages = llambda::stages;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
constexpr float most = (std::numeric_limits<float>::max)();

/// Logits as `stage` leaves them; -inf where no candidate is left. With `listed`, the stage meets a list.
template <class Stage>
floats after(Stage stage, const floats& logits, const ids& history, bool listed = false) {
  stage.check();
  stage.prepare(logits.size());
  llambda::pcg32 random;
  floats edited(logits.size());
  std::vector<llambda::candidate> room(logits.size());
  floats out;
  for (int twice = 0; twice < 2; ++twice) {  // a stage leaves nothing behind for the next step
    llambda::sampling_step step(logits, history, random, edited, room);
    if (listed) step.candidates();
    stage.apply(step);
    out.assign(logits.size(), -infinity);
    for (const auto& c : step.candidates()) out[static_cast<std::size_t>(c.id)] = c.logit;
  }
  return out;
}

/// Probabilities of `logits`.
std::vector<double> softmax(const floats& logits) { return test::reference(logits).probabilities(); }

bool near_to(const std::vector<double>& a, const std::vector<double>& b, double tolerance) {
  bool near = a.size() == b.size();
  for (std::size_t i = 0; near && i < a.size(); ++i) near = std::fabs(a[i] - b[i]) <= tolerance;
  return near;
}

}  // namespace

TEST_CASE("repetition penalty (B63)", "[penalties]") {
  const floats logits = {2, -2, 0.5f, -infinity};
  const auto penalised = [&](const ids& history, float penalty, int last_n) {
    const auto list = after(stages::penalties{.repeat = penalty, .last_n = last_n}, logits, history, true);
    const auto all = after(stages::penalties{.repeat = penalty, .last_n = last_n}, logits, history);
    CHECK(list == all);
    return all;
  };
  const floats want = {1, -4, 0.5f, -infinity};
  CHECK(penalised({0, 1, 3}, 2, -1) == want);
  CHECK(penalised({0, 1, 3, 0, 0, 1, 3}, 2, -1) == want);  // each once however often seen
  CHECK(penalised({0, 1, 3}, 2, 3) == want);
  CHECK(penalised({0, 1, 3}, 2, 64) == want);
  CHECK(penalised({0, 1, 3}, 1, -1) == logits);
  CHECK(penalised({0, 1, 3}, 2, 0) == logits);
  CHECK(penalised({2, 2, 0, 1, 3}, 2, 3) == want);  // only the last three
  CHECK(penalised({}, 2, 5) == logits);
  for (const float penalty : {0.0f, -0.0f, -1.0f, nan_value, infinity}) {
    CHECK(code_of([&] { penalised({0}, penalty, -1); }) == "bad_argument");
  }
  CHECK(code_of([&] { penalised({0}, 2, -2); }) == "bad_argument");
  CHECK(code_of([&] { penalised({4}, 2, -1); }) == "bad_token_id");
  CHECK(code_of([&] { penalised({-1}, 2, -1); }) == "bad_token_id");
  CHECK(penalised({4, 0, 1, 3}, 2, 3) == want);  // an id that is not looked at is not judged

  CHECK(sampling::penalised(-3e38f, 1, 4, 0, 0) == -most);
  CHECK(sampling::penalised(3e38f, 1, 1e-3f, 0, 0) == most);
  CHECK(sampling::penalised(infinity, 3, 2, 1, 1) == infinity);
  CHECK(std::isnan(sampling::penalised(nan_value, 3, 2, 1, 1)));
}

TEST_CASE("penalties: the tables of llama.cpp's tests", "[penalties]") {
  const floats fifths(5, std::log(.2f));
  const auto p = [&](const stages::penalties& stage, const ids& history) {
    return softmax(after(stage, fifths, history));
  };
  CHECK(near_to(p({.repeat = 50}, {0}), {0, .25, .25, .25, .25}, 1e-5));
  CHECK(near_to(p({.repeat = 50}, {0, 1, 2, 0, 0}), {0, 0, 0, .5, .5}, 1e-5));
  CHECK(near_to(p({.presence = 5, .frequency = 5}, {0}), {.000011, .249997, .249997, .249997, .249997}, 1e-6));
  CHECK(near_to(p({.presence = 5, .frequency = 5}, {0, 1, 2}), {.000023, .000023, .000023, .499966, .499966}, 1e-6));
  CHECK(near_to(p({.presence = 5, .frequency = 5}, {0, 1, 2, 0, 0}), {0, .000023, .000023, .499977, .499977}, 1e-6));
  for (const float bad : {nan_value, infinity, -infinity}) {
    CHECK(code_of([&] { p({.presence = bad}, {}); }) == "bad_argument");
    CHECK(code_of([&] { p({.frequency = bad}, {}); }) == "bad_argument");
  }
}

TEST_CASE("DRY: the tables of llama.cpp's tests", "[penalties]") {
  const auto p = [](std::size_t n, const stages::dry& stage, const ids& history) {
    return softmax(after(stage, floats(n, 1.0f), history));
  };
  const stages::dry one{.multiplier = 1, .base = 1.1f};
  const double even = 1 / (3 + std::exp(-1.0));  // one of four is penalised by 1
  CHECK(near_to(p(4, one, {0, 1}), {.25, .25, .25, .25}, 1e-6));
  CHECK(near_to(p(4, one, {0, 1, 2, 0, 1}), {even, even, 1 - 3 * even, even}, 1e-6));
  stages::dry broken = one;
  broken.breakers = {{3}};
  CHECK(near_to(p(5, broken, {0, 1, 3, 4, 0, 1}), std::vector<double>(5, .2), 1e-6));
  CHECK(near_to(p(5, {.multiplier = 2, .base = 1.1f}, {0, 1, 2, 0, 1}), {.241818, .241818, .032727, .241818, .241818},
                1e-6));
  CHECK(near_to(p(5, {.multiplier = 1, .base = 1.1f, .allowed_length = 4}, {0, 1, 2, 3, 4, 0, 1}),
                std::vector<double>(5, .2), 1e-6));
  const ids counting = {1, 2, 3, 4, 5, 1, 2, 3, 4};
  // a longer repetition costs base times more a token; last_n bounds what is looked at
  CHECK(after(stages::dry{.multiplier = 1, .base = 3}, floats(6, 0.0f), counting)[5] == -9);
  CHECK(after(stages::dry{.multiplier = 1, .base = 3, .last_n = 8}, floats(6, 0.0f), counting)[5] == -3);
  CHECK(after(stages::dry{.multiplier = 1, .base = 3, .last_n = 0}, floats(6, 0.0f), counting)[5] == 0);
  // a breaker of two tokens within the repetition shortens it, the second of them alone does not
  CHECK(after(stages::dry{.multiplier = 1, .base = 3, .breakers = {{2, 3}, {9, 4}}}, floats(6, 0.0f), counting)[5] == 0);
  CHECK(after(stages::dry{.multiplier = 1, .base = 3, .allowed_length = 1, .breakers = {{2, 3}}}, floats(6, 0.0f), counting)[5] == -1);
  // a breaker is never penalised itself
  CHECK(after(stages::dry{.multiplier = 1, .base = 3, .breakers = {{5}}}, floats(6, 0.0f), counting)[5] == 0);
  // the exponent stops where a float would overflow
  CHECK(after(stages::dry{.multiplier = 1, .base = 2}, floats(2, 0.0f), ids(2000, 1))[1] == -std::ldexp(1.0f, 127));
  CHECK(after(stages::dry{.multiplier = 1e30f, .base = 2}, floats(2, 0.0f), ids(2000, 1))[1] == -most);
  CHECK(after(stages::dry{.multiplier = 1, .base = 1}, floats(2, 0.0f), ids(2000, 1))[1] == -1);
  const auto code = [](const stages::dry& stage) { return code_of([&] { after(stage, floats(4), {}); }); };
  CHECK(code({}) == "none");
  for (const float bad : {nan_value, -1.0f, infinity}) {
    CHECK(code({.multiplier = bad}) == "bad_argument");
    CHECK(code({.multiplier = 1, .base = bad}) == "bad_argument");
  }
  CHECK(code({.base = .99f}) == "bad_argument");
  CHECK(code({.allowed_length = -1}) == "bad_argument");
  CHECK(code({.last_n = -2}) == "bad_argument");
  CHECK(code({.breakers = {{}}}) == "bad_argument");
  CHECK(code_of([] { after(stages::dry{.multiplier = 1}, floats(4), {0, 1, 4}); }) == "bad_token_id");
}

TEST_CASE("bias", "[penalties]") {
  const floats logits = {1, -2, -infinity, infinity, 3e38f};
  using biases = std::vector<llambda::token_bias>;
  const auto biased = [&](const biases& b) { return after(stages::logit_bias{b}, logits, {}); };
  CHECK(biased({}) == logits);
  CHECK(biased({{0, 2}, {1, -1.5f}}) == floats{3, -3.5f, -infinity, infinity, 3e38f});
  CHECK(biased({{0, 2}, {0, 5}}) == floats{6, -2, -infinity, infinity, 3e38f});  // the last counts
  CHECK(biased({{0, infinity}, {2, infinity}, {3, -infinity}}) == floats{infinity, -2, -infinity, -infinity, 3e38f});
  CHECK(biased({{4, 3e38f}, {3, 5}, {2, 5}}) == floats{1, -2, -infinity, infinity, most});
  CHECK(std::isnan(sampling::biased(nan_value, -infinity)));  // what is broken stays so
  CHECK(code_of([&] { biased({{5, 0}}); }) == "bad_token_id");
  CHECK(code_of([&] { biased({{-1, 0}}); }) == "bad_token_id");
  CHECK(code_of([&] { biased({{0, nan_value}}); }) == "bad_argument");
  CHECK(code_of([&] { after(stages::logit_bias{{{0, -infinity}}}, {1, -infinity}, {}); }) == "non_finite_logits");
}

TEST_CASE("penalties and DRY on random histories against the plain reference", "[penalties]") {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  int differ = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::size_t vocab = 2 + random() % 8;
    const auto token = [&] { return static_cast<token_id>(random() % vocab); };
    floats logits(vocab);
    for (float& x : logits) x = random() % 9 == 0 ? -infinity : 5 * normal(random);
    logits[0] = 1;
    ids history(random() % 60);
    for (token_id& id : history) id = token();
    const stages::penalties penalties{.repeat = 0.5f + static_cast<float>(random() % 100) / 50,
                                      .presence = normal(random),
                                      .frequency = normal(random),
                                      .last_n = static_cast<int>(random() % 70) - 1};
    stages::dry dry{.multiplier = static_cast<float>(random() % 4),
                    .base = 1 + static_cast<float>(random() % 3) / 2,
                    .allowed_length = static_cast<int>(random() % 5),
                    .last_n = static_cast<int>(random() % 70) - 1};
    for (std::size_t n = random() % 3; n > 0; --n) {
      dry.breakers.emplace_back(1 + random() % 3);
      for (token_id& id : dry.breakers.back()) id = token();
    }
    const bool listed = random() % 2 == 0;
    test::reference want(logits);
    want.penalise(history, penalties.repeat, penalties.presence, penalties.frequency, penalties.last_n);
    const floats first = after(penalties, logits, history, listed);
    for (const auto& [id, logit] : want.rows) {
      const double got = first[static_cast<std::size_t>(id)];
      differ += got != logit && !(std::fabs(got - logit) <= 1e-7 * std::fabs(logit) + 1e-6);
    }
    want = test::reference(first);
    want.dry(history, dry.multiplier, dry.base, dry.allowed_length, dry.last_n, dry.breakers);
    const floats second = after(dry, first, history, listed);
    for (const auto& [id, logit] : want.rows) {
      const double got = second[static_cast<std::size_t>(id)];
      differ += got != logit && !(std::fabs(got / logit - 1) <= 1e-6);
    }
  }
  CHECK(differ == 0);
}
