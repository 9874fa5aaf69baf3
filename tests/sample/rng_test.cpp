// PCG32 against its published demonstration, the ranges of its uniforms, and that near seeds are not alike.
#include "../catch.hpp"

#include <llambda/sample/rng.hpp>

#include <array>
#include <cmath>
#include <cstdint>

using llambda::pcg32;

TEST_CASE("known answers", "[rng]") {
  // First outputs of the demonstration program that came with the paper: seed 42, stream 54.
  constexpr std::array<std::uint32_t, 6> published = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                                      0x83d2f293, 0xbfa4784b, 0xcbed606e};
  pcg32 random(42, 54);
  for (const std::uint32_t want : published) CHECK(random.next() == want);
}

TEST_CASE("the same seed gives the same stream, another one does not", "[rng]") {
  pcg32 a(123);
  pcg32 b(123);
  pcg32 other(124);
  pcg32 stream(123, 1);
  int same = 0;
  int chance = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t x = a.next();
    same += x == b.next();
    chance += x == other.next();
    chance += x == stream.next();
  }
  CHECK(same == 1000);
  CHECK(chance <= 1);
  CHECK(a == b);
  pcg32 copy = a;
  CHECK(copy.next() == a.next());
}

TEST_CASE("uniforms are made of the documented bits", "[rng]") {
  pcg32 bits(7);
  pcg32 random(7);
  bool good = true;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t high = bits.next() >> 5;
    const std::uint64_t low = bits.next() >> 6;
    const double want = (static_cast<double>(high) * 67108864.0 + static_cast<double>(low)) / 9007199254740992.0;
    const double got = random.uniform();
    good = good && got == want && got >= 0 && got < 1;
    const float f = random.uniform_float();
    good = good && f == static_cast<float>(bits.next() >> 8) / 16777216.0f && f < 1;
  }
  CHECK(good);
  static_assert(static_cast<double>((std::uint64_t{0x7FFFFFF} << 26) | 0x3FFFFFF) * 0x1p-53 < 1);
}

namespace {

// Chi-square of `draws` numbers over 64 bins; 63 degrees of freedom, 99.99 % lie below 118.
template <class Next> double chi_square(int draws, Next next) {
  std::array<int, 64> bins{};
  for (int i = 0; i < draws; ++i) ++bins[static_cast<std::size_t>(next(i) * 64)];
  const double expected = draws / 64.0;
  double sum = 0;
  for (const int n : bins) sum += (n - expected) * (n - expected) / expected;
  return sum;
}

}  // namespace

TEST_CASE("uniform along one stream and across neighbouring seeds", "[rng]") {
  pcg32 random(1);
  CHECK(chi_square(200000, [&](int) { return random.uniform(); }) < 118);
  CHECK(chi_square(200000, [&](int) { return static_cast<double>(random.uniform_float()); }) < 118);
  // The first number of seeds 0, 1, 2 ...: what a user sees who counts seeds up.
  CHECK(chi_square(200000, [](int i) { return pcg32(static_cast<std::uint64_t>(i)).uniform(); }) < 118);
  // Neighbours are not alike either: the distance of first numbers is spread evenly over the circle.
  CHECK(chi_square(200000, [](int i) {
          const auto seed = static_cast<std::uint64_t>(i);
          const double d = pcg32(seed + 1).uniform() - pcg32(seed).uniform();
          return d < 0 ? d + 1 : d;
        }) < 118);
}
