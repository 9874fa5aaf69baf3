// exp and log in F64 with the same bits on every machine: the C library's differ between versions, and within one
// between CPUs. Only operations that IEEE 754 rounds exactly, in one order, every multiply-add an fma.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <bit>
#include <cmath>
#include <cstdint>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

inline constexpr double ln2_high = 0x1.62e42fefa0000p-1;  // 17 trailing zeros: n times it is exact
inline constexpr double ln2_low = 0x1.cf79abc9e3b39p-40;

}  // namespace detail

/// e^x, within 2 ulp; 0 below -708, where results leave the normal numbers, and e^709 above 709. NaN stays NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor series to r^13, whose rest is below 2^-57. The zero comes
/// from a mask, not from a choice that compilers make a branch of: loops of it become vectors.
inline double exp_f64(double x_in) noexcept {
  const double not_below = x_in < -709 ? -709 : x_in;
  const double x = not_below > 709 ? 709 : not_below;
  constexpr double magic = 0x1.8p52;  // adding it rounds to an integer, which then stands in the low bits
  const double biased = std::fma(x, 0x1.71547652b82fep0, magic);
  const double n = biased - magic;
  const double r = std::fma(n, -detail::ln2_low, std::fma(n, -detail::ln2_high, x));
  double p = 1.0 / 6227020800;
  p = std::fma(p, r, 1.0 / 479001600);
  p = std::fma(p, r, 1.0 / 39916800);
  p = std::fma(p, r, 1.0 / 3628800);
  p = std::fma(p, r, 1.0 / 362880);
  p = std::fma(p, r, 1.0 / 40320);
  p = std::fma(p, r, 1.0 / 5040);
  p = std::fma(p, r, 1.0 / 720);
  p = std::fma(p, r, 1.0 / 120);
  p = std::fma(p, r, 1.0 / 24);
  p = std::fma(p, r, 1.0 / 6);
  p = std::fma(p, r, 0.5);
  p = std::fma(p, r, 1.0);
  p = std::fma(p, r, 1.0);
  const double y = p * std::bit_cast<double>((std::bit_cast<std::uint64_t>(biased) + 1023) << 52);
  const auto keep = static_cast<std::uint64_t>(-static_cast<std::int64_t>(!(x_in < -708)));
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(y) & keep);
}

/// The natural logarithm, within 2 ulp. Precondition: x is a positive normal number.
/// x = 2^e m with m in [sqrt 1/2, sqrt 2); log m = 2 artanh f with f = (m - 1) / (m + 1), by its series to f^23.
inline double log_f64(double x) noexcept {
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t e = (bits - std::bit_cast<std::int64_t>(0x1.6a09e667f3bcdp-1)) >> 52;
  const double m = std::bit_cast<double>(bits - (e << 52));
  const double f = (m - 1) / (m + 1);
  const double s = f * f;
  double p = 1.0 / 23;
  for (int k = 21; k >= 3; k -= 2) p = std::fma(p, s, 1.0 / k);
  const auto exponent = static_cast<double>(e);
  const double low = std::fma(2 * f, s * p, std::fma(exponent, detail::ln2_low, 2 * f));
  return std::fma(exponent, detail::ln2_high, low);
}

}  // namespace llambda::inline LLAMBDA_ABI
