// What samplers work on, the order among candidates, and the ranges of all parameters.
// The ranges stand in one place because single steps (samplers.hpp) and whole chains (chain.hpp) refuse the same
// values.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/core/token.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <string>

namespace llambda::inline LLAMBDA_ABI {

/// A token that may be chosen. `p` is what the last softmax made of it.
struct candidate {
  token_id id;
  float logit;
  float p;
};

namespace sampling {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// True if `a` stands before `b`: larger logit, then lower id.
constexpr bool before(const candidate& a, const candidate& b) noexcept {
  return a.logit > b.logit || (a.logit == b.logit && a.id < b.id);
}

[[noreturn]] inline void bad_argument(const char* name, const char* range, double value) {
  throw error(errc::bad_argument,
              std::string("llambda: sampling: ") + name + " must be " + range + "; got " + std::to_string(value));
}

[[noreturn]] inline void no_logits(const char* what) {
  throw error(errc::non_finite_logits, std::string("llambda: sampling: ") + what);
}

/// The ranges of the parameters; both the functions below and sampling_params::validate use these.
inline void check_temperature(float t) {
  if (!(t >= 0)) bad_argument("temperature", "0 (greedy) or more", t);
}
inline void check_top_k(int k) {
  if (k < 0) bad_argument("top_k", "0 (off) or more", k);
}
inline void check_top_p(float p) {
  if (!(p >= 0)) bad_argument("top_p", "0 or more; 1 is off", p);
}
inline void check_min_p(float p) {
  if (!(p >= 0)) bad_argument("min_p", "0 (off) or more", p);
}
inline void check_repeat_penalty(float penalty) {
  if (!(penalty > 0 && penalty < infinity)) bad_argument("repeat_penalty", "above 0; 1 is off", penalty);
}
inline void check_repeat_last_n(int last_n) {
  if (last_n < -1) bad_argument("repeat_last_n", "-1 (all), 0 (off) or more", last_n);
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

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
