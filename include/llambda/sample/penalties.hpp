// What tokens seen before, and the caller, do to single logits: repetition, presence and frequency penalties, DRY, and
// bias. Each is a function of one logit; stages.hpp finds the tokens it applies to.
// Logits stay what they are in kind: -inf and +inf are not changed by a penalty, and finite ones stay finite.
#pragma once

#include <llambda/core/token.hpp>
#include <llambda/sample/exact_math.hpp>
#include <llambda/sample/ranges.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// A number added to the logit of a token; -inf bans it, +inf forces it unless the model's own logit is -inf.
struct token_bias {
  token_id id;
  float bias;
};

namespace sampling {

constexpr bool is_finite(float x) noexcept { return x - x == 0; }

/// To float, kept within the finite numbers. Precondition: no NaN.
inline float finite_float(double x) noexcept {
  constexpr double most = (std::numeric_limits<float>::max)();
  return static_cast<float>((std::clamp)(x, -most, most));
}

/// The tokens a penalty looks at: the last `last_n` of `history`, all for -1.
inline std::span<const token_id> penalty_window(std::span<const token_id> history, int last_n) noexcept {
  const std::size_t n = last_n < 0 ? history.size() : (std::min)(history.size(), static_cast<std::size_t>(last_n));
  return history.last(n);
}

/// The logit of a token that stands `count` >= 1 times in the window. Repetition penalty of Keskar et al. 2019 (CTRL):
/// logit / repeat if it is positive, logit x repeat if not, once however often it stands there; then the presence
/// penalty once and the frequency penalty `count` times are taken away. Doubles hold the products of floats exactly.
inline float penalised(float logit, int count, float repeat, float presence, float frequency) noexcept {
  if (!is_finite(logit)) return logit;
  const double x = logit, r = repeat;
  const double scaled = x > 0 ? x / r : x * r;
  const double taken = std::fma(static_cast<double>(count), static_cast<double>(frequency), double{presence});
  return finite_float(scaled - taken);
}

/// logit + bias; see token_bias for what is not finite.
inline float biased(float logit, float bias) noexcept {
  if (logit != logit || logit == -infinity) return logit;
  if (!is_finite(bias) || logit == infinity) return bias == -infinity ? bias : infinity;
  return finite_float(static_cast<double>(logit) + static_cast<double>(bias));
}

/// base^n by squaring: the same bits everywhere.
inline double power(double base, int n) noexcept {
  double result = 1;
  for (; n > 0; n /= 2, base *= base) {
    if (n % 2 != 0) result *= base;
  }
  return result;
}

/// The largest exponent for which base^exponent is a finite float; 0 for bases so near to 1 that none is needed.
inline int dry_max_exponent(float base) noexcept {
  return base > 1.000001f ? static_cast<int>(88.7228391 / log_f64(static_cast<double>(base))) : 0;
}

/// DRY ("don't repeat yourself", p-e-w 2024): logit - multiplier x base^exponent for a token that would lengthen a
/// repetition of `exponent` tokens more than are allowed.
inline float dry_penalised(float logit, int exponent, float multiplier, float base) noexcept {
  if (!is_finite(logit)) return logit;
  return finite_float(
      std::fma(-static_cast<double>(multiplier), power(static_cast<double>(base), exponent), double{logit}));
}

/// How many of the last tokens of `window` may count as a repetition: those after the last sequence breaker that
/// stands in it, all without one. Of several breakers that begin at one place the longest counts. `breakers` are
/// sorted by their first token and none is empty.
inline std::size_t tokens_since_breaker(std::span<const token_id> window,
                                        std::span<const std::vector<token_id>> breakers) {
  for (std::size_t after = 0; after < window.size(); ++after) {  // tokens after the one looked at
    const std::span<const token_id> from = window.last(after + 1);
    std::size_t longest = 0;
    const auto first = std::lower_bound(breakers.begin(), breakers.end(), from[0],
                                        [](const std::vector<token_id>& b, token_id id) { return b[0] < id; });
    for (auto b = first; b != breakers.end() && (*b)[0] == from[0]; ++b) {
      if (b->size() <= from.size() && std::equal(b->begin(), b->end(), from.begin())) {
        longest = (std::max)(longest, b->size());
      }
    }
    if (longest != 0) return after + 1 - longest;
  }
  return window.size();
}

/// How many of the last tokens of `window` also stand just before its last `back` tokens, at most `most`.
inline std::size_t repeated_tokens(std::span<const token_id> window, std::size_t back, std::size_t most) noexcept {
  const std::size_t last = window.size() - 1;
  std::size_t n = 0;
  while (n < most && n + back <= last && window[last - n] == window[last - back - n]) ++n;
  return n;
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
