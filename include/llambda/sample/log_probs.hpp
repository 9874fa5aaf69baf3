// Log-probabilities of the model: log-softmax of the raw logits, before bias, penalties, filters and temperature.
// Where logits are +inf, those tokens share all probability, and each is reported with a log-probability of 0.
#pragma once

#include <llambda/sample/select.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

/// A token and the natural logarithm of its probability.
struct token_log_prob {
  token_id id = token_none;
  float log_prob = -sampling::infinity;
};

namespace sampling {

/// log(sum over i of exp(logits[i])): a logit minus this is its log-probability. +inf if a logit is.
/// Errors: non_finite_logits on NaN or on nothing but -inf.
inline double log_sum_exp(std::span<const float> logits) {
  const float max = max_logit(logits);
  if (max == infinity) return static_cast<double>(infinity);
  return static_cast<double>(max) + log_f64(weight_sum(logits, max));
}

/// Log-probability of a logit under its log_sum_exp.
inline float log_prob(float logit, double log_sum) noexcept {
  if (log_sum == static_cast<double>(infinity)) return logit == infinity ? 0.0f : -infinity;
  return static_cast<float>(static_cast<double>(logit) - log_sum);
}

/// Fills `top` with the most probable tokens, best first, ties by id; returns how many there are: fewer than top.size()
/// if the vocabulary, or what is not -inf in it, is smaller. `room` holds at least logits.size().
/// Errors: non_finite_logits.
inline std::size_t top_log_probs(std::span<const float> logits, double log_sum, std::span<token_log_prob> top,
                                 std::span<candidate> room) {
  if (top.empty()) return 0;
  const std::span<const candidate> found =
      top_k(logits, static_cast<int>((std::min)(top.size(), logits.size())), room);
  for (std::size_t i = 0; i < found.size(); ++i) top[i] = {found[i].id, log_prob(found[i].logit, log_sum)};
  return found.size();
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
