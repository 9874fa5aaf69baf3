// Sampling by definition, in double and with full sorts: what the fast steps are compared with.
// One table of (id, logit) pairs that shrinks; no structure is shared with the library.
#pragma once

#include <llambda/sample/sampler.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test {

inline constexpr double inf = std::numeric_limits<double>::infinity();

/// The code of the error that `f` throws, as text; "none" without one.
template <class F> std::string code_of(F&& f) {
  try {
    f();
  } catch (const llambda::error& e) {
    return std::string(llambda::errc_name(e.code()));
  }
  return "none";
}

/// Candidates of `logits`, ids counted from 0.
inline std::vector<llambda::candidate> make(const std::vector<float>& logits) {
  std::vector<llambda::candidate> c;
  for (const float x : logits) c.push_back({static_cast<llambda::token_id>(c.size()), x, 0});
  return c;
}

struct reference {
  std::vector<std::pair<int, double>> rows;  // id, logit
  bool ambiguous = false;                    // a cut lies within rounding: either side is right

  explicit reference(const std::vector<float>& logits) {
    for (std::size_t i = 0; i < logits.size(); ++i) rows.emplace_back(static_cast<int>(i), logits[i]);
  }

  void sort() {
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  }

  std::vector<double> probabilities() const {
    double max = -inf;
    for (const auto& row : rows) max = std::fmax(max, row.second);
    std::vector<double> p;
    double sum = 0;
    for (const auto& row : rows) sum += p.emplace_back(row.second == max ? 1 : std::exp(row.second - max));
    for (double& x : p) x /= sum;
    return p;
  }

  static std::vector<int> last_of(const std::vector<int>& history, int last_n) {
    std::vector<int> window = history;
    while (last_n >= 0 && window.size() > static_cast<std::size_t>(last_n)) window.erase(window.begin());
    return window;
  }

  static double within_float(double x) {
    constexpr double most = (std::numeric_limits<float>::max)();
    return std::isfinite(x) ? (std::max)(-most, (std::min)(most, x)) : x;
  }

  void penalise(const std::vector<int>& history, double repeat, double presence, double frequency, int last_n) {
    std::map<int, int> seen;
    for (const int id : last_of(history, last_n)) ++seen[id];
    for (auto& [id, logit] : rows) {
      if (seen.count(id) == 0 || std::isinf(logit)) continue;
      logit = logit > 0 ? logit / repeat : logit * repeat;
      logit = within_float(logit - presence - seen[id] * frequency);
    }
  }

  /// From the definition: for every token, the longest run at the end of the window that also stands before one of
  /// the token's places, no longer than what follows the last breaker.
  void dry(const std::vector<int>& history, double multiplier, double base, int allowed, int last_n,
           const std::vector<std::vector<int>>& breakers) {
    const std::vector<int> w = last_of(history, last_n);
    const int n = static_cast<int>(w.size());
    int limit = n;
    for (int from = n - 1; from >= 0 && limit == n; --from) {
      int end = -1;  // of the longest breaker that begins here
      for (const auto& b : breakers) {
        const int length = static_cast<int>(b.size());
        if (from + length > n || !std::equal(b.begin(), b.end(), w.begin() + from)) continue;
        end = (std::max)(end, from + length);
      }
      if (end >= 0) limit = n - end;
    }
    if (multiplier == 0 || n <= allowed || limit < allowed) return;
    for (auto& [id, logit] : rows) {
      bool breaks = false;
      for (const auto& b : breakers) breaks |= b.size() == 1 && b[0] == id;
      const auto at = [&](int place) { return w[static_cast<std::size_t>(place)]; };
      int longest = -1;
      for (int place = 1; place < n; ++place) {
        if (at(place) != id) continue;
        int run = 0;
        while (run < place && at(place - 1 - run) == at(n - 1 - run)) ++run;
        longest = (std::max)(longest, (std::min)(run, limit));
      }
      if (breaks || longest < allowed || std::isinf(logit)) continue;
      logit = within_float(logit - multiplier * std::pow(base, longest - allowed));
    }
  }

  void top_k(int k) {
    if (k == 0) return;
    sort();
    while (rows.size() > static_cast<std::size_t>(k)) rows.pop_back();
  }

  void top_p(double p) {
    if (p >= 1) return;
    sort();
    const std::vector<double> each = probabilities();
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      sum += each[i];
      ambiguous |= std::fabs(sum - (p - 1e-6)) < 5e-7;
      if (sum >= p - 1e-6) {
        rows.resize(i + 1);
        return;
      }
    }
  }

  void min_p(double p) {
    if (p == 0) return;
    double max = -inf;
    for (const auto& row : rows) max = std::fmax(max, row.second);
    std::vector<std::pair<int, double>> kept;
    for (const auto& row : rows) {
      const double ratio = row.second == max ? 1 : std::exp(row.second - max);
      ambiguous |= row.second != max && std::fabs(ratio / p - 1) < 1e-6;
      if (row.second == max || ratio >= p) kept.push_back(row);
    }
    rows = kept;
  }

  double entropy() const {
    double sum = 0;
    for (const double p : probabilities()) sum -= p > 0 ? p * std::log(p) : 0;
    return sum;
  }

  void typical(double p) {
    if (p >= 1) return;
    const std::vector<double> each = probabilities();
    const double h = entropy();
    std::vector<std::pair<double, std::size_t>> order;  // how far from typical, place
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (each[i] > 0) order.emplace_back(std::fabs(-std::log(each[i]) - h), i);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::pair<int, double>> kept;
    double sum = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Two of the same distance but for rounding: either may be first, which matters only at the cut.
      const bool tie = i + 1 < order.size() && order[i + 1].first - order[i].first < 1e-9 &&
                       rows[order[i].second].second != rows[order[i + 1].second].second;
      kept.push_back(rows[order[i].second]);
      sum += each[order[i].second];
      ambiguous |= std::fabs(sum - (p + 1e-6)) < 5e-7;
      if (sum >= p + 1e-6) {
        ambiguous |= tie;
        break;
      }
    }
    rows = kept;
  }

  void xtc(double threshold) {
    sort();
    const std::vector<double> each = probabilities();
    std::size_t tops = 0;
    for (const double p : each) {
      ambiguous |= std::fabs(p / threshold - 1) < 1e-6;
      tops += p > 0 && p >= threshold;
    }
    if (tops > 1) rows.erase(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(tops) - 1);
  }

  void top_n_sigma(double n) {
    if (n <= 0) return;
    std::vector<double> x;
    for (const auto& row : rows) {
      if (!std::isinf(row.second)) x.push_back(row.second);
    }
    double mean = 0, variance = 0, max = -inf;
    for (const double v : x) mean += v / static_cast<double>(x.size());
    for (const double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
    for (const double v : x) max = std::fmax(max, v);
    const double bar = max - n * std::sqrt(variance);
    std::vector<std::pair<int, double>> kept;
    for (const auto& row : rows) {
      ambiguous |= variance > 0 && std::fabs(row.second - bar) < 1e-9;
      if (row.second >= bar || row.second == max) kept.push_back(row);
    }
    rows = kept;
  }

  double dynamic_temperature(double t, double range, double exponent) const {
    if (range == 0 || rows.size() < 2) return t;
    const double share = (std::min)(1.0, entropy() / std::log(static_cast<double>(rows.size())));
    const double low = (std::max)(0.0, t - range);
    return low + (t + range - low) * std::pow((std::max)(0.0, share), exponent);
  }

  /// Probability of each token that is left, after `temperature`.
  std::map<int, double> distribution(double temperature) {
    double max = -inf;
    for (const auto& row : rows) max = std::fmax(max, row.second);
    for (auto& row : rows) {
      row.second = row.second == max ? 0 : std::isinf(row.second) ? -inf : (row.second - max) / temperature;
    }
    std::map<int, double> out;
    const std::vector<double> p = probabilities();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (p[i] > 0) out[rows[i].first] = p[i];
    }
    return out;
  }

  /// All that the standard chain does before temperature but XTC, which needs a random number.
  void filter(const llambda::sampling_params& params, const std::vector<int>& history) {
    for (const auto& b : params.logit_bias) {
      auto& logit = rows[static_cast<std::size_t>(b.id)].second;
      if (logit != -inf) logit += static_cast<double>(b.bias);
    }
    penalise(history, static_cast<double>(params.repeat_penalty), static_cast<double>(params.presence_penalty),
             static_cast<double>(params.frequency_penalty), params.repeat_last_n);
    dry(history, static_cast<double>(params.dry_multiplier), static_cast<double>(params.dry_base),
        params.dry_allowed_length, params.dry_penalty_last_n, params.dry_breakers);
    top_n_sigma(static_cast<double>(params.top_n_sigma));
    top_k(params.top_k);
    typical(static_cast<double>(params.typical_p));
    top_p(static_cast<double>(params.top_p));
    min_p(static_cast<double>(params.min_p));
  }
};

}  // namespace test
