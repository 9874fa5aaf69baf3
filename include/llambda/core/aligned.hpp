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

}  // namespace llambda::inline LLAMBDA_ABI
