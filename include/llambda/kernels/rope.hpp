// Rotary position embedding (Su et al. 2021): pair i of a head turns by the angle position * theta^(-2 i / dim) / f_i.
//   (a, b) -> (a cos - b sin, a sin + b cos)
// Angles are computed in F64 once at load and stored as cos and sin, one row a position, so that long positions lose
// nothing; the kernel is a few hundred multiply-adds a layer, below 0.1 % of a step.
#pragma once

#include <llambda/config/spec.hpp>
#include <llambda/simd/compat.hpp>

#include <cmath>
#include <cstddef>

namespace llambda::inline LLAMBDA_ABI {

/// Fills one row of the table: dim / 2 cosines, then dim / 2 sines. `factors` has dim / 2 divisors or is null.
inline void rope_angles(std::size_t position, double theta, std::size_t dim, const float* factors,
                        float* row) noexcept {
  for (std::size_t i = 0; i < dim / 2; ++i) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
    const double angle = static_cast<double>(position) * frequency / (factors ? static_cast<double>(factors[i]) : 1.0);
    row[i] = static_cast<float>(std::cos(angle));
    row[dim / 2 + i] = static_cast<float>(std::sin(angle));
  }
}

/// Turns the first Dim elements of one head in place. `row` is from rope_angles.
template <std::size_t Dim, rope_pairing Pairing>
void rope(float* LLAMBDA_RESTRICT head, const float* LLAMBDA_RESTRICT row) noexcept {
  for (std::size_t i = 0; i < Dim / 2; ++i) {
    float& first = head[Pairing == rope_pairing::interleaved ? 2 * i : i];
    float& second = head[Pairing == rope_pairing::interleaved ? 2 * i + 1 : i + Dim / 2];
    const float a = first, b = second, cos = row[i], sin = row[Dim / 2 + i];
    first = compat::fma(a, cos, -(b * sin));
    second = compat::fma(a, sin, b * cos);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
