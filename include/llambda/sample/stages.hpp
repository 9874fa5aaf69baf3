// The stages of sampling that llama.cpp has, under its names and defaults, each switched off by its neutral value.
// A stage holds its parameters, what it must remember and its memory; what it does to candidates is in samplers.hpp and
// filters.hpp. Errors of check: bad_argument naming the parameter.
#pragma once

#include <llambda/sample/filters.hpp>
#include <llambda/sample/step.hpp>

#include <cmath>
#include <cstddef>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

namespace stages {

struct top_n_sigma {
  float n = -1;

  void check() const { sampling::check_top_n_sigma(n); }
  void apply(sampling_step& step) const {
    if (n <= 0) return;
    step.keep(step.listed() ? sampling::top_n_sigma(step.candidates(), n)
                            : sampling::top_n_sigma(step.logits(), n, step.room()));
  }
};

struct top_k {
  int k = 40;

  void check() const { sampling::check_top_k(k); }
  void apply(sampling_step& step) const {
    if (k == 0 || (!step.listed() && static_cast<std::size_t>(k) >= step.vocab_size())) return;
    step.keep(step.listed() ? sampling::top_k(step.candidates(), k) : sampling::top_k(step.logits(), k, step.room()));
  }
};

struct typical {
  float p = 1;

  void check() const { sampling::check_typical_p(p); }
  void apply(sampling_step& step) const {
    if (p < 1) step.keep(sampling::typical(step.candidates(), p));
  }
};

struct top_p {
  float p = 0.95f;

  void check() const { sampling::check_top_p(p); }
  void apply(sampling_step& step) const {
    if (p >= 1) return;
    step.keep(step.listed() ? sampling::top_p(step.candidates(), p) : sampling::top_p(step.logits(), p, step.room()));
  }
};

struct min_p {
  float p = 0.05f;

  void check() const { sampling::check_min_p(p); }
  void apply(sampling_step& step) const {
    if (p == 0) return;
    step.keep(step.listed() ? sampling::min_p(step.candidates(), p) : sampling::min_p(step.logits(), p, step.room()));
  }
};

/// Excludes the top choices in `probability` of the steps. Takes one random number a step unless it is off.
struct xtc {
  float probability = 0;
  float threshold = 0.1f;

  void check() const {
    sampling::check_xtc_probability(probability);
    sampling::check_xtc_threshold(threshold);
  }
  void apply(sampling_step& step) const {
    if (probability == 0 || threshold > 0.5f) return;
    if (step.random().uniform() < probability) step.keep(sampling::xtc(step.candidates(), threshold));
  }
};

/// Temperature, of the entropy if `range` is above 0. What is greedy ends the step with the best candidate.
struct temperature {
  float t = 0.8f;
  float range = 0;
  float exponent = 1;

  void check() const {
    sampling::check_temperature(t);
    sampling::check_dynatemp_range(range);
    sampling::check_dynatemp_exponent(exponent);
  }
  void apply(sampling_step& step) const {
    if (range == 0 && sampling::is_greedy(t) && !step.listed()) return step.choose(sampling::argmax(step.logits()));
    const float now = range == 0 ? t : sampling::dynamic_temperature(step.candidates(), t, range, exponent);
    step.keep(sampling::temperature(step.candidates(), now));
    if (sampling::is_greedy(now)) step.choose(step.candidates().front().id);
  }
};

/// The largest logit, the first on ties.
struct greedy {
  void apply(sampling_step& step) const { temperature{.t = 0}.apply(step); }
};

/// Draws by the probabilities: what a chain ends with if none of its stages chose. One random number.
struct draw {
  void apply(sampling_step& step) const {
    const std::span<candidate> c = step.candidates();
    sampling::softmax(c);
    step.choose(sampling::draw(c, step.random().uniform()).id);
  }
};

/// Mirostat 2: draws so that the surprise stays near `tau` bits, which it learns at the rate `eta`. One random number.
struct mirostat {
  int version = 0;  ///< 0: off
  float tau = 5;
  float eta = 0.1f;
  double mu = 0;  ///< the surprise allowed now

  void check() const {
    sampling::check_mirostat(version);
    sampling::check_mirostat_tau(tau);
    sampling::check_mirostat_eta(eta);
  }
  void prepare(std::size_t) noexcept { reset(); }
  void reset() noexcept { mu = 2 * static_cast<double>(tau); }
  void apply(sampling_step& step) {
    if (version == 0) return;
    const std::span<candidate> c = sampling::mirostat_cut(step.candidates(), mu);
    sampling::softmax(c);
    const candidate& chosen = sampling::draw(c, step.random().uniform());
    mu = std::fma(-static_cast<double>(eta), sampling::surprise(chosen.p) - static_cast<double>(tau), mu);
    step.choose(chosen.id);
  }
};

}  // namespace stages

}  // namespace llambda::inline LLAMBDA_ABI
