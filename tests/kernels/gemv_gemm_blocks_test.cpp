// Products in the formats with blocks of 32 other than Q8_0 (gemv_gemm_test.cpp): one block, an odd number of blocks,
// and rows longer than the 256 columns gemm keeps in the cache.
#include "product_checks.hpp"

using namespace llambda;

TEST_CASE("gemv and gemm: Q4_0 and Q4_1") {
  test::check_format<quant::q4_0, 32>(1);
  test::check_format<quant::q4_0, 352, true>(2);
  test::check_format<quant::q4_1, 352>(3);
}

TEST_CASE("gemv and gemm: Q5_0 and Q5_1") {
  test::check_format<quant::q5_0, 352>(4);
  test::check_format<quant::q5_1, 352>(5);
}

TEST_CASE("gemv and gemm: IQ4_NL and MXFP4") {
  test::check_format<quant::iq4_nl, 352>(6);
  test::check_format<quant::mxfp4, 352>(7);
}
