// Alignment arithmetic shared by the memory plan (compile time) and the arena (run time).
// Every buffer starts on a cache line, which is also the widest vector register.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>

namespace llambda::inline LLAMBDA_ABI {

/// Bytes every buffer is aligned to: one cache line, one AVX-512 register.
inline constexpr std::size_t buffer_alignment = 64;

/// Floats in the fixed virtual vector; every activation vector is padded to a multiple of it.
inline constexpr std::size_t lanes = 16;

/// Smallest multiple of `to` that is not below `n`. Precondition: to > 0 and no overflow.
constexpr std::size_t round_up(std::size_t n, std::size_t to) noexcept { return (n + to - 1) / to * to; }

/// `n` elements padded to whole virtual vectors.
constexpr std::size_t padded(std::size_t n) noexcept { return round_up(n, lanes); }

/// `bytes` padded so that the next buffer starts aligned.
constexpr std::size_t aligned_bytes(std::size_t bytes) noexcept { return round_up(bytes, buffer_alignment); }

/// Bytes from row to row of a batch: an odd number of cache lines, so that the rows a kernel reads side by side do not
/// fall into the same sets of the first-level cache.
constexpr std::size_t row_stride_bytes(std::size_t bytes) noexcept { return aligned_bytes(bytes) | buffer_alignment; }

/// The same in floats.
constexpr std::size_t row_stride(std::size_t floats) noexcept {
  return row_stride_bytes(floats * sizeof(float)) / sizeof(float);
}

}  // namespace llambda::inline LLAMBDA_ABI
