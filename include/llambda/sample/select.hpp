// The best of all logits of a step, before anything is made of them: each pass reads the logits in blocks and writes
// only what stays, so that 128,000 of them cost microseconds. Each form gives what the function of the same name in
// samplers.hpp gives on a list of all.
// Sums run in double, sixteen of them side by side, folded 8, 4, 2, 1: the same bits for every instruction set.
#pragma once

#include <llambda/sample/candidate.hpp>
#include <llambda/sample/exact_math.hpp>
#include <llambda/simd/f32x16.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

namespace sampling {

inline constexpr std::size_t sum_lanes = 16;

/// A sum over i of 0 ... n - 1, of which number i goes to lane i mod 16: add(sum, i) gives the sum with it. Whoever
/// adds a product there writes fma.
template <class F>
double lane_sum(std::size_t n, F&& add) {
  double sum[sum_lanes] = {};
  std::size_t i = 0;
  for (; i + sum_lanes <= n; i += sum_lanes) {
    for (std::size_t j = 0; j < sum_lanes; ++j) sum[j] = add(sum[j], i + j);
  }
  for (std::size_t j = 0; i < n; ++i, ++j) sum[j] = add(sum[j], i);
  for (std::size_t half = sum_lanes / 2; half > 0; half /= 2) {
    for (std::size_t j = 0; j < half; ++j) sum[j] += sum[j + half];
  }
  return sum[0];
}

/// How many logits the searches look at together.
inline constexpr std::size_t block = 64;

/// The largest of 64 logits; `nan` becomes true if one is NaN, and then it is any number.
/// x - x is 0 for finite x alone: only a block with others is looked at again.
inline float block_max(const float* logits, bool& nan) noexcept {
  using vec = f32x16<default_arch>;
  vec best = vec::load(logits);
  vec odd = best - best;
  for (std::size_t at = lanes; at < block; at += lanes) {
    const vec x = vec::load(logits + at);
    best = max_or_second(x, best);
    odd = odd + (x - x);
  }
  if (!(reduce_add(odd) == 0)) {
    for (std::size_t i = 0; i < block; ++i) nan |= logits[i] != logits[i];
  }
  return reduce_max(best);
}

/// The same of the block that begins at `at`, which may be the last and short.
inline float block_max(std::span<const float> logits, std::size_t at, bool& nan) noexcept {
  if (at + block <= logits.size()) return block_max(&logits[at], nan);
  float rest[block];
  std::fill(std::copy(logits.begin() + static_cast<std::ptrdiff_t>(at), logits.end(), rest), rest + block, -infinity);
  return block_max(rest, nan);
}

/// The place of the largest logit, the first on ties. Errors: non_finite_logits on NaN, on nothing but -inf, on none.
inline token_id argmax(std::span<const float> logits) {
  float best = -infinity;
  std::size_t found = 0;
  bool nan = false;
  for (std::size_t at = 0; at < logits.size(); at += block) {
    const float max = block_max(logits, at, nan);
    if (max > best) {
      best = max;
      found = at;
    }
  }
  check_max(best, nan);
  while (logits[found] != best) ++found;
  return static_cast<token_id>(found);
}

/// The largest logit. Errors: as argmax.
inline float max_logit(std::span<const float> logits) { return logits[static_cast<std::size_t>(argmax(logits))]; }

/// exp(logit - max), the weight of a candidate before normalisation.
inline double softmax_weight(float logit, float max) noexcept {
  if (max == infinity) return logit == max ? 1.0 : 0.0;
  return exp_f64(static_cast<double>(logit) - static_cast<double>(max));
}

/// Sum of the weights of all logits; `max` is the largest.
inline double weight_sum(std::span<const float> logits, float max) noexcept {
  if (max == infinity) return static_cast<double>(std::count(logits.begin(), logits.end(), max));
  const auto top = static_cast<double>(max);
  return lane_sum(logits.size(), [&](double sum, std::size_t i) {
    return sum + exp_f64(static_cast<double>(logits[i]) - top);
  });
}

/// Candidates of the logits that are at least `bar`, ids rising, without those of -inf. `room` holds at least
/// logits.size(). Errors: as argmax, if none is left.
inline std::span<candidate> gather(std::span<const float> logits, double bar, std::span<candidate> room) {
  std::size_t n = 0;
  bool nan = false;
  for (std::size_t at = 0; at < logits.size(); at += block) {
    if (static_cast<double>(block_max(logits, at, nan)) < bar) continue;
    const std::size_t end = (std::min)(at + block, logits.size());
    for (std::size_t i = at; i < end; ++i) {
      room[n] = {static_cast<token_id>(i), logits[i], 0};
      n += logits[i] > -infinity && static_cast<double>(logits[i]) >= bar;
    }
  }
  check_max(n == 0 ? -infinity : 0.0f, nan);
  return room.first(n);
}

/// The k best, best first: fewer than k if the others are -inf. Precondition: k >= 1; `room` holds at least
/// logits.size(). Errors: as argmax. Cost: O(n + m log m), m the few that were among the best at some time.
inline std::span<candidate> top_k(std::span<const float> logits, int k, std::span<candidate> room) {
  check_range(k >= 1, "k", "1 or more", k);
  check_range(room.size() >= logits.size(), "room", "as large as logits", static_cast<double>(room.size()));
  const auto keep = static_cast<std::size_t>(k);
  const std::size_t limit = (std::max)(4 * keep, std::size_t{256});
  float bar = -infinity;  // what it takes to be among the best so far; an equal logit further on has a higher id
  std::size_t n = 0;
  bool nan = false;
  for (std::size_t at = 0; at < logits.size(); at += block) {
    if (!(block_max(logits, at, nan) > bar)) continue;
    const std::size_t end = (std::min)(at + block, logits.size());
    for (std::size_t i = at; i < end; ++i) {
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

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
