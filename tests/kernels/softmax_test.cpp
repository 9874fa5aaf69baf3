// softmax against F64 with a derived bound, the same bits on every arch, and the rows that have no distribution.
#include <llambda/kernels/reference.hpp>
#include <llambda/kernels/softmax.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

template <class A> std::vector<float> run(const std::vector<float>& x) {
  std::vector<float> y(padded(x.size()) + 1, 7.0f);
  std::copy(x.begin(), x.end(), y.begin());
  softmax<A>(y.data(), x.size());
  CHECK(y.back() == 7.0f);
  y.resize(x.size());
  return y;
}

std::vector<float> softmax_of(const std::vector<float>& x) {
  const auto fast = run<default_arch>(x), slow = run<arch::scalar>(x);
  CHECK(test::same_numbers(fast.data(), slow.data(), x.size()));
  return fast;
}

}  // namespace

TEST_CASE("softmax: against F64, the same bits on every arch") {
  for (std::size_t n : {1, 2, 15, 16, 17, 31, 33, 64, 100, 1000}) {
    for (float scale : {0.1f, 1.0f, 30.0f}) {
      INFO(n << " elements of size " << scale);
      const std::vector<float> x = test::random_source(n).uniform_floats(n, scale), y = softmax_of(x);
      const auto exact = reference::softmax({x.begin(), x.end()});
      // x - max is off by a unit of its size, at most 2 * scale, which exp turns into a relative error; exp adds 2 ulp
      // (4 units), its sum n / 16 + 5 roundings of positive terms and the exps' own errors, the quotient one.
      const double in = 2 * static_cast<double>(scale) + 4;
      const double bound = (2 * in + static_cast<double>(n) / 16 + 6) * test::unit;
      std::size_t far = 0;
      double total = 0;
      for (std::size_t i = 0; i < n; ++i) {
        far += !(std::fabs(static_cast<double>(y[i]) - exact[i]) <= bound * exact[i]);
        total += static_cast<double>(y[i]);
      }
      CHECK(far == 0);
      CHECK(std::fabs(total - 1) <= bound);
    }
  }
}

TEST_CASE("softmax: numbers whose exp overflows") {
  const auto y = softmax_of({1e4f, 9999.0f, -1e4f});
  CHECK(std::fabs(y[0] - 0.7310586f) < 1e-6f);
  CHECK(std::fabs(y[1] - 0.2689414f) < 1e-6f);
  CHECK(y[2] == 0.0f);
  const float largest = std::numeric_limits<float>::max();
  CHECK(softmax_of({largest, -largest, 0.0f}) == std::vector<float>{1.0f, 0.0f, 0.0f});
  CHECK(softmax_of({-largest}) == std::vector<float>{1.0f});
}

TEST_CASE("softmax: masked elements get nothing, a masked row becomes zeros") {
  for (std::size_t n : {1, 16, 33}) CHECK(softmax_of(std::vector<float>(n, -infinity)) == std::vector<float>(n, 0.0f));
  const auto y = softmax_of({-infinity, 2.0f, -infinity, 2.0f});
  CHECK(y == std::vector<float>{0.0f, 0.5f, 0.0f, 0.5f});
}

TEST_CASE("softmax: a NaN or +infinity anywhere makes the row NaN, masked elements or not") {
  for (float rest : {1.0f, -infinity}) {
    for (float bad : {nan_value, -nan_value, infinity}) {
      for (std::size_t at = 0; at < 37; ++at) {
        std::vector<float> x(37, rest);
        x[at] = bad;
        const auto y = softmax_of(x);
        std::size_t finite = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          // exp(-infinity - infinity) is 0, and 0 / NaN is NaN
          finite += !test::is_nan(y[i]);
        }
        CHECK(finite == 0);
      }
    }
  }
}
