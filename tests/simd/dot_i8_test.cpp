// Integer dot products against 64-bit sums: extreme codes, where an instruction that saturates its 16-bit pair sums
// would show (huggingface/candle#1526), and random ones, over rows of 256 to 16384 columns.
#include <llambda/simd/dot_i8.hpp>

#include "../catch.hpp"
#include "../random.hpp"

using namespace llambda;

namespace {

/// Weight codes of 16 rows as the library packs them, and activation codes.
struct problem {
  std::size_t cols;
  std::vector<std::int8_t> w;  // (cols / 4, 16, 4)
  std::vector<std::int8_t> x;  // (cols)
};

template <class Weight, class Input> problem make(std::size_t cols, Weight weight, Input input) {
  problem p{cols, std::vector<std::int8_t>(cols * lanes), std::vector<std::int8_t>(cols)};
  for (std::size_t k = 0; k < cols; ++k) {
    p.x[k] = static_cast<std::int8_t>(input(k));
    for (std::size_t row = 0; row < lanes; ++row) {
      p.w[k / 4 * 64 + row * 4 + k % 4] = static_cast<std::int8_t>(weight(row, k));
    }
  }
  return p;
}

template <class A> std::vector<float> sums(const problem& p) {
  auto s = dot_i8<A>::zero();
  for (std::size_t k = 0; k < p.cols; k += 4) dot_i8<A>::add(s, &p.w[k * lanes], &p.x[k]);
  std::vector<float> out(lanes);
  dot_i8<A>::to_float(s).store(out.data());
  return out;
}

void check(const problem& p) {
  std::vector<float> expected;
  for (std::size_t row = 0; row < lanes; ++row) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < p.cols; ++k) sum += std::int64_t{p.w[k / 4 * 64 + row * 4 + k % 4]} * p.x[k];
    expected.push_back(static_cast<float>(sum));  // rounded once, past 2^24
  }
  CHECK(test::same_bits(sums<arch::scalar>(p), expected));
  CHECK(test::same_bits(sums<default_arch>(p), expected));
}

constexpr std::size_t sizes[] = {4, 32, 256, 512, 1024, 4096, 16384};

}  // namespace

TEST_CASE("dot_i8: extreme codes") {
  for (std::size_t cols : sizes) {
    INFO(cols << " columns");
    for (int w : {-128, -127, 127}) {
      for (int x : {-127, 127}) {
        INFO("weights " << w << ", activations " << x);
        check(make(
            cols, [&](std::size_t, std::size_t) { return w; }, [&](std::size_t) { return x; }));
      }
    }
  }
}

TEST_CASE("dot_i8: extreme codes of changing sign") {
  for (std::size_t cols : sizes) {
    INFO(cols << " columns");
    test::random_source random(cols);
    check(make(
        cols, [](std::size_t row, std::size_t k) { return (row + k) % 2 ? -128 : 127; },
        [](std::size_t k) { return k % 2 ? -127 : 127; }));
    check(make(
        cols, [&](std::size_t, std::size_t) { return random.below(2) ? -128 : 127; },
        [&](std::size_t) { return random.below(2) ? -127 : 127; }));
  }
}

TEST_CASE("dot_i8: every pair of codes") {
  for (int x = -127; x <= 127; ++x) {
    INFO("activations " << x);
    check(make(
        64, [](std::size_t row, std::size_t k) { return static_cast<int>(row * 16 + k % 16) - 128; },
        [&](std::size_t) { return x; }));
  }
}

TEST_CASE("dot_i8: random codes") {
  test::random_source random(8);
  for (int round = 0; round < 200; ++round) {
    const std::size_t cols = 4 * (1 + random.below(300));
    check(make(
        cols, [&](std::size_t, std::size_t) { return static_cast<int>(random.below(256)) - 128; },
        [&](std::size_t) { return static_cast<int>(random.below(255)) - 127; }));
  }
}
