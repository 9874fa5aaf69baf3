// The steps of sampling as pure functions on spans; chain.hpp puts them in order.
// Each takes candidates and returns those that stay, at the front of the same memory. Nothing allocates.
// Rules for all: ties go to the lower id; sums run in double; a parameter outside its range is errc::bad_argument, a
// NaN logit errc::non_finite_logits. A logit of -inf excludes a token; those of +inf share all probability among them.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/core/token.hpp>
#include <llambda/sample/candidate.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

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

/// The largest of the first 64 logits, or of all if there are fewer; `nan` becomes true if one is NaN.
/// 16 chains side by side, so that compilers make vectors of them.
inline float block_max(std::span<const float> logits, bool& nan) noexcept {
  constexpr std::size_t lanes = 16;
  float best[lanes];
  int bad[lanes] = {};
  std::fill_n(best, lanes, -infinity);
  const std::size_t n = (std::min)(logits.size(), std::size_t{64});
  std::size_t at = 0;
  for (; at + lanes <= n; at += lanes) {
    for (std::size_t j = 0; j < lanes; ++j) {
      const float x = logits[at + j];
      best[j] = x > best[j] ? x : best[j];
      bad[j] |= x != x;
    }
  }
  for (std::size_t j = 0; at < n; ++at, ++j) {
    best[j] = logits[at] > best[j] ? logits[at] : best[j];
    bad[j] |= logits[at] != logits[at];
  }
  float max = -infinity;
  for (std::size_t j = 0; j < lanes; ++j) {
    max = best[j] > max ? best[j] : max;
    nan |= bad[j] != 0;
  }
  return max;
}

/// The place of the largest logit, the first on ties. Errors: as max_logit.
inline token_id argmax(std::span<const float> logits) {
  float best = -infinity;
  std::size_t block = 0;
  bool nan = false;
  for (std::size_t at = 0; at < logits.size(); at += 64) {
    const float max = block_max(logits.subspan(at), nan);
    if (max > best) {
      best = max;
      block = at;
    }
  }
  check_max(best, nan);
  while (logits[block] != best) ++block;
  return static_cast<token_id>(block);
}

/// exp(logit - max), the weight of a candidate before normalisation.
inline double softmax_weight(float logit, float max) noexcept {
  if (max == infinity) return logit == max ? 1.0 : 0.0;
  return std::exp(static_cast<double>(logit) - static_cast<double>(max));
}

/// p[i] = exp(logit[i] - max) / sum. Errors: as max_logit.
inline void softmax(std::span<candidate> c) {
  const float max = max_logit(c);
  double sum = 0;
  for (candidate& x : c) {
    const double weight = softmax_weight(x.logit, max);
    x.p = static_cast<float>(weight);
    sum += weight;
  }
  for (candidate& x : c) x.p = static_cast<float>(x.p / sum);
}

/// The tokens a repetition penalty looks at: the last `last_n` of `history`, all for -1.
inline std::span<const token_id> penalty_window(std::span<const token_id> history, int last_n) {
  check_repeat_last_n(last_n);
  const std::size_t n = last_n < 0 ? history.size() : (std::min)(history.size(), static_cast<std::size_t>(last_n));
  return history.last(n);
}

/// Repetition penalty of Keskar et al. 2019 (CTRL): for each token in `window`, once however often it stands there,
/// out = logit / penalty if the logit is positive, logit x penalty if not, kept within the finite numbers.
/// `out` holds a copy of `logits` on entry; they must not overlap. Errors: bad_argument, bad_token_id.
inline void repeat_penalty(std::span<const float> logits, std::span<const token_id> window, float penalty,
                           std::span<float> out) {
  check_repeat_penalty(penalty);
  constexpr float most = (std::numeric_limits<float>::max)();
  for (const token_id id : window) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits.size()) {
      throw error(errc::bad_token_id, "llambda: sampling: history holds token id " + std::to_string(id) +
                                          " outside 0 ... " + std::to_string(logits.size()) + " - 1");
    }
    const auto i = static_cast<std::size_t>(id);
    const float x = logits[i];
    // From `logits`, not from `out`: the same token again gives the same value.
    const float y = x > 0 ? x / penalty : x * penalty;
    out[i] = x - x == 0 ? (std::clamp)(y, -most, most) : x;
  }
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

/// The k best of all logits, best first, without those of -inf: fewer than k if there are no more. The same as top_k on
/// candidates made of `logits`, but reads each logit once and writes few. `room` holds at least logits.size().
/// Errors: as max_logit; bad_argument for k < 1 or too little room.
inline std::span<candidate> top_k(std::span<const float> logits, int k, std::span<candidate> room) {
  if (k < 1) bad_argument("k", "1 or more", k);
  if (room.size() < logits.size()) bad_argument("room", "as large as logits", static_cast<double>(room.size()));
  const auto keep = static_cast<std::size_t>(k);
  const std::size_t limit = (std::max)(4 * keep, std::size_t{256});
  float bar = -infinity;  // what it takes to be among the best so far; an equal logit further on has a higher id
  std::size_t n = 0;
  bool nan = false;
  for (std::size_t block = 0; block < logits.size(); block += 64) {
    if (!(block_max(logits.subspan(block), nan) > bar)) continue;
    const std::size_t end = (std::min)(block + 64, logits.size());
    for (std::size_t i = block; i < end; ++i) {
      if (!(logits[i] > bar)) continue;
      room[n++] = {static_cast<token_id>(i), logits[i], 0};
      if (n < limit) continue;
      order_best(room.first(n), keep);
      n = keep;
      bar = room[keep - 1].logit;
    }
  }
  check_max(n == 0 ? -infinity : 0.0f, nan);
  const std::size_t best = (std::min)(n, keep);
  order_best(room.first(n), best);
  return room.first(best);
}

/// The shortest run of best candidates whose probabilities reach `p`, best first, at least one; p >= 1: all, as they
/// stand. Sums may miss `p` by 1e-6, so that rounding does not move the cut. Cost: O(n + r log r), r the run's length.
inline std::span<candidate> top_p(std::span<candidate> c, float p) {
  check_top_p(p);
  if (p >= 1) return c;
  softmax(c);
  const double enough = static_cast<double>(p) - 1e-6;
  // Where the run ends, by quartering: [0, low) belongs to it, [high, n) does not.
  // Half of what may be missing, 1 - p, spread over all: candidates below that cannot be needed to reach p.
  const auto at = [&](std::size_t i) { return c.begin() + static_cast<std::ptrdiff_t>(i); };
  const double least = (1 - enough) / (2 * static_cast<double>(c.size()));
  const auto likely = std::partition(c.begin(), c.end(), [&](const candidate& x) { return x.p >= least; });
  std::size_t low = 0;
  std::size_t high = static_cast<std::size_t>(likely - c.begin());
  double sum = 0;  // of [0, low)
  while (high - low > 64) {
    const std::size_t mid = low + (high - low) / 4;
    std::nth_element(at(low), at(mid), at(high), before);
    double part = 0;
    for (std::size_t i = low; i < mid; ++i) part += c[i].p;
    if (sum + part >= enough) {
      high = mid;
    } else {
      sum += part;
      low = mid;
    }
  }
  std::sort(c.begin(), at(high), before);
  while (low < high && (sum += c[low].p) < enough) ++low;
  return c.first((std::min)(low + 1, high));
}

/// Candidates at least `p` times as probable as the best, in their order; the best always stays; 0: all.
inline std::span<candidate> min_p(std::span<candidate> c, float p) {
  check_min_p(p);
  if (p == 0) return c;
  const float max = max_logit(c);
  // p >= min_p x p_max in terms of logits; for p > 1 only the best remain.
  const double least = p < 1 ? static_cast<double>(max) + std::log(static_cast<double>(p)) : static_cast<double>(max);
  const auto end = std::remove_if(c.begin(), c.end(), [&](const candidate& x) { return x.logit < least; });
  return c.first(static_cast<std::size_t>(end - c.begin()));
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
  for (candidate& x : c) {
    if (x.logit == max || (t == infinity && x.logit > -infinity)) {
      x.logit = 0;
    } else {
      x.logit = max == infinity || x.logit == -infinity ? -infinity : (x.logit - max) / t;
    }
  }
  return c;
}

/// The candidate in whose share of the running sum of `p` the number `u` in [0, 1) falls. Never one with p = 0.
/// Precondition: softmax has run. Errors: non_finite_logits if no p is above 0.
inline token_id draw(std::span<const candidate> c, double u) {
  double total = 0;
  for (const candidate& x : c) total += x.p;
  const double target = u * total;
  double sum = 0;
  const candidate* chosen = nullptr;
  for (const candidate& x : c) {
    if (!(x.p > 0)) continue;
    chosen = &x;
    sum += x.p;
    if (target < sum) break;
  }
  if (chosen == nullptr) no_logits("no candidate has a probability");
  return chosen->id;
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
