// The virtual vector: every operation against F64 rounded once, on the scalar meaning and on the instruction set this
// is compiled for, bit by bit; and the order in which the lanes are added. F64 holds sums, products and quotients of
// floats so well that rounding it once more gives the correctly rounded float (Figueroa 1995).
#include <llambda/simd/f32x16.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

/// f(vectors...) on arch A over arrays of a multiple of 16 floats.
template <class A, class F>
std::vector<float> apply(F f, const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& c) {
  std::vector<float> out(a.size());
  for (std::size_t i = 0; i < a.size(); i += lanes) {
    f(f32x16<A>::load(&a[i]), f32x16<A>::load(&b[i]), f32x16<A>::load(&c[i])).store(&out[i]);
  }
  return out;
}

struct operands {
  std::vector<float> a, b, c;
};

/// All pairs of special numbers, then random ones.
operands make_operands() {
  operands o;
  test::random_source random(1);
  for (float a : test::special_floats()) {
    for (float b : test::special_floats()) {
      o.a.push_back(a);
      o.b.push_back(b);
      o.c.push_back(random.awkward());
    }
  }
  while (o.a.size() < 100000 || o.a.size() % lanes != 0) {
    const bool plain = random.below(2) != 0;
    for (auto* v : {&o.a, &o.b, &o.c}) v->push_back(plain ? random.uniform() : random.awkward());
  }
  return o;
}

/// Runs `op` on both arches and compares with `truth` of three floats.
template <class Op, class Truth> void check(const char* name, Op op, Truth truth) {
  INFO(name);
  const operands o = make_operands();
  const auto slow = apply<arch::scalar>(op, o.a, o.b, o.c), fast = apply<default_arch>(op, o.a, o.b, o.c);
  std::size_t wrong = 0, different = 0;
  for (std::size_t i = 0; i < o.a.size(); ++i) {
    wrong += !test::same_number(slow[i], truth(o.a[i], o.b[i], o.c[i]));
    different += !test::same_number(slow[i], fast[i]);
  }
  CHECK(wrong == 0);
  CHECK(different == 0);
}

double wide(float x) { return static_cast<double>(x); }

/// The fold the library promises, written out.
float fold(const std::vector<float>& x) {
  float s[8], t[4];
  for (std::size_t i = 0; i < 8; ++i) s[i] = x[i] + x[i + 8];
  for (std::size_t i = 0; i < 4; ++i) t[i] = s[i] + s[i + 4];
  return (t[0] + t[2]) + (t[1] + t[3]);
}

template <class A> float sum(const std::vector<float>& x) { return reduce_add<A>(f32x16<A>::load(x.data())); }

}  // namespace

TEST_CASE("f32x16: arithmetic is correctly rounded and the same on every arch") {
  check(
      "a + b", [](auto a, auto b, auto) { return a + b; },
      [](float a, float b, float) { return test::rounded(wide(a) + wide(b)); });
  check(
      "a - b", [](auto a, auto b, auto) { return a - b; },
      [](float a, float b, float) { return test::rounded(wide(a) - wide(b)); });
  check(
      "a * b", [](auto a, auto b, auto) { return a * b; },
      [](float a, float b, float) { return test::rounded(wide(a) * wide(b)); });
  check(
      "a / b", [](auto a, auto b, auto) { return a / b; },
      [](float a, float b, float) { return test::rounded(wide(a) / wide(b)); });
  check(
      "fma", [](auto a, auto b, auto c) { return fma(a, b, c); },
      [](float a, float b, float c) { return std::fma(a, b, c); });
}

TEST_CASE("f32x16: a product that is added is rounded on its own") {
  // A compiler that may contract a * b + c into one operation would make the result depend on its mood.
  check(
      "a * b + c", [](auto a, auto b, auto c) { return a * b + c; },
      [](float a, float b, float c) {
        const float product = test::rounded(wide(a) * wide(b));
        return test::rounded(wide(product) + wide(c));
      });
  check(
      "c - a * b", [](auto a, auto b, auto c) { return c - a * b; },
      [](float a, float b, float c) {
        const float product = test::rounded(wide(a) * wide(b));
        return test::rounded(wide(c) - wide(product));
      });
}

TEST_CASE("f32x16: min and max return the second operand unless the first is strictly better") {
  check(
      "min", [](auto a, auto b, auto) { return min_or_second(a, b); },
      [](float a, float b, float) { return a < b ? a : b; });
  check(
      "max", [](auto a, auto b, auto) { return max_or_second(a, b); },
      [](float a, float b, float) { return a > b ? a : b; });
}

TEST_CASE("f32x16: load, store and broadcast move bits unchanged from any address") {
  test::random_source random(2);
  const std::vector<float> from = random.awkward_floats(lanes + 7);
  for (std::size_t shift = 0; shift < 7; ++shift) {
    std::vector<float> to(lanes + 8, -1.0f);
    f32x16<default_arch>::load(&from[shift]).store(&to[shift + 1]);
    CHECK(test::same_bits(&to[shift + 1], &from[shift], lanes));
    CHECK(to[shift] == -1.0f);
  }
  for (float x : test::special_floats()) {
    const std::vector<float> expected(lanes, x);
    std::vector<float> got(lanes);
    f32x16<default_arch>::broadcast(x).store(got.data());
    CHECK(test::same_bits(got, expected));
  }
  std::vector<float> zero(lanes, 1.0f);
  f32x16<default_arch>::zero().store(zero.data());
  CHECK(test::same_bits(zero, std::vector<float>(lanes, 0.0f)));
}

TEST_CASE("f32x16: reduce_add folds the upper half onto the lower half") {
  // Large numbers that cancel only in the right order: the sum from left to right and the sum of neighbours differ.
  std::vector<float> x(lanes, 0.0f);
  x[0] = 1e8f;
  x[8] = -1e8f;
  x[1] = 1.0f;
  float left_to_right = 0;
  for (float v : x) left_to_right += v;
  float neighbours = ((x[0] + x[1]) + (x[2] + x[3])) + (x[8] + x[9]);
  REQUIRE(left_to_right == 0.0f);
  REQUIRE(neighbours == 0.0f);
  CHECK(sum<arch::scalar>(x) == 1.0f);
  CHECK(sum<default_arch>(x) == 1.0f);

  test::random_source random(3);
  std::size_t wrong = 0, order_matters = 0;
  for (int round = 0; round < 20000; ++round) {
    for (float& v : x)
      v = random.uniform() * std::bit_cast<float>(static_cast<std::uint32_t>(117 + random.below(20)) << 23);
    left_to_right = 0;
    for (float v : x) left_to_right += v;
    order_matters += left_to_right != fold(x);
    wrong += !test::same_number(sum<arch::scalar>(x), fold(x)) || !test::same_number(sum<default_arch>(x), fold(x));
  }
  CHECK(wrong == 0);
  CHECK(order_matters > 10000);
}

TEST_CASE("f32x16: reduce_max finds the largest lane wherever it is") {
  test::random_source random(4);
  for (std::size_t at = 0; at < lanes; ++at) {
    std::vector<float> x = random.uniform_floats(lanes);
    x[at] = 2.0f;
    CHECK(reduce_max<arch::scalar>(f32x16<arch::scalar>::load(x.data())) == 2.0f);
    CHECK(reduce_max<default_arch>(f32x16<default_arch>::load(x.data())) == 2.0f);
  }
}
