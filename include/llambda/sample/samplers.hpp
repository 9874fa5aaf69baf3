// The filters that every chain knows, and the draw, as pure functions on lists of candidates; filters.hpp has the rest.
// Each takes candidates and returns those that stay, at the front of the same memory. Nothing allocates.
// Rules for all: ties go to the lower id; sums run in double; a parameter outside its range is errc::bad_argument, a
// NaN logit errc::non_finite_logits. A logit of -inf excludes a token; those of +inf share all probability among them.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/core/token.hpp>
#include <llambda/sample/candidate.hpp>
#include <llambda/sample/exact_math.hpp>
#include <llambda/sample/select.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

namespace sampling {

/// The largest logit. Errors: non_finite_logits on NaN, on nothing but -inf, on no candidates.
inline float max_logit(std::span<const candidate> c) {
  float best = -infinity;
  bool nan = false;
  for (const candidate& x : c) {
    nan |= x.logit != x.logit;
    best = x.logit > best ? x.logit : best;
  }
  check_max(best, nan);
  return best;
}

/// p[i] = exp(logit[i] - max) / sum; returns the sum. Errors: as max_logit.
inline double softmax(std::span<candidate> c) {
  const float max = max_logit(c);
  double weight[sum_lanes];  // of as many candidates, so that compilers make vectors of exp
  const double sum = lane_sum(c.size(), [&](double before_it, std::size_t i) {
    const std::size_t lane = i % sum_lanes;
    if (lane == 0) {
      const std::size_t n = (std::min)(sum_lanes, c.size() - i);
      for (std::size_t j = 0; j < n; ++j) weight[j] = softmax_weight(c[i + j].logit, max);
    }
    c[i].p = static_cast<float>(weight[lane]);
    return before_it + weight[lane];
  });
  for (candidate& x : c) x.p = static_cast<float>(x.p / sum);
  return sum;
}

/// The k best, best first; 0: all, as they stand. Cost: O(n + k log k).
inline std::span<candidate> top_k(std::span<candidate> c, int k) {
  check_top_k(k);
  if (k == 0) return c;
  max_logit(c);  // NaN has no order
  const std::size_t keep = (std::min)(c.size(), static_cast<std::size_t>(k));
  order_best(c, keep);
  return c.first(keep);
}

/// The shortest run of candidates, first in `order` first, whose probabilities reach `enough`: at least one, all if
/// they never do. Found by quartering: [0, low) belongs to it, [high, n) does not. Precondition: softmax has run.
/// Cost: O(n + r log r), r the length of the run.
template <class Order>
std::span<candidate> shortest_run(std::span<candidate> c, double enough, Order order) {
  const auto at = [&](std::size_t i) { return c.begin() + static_cast<std::ptrdiff_t>(i); };
  std::size_t low = 0;
  std::size_t high = c.size();
  double sum = 0;  // of [0, low)
  while (high - low > 64) {
    const std::size_t mid = low + (high - low) / 4;
    std::nth_element(at(low), at(mid), at(high), order);
    double part = 0;
    for (std::size_t i = low; i < mid; ++i) part += c[i].p;
    if (sum + part >= enough) {
      high = mid;
    } else {
      sum += part;
      low = mid;
    }
  }
  std::sort(c.begin(), at(high), order);
  while (low < high && (sum += c[low].p) < enough) ++low;
  return c.first((std::min)(low + 1, high));
}

/// How far sums of probabilities may miss what they must reach, so that rounding does not move a cut.
inline constexpr double sum_tolerance = 1e-6;

/// The least probability that can be needed to reach `enough` among n candidates: half of what may be missing, spread
/// over all.
inline double least_needed(double enough, std::size_t n) noexcept {
  return (1 - enough) / (2 * static_cast<double>(n));
}

/// The shortest run of best candidates whose probabilities reach `p` (less sum_tolerance), best first, at least one;
/// p >= 1: all, as they stand.
inline std::span<candidate> top_p(std::span<candidate> c, float p) {
  check_top_p(p);
  if (p >= 1) return c;
  softmax(c);
  const double enough = static_cast<double>(p) - sum_tolerance;
  const double least = least_needed(enough, c.size());
  return shortest_run(keep_if(c, [&](const candidate& x) { return x.p >= least; }), enough, before);
}

/// The same of all logits. Precondition: p < 1; `room` holds at least logits.size().
inline std::span<candidate> top_p(std::span<const float> logits, float p, std::span<candidate> room) {
  check_top_p(p);
  const float max = max_logit(logits);
  const double sum = weight_sum(logits, max);
  const double enough = static_cast<double>(p) - sum_tolerance;
  // p >= least in terms of logits
  const double bar = static_cast<double>(max) + log_f64(least_needed(enough, logits.size()) * sum);
  const std::span<candidate> likely = gather(logits, (std::min)(bar, static_cast<double>(max)), room);
  for (candidate& x : likely) x.p = static_cast<float>(softmax_weight(x.logit, max) / sum);
  return shortest_run(likely, enough, before);
}

/// The logit that is `p` times as probable as `max`; p > 1 is as 1. Precondition: p > 0.
inline double min_p_bar(float max, float p) noexcept {
  return p < 1 ? static_cast<double>(max) + log_f64(static_cast<double>(p)) : static_cast<double>(max);
}

/// Candidates at least `p` times as probable as the best, in their order; the best always stays; 0: all.
inline std::span<candidate> min_p(std::span<candidate> c, float p) {
  check_min_p(p);
  if (p == 0) return c;
  const double bar = min_p_bar(max_logit(c), p);
  return keep_if(c, [&](const candidate& x) { return static_cast<double>(x.logit) >= bar; });
}

/// The same of all logits. Precondition: p > 0; `room` holds at least logits.size().
inline std::span<candidate> min_p(std::span<const float> logits, float p, std::span<candidate> room) {
  check_min_p(p);
  return gather(logits, min_p_bar(max_logit(logits), p), room);
}

/// logit = (logit - max) / t: the shift changes no probability and keeps small t from overflowing. t = +inf makes all
/// candidates but those of -inf equal; is_greedy(t) leaves the best alone, the first on ties.
inline std::span<candidate> temperature(std::span<candidate> c, float t) {
  check_temperature(t);
  const float max = max_logit(c);
  if (is_greedy(t)) {
    std::swap(c.front(), *std::min_element(c.begin(), c.end(), before));
    return c.first(1);
  }
  if (max < infinity && t < infinity) {
    for (candidate& x : c) x.logit = (x.logit - max) / t;
  } else {
    for (candidate& x : c) x.logit = x.logit == max || (max < infinity && x.logit > -infinity) ? 0.0f : -infinity;
  }
  return c;
}

/// The candidate in whose share of the running sum of `p` the number `u` in [0, 1) falls. Never one with p = 0.
/// Precondition: softmax has run. Errors: non_finite_logits if no p is above 0.
inline const candidate& draw(std::span<const candidate> c, double u) {
  const double target = u * lane_sum(c.size(), [&](double sum, std::size_t i) { return sum + c[i].p; });
  double sum = 0;
  const candidate* chosen = nullptr;
  for (const candidate& x : c) {
    if (!(x.p > 0)) continue;
    chosen = &x;
    sum += x.p;
    if (target < sum) break;
  }
  if (chosen == nullptr) no_logits("no candidate has a probability");
  return *chosen;
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
