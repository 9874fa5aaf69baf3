// Rotary positions against the definition in extended precision: both pairings, part of a head, divisors, and positions
// up to 2^24, where angles computed in floats would have lost everything. Llama 3's divisors (ggml-org/llama.cpp#8676)
// are computed here from their definition and compared with the published values.
#include <llambda/kernels/reference.hpp>
#include <llambda/kernels/rope.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

constexpr std::size_t positions[] = {0, 1, 2, 7, 64, 1600, 8191, 131071, 1000003, (1u << 24) - 1};

/// One head of `head` elements of which Dim turn.
template <std::size_t Dim, rope_pairing Pairing> void check(std::size_t head, double theta, const float* factors) {
  test::random_source random(Dim + head);
  for (std::size_t position : positions) {
    INFO("turning " << Dim << " of " << head << " at " << position << ", base " << theta);
    std::vector<float> row(Dim), x = random.uniform_floats(head);
    rope_angles(position, theta, Dim, factors, row.data());
    std::size_t far = 0;
    for (std::size_t i = 0; i < Dim / 2; ++i) {  // the table, against long double
      const long double exponent = -2.0L * static_cast<long double>(i) / static_cast<long double>(Dim);
      const long double angle = static_cast<long double>(position) *
                                std::pow(static_cast<long double>(theta), exponent) /
                                (factors ? static_cast<long double>(factors[i]) : 1.0L);
      // Rounded to float: half an ulp of 1 at most. The angle in F64 has three roundings of 2^-53 of its size.
      const double bound = test::unit / 2 + 4 * 0x1p-53 * static_cast<double>(angle);
      far += !(std::fabs(static_cast<double>(row[i]) - static_cast<double>(std::cos(angle))) <= bound);
      far += !(std::fabs(static_cast<double>(row[Dim / 2 + i]) - static_cast<double>(std::sin(angle))) <= bound);
    }
    CHECK(far == 0);
    const auto exact = reference::rope({x.begin(), x.end()}, Dim, position, theta, Pairing, factors);
    std::vector<float> y = x;
    rope<Dim, Pairing>(y.data(), row.data());
    // |a|, |b| < 1: cos and sin off by a unit each, the product and the fused operation round once each.
    for (std::size_t i = 0; i < Dim; ++i) far += !(std::fabs(static_cast<double>(y[i]) - exact[i]) <= 5 * test::unit);
    CHECK(far == 0);
    for (std::size_t i = Dim; i < head; ++i) CHECK(y[i] == x[i]);
    if (position == 0) CHECK(y == x);
  }
}

/// Divisors of Llama 3.1: wavelengths beyond `original` positions / low are stretched by `factor`, those below
/// original / high are left alone, and in between the two are blended.
std::vector<float> llama3_divisors(std::size_t dim, double factor) {
  const double theta = 5e5, low = 1, high = 4, original = 8192;
  std::vector<float> divisors;
  for (std::size_t i = 0; i < dim / 2; ++i) {
    const double frequency = std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(dim));
    const double wave = 2 * std::acos(-1.0) / frequency;
    const double blend = std::min(1.0, std::max(0.0, (original / wave - low) / (high - low)));
    divisors.push_back(static_cast<float>(1 / ((1 - blend) / factor + blend)));
  }
  return divisors;
}

void check_published(const std::vector<float>& divisors, std::size_t first, const std::vector<float>& between,
                     float rest) {
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    INFO("pair " << i);
    const float expected = i < first ? 1.0f : i < first + between.size() ? between[i - first] : rest;
    CHECK(std::fabs(divisors[i] - expected) <= 2e-5f * expected);
  }
}

}  // namespace

TEST_CASE("rope: both pairings, whole and partial heads") {
  check<12, rope_pairing::interleaved>(12, 10000.0, nullptr);
  check<12, rope_pairing::halves>(12, 10000.0, nullptr);
  check<8, rope_pairing::interleaved>(16, 500000.0, nullptr);
  check<8, rope_pairing::halves>(16, 500000.0, nullptr);
  check<2, rope_pairing::halves>(2, 10000.0, nullptr);
  check<128, rope_pairing::interleaved>(128, 1000000.0, nullptr);
  check<128, rope_pairing::halves>(128, 1000000.0, nullptr);
}

TEST_CASE("rope: Llama 3's divisors") {
  const auto d64 = llama3_divisors(64, 32), d128 = llama3_divisors(128, 8);
  check_published(d64, 15, {1.65133f, 3.29226f, 9.66673f}, 32.0f);
  check_published(d128, 29, {1.20748f, 1.55341f, 2.02631f, 2.69453f, 3.68425f, 5.25733f}, 8.0f);
  check<64, rope_pairing::interleaved>(64, 5e5, d64.data());
  check<128, rope_pairing::halves>(128, 5e5, d128.data());
}

TEST_CASE("rope: the pairings differ, but not at position 0") {
  const std::vector<float> x = test::random_source(1).uniform_floats(16);
  std::vector<float> row(16), a = x, b = x;
  rope_angles(1, 10000.0, 16, nullptr, row.data());
  rope<16, rope_pairing::interleaved>(a.data(), row.data());
  rope<16, rope_pairing::halves>(b.data(), row.data());
  CHECK(a != b);
}

TEST_CASE("rope: scores depend on the distance of two positions only") {
  const std::vector<float> q = test::random_source(2).uniform_floats(64), k = test::random_source(3).uniform_floats(64);
  const auto score = [&](std::size_t at_q, std::size_t at_k) {
    std::vector<float> row(64), a = q, b = k;
    rope_angles(at_q, 10000.0, 64, nullptr, row.data());
    rope<64, rope_pairing::interleaved>(a.data(), row.data());
    rope_angles(at_k, 10000.0, 64, nullptr, row.data());
    rope<64, rope_pairing::interleaved>(b.data(), row.data());
    double sum = 0;
    for (std::size_t i = 0; i < 64; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  // 64 products of numbers that are off by 5 units each
  for (std::size_t shift : positions)
    CHECK(std::fabs(score(shift + 5, shift) - score(5, 0)) <= 64 * 2 * 10 * test::unit);
}
