// Seeded test data, ordinary and awkward, and the comparisons that go with it. Every use names its seed, so that a
// failure repeats itself; the generator is SplitMix64, the same on every platform.
// "Same numbers" means the same bits, except that any NaN equals any NaN: which payload survives an operation on two
// NaNs depends on the order of operands a compiler chose.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace test {

/// Numbers at the edges of what formats and functions distinguish.
inline const std::vector<float>& special_floats() {
  using limits = std::numeric_limits<float>;
  static const std::vector<float> all = [] {
    std::vector<float> v{0.0f,
                         0.5f,
                         1.0f,
                         1.5f,
                         2.0f,
                         0.1f,
                         88.72283f,
                         88.73f,
                         87.33f,
                         87.34f,
                         104.0f,
                         105.0f,
                         127.0f,
                         127.49f,
                         65504.0f,
                         65519.99f,
                         65520.0f,
                         6.1035156e-5f,
                         6.0e-8f,
                         2.98e-8f,
                         2.99e-8f,
                         3.38953e38f,
                         1e-37f,
                         1e-40f,
                         16777216.0f,
                         limits::min(),
                         limits::denorm_min(),
                         limits::max(),
                         limits::epsilon(),
                         limits::infinity(),
                         limits::quiet_NaN()};
    const std::size_t n = v.size();
    for (std::size_t i = 0; i < n; ++i) v.push_back(-v[i]);
    return v;
  }();
  return all;
}

class random_source {
 public:
  explicit random_source(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t bits() noexcept {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint32_t bits32() noexcept { return static_cast<std::uint32_t>(bits() >> 32); }
  std::size_t below(std::size_t n) noexcept { return static_cast<std::size_t>(bits() % n); }

  /// Uniform in [-1, 1), a multiple of 2^-23.
  float uniform() noexcept { return (static_cast<float>(bits32() >> 8) - 8388608.0f) * 0x1p-23f; }

  /// A special number, any bit pattern, or an ordinary number of any magnitude.
  float awkward() noexcept {
    switch (below(4)) {
      case 0:
        return special_floats()[below(special_floats().size())];
      case 1:
        return std::bit_cast<float>(bits32());
      case 2:
        return uniform();
      default:
        return uniform() * std::bit_cast<float>(static_cast<std::uint32_t>(1 + below(254)) << 23);
    }
  }

  std::vector<float> uniform_floats(std::size_t n, float scale = 1.0f) {
    std::vector<float> v(n);
    for (float& x : v) x = scale * uniform();
    return v;
  }
  std::vector<float> awkward_floats(std::size_t n) {
    std::vector<float> v(n);
    for (float& x : v) x = awkward();
    return v;
  }
  std::vector<std::byte> bytes(std::size_t n) {
    std::vector<std::byte> v(n);
    for (std::byte& b : v) b = static_cast<std::byte>(bits() & 0xffu);
    return v;
  }

 private:
  std::uint64_t state_;
};

inline bool is_nan(float x) noexcept { return (std::bit_cast<std::uint32_t>(x) & 0x7fffffffu) > 0x7f800000u; }

/// memcmp over n floats.
inline bool same_bits(const float* a, const float* b, std::size_t n) noexcept {
  return n == 0 || std::memcmp(a, b, n * sizeof(float)) == 0;
}
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) noexcept {
  return a.size() == b.size() && same_bits(a.data(), b.data(), a.size());
}

/// The same bits, or NaN both.
inline bool same_number(float a, float b) noexcept {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (is_nan(a) && is_nan(b));
}
inline bool same_numbers(const float* a, const float* b, std::size_t n) noexcept {
  for (std::size_t i = 0; i < n; ++i) {
    if (!same_number(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace test
