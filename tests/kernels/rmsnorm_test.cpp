// RMSNorm against F64 with a derived bound, the same bits on every arch, in place, and at the edges: zeros, numbers
// whose squares overflow, NaN.
#include <llambda/kernels/reference.hpp>
#include <llambda/kernels/rmsnorm.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

std::vector<float> padded_copy(const std::vector<float>& x) {
  std::vector<float> y = x;
  y.resize(padded(x.size()), 0.0f);
  return y;
}

template <std::size_t N> void check(float eps) {
  INFO(N << " elements, eps " << eps);
  test::random_source random(N);
  for (float scale : {1.0f, 1e-3f, 1e3f}) {
    const std::vector<float> x = random.uniform_floats(N, scale), w = random.uniform_floats(N);
    const auto xp = padded_copy(x), wp = padded_copy(w);
    std::vector<float> y(padded(N) + 1, 7.0f), slow(padded(N)), in_place = xp;
    rmsnorm<N, default_arch>(xp.data(), wp.data(), eps, y.data());
    rmsnorm<N, arch::scalar>(xp.data(), wp.data(), eps, slow.data());
    rmsnorm<N, default_arch>(in_place.data(), wp.data(), eps, in_place.data());
    CHECK(test::same_bits(y.data(), slow.data(), padded(N)));
    CHECK(test::same_bits(y.data(), in_place.data(), padded(N)));
    CHECK(y[padded(N)] == 7.0f);
    for (std::size_t i = N; i < padded(N); ++i) CHECK(y[i] == 0.0f);
    const auto exact = reference::rmsnorm(x.data(), w.data(), N, static_cast<double>(eps));
    // Squares are positive: N / 16 additions a lane and 4 folds keep the sum within (N / 16 + 5) units. The root halves
    // that; mean, + eps, root, quotient and two products add at most a unit each.
    const double bound = (static_cast<double>(N) / 32 + 9) * test::unit;
    std::size_t far = 0;
    for (std::size_t i = 0; i < N; ++i) {
      far += !(std::fabs(static_cast<double>(y[i]) - exact[i]) <= bound * std::fabs(exact[i]));
    }
    CHECK(far == 0);
  }
}

}  // namespace

TEST_CASE("rmsnorm: against F64, the same bits on every arch") {
  for (float eps : {1e-5f, 1e-6f}) {
    check<1>(eps);
    check<12>(eps);
    check<16>(eps);
    check<40>(eps);
    check<576>(eps);
  }
  check<2048>(1e-5f);
}

TEST_CASE("rmsnorm: zeros stay zeros") {
  const std::vector<float> x(48, 0.0f), w(48, 1.0f);
  std::vector<float> y(48, 7.0f);
  rmsnorm<40, default_arch>(x.data(), w.data(), 1e-5f, y.data());
  CHECK(y == x);
}

TEST_CASE("rmsnorm: one NaN makes the whole vector NaN, on both arches") {
  for (std::size_t at = 0; at < 40; ++at) {
    std::vector<float> x = padded_copy(test::random_source(at).uniform_floats(40)), w(48, 1.0f), y(48), slow(48);
    x[at] = std::numeric_limits<float>::quiet_NaN();
    rmsnorm<40, default_arch>(x.data(), w.data(), 1e-5f, y.data());
    rmsnorm<40, arch::scalar>(x.data(), w.data(), 1e-5f, slow.data());
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(test::is_nan(y[i]));
      CHECK(test::is_nan(slow[i]));
    }
  }
}
