// SwiGLU's element-wise step: the formula, any range of whole vectors, in place, the same bits on every arch.
#include <llambda/kernels/reference.hpp>
#include <llambda/kernels/vec.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

TEST_CASE("silu_mul: against F64, the same bits on every arch") {
  test::random_source random(1);
  for (float scale : {1.0f, 20.0f, 100.0f}) {
    const std::vector<float> gate = random.uniform_floats(4800, scale), up = random.uniform_floats(4800);
    std::vector<float> fast(4800), slow(4800);
    silu_mul<default_arch>(gate.data(), up.data(), 0, 4800, fast.data());
    silu_mul<arch::scalar>(gate.data(), up.data(), 0, 4800, slow.data());
    CHECK(test::same_bits(fast, slow));
    std::size_t far = 0;
    for (std::size_t i = 0; i < 4800; ++i) {
      // silu is within 7 units (tests/simd/math_test.cpp) or 1e-36, the product adds one
      const double exact = reference::silu(static_cast<double>(gate[i])) * static_cast<double>(up[i]);
      far += !(std::fabs(static_cast<double>(fast[i]) - exact) <= 8 * test::unit * std::fabs(exact) + 1e-36);
    }
    CHECK(far == 0);
  }
}

TEST_CASE("silu_mul: a range leaves the rest alone, and may be computed in place") {
  test::random_source random(2);
  const std::vector<float> gate = random.uniform_floats(64, 4.0f), up = random.uniform_floats(64);
  std::vector<float> whole(64);
  silu_mul<default_arch>(gate.data(), up.data(), 0, 64, whole.data());
  for (std::size_t begin = 0; begin <= 64; begin += 16) {
    for (std::size_t end = begin; end <= 64; end += 16) {
      std::vector<float> on_gate = gate, on_up = up;
      silu_mul<default_arch>(on_gate.data(), up.data(), begin, end, on_gate.data());
      silu_mul<default_arch>(gate.data(), on_up.data(), begin, end, on_up.data());
      for (std::size_t i = 0; i < 64; ++i) {
        const bool inside = i >= begin && i < end;
        CHECK(on_gate[i] == (inside ? whole[i] : gate[i]));
        CHECK(on_up[i] == (inside ? whole[i] : up[i]));
      }
    }
  }
}
