// F32: the bits are the number. Decoding, packing and multiplication of arbitrary bytes.
// Row lengths from 1 to 70 cross every boundary of a tile of 16 and of a vector.
#include "format_checks.hpp"

using namespace llambda;

TEST_CASE("f32: decode follows the bits") {
  const auto value = [](const std::byte* row, std::size_t k) { return test::f32_value(row + 4 * k); };
  for (std::size_t cols = 1; cols <= 70; ++cols) test::check_decode<quant::f32>(cols, cols, value);
  test::check_decode<quant::f32>(20000, 1, value);
}

TEST_CASE("f32: packing loses nothing") { test::check_packs<quant::f32>(1, 70); }

TEST_CASE("f32: any bytes may be multiplied") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) test::check_random_bytes_multiply<quant::f32, 12>(seed);
}
