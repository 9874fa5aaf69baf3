// Activations as int8 codes with a scale a 32: d = max |x| / 127, code = round(x * (127 / max |x|)), ties to even,
// every operation rounded on its own. The error is at most half a step; what is not finite reaches the scale; the
// scalar meaning and the vector code give the same bytes.
#include <llambda/core/fp_env.hpp>
#include <llambda/quant/activation.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

template <std::size_t Cols> struct quantised {
  std::vector<std::int8_t> codes;
  std::vector<float> scales;
};

template <std::size_t Cols, class A> quantised<Cols> run(const std::vector<float>& x) {
  std::vector<std::byte> row(q8_row<Cols>::bytes + 1, std::byte{0xa5});
  quantise_q8<Cols, A>(x.data(), row.data());
  CHECK(row.back() == std::byte{0xa5});
  const std::int8_t* codes = q8_row<Cols>::codes(row.data());
  const q8_block* blocks = q8_row<Cols>::info(row.data());
  std::vector<float> scales;
  for (std::size_t b = 0; b < q8_row<Cols>::blocks; ++b) {
    scales.push_back(blocks[b].scale);
    std::int32_t low = 0, high = 0;
    for (std::size_t i = 0; i < 16; ++i) low += codes[b * 32 + i], high += codes[b * 32 + 16 + i];
    CHECK(blocks[b].minus_half[0] == -low);
    CHECK(blocks[b].minus_half[1] == -high);
    CHECK(blocks[b].minus_sum == -low - high);
  }
  return {{codes, codes + Cols}, scales};
}

template <std::size_t Cols> bool same(const quantised<Cols>& a, const quantised<Cols>& b) {
  return a.codes == b.codes && test::same_numbers(a.scales.data(), b.scales.data(), a.scales.size());
}

/// Codes by the formula: each operation rounded to float once.
std::size_t wrong_codes(const float* x, const std::int8_t* codes) {
  float largest = 0;
  for (std::size_t i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(x[i]));
  const float inverse = largest > 0 ? test::rounded(127.0 / static_cast<double>(largest)) : 0.0f;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const float product = test::rounded(static_cast<double>(x[i]) * static_cast<double>(inverse));
    wrong += static_cast<double>(codes[i]) != std::nearbyint(static_cast<double>(product));
  }
  return wrong;
}

template <std::size_t Cols> void check_random(std::uint64_t seed, int rounds) {
  INFO(Cols << " columns");
  test::random_source random(seed);
  std::size_t different = 0, off_formula = 0, too_far = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<float> x = random.uniform_floats(Cols, std::ldexp(1.0f, static_cast<int>(random.below(60)) - 30));
    const auto fast = run<Cols, default_arch>(x), slow = run<Cols, arch::scalar>(x);
    different += !same(fast, slow);
    for (std::size_t b = 0; b < Cols / 32; ++b) {
      off_formula += wrong_codes(&x[b * 32], &fast.codes[b * 32]);
      const double d = static_cast<double>(fast.scales[b]);
      for (std::size_t i = b * 32; i < b * 32 + 32; ++i) {
        // Half a step for the rounding; 127 steps times the three roundings of 1 / d, x / d and d.
        const double bound = d / 2 + 127 * d * 3 * test::unit;
        too_far += std::fabs(static_cast<double>(x[i]) - d * fast.codes[i]) > bound;
      }
    }
  }
  CHECK(different == 0);
  CHECK(off_formula == 0);
  CHECK(too_far == 0);
}

}  // namespace

TEST_CASE("activation: error of half a step, by the formula, the same on every arch") {
  check_random<32>(11, 2000);
  check_random<64>(12, 1000);
  check_random<576>(13, 2000);
  const scoped_fp_env mode;
  check_random<320>(14, 1000);
}

TEST_CASE("activation: products next to a tie are rounded before the tie is decided") {
  // x * inverse lies within a rounding of a half: fused with the next addition, the tie would go another way.
  test::random_source random(15);
  std::size_t different = 0, off_formula = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<float> x(32);
    x[0] = 1.0f + std::fabs(random.uniform());
    const float inverse = test::rounded(127.0 / static_cast<double>(x[0]));
    for (std::size_t i = 1; i < 32; ++i) {
      const double half = static_cast<double>(random.below(127)) + 0.5;
      x[i] = test::rounded(half / static_cast<double>(inverse));
      if (x[i] > x[0]) x[i] = x[0];
    }
    const auto fast = run<32, default_arch>(x), slow = run<32, arch::scalar>(x);
    different += !same(fast, slow);
    off_formula += wrong_codes(x.data(), fast.codes.data());
  }
  CHECK(different == 0);
  CHECK(off_formula == 0);
}

TEST_CASE("activation: ties go to even codes") {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;  // so that a code is a unit
  for (int i = 1; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>(i - 16) + 0.5f;
  const auto q = run<32, default_arch>(x);
  CHECK(q.scales[0] == 1.0f);
  CHECK(q.codes[0] == 127);
  for (int i = 1; i < 32; ++i) {
    CHECK(q.codes[static_cast<std::size_t>(i)] % 2 == 0);
    CHECK(std::fabs(x[static_cast<std::size_t>(i)] - static_cast<float>(q.codes[static_cast<std::size_t>(i)])) == 0.5f);
  }
}

TEST_CASE("activation: a block of zeros has scale zero and codes zero") {
  for (float zero : {0.0f, -0.0f}) {
    const auto q = run<64, default_arch>(std::vector<float>(64, zero));
    CHECK(q.scales == std::vector<float>(2, 0.0f));
    CHECK(q.codes == std::vector<std::int8_t>(64, 0));
  }
}

TEST_CASE("activation: the largest element gets code 127 or -127 at every place") {
  for (std::size_t at = 0; at < 32; ++at) {
    for (float sign : {1.0f, -1.0f}) {
      std::vector<float> x(32, 0.25f);
      x[at] = sign * 3.0f;
      CHECK(run<32, default_arch>(x).codes[at] == static_cast<std::int8_t>(sign * 127));
    }
  }
}

TEST_CASE("activation: NaN and infinity poison the scale of their block and of no other") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (float poison : {std::numeric_limits<float>::quiet_NaN(), infinity, -infinity}) {
    for (std::size_t at = 32; at < 64; ++at) {
      std::vector<float> x = test::random_source(16).uniform_floats(96);
      x[at] = poison;
      const auto fast = run<96, default_arch>(x), slow = run<96, arch::scalar>(x);
      CHECK_FALSE(std::isfinite(fast.scales[1]));
      CHECK_FALSE(std::isfinite(slow.scales[1]));
      CHECK(std::isfinite(fast.scales[0]));
      CHECK(std::isfinite(fast.scales[2]));
    }
  }
}

TEST_CASE("activation: tiny and huge blocks stay finite and keep their bound") {
  constexpr float largest = std::numeric_limits<float>::max();
  for (float size : {largest, 1e30f, 1e-30f, 1e-36f, 1e-38f, 1e-44f}) {
    INFO(size);
    std::vector<float> x = test::random_source(17).uniform_floats(32, size);
    const auto fast = run<32, default_arch>(x), slow = run<32, arch::scalar>(x);
    CHECK(same(fast, slow));
    CHECK(std::isfinite(fast.scales[0]));
    for (std::size_t i = 0; i < 32; ++i) {
      const double got = static_cast<double>(fast.scales[0]) * fast.codes[i],
                   step = static_cast<double>(fast.scales[0]);
      // Below 1e-36 the inverse of the scale overflows, and the block may become zero: off by its own size.
      const double bound = size < 2e-36f ? static_cast<double>(size) : step * 0.50002;
      CHECK(std::fabs(static_cast<double>(x[i]) - got) <= bound);
    }
  }
}
