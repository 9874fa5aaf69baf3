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
  for (const row& r : {row{quant::f32, "f32", 0, 1, 4}, row{quant::f16, "f16", 1, 1, 2},
                       row{quant::bf16, "bf16", 30, 1, 2}, row{quant::q8_0, "q8_0", 8, 32, 34}}) {
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
  for (std::uint32_t id : {2u, 3u, 4u, 6u, 12u, 31u, 1000u, 0xffffffffu}) CHECK(quant_from_ggml(id) == quant::none);
}

TEST_CASE("format: tiles of 16 rows") {
  CHECK(tile_count(1) == 1);
  CHECK(tile_count(16) == 1);
  CHECK(tile_count(17) == 2);
  CHECK(tile_count(0) == 0);
  CHECK(tile_bytes<quant::f32>(1) == 64);
  CHECK(tile_bytes<quant::f32>(33) == 33 * 64);
  CHECK(tile_bytes<quant::f16>(33) == 33 * 32);
  CHECK(tile_bytes<quant::bf16>(70) == 70 * 32);
  CHECK(tile_bytes<quant::q8_0>(32) == 544);
  CHECK(tile_bytes<quant::q8_0>(320) == 5440);
}

TEST_CASE("format: what a quantised activation row takes") {
  CHECK(q8_row<32>::bytes == 128);
  CHECK(q8_row<576>::scales_at == 576);
  CHECK(q8_row<576>::bytes == 576 + 128);
  CHECK(q8_row<96>::scales_at == 128);
  for (std::size_t cols : {std::size_t{32}, std::size_t{96}, std::size_t{576}}) {
    CHECK(q8_row_bytes(cols) % buffer_alignment == 0);
    CHECK(q8_row_bytes(cols) >= cols + cols / 32 * 4);
  }
  CHECK(q8_row_bytes(96) == q8_row<96>::bytes);
  CHECK(q8_row_bytes(576) == q8_row<576>::bytes);
}
