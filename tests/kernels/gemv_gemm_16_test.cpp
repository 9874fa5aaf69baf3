// Products in F16 and BF16, which share all but the load of a weight with F32 (gemv_gemm_test.cpp has every row
// length): rows below and above a vector of 16, and longer than the block of columns (128 or 256) that gemm keeps in
// the cache.
#include "product_checks.hpp"

using namespace llambda;

TEST_CASE("gemv and gemm: F16") {
  test::check_format<quant::f16, 1>(1);
  test::check_format<quant::f16, 31>(2);
  test::check_format<quant::f16, 172>(3);
  test::check_format<quant::f16, 576, true>(4);
}

TEST_CASE("gemv and gemm: BF16") {
  test::check_format<quant::bf16, 3>(5);
  test::check_format<quant::bf16, 33>(6);
  test::check_format<quant::bf16, 64>(7);
  test::check_format<quant::bf16, 576, true>(8);
}
