// As bits_test.cpp, for models in F16, in BF16, and with layers of two kinds in four formats.
#include "bits_checks.hpp"

TEST_CASE("bits: F16") { test::check_bits<f16_partial_rope>(6); }
TEST_CASE("bits: BF16") { test::check_bits<bf16_freqs>(7); }
TEST_CASE("bits: four formats") { test::check_bits<mixed_kinds>(8); }
