// Transposition of 16 rows against two loops, for every count of elements the formats use and rows at odd addresses.
#include <llambda/simd/transpose.hpp>

#include "../catch.hpp"
#include "../random.hpp"

using namespace llambda;

namespace {

/// Element i of row r to place i * 16 + r, for elements of `size` bytes.
std::vector<std::byte> transposed(const std::byte* rows, std::size_t stride, std::size_t count, std::size_t size) {
  std::vector<std::byte> out(count * lanes * size);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t r = 0; r < lanes; ++r) {
      for (std::size_t k = 0; k < size; ++k) out[(i * lanes + r) * size + k] = rows[r * stride + i * size + k];
    }
  }
  return out;
}

template <std::size_t Count> void check_count(std::size_t stride, const std::byte* rows) {
  CAPTURE(Count, stride);
  std::vector<std::byte> words(Count * lanes * 4), halves(Count * lanes * 2);
  transpose_words<Count>(rows, stride, words.data());
  REQUIRE(words == transposed(rows, stride, Count, 4));
  transpose_halves<Count>(rows, stride, halves.data());
  REQUIRE(halves == transposed(rows, stride, Count, 2));
}

template <std::size_t... Count> void check_counts(std::index_sequence<Count...>) {
  test::random_source random(7);
  std::vector<std::byte> bytes(16 * 200);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.bits() & 255);
  for (const std::size_t stride : {std::size_t{160}, std::size_t{163}, std::size_t{192}}) {
    (check_count<Count + 1>(stride, bytes.data() + 1), ...);
  }
}

}  // namespace

TEST_CASE("transpose: words and halves of 16 rows") { check_counts(std::make_index_sequence<40>{}); }
