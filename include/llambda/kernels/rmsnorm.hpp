// Root mean square normalisation (Zhang & Sennrich 2019): y[i] = x[i] / sqrt(mean(x^2) + eps) * weight[i].
// Sixteen partial sums over i mod 16, folded at the end; two passes over a vector that fits the first-level cache.
#pragma once

#include <llambda/simd/f32x16.hpp>

#include <cmath>

namespace llambda::inline LLAMBDA_ABI {

/// x, weight, y: N floats padded with zeros to a multiple of 16. y may be x.
template <std::size_t N, Arch A>
void rmsnorm(const float* x, const float* weight, float eps, float* y) noexcept {
  using vec = f32x16<A>;
  vec squares = vec::zero();
  for (std::size_t i = 0; i < padded(N); i += lanes) {
    const vec v = vec::load(x + i);
    squares = fma<A>(v, v, squares);
  }
  const float mean = reduce_add<A>(squares) / static_cast<float>(N);
  const vec scale = vec::broadcast(1.0f / std::sqrt(mean + eps));
  for (std::size_t i = 0; i < padded(N); i += lanes) {
    ((vec::load(x + i) * scale) * vec::load(weight + i)).store(y + i);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
