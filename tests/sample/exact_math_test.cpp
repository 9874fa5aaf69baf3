// exp_f64 and log_f64 against the C library in long double, and what they say outside the normal numbers.
#include "../catch.hpp"

#include <llambda/sample/exact_math.hpp>

#include <cmath>
#include <limits>
#include <random>

using llambda::exp_f64;
using llambda::log_f64;

namespace {

/// Distance in units of the last place of `want`.
double ulps(double got, long double want) {
  const double rounded = static_cast<double>(want);
  const double unit = std::nextafter(std::fabs(rounded), std::numeric_limits<double>::infinity()) - std::fabs(rounded);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - want)) / unit;
}

}  // namespace

TEST_CASE("exp_f64: within 2 ulp", "[exact_math]") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> wide(-708, 709), near(-1, 1), tiny(-1e-9, 1e-9);
  double worst = 0;
  for (int i = 0; i < 300000; ++i) {
    for (const double x : {wide(random), near(random), tiny(random)}) {
      worst = std::fmax(worst, ulps(exp_f64(x), std::exp(static_cast<long double>(x))));
    }
  }
  INFO(worst);
  CHECK(worst < 2);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(exp_f64(0) == 1);
  CHECK(exp_f64(-0.0) == 1);
  for (const double x : {-708.5, -1e4, -1e300, -infinity}) CHECK(exp_f64(x) == 0);
  for (const double x : {709.5, 1e4, 1e300, infinity}) CHECK(exp_f64(x) == exp_f64(709));
  CHECK(std::isnan(exp_f64(std::numeric_limits<double>::quiet_NaN())));
}

TEST_CASE("log_f64: within 2 ulp", "[exact_math]") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-1022, 1023), near(0.5, 2), at_one(1 - 1e-6, 1 + 1e-6);
  double worst = 0;
  for (int i = 0; i < 300000; ++i) {
    for (const double x : {std::exp2(exponent(random)), near(random), at_one(random)}) {
      worst = std::fmax(worst, ulps(log_f64(x), std::log(static_cast<long double>(x))));
    }
  }
  INFO(worst);
  CHECK(worst < 2);
  CHECK(log_f64(1) == 0);
  CHECK(std::fabs(log_f64((std::numeric_limits<double>::min)()) + 708.3964185322641) < 1e-12);
  CHECK(std::fabs(log_f64((std::numeric_limits<double>::max)()) - 709.782712893384) < 1e-12);
}
