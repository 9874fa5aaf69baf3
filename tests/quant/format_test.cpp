// The table of formats and the sizes of packed tiles that memory plans are made of.
#include <llambda/quant/all.hpp>

#include "../catch.hpp"

using namespace llambda;

TEST_CASE("format: the table names every format, its GGUF id and its block") {
  struct row {
    quant kind;
    const char* name;
    std::uint32_t id;
    std::size_t block, bytes;
  };
  const row rows[] = {
      {quant::f32, "f32", 0, 1, 4},
      {quant::f16, "f16", 1, 1, 2},
      {quant::bf16, "bf16", 30, 1, 2},
      {quant::q8_0, "q8_0", 8, 32, 34},
      {quant::q4_0, "q4_0", 2, 32, 18},
      {quant::q4_1, "q4_1", 3, 32, 20},
      {quant::q5_0, "q5_0", 6, 32, 22},
      {quant::q5_1, "q5_1", 7, 32, 24},
      {quant::q2_k, "q2_k", 10, 256, 84},
      {quant::q3_k, "q3_k", 11, 256, 110},
      {quant::q4_k, "q4_k", 12, 256, 144},
      {quant::q5_k, "q5_k", 13, 256, 176},
      {quant::q6_k, "q6_k", 14, 256, 210},
      {quant::iq4_nl, "iq4_nl", 20, 32, 18},
      {quant::iq4_xs, "iq4_xs", 23, 256, 136},
      {quant::mxfp4, "mxfp4", 39, 32, 17},
      {quant::tq2_0, "tq2_0", 35, 256, 66},
  };
  CHECK(std::size(rows) + 1 == std::size(quant_table));
  for (const row& r : rows) {
    INFO(r.name);
    CHECK(info(r.kind).kind == r.kind);
    CHECK(info(r.kind).name == r.name);
    CHECK(info(r.kind).ggml_id == r.id);
    CHECK(info(r.kind).block == r.block);
    CHECK(info(r.kind).block_bytes == r.bytes);
    CHECK(quant_from_ggml(r.id) == r.kind);
    CHECK(row_bytes(r.kind, 5 * r.block) == 5 * r.bytes);
  }
}

TEST_CASE("format: ids of formats that are not run here are none") {
  for (std::uint32_t id : {4u, 5u, 9u, 15u, 16u, 24u, 31u, 34u, 40u, 1000u, 0xffffffffu})
    CHECK(quant_from_ggml(id) == quant::none);
}

TEST_CASE("format: tiles of 16 rows") {
  CHECK(tile_count(1) == 1);
  CHECK(tile_count(16) == 1);
  CHECK(tile_count(17) == 2);
  CHECK(tile_count(0) == 0);
  CHECK(tile_bytes<quant::f32>(1) == 64);
  CHECK(tile_bytes<quant::f32>(33) == 33 * 64);
  CHECK(tile_bytes<quant::f16>(33) == 34 * 32);
  CHECK(tile_bytes<quant::bf16>(70) == 70 * 32);
  CHECK(tile_bytes<quant::q8_0>(32) == 576);
  CHECK(tile_bytes<quant::q8_0>(320) == 5440);
}

TEST_CASE("format: what a quantised activation row takes") {
  CHECK(q8_row<32>::bytes == 192);  // 32 codes, a record of 16 bytes, and an odd number of cache lines
  CHECK(q8_row<576>::blocks_at == 576);
  CHECK(q8_row<576>::bytes == 15 * 64);
  CHECK(q8_row<96>::blocks_at == 128);
  for (std::size_t cols : {std::size_t{32}, std::size_t{96}, std::size_t{576}}) {
    CHECK(q8_row_bytes(cols) % 128 == 64);
    CHECK(q8_row_bytes(cols) >= cols + cols / 32 * 16);
  }
  CHECK(q8_row_bytes(96) == q8_row<96>::bytes);
  CHECK(q8_row_bytes(576) == q8_row<576>::bytes);
}
