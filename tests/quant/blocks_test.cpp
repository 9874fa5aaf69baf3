// The formats of blocks against ggml: golden_blocks.gguf holds, for each, 2048 weights (quantised by ggml, random, all
// bits clear, all bits set) and the floats ggml's reference decodes them to. Decoding must give the same bits; packing
// must lose nothing and take no more room than the file; any bytes may be multiplied.
#include <llambda/io/gguf.hpp>

#include <filesystem>

#include "format_checks.hpp"

using namespace llambda;

namespace {

const gguf_file& golden() {
  static const gguf_file file =
      gguf_file::open((std::filesystem::path(LLAMBDA_SOURCE_DIR) / "tests/golden/golden_blocks.gguf").string());
  return file;
}

template <quant Q> void check_golden() {
  const std::string name(info(Q).name);
  INFO(name);
  const gguf_tensor* stored = golden().find_tensor(name);
  const gguf_tensor* decoded = golden().find_tensor(name + ".f32");
  REQUIRE(stored);
  REQUIRE(decoded);
  REQUIRE(stored->type->id == info(Q).ggml_id);
  REQUIRE(stored->dims[0] == 2048);
  std::vector<float> expected(2048), got(2048, 7.0f);
  std::memcpy(expected.data(), decoded->data.data(), decoded->bytes);
  Format<Q>::decode(stored->data.data(), 2048, got.data());
  CHECK(test::same_bits(got, expected));
}

template <quant Q> void check_blocks() {
  INFO(std::string(info(Q).name));
  constexpr std::size_t block = info(Q).block;
  check_golden<Q>();
  test::check_packs<Q>(block, block == 32 ? 320 : 768);
  for (std::size_t cols = block; cols <= 8 * block; cols += block) {
    CHECK(tile_bytes<Q>(cols) == aligned_bytes(lanes * row_bytes(Q, cols)));
  }
  for (std::uint64_t seed = 0; seed < 50; ++seed) test::check_random_bytes_multiply<Q, 256>(seed);
}

}  // namespace

TEST_CASE("blocks: formats with blocks of 32") {
  check_blocks<quant::q4_0>();
  check_blocks<quant::q4_1>();
  check_blocks<quant::q5_0>();
  check_blocks<quant::q5_1>();
  check_blocks<quant::q8_0>();
  check_blocks<quant::iq4_nl>();
  check_blocks<quant::mxfp4>();
}

TEST_CASE("blocks: formats with superblocks of 256") {
  check_blocks<quant::q2_k>();
  check_blocks<quant::q3_k>();
  check_blocks<quant::q4_k>();
  check_blocks<quant::q5_k>();
  check_blocks<quant::q6_k>();
  check_blocks<quant::iq4_xs>();
  check_blocks<quant::tq2_0>();
}
