// What samplers work on: a candidate, the order among candidates, and what every search for the best one shares.
// Ties go to the lower id everywhere.
#pragma once

#include <llambda/core/token.hpp>
#include <llambda/sample/ranges.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

/// A token that may be chosen. `p` is what the last softmax made of it.
struct candidate {
  token_id id;
  float logit;
  float p;
};

namespace sampling {

/// True if `a` stands before `b`: larger logit, then lower id.
constexpr bool before(const candidate& a, const candidate& b) noexcept {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

/// Temperatures that choose the largest logit: 0, -0 and what is too small for a normal float.
constexpr bool is_greedy(float temperature) noexcept { return temperature < (std::numeric_limits<float>::min)(); }

/// What every search for the largest logit ends with.
inline void check_max(float best, bool nan) {
  if (nan) no_logits("a logit is NaN");
  if (best == -infinity) no_logits("every logit is -inf: there is no token to choose");
}

/// Put the `n` best of `c` in front, best first. Precondition: no NaN, n <= c.size(). Cost: O(c.size() + n log n).
inline void order_best(std::span<candidate> c, std::size_t n) {
  const auto end = c.begin() + static_cast<std::ptrdiff_t>(n);
  if (end != c.end()) std::nth_element(c.begin(), end, c.end(), before);
  std::sort(c.begin(), end, before);
}

/// Those of `c` that `stays` accepts, in their order, at the front of the same memory.
template <class F>
std::span<candidate> keep_if(std::span<candidate> c, F&& stays) {
  const auto end = std::remove_if(c.begin(), c.end(), [&](const candidate& x) { return !stays(x); });
  return c.first(static_cast<std::size_t>(end - c.begin()));
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
