// The filters and temperatures that look at the whole distribution, as pure functions on lists of candidates, under the
// rules of samplers.hpp.
#pragma once

#include <llambda/sample/samplers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

namespace sampling {

/// Sum of p x (logit - max): the mean of the logits, from the largest one. Precondition: softmax has run.
inline double mean_below_max(std::span<const candidate> c, float max) {
  if (max == infinity) return 0;
  return lane_sum(c.size(), [&](double sum, std::size_t i) {
    if (!(c[i].p > 0)) return sum;
    return std::fma(static_cast<double>(c[i].p), static_cast<double>(c[i].logit) - static_cast<double>(max), sum);
  });
}

/// Locally typical sampling (Meister et al. 2022): the fewest candidates whose surprise is nearest to the entropy and
/// whose probabilities together exceed `p`, nearest first; p >= 1: all, as they stand. Those without a probability go.
/// -log p(x) - entropy is the mean of the logits less logit(x): no logarithm is taken.
inline std::span<candidate> typical(std::span<candidate> c, float p) {
  check_typical_p(p);
  if (p >= 1) return c;
  softmax(c);
  const float max = max_logit(c);
  const double mean = max == infinity ? 0 : static_cast<double>(max) + mean_below_max(c, max);
  const auto distance = [&](const candidate& x) { return std::fabs(static_cast<double>(x.logit) - mean); };
  return shortest_run(keep_if(c, [](const candidate& x) { return x.p > 0; }), static_cast<double>(p) + sum_tolerance,
                      [&](const candidate& a, const candidate& b) {
                        const double of_a = distance(a), of_b = distance(b);
                        return of_a < of_b || (of_a == of_b && before(a, b));
                      });
}

/// Exclude top choices (p-e-w 2024): where two or more candidates have at least the probability `threshold`, all of
/// them go but the least probable one. Whether it acts at all is a matter of chance and left to the stage.
inline std::span<candidate> xtc(std::span<candidate> c, float threshold) {
  check_xtc_threshold(threshold);
  softmax(c);
  const auto is_top = [&](const candidate& x) { return x.p >= threshold && x.logit > -infinity; };
  candidate last{token_none, infinity, 0};
  for (const candidate& x : c) {
    if (is_top(x) && (last.id == token_none || before(last, x))) last = x;
  }
  return keep_if(c, [&](const candidate& x) { return !is_top(x) || x.id == last.id; });
}

/// max - n x (standard deviation of the logits that are not -inf), what top-n-sigma asks of a logit.
/// `logit(i)` gives the i-th of `count`, the largest of which is `max`.
template <class F>
double sigma_bar(std::size_t count, F&& logit, float max, float n) {
  const auto top = static_cast<double>(max);
  if (max == infinity) return top;
  std::size_t used = 0;
  const double sum = lane_sum(count, [&](double s, std::size_t i) {
    const bool counts = logit(i) > -infinity;
    used += counts;
    return counts ? s + (static_cast<double>(logit(i)) - top) : s;
  });
  const double mean = sum / static_cast<double>(used);
  const double squares = lane_sum(count, [&](double s, std::size_t i) {
    const double d = static_cast<double>(logit(i)) - top - mean;
    return logit(i) > -infinity ? std::fma(d, d, s) : s;
  });
  const double deviation = std::sqrt(squares / static_cast<double>(used));
  return deviation > 0 ? std::fma(-static_cast<double>(n), deviation, top) : top;
}

/// Top-n-sigma (Tang et al. 2024): candidates whose logit is at most n standard deviations below the largest, in their
/// order; n <= 0: all.
inline std::span<candidate> top_n_sigma(std::span<candidate> c, float n) {
  check_top_n_sigma(n);
  if (n <= 0) return c;
  const double bar = sigma_bar(c.size(), [&](std::size_t i) { return c[i].logit; }, max_logit(c), n);
  return keep_if(c, [&](const candidate& x) { return static_cast<double>(x.logit) >= bar; });
}

/// The same of all logits. Precondition: n > 0; `room` holds at least logits.size().
inline std::span<candidate> top_n_sigma(std::span<const float> logits, float n, std::span<candidate> room) {
  check_top_n_sigma(n);
  const double bar = sigma_bar(logits.size(), [&](std::size_t i) { return logits[i]; }, max_logit(logits), n);
  return gather(logits, bar, room);
}

/// Dynamic temperature (kalomaze 2023): between t - range (at least 0) and t + range, the higher the less certain the
/// choice: low + (high - low) x (entropy / largest possible entropy)^exponent. t itself if range is 0, t is +inf or
/// there is one candidate.
inline float dynamic_temperature(std::span<candidate> c, float t, float range, float exponent) {
  check_temperature(t);
  check_dynatemp_range(range);
  check_dynatemp_exponent(exponent);
  const double sum = softmax(c);
  if (range == 0 || t == infinity || c.size() < 2) return t;
  const double entropy = log_f64(sum) - mean_below_max(c, max_logit(c));
  const double share = (std::clamp)(entropy / log_f64(static_cast<double>(c.size())), 0.0, 1.0);
  constexpr double smallest = (std::numeric_limits<double>::min)();
  const double power = exponent == 0       ? 1.0
                       : share < smallest ? 0.0
                                           : exp_f64(static_cast<double>(exponent) * log_f64(share));
  const double low = (std::max)(0.0, static_cast<double>(t) - static_cast<double>(range));
  const double high = static_cast<double>(t) + static_cast<double>(range);
  constexpr double most = (std::numeric_limits<float>::max)();
  return static_cast<float>((std::min)(most, std::fma(high - low, power, low)));
}

inline constexpr double ln2 = 0x1.62e42fefa39efp-1;

/// -log2 of a probability above 0, in bits.
inline double surprise(float p) noexcept { return -log_f64(static_cast<double>(p)) / ln2; }

/// The cut of mirostat 2 (Basu et al. 2021): candidates with a surprise of at most `mu` bits, in their order, and the
/// best if there is none.
inline std::span<candidate> mirostat_cut(std::span<candidate> c, double mu) {
  softmax(c);
  const double least = exp_f64(-mu * ln2);
  const candidate best = *std::min_element(c.begin(), c.end(), before);
  const std::span<candidate> kept = keep_if(c, [&](const candidate& x) { return x.p > 0 && x.p >= least; });
  if (!kept.empty()) return kept;
  c.front() = best;
  return c.first(1);
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
