// exp over the whole range of floats against F64: below 2 ulp, defined at infinities and NaN, and the same bits for the
// scalar meaning, the vector code and the function of one number, with subnormals kept or flushed. silu by its formula.
#include <llambda/core/fp_env.hpp>
#include <llambda/simd/math.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

template <class A> void vector_exp(const float (&x)[lanes], float (&y)[lanes]) { exp<A>(f32x16<A>::load(x)).store(y); }

template <class A> float one_silu(float x) {
  float y[lanes];
  silu<A>(f32x16<A>::broadcast(x)).store(y);
  return y[0];
}

/// Calls f(16 floats) for every `stride`-th bit pattern, of both signs, up to |x| = limit.
template <class F> void sweep(float limit, std::uint32_t stride, F f) {
  float x[lanes] = {};
  std::size_t filled = 0;
  const std::uint32_t last = std::bit_cast<std::uint32_t>(limit);
  for (std::uint32_t sign : {0u, 0x80000000u}) {
    for (std::uint32_t bits = 0; bits <= last; bits += stride) {
      x[filled++] = std::bit_cast<float>(bits | sign);
      if (filled == lanes) f(x), filled = 0;
    }
  }
  f(x);
}

}  // namespace

TEST_CASE("exp: below 2 ulp over the floats, and the same bits on every arch") {
  double worst = 0;
  std::size_t different = 0, wrong_subnormal = 0, wrong_overflow = 0;
  sweep(110.0f, 61, [&](const float(&x)[lanes]) {  // 61 is odd: all low bits occur
    float fast[lanes], slow[lanes];
    vector_exp<default_arch>(x, fast);
    vector_exp<arch::scalar>(x, slow);
    if (!test::same_bits(fast, slow, lanes)) ++different;
    for (std::size_t i = 0; i < lanes; ++i) {
      const double exact = std::exp(static_cast<double>(x[i])), got = static_cast<double>(fast[i]);
      if (exact >= 0x1p128) {
        wrong_overflow += fast[i] != infinity;
      } else if (exact < 0x1p-126) {  // the last place of all subnormals is 2^-149
        wrong_subnormal += std::fabs(got - exact) > 0x1p-149;
      } else {
        const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
        worst = std::max(worst, std::fabs(got - exact) / ulp);
      }
    }
  });
  INFO("worst error " << worst << " ulp");
  CHECK(worst < 2.0);
  CHECK(different == 0);
  CHECK(wrong_subnormal == 0);
  CHECK(wrong_overflow == 0);
}

TEST_CASE("exp: the function of one number is a lane of the vector") {
  std::size_t different = 0;
  sweep(110.0f, 60013, [&](const float(&x)[lanes]) {
    float y[lanes];
    vector_exp<default_arch>(x, y);
    for (std::size_t i = 0; i < lanes; ++i) different += !test::same_number(exp_f32(x[i]), y[i]);
  });
  CHECK(different == 0);
}

TEST_CASE("exp: the mode of the kernels flushes subnormal results and changes nothing else") {
  std::size_t different = 0, wrong = 0;
  sweep(110.0f, 60013, [&](const float(&x)[lanes]) {
    float kept[lanes], fast[lanes], slow[lanes];
    vector_exp<default_arch>(x, kept);
    {
      const scoped_fp_env mode;
      vector_exp<default_arch>(x, fast);
      vector_exp<arch::scalar>(x, slow);
    }
    different += !test::same_bits(fast, slow, lanes);
    for (std::size_t i = 0; i < lanes; ++i) {
      const float expected = kept[i] < std::numeric_limits<float>::min() ? 0.0f : kept[i];
      wrong += !test::same_bits(&fast[i], &expected, 1);
    }
  });
  CHECK(different == 0);
  CHECK(wrong == 0);
}

TEST_CASE("exp: infinities, NaN, zero and the largest numbers") {
  CHECK(exp_f32(0.0f) == 1.0f);
  CHECK(exp_f32(-0.0f) == 1.0f);
  CHECK(exp_f32(std::numeric_limits<float>::denorm_min()) == 1.0f);
  CHECK(exp_f32(infinity) == infinity);
  CHECK(exp_f32(-infinity) == 0.0f);
  CHECK(exp_f32(std::numeric_limits<float>::max()) == infinity);
  CHECK(exp_f32(std::numeric_limits<float>::lowest()) == 0.0f);
  CHECK(test::is_nan(exp_f32(nan_value)));
  CHECK(test::is_nan(exp_f32(-nan_value)));
  CHECK(exp_f32(88.7228f) < infinity);
  CHECK(exp_f32(88.73f) == infinity);
}

TEST_CASE("silu: the formula, the same bits on every arch") {
  // exp, the sum and the quotient are off by at most 2 ulp (4 units), 1 and 1 unit of 2^-24; e^-x weighs at most 1 in
  // the sum. Where e^-x overflows, x is below -88.7 and the result, in truth below 1e-36, is 0.
  const double bound = 7 * test::unit;
  std::size_t different = 0, wrong = 0;
  sweep(3e38f, 10007, [&](const float(&x)[lanes]) {
    for (float v : x) {
      const float fast = one_silu<default_arch>(v), slow = one_silu<arch::scalar>(v);
      different += !test::same_bits(&fast, &slow, 1);
      const double exact = static_cast<double>(v) / (1 + std::exp(-static_cast<double>(v)));
      wrong += !(std::fabs(static_cast<double>(fast) - exact) <= bound * std::fabs(exact) + 1e-36);
    }
  });
  CHECK(different == 0);
  CHECK(wrong == 0);
}

TEST_CASE("silu: each operation is rounded on its own") {
  // x / (1 + exp(0 - x)) with the library's exp: a compiler must not fuse the last product of exp into the sum.
  std::size_t wrong = 0;
  sweep(20.0f, 10007, [&](const float(&x)[lanes]) {
    for (float v : x) {
      const float sum = test::rounded(1.0 + static_cast<double>(test::rounded(static_cast<double>(exp_f32(0.0f - v)))));
      const float expected = test::rounded(static_cast<double>(v) / static_cast<double>(sum));
      wrong += one_silu<default_arch>(v) != expected;
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("silu: zero, NaN and infinity") {
  CHECK(one_silu<default_arch>(0.0f) == 0.0f);
  CHECK(one_silu<default_arch>(infinity) == infinity);
  CHECK(one_silu<default_arch>(-1000.0f) == 0.0f);
  CHECK(test::is_nan(one_silu<default_arch>(nan_value)));
  CHECK(test::is_nan(one_silu<default_arch>(-infinity)));  // infinity / infinity: not hidden
}
