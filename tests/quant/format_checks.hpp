// What every storage format must keep, whatever its bits: decoding follows the layout written in the test, and packing
// loses nothing, for whole and partial tiles and from unaligned rows.
#pragma once

#include <llambda/quant/all.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

namespace test {

/// Rows of random bytes, so with every NaN, infinity and subnormal scale there is, at an odd address.
template <llambda::quant Q> struct stored_rows {
  std::size_t count, cols, stride;
  std::vector<std::byte> data;

  stored_rows(std::size_t count_, std::size_t cols_, std::uint64_t seed)
      : count(count_),
        cols(cols_),
        stride(llambda::row_bytes(Q, cols_)),
        data(random_source(seed).bytes(count_ * stride + 1)) {}
  const std::byte* row(std::size_t r) const { return data.data() + 1 + r * stride; }
};

/// decode() against `value(row, k)` in F64.
template <llambda::quant Q, class Value> void check_decode(std::size_t cols, std::uint64_t seed, Value value) {
  INFO(cols << " columns");
  const stored_rows<Q> rows(4, cols, seed);
  std::size_t wrong = 0;
  for (std::size_t r = 0; r < rows.count; ++r) {
    std::vector<float> out(cols + 1, 7.0f);
    llambda::Format<Q>::decode(rows.row(r), cols, out.data());
    for (std::size_t k = 0; k < cols; ++k) wrong += !same_number(out[k], static_cast<float>(value(rows.row(r), k)));
    CHECK(out[cols] == 7.0f);
  }
  CHECK(wrong == 0);
}

/// A tile of `present` random rows and zeros: unpack_row gives what decode gives, bit for bit, and stays in its bytes.
template <llambda::quant Q> void check_pack(std::size_t present, std::size_t cols, std::uint64_t seed) {
  INFO(present << " rows of " << cols << " columns");
  const stored_rows<Q> rows(present, cols, seed);
  const std::byte* pointers[llambda::lanes] = {};
  for (std::size_t r = 0; r < present; ++r) pointers[r] = rows.row(r);
  const std::size_t bytes = llambda::tile_bytes<Q>(cols);
  std::vector<std::byte> tile(bytes + 1, std::byte{0xa5});
  llambda::Format<Q>::pack(pointers, cols, tile.data());
  CHECK(tile[bytes] == std::byte{0xa5});
  std::size_t different = 0;
  for (std::size_t r = 0; r < llambda::lanes; ++r) {
    std::vector<float> expected(cols, 0.0f), got(cols, 7.0f);
    if (r < present) llambda::Format<Q>::decode(rows.row(r), cols, expected.data());
    llambda::Format<Q>::unpack_row(tile.data(), r, cols, got.data());
    if (r < present)
      different += !same_bits(got, expected);
    else
      different += got != expected;  // a zero may have either sign
  }
  CHECK(different == 0);
}

/// Every size of tile, every number of columns from `step` to `most` in steps.
template <llambda::quant Q> void check_packs(std::size_t step, std::size_t most) {
  for (std::size_t cols = step; cols <= most; cols += step) {
    for (std::size_t present : {std::size_t{1}, std::size_t{15}, std::size_t{16}}) check_pack<Q>(present, cols, cols);
  }
  for (std::size_t present = 0; present <= llambda::lanes; ++present) check_pack<Q>(present, 3 * step, 99 + present);
}

/// Random bytes times random bytes on both arches: nothing traps, and the numbers are the same.
template <llambda::quant Q, std::size_t Cols> void check_random_bytes_multiply(std::uint64_t seed) {
  using namespace llambda;
  const stored_rows<Q> rows(lanes, Cols, seed);
  const std::byte* pointers[lanes];
  for (std::size_t r = 0; r < lanes; ++r) pointers[r] = rows.row(r);
  std::vector<std::byte> tile(tile_bytes<Q>(Cols));
  Format<Q>::pack(pointers, Cols, tile.data());
  std::vector<std::byte> x = random_source(seed + 1).bytes(8 * Cols + 256);  // floats, or a q8_row
  for (std::size_t i = 0; i < Cols; ++i) {
    if (x[i] == std::byte{0x80}) x[i] = std::byte{0x81};  // quantise_q8 makes no code -128
  }
  if (Format<Q>::activation == activation_kind::q8) {  // the sums belong to the codes; the scales may be anything
    for (std::size_t b = 0; b < Cols / 32; ++b) {
      q8_block block;
      std::memcpy(&block, x.data() + aligned_bytes(Cols) + b * sizeof block, sizeof block);
      block.minus_half[0] = block.minus_half[1] = 0;
      for (std::size_t i = 0; i < 32; ++i) block.minus_half[i / 16] -= static_cast<std::int8_t>(x[b * 32 + i]);
      block.minus_sum = block.minus_half[0] + block.minus_half[1];
      std::memcpy(x.data() + aligned_bytes(Cols) + b * sizeof block, &block, sizeof block);
    }
  }
  const auto product = [&]<class A>(A) {
    f32x16<A> acc[1][1] = {{f32x16<A>::zero()}};
    const std::byte *const w[1] = {tile.data()}, *const in[1] = {x.data()};
    Format<Q>::template multiply<A, Cols, 1, 1>(acc, w, in, 0, Cols);
    std::vector<float> y(lanes);
    acc[0][0].store(y.data());
    return y;
  };
  const auto slow = product(arch::scalar{}), fast = product(default_arch{});
  CHECK(same_numbers(slow.data(), fast.data(), lanes));
}

}  // namespace test
