// Q8_0: blocks of 34 bytes, binary16 d and 32 int8 codes, value d * code. Decoding, packing and multiplication of
// arbitrary bytes, among them scales that are subnormal, infinite or NaN; and the integer product, which is exact.
#include "format_checks.hpp"

using namespace llambda;

TEST_CASE("q8_0: decode follows the bits") {
  for (std::size_t cols = 32; cols <= 320; cols += 32) test::check_decode<quant::q8_0>(cols, cols, test::q8_0_value);
  test::check_decode<quant::q8_0>(320000, 1, test::q8_0_value);
}

TEST_CASE("q8_0: packing loses nothing and takes no more room than the file") {
  test::check_packs<quant::q8_0>(32, 320);
  CHECK(tile_bytes<quant::q8_0>(320) == lanes * row_bytes(quant::q8_0, 320));
  CHECK(tile_bytes<quant::q8_0>(32) == lanes * row_bytes(quant::q8_0, 32) + 32);  // the next tile starts aligned
}

TEST_CASE("q8_0: any bytes may be multiplied") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) test::check_random_bytes_multiply<quant::q8_0, 64>(seed);
}

TEST_CASE("q8_0: the scales of file and activation meet the integer sum once") {
  // Extreme codes: 32 * 128 * 127 = 520192 is exact in a float, so the row is one rounded product.
  std::vector<std::byte> row(34);
  for (int code : {-128, 127, 1}) {
    for (std::uint16_t d :
         {std::uint16_t{0x3c00}, std::uint16_t{0x2e66}, std::uint16_t{0x0001}, std::uint16_t{0x7bff}}) {
      INFO("code " << code << ", d " << d);
      row[0] = static_cast<std::byte>(d & 255), row[1] = static_cast<std::byte>(d >> 8);
      for (std::size_t i = 0; i < 32; ++i) row[2 + i] = static_cast<std::byte>(code & 255);
      const std::byte* rows[lanes] = {row.data()};
      std::vector<std::byte> tile(tile_bytes<quant::q8_0>(32));
      Format<quant::q8_0>::pack(rows, 32, tile.data());
      std::vector<float> x(32, 127.0f);
      x[5] = 63.5f;  // a tie: code 64
      std::vector<std::byte> q(q8_row<32>::bytes);
      quantise_q8<32, default_arch>(x.data(), q.data());
      f32x16<default_arch> acc[1][1] = {{f32x16<default_arch>::zero()}};
      const std::byte *const w[1] = {tile.data()}, *const in[1] = {q.data()};
      Format<quant::q8_0>::multiply<default_arch, 32, 1, 1>(acc, w, in, 0, 32);
      float y[lanes];
      acc[0][0].store(y);
      const double sum = code * (31.0 * 127 + 64);
      CHECK(y[0] == test::rounded(sum * test::half_value(d)));
      CHECK(y[1] == 0.0f);
    }
  }
}
