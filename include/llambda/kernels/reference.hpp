// Scalar truth for every kernel: the formula in F64 and nothing else. Tests compare the kernels with it; a reader may
// start here. Matrices are plain (rows, cols) floats, decoded beforehand.
#pragma once

#include <llambda/config/spec.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

namespace reference {

/// y[row] = sum over k of w[row][k] x[k]
inline std::vector<double> matvec(const float* w, std::size_t rows, std::size_t cols, const float* x) {
  std::vector<double> y(rows, 0.0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < cols; ++k) y[r] += static_cast<double>(w[r * cols + k]) * static_cast<double>(x[k]);
  }
  return y;
}

inline std::vector<double> rmsnorm(const float* x, const float* weight, std::size_t n, double eps) {
  double squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const double scale = 1.0 / std::sqrt(squares / static_cast<double>(n) + eps);
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = static_cast<double>(x[i]) * scale * static_cast<double>(weight[i]);
  return y;
}

inline std::vector<double> softmax(const std::vector<double>& x) {
  const double top = *std::max_element(x.begin(), x.end());
  std::vector<double> y(x.size());
  double total = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) total += y[i] = std::exp(x[i] - top);
  for (double& v : y) v /= total;
  return y;
}

/// Turns the first `dim` elements of a head at `position`; `factors` has dim / 2 divisors or is null.
inline std::vector<double> rope(std::vector<double> head, std::size_t dim, std::size_t position, double theta,
                                rope_pairing pairing, const float* factors) {
  for (std::size_t i = 0; i < dim / 2; ++i) {
    const double factor = factors ? static_cast<double>(factors[i]) : 1.0;
    const double angle = static_cast<double>(position) *
                         std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(dim)) / factor;
    const std::size_t first = pairing == rope_pairing::interleaved ? 2 * i : i;
    const std::size_t second = pairing == rope_pairing::interleaved ? 2 * i + 1 : i + dim / 2;
    const double a = head[first], b = head[second];
    head[first] = a * std::cos(angle) - b * std::sin(angle);
    head[second] = a * std::sin(angle) + b * std::cos(angle);
  }
  return head;
}

/// One query head against `positions` keys and values, (positions, head_dim) each.
inline std::vector<double> attention(const float* q, const float* keys, const float* values, std::size_t positions,
                                     std::size_t head_dim) {
  std::vector<double> scores(positions);
  for (std::size_t p = 0; p < positions; ++p) {
    for (std::size_t d = 0; d < head_dim; ++d) {
      scores[p] += static_cast<double>(q[d]) * static_cast<double>(keys[p * head_dim + d]);
    }
    scores[p] /= std::sqrt(static_cast<double>(head_dim));
  }
  const std::vector<double> weights = softmax(scores);
  std::vector<double> out(head_dim, 0.0);
  for (std::size_t p = 0; p < positions; ++p) {
    for (std::size_t d = 0; d < head_dim; ++d) out[d] += weights[p] * static_cast<double>(values[p * head_dim + d]);
  }
  return out;
}

inline double silu(double x) { return x / (1.0 + std::exp(-x)); }

}  // namespace reference

}  // namespace llambda::inline LLAMBDA_ABI
