// Products in the formats with superblocks of 256: one superblock and three.
#include "product_checks.hpp"

using namespace llambda;

TEST_CASE("gemv and gemm: Q2_K and Q3_K") {
  test::check_format<quant::q2_k, 768>(1);
  test::check_format<quant::q3_k, 768>(2);
}

TEST_CASE("gemv and gemm: Q4_K and Q5_K") {
  test::check_format<quant::q4_k, 256>(3);
  test::check_format<quant::q4_k, 768, true>(4);
  test::check_format<quant::q5_k, 768>(5);
}

TEST_CASE("gemv and gemm: Q6_K, IQ4_XS and TQ2_0") {
  test::check_format<quant::q6_k, 768>(6);
  test::check_format<quant::iq4_xs, 768>(7);
  test::check_format<quant::tq2_0, 768>(8);
}
