// Products in F32 and Q8_0 (F16 and BF16: gemv_gemm_16_test.cpp) for row lengths around every boundary: a vector of 16,
// a block of 32, and the blocks of columns gemm keeps in the cache (128 or 256).
#include "product_checks.hpp"

using namespace llambda;

TEST_CASE("gemv and gemm: F32") {
  test::check_format<quant::f32, 1>(1);
  test::check_format<quant::f32, 3>(2);
  test::check_format<quant::f32, 12>(3);
  test::check_format<quant::f32, 31>(4);
  test::check_format<quant::f32, 32>(5);
  test::check_format<quant::f32, 33, true>(6);
  test::check_format<quant::f32, 64>(7);
  test::check_format<quant::f32, 172>(8);
  test::check_format<quant::f32, 576, true>(9);
}

TEST_CASE("gemv and gemm: Q8_0") {
  test::check_format<quant::q8_0, 32>(10);
  test::check_format<quant::q8_0, 64, true>(11);
  test::check_format<quant::q8_0, 576>(12);
  test::check_format<quant::q8_0, 992, true>(13);
}

TEST_CASE("matmul: takes gemv for one token and gemm for more, with one result") {
  test::random_source random(14);
  const test::matrix m = test::make_matrix<quant::f32>(33, 33, random);
  const test::operand x(4, 33, nullptr, random);
  std::vector<float> one(4 * 48), all(4 * 48);
  for (std::size_t t = 0; t < 4; ++t) {
    matmul<quant::f32, 33, default_arch, store_result>(m.packed.data(), {0, 3}, x.row(t), 1, {&one[t * 48], 48});
  }
  matmul<quant::f32, 33, default_arch, store_result>(m.packed.data(), {0, 3}, x.row(), 4, {all.data(), 48});
  CHECK(test::same_bits(one, all));
}

TEST_CASE("gemv: a NaN or infinite weight stays in its row") {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    test::random_source random(15);
    test::matrix m = test::make_matrix<quant::f32>(33, 12, random);
    const test::operand x(1, 12, nullptr, random);
    std::vector<float> before(48), after(48);
    gemv<quant::f32, 12, default_arch, store_result>(m.packed.data(), {0, 3}, x.row(), before.data());
    std::memcpy(m.packed.data() + (1 * 12 * lanes + 7 * lanes + 4) * 4, &bad, 4);  // tile 1, column 7, lane 4: row 20
    gemv<quant::f32, 12, default_arch, store_result>(m.packed.data(), {0, 3}, x.row(), after.data());
    CHECK_FALSE(std::isfinite(after[20]));
    after[20] = before[20];
    CHECK(test::same_bits(before, after));
  }
}

TEST_CASE("gemv: the order of a sum shows in its bits") {
  // Proof that the comparisons above can fail: the same row in two halves is the same number, and other bits.
  test::random_source random(16);
  const test::matrix m = test::make_matrix<quant::f32>(64, 172, random);
  const test::operand x(1, 172, nullptr, random);
  std::vector<float> whole(64), halves(64);
  gemv<quant::f32, 172, default_arch, store_result>(m.packed.data(), {0, 4}, x.row(), whole.data());
  for (std::size_t t = 0; t < 4; ++t) {
    const std::byte *const w[1] = {m.packed.data() + t * tile_bytes<quant::f32>(172)}, *const in[1] = {x.row()};
    using vec = f32x16<default_arch>;
    vec low[1][1] = {{vec::zero()}}, high[1][1] = {{vec::zero()}};
    Format<quant::f32>::multiply<default_arch, 172, 1, 1>(low, w, in, 0, 86);
    Format<quant::f32>::multiply<default_arch, 172, 1, 1>(high, w, in, 86, 172);
    (low[0][0] + high[0][0]).store(&halves[t * lanes]);
  }
  CHECK_FALSE(test::same_bits(whole, halves));
  for (std::size_t r = 0; r < 64; ++r) CHECK(std::fabs(whole[r] - halves[r]) < 1e-4f);
}
