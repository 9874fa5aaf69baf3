// BF16: two bytes a weight, low byte first, the upper half of a binary32. Decoding, packing and multiplication of
// arbitrary bytes.
// Row lengths from 1 to 70 cross every boundary of a tile of 16 and of a vector.
#include "format_checks.hpp"

using namespace llambda;

TEST_CASE("bf16: decode follows the bits") {
  const auto value = [](const std::byte* row, std::size_t k) { return test::bf16_value(test::load_u16(row + 2 * k)); };
  for (std::size_t cols = 1; cols <= 70; ++cols) test::check_decode<quant::bf16>(cols, cols, value);
  test::check_decode<quant::bf16>(20000, 1, value);
}

TEST_CASE("bf16: packing loses nothing") { test::check_packs<quant::bf16>(1, 70); }

TEST_CASE("bf16: any bytes may be multiplied") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) test::check_random_bytes_multiply<quant::bf16, 12>(seed);
}
