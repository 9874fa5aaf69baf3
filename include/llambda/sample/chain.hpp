// The sampling chain: from the logits of one step to a token, in a fixed order, without allocation.
//   repetition penalty -> top-k -> top-p -> min-p -> temperature -> softmax -> draw     (llama.cpp's default order)
// Temperature 0 is greedy: the largest logit after the penalty, the first on ties; no filter can change that one.
// Log-probabilities are those of the model: log-softmax of the raw logits, before penalty, filters and temperature.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/core/token.hpp>
#include <llambda/sample/rng.hpp>
#include <llambda/sample/samplers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

struct sampling_params {
  float temperature = 0.8f;     ///< 0: greedy; +inf: all that the filters leave are equal
  int top_k = 40;               ///< keep the k best; 0: off
  float top_p = 0.95f;          ///< keep the best that together reach this probability; >= 1: off
  float min_p = 0.05f;          ///< keep those at least this many times as probable as the best; 0: off
  float repeat_penalty = 1.0f;  ///< above 1: tokens seen lately are made less likely; 1: off
  int repeat_last_n = 64;       ///< how many tokens back that looks; 0: off; -1: the whole history
  std::uint64_t seed = 0;       ///< same seed, same logits: same tokens

  /// Errors: bad_argument naming the parameter that is outside its range (NaN always is).
  void validate() const {
    sampling::check_temperature(temperature);
    sampling::check_top_k(top_k);
    sampling::check_top_p(top_p);
    sampling::check_min_p(min_p);
    sampling::check_repeat_penalty(repeat_penalty);
    sampling::check_repeat_last_n(repeat_last_n);
  }
};

/// A token and the natural logarithm of its probability.
struct token_log_prob {
  token_id id;
  float log_prob;
};

namespace sampling {

/// log(sum over i of exp(logits[i])): a logit minus this is its log-probability. +inf if a logit is.
/// Errors: non_finite_logits on NaN or on nothing but -inf.
inline double log_sum_exp(std::span<const float> logits) {
  const float max = logits.empty() ? -infinity : logits[static_cast<std::size_t>(argmax(logits))];
  if (max == -infinity) no_logits("there are no logits");
  if (max == infinity) return static_cast<double>(infinity);
  double sum = 0;
  for (const float x : logits) sum += softmax_weight(x, max);
  return static_cast<double>(max) + std::log(sum);
}

/// Log-probability of a logit under its log_sum_exp. Where a logit is +inf only those have a probability, taken as 1.
inline float log_prob(float logit, double log_sum) noexcept {
  if (log_sum == static_cast<double>(infinity)) return logit == infinity ? 0.0f : -infinity;
  return static_cast<float>(static_cast<double>(logit) - log_sum);
}

}  // namespace sampling

/// One stream of choices: parameters, random numbers and all memory it takes. One per sequence; not for two threads at
/// a time. Memory: 16 bytes per token of the vocabulary.
class sampler {
 public:
  /// Errors: bad_argument for a parameter outside its range or a vocabulary of 0 or more than 2^31 - 1 tokens.
  sampler(const sampling_params& params, std::size_t vocab_size) : params_(params), random_(params.seed) {
    params_.validate();
    if (vocab_size == 0 || vocab_size > static_cast<std::size_t>((std::numeric_limits<token_id>::max)())) {
      sampling::bad_argument("vocab_size", "1 to 2^31 - 1", static_cast<double>(vocab_size));
    }
    penalised_.resize(vocab_size);
    candidates_.resize(vocab_size);
  }

  const sampling_params& params() const noexcept { return params_; }
  std::size_t vocab_size() const noexcept { return candidates_.size(); }

  /// Choose a token. `logits` (vocab_size) are those of the last position, `history` the tokens so far, prompt
  /// included. One random number is taken, none when greedy. Nothing is allocated unless an error is thrown:
  /// bad_argument if the length of logits is not vocab_size; non_finite_logits if one is NaN or all are -inf;
  /// bad_token_id if the part of the history that the penalty looks at leaves the vocabulary.
  token_id sample(std::span<const float> logits, std::span<const token_id> history = {}) {
    check_size(logits);
    if (params_.repeat_penalty != 1) {
      const auto window = sampling::penalty_window(history, params_.repeat_last_n);
      if (!window.empty()) {
        std::copy(logits.begin(), logits.end(), penalised_.begin());
        sampling::repeat_penalty(logits, window, params_.repeat_penalty, penalised_);
        logits = penalised_;
      }
    }
    if (sampling::is_greedy(params_.temperature)) return sampling::argmax(logits);

    std::span<candidate> kept = best(logits, params_.top_k);
    kept = sampling::top_p(kept, params_.top_p);
    kept = sampling::min_p(kept, params_.min_p);
    kept = sampling::temperature(kept, params_.temperature);
    sampling::softmax(kept);
    return sampling::draw(kept, random_.uniform());
  }

  /// Log-probability of token `id`. `logits` are the raw ones that were given to sample.
  /// Errors: bad_argument, bad_token_id, non_finite_logits.
  float log_prob(std::span<const float> logits, token_id id) const {
    check_size(logits);
    if (id < 0 || static_cast<std::size_t>(id) >= candidates_.size()) bad_id(id);
    return sampling::log_prob(logits[static_cast<std::size_t>(id)], sampling::log_sum_exp(logits));
  }

  /// Fill `top` with the most probable tokens, best first, ties by id; returns how many there are: fewer than
  /// top.size() if the vocabulary, or what is not -inf in it, is smaller. The chosen token need not be among them when
  /// it was drawn or a penalty acted: ask log_prob for it. Nothing is allocated. Errors: bad_argument,
  /// non_finite_logits.
  std::size_t top_log_probs(std::span<const float> logits, std::span<token_log_prob> top) {
    check_size(logits);
    const double log_sum = sampling::log_sum_exp(logits);
    if (top.empty()) return 0;
    const auto k = static_cast<int>((std::min)(top.size(), logits.size()));
    const std::span<const candidate> found = sampling::top_k(logits, k, candidates_);
    for (std::size_t i = 0; i < found.size(); ++i) top[i] = {found[i].id, sampling::log_prob(found[i].logit, log_sum)};
    return found.size();
  }

  /// Begin the stream of random numbers of `seed` again.
  void reset(std::uint64_t seed) noexcept {
    params_.seed = seed;
    random_ = pcg32(seed);
  }

 private:
  std::span<candidate> best(std::span<const float> logits, int k) {
    if (k != 0 && static_cast<std::size_t>(k) < logits.size()) return sampling::top_k(logits, k, candidates_);
    for (std::size_t i = 0; i < logits.size(); ++i) candidates_[i] = {static_cast<token_id>(i), logits[i], 0};
    return candidates_;
  }

  void check_size(std::span<const float> logits) const {
    if (logits.size() == candidates_.size()) return;
    throw error(errc::bad_argument, "llambda: sampling: " + std::to_string(logits.size()) +
                                        " logits for a vocabulary of " + std::to_string(candidates_.size()));
  }

  [[noreturn]] void bad_id(token_id id) const {
    throw error(errc::bad_token_id, "llambda: sampling: token id " + std::to_string(id) + " outside 0 ... " +
                                        std::to_string(candidates_.size() - 1));
  }

  sampling_params params_;
  pcg32 random_;
  std::vector<float> penalised_;       // (vocab): logits after the penalty
  std::vector<candidate> candidates_;  // (vocab)
};

}  // namespace llambda::inline LLAMBDA_ABI
