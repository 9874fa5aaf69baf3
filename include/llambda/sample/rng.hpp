// PCG32: the random numbers of sampling, the same on every machine and with every standard library.
// Source: M. O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number
// Generation", 2014, variant XSH-RR 64/32. No std::*_distribution: their results differ between libraries.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <bit>
#include <cstdint>

namespace llambda::inline LLAMBDA_ABI {

/// 64 bits of state, period 2^64, one of 2^63 streams. Copying it copies the place in the stream.
class pcg32 {
 public:
  /// `seed` chooses the place to begin, `stream` one of 2^63 unrelated sequences (its top bit is dropped).
  constexpr explicit pcg32(std::uint64_t seed = 0, std::uint64_t stream = 0) noexcept : increment_(stream << 1 | 1) {
    state_ = increment_ + seed;
    advance();
  }

  /// The next 32 random bits.
  constexpr std::uint32_t next() noexcept {
    const std::uint64_t old = state_;
    advance();
    const auto folded = static_cast<std::uint32_t>((old >> 18 ^ old) >> 27);
    return std::rotr(folded, static_cast<int>(old >> 59));
  }

  /// Uniform in [0, 1): a multiple of 2^-53 from two draws, the first giving the high bits.
  constexpr double uniform() noexcept {
    const std::uint64_t high = next() >> 5;
    const std::uint64_t low = next() >> 6;
    return static_cast<double>(high << 26 | low) * 0x1p-53;
  }

  /// Uniform in [0, 1): a multiple of 2^-24 from the high bits of one draw.
  constexpr float uniform_float() noexcept { return static_cast<float>(next() >> 8) * 0x1p-24f; }

  friend constexpr bool operator==(const pcg32&, const pcg32&) noexcept = default;

 private:
  constexpr void advance() noexcept { state_ = state_ * 6364136223846793005u + increment_; }

  std::uint64_t state_ = 0;
  std::uint64_t increment_;  // odd
};

}  // namespace llambda::inline LLAMBDA_ABI
