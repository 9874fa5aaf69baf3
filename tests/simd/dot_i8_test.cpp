// Integer dot products against 64-bit sums: extreme codes, where an instruction that saturates its 16-bit pair sums
// would show (huggingface/candle#1526), and random ones, over rows of 256 to 16384 columns.
#include <llambda/simd/dot_i8.hpp>

#include "../catch.hpp"
#include "../random.hpp"

using namespace llambda;

namespace {

/// Weight codes of 16 rows as the library packs them, and activation codes.
struct problem {
  std::size_t cols;
  std::vector<std::int8_t> w;  // (cols / 4, 16, 4)
  std::vector<std::int8_t> x;  // (cols)
};

template <class Weight, class Input> problem make(std::size_t cols, Weight weight, Input input) {
  problem p{cols, std::vector<std::int8_t>(cols * lanes), std::vector<std::int8_t>(cols)};
  for (std::size_t k = 0; k < cols; ++k) {
    p.x[k] = static_cast<std::int8_t>(input(k));
    for (std::size_t row = 0; row < lanes; ++row) {
      p.w[k / 4 * 64 + row * 4 + k % 4] = static_cast<std::int8_t>(weight(row, k));
    }
  }
  return p;
}

/// Sums of all columns, added 32 at a time (and what is left 4 at a time), from weights less 2^Shift.
template <class A, code_range C, int Shift> std::vector<float> sums(const problem& p) {
  using dot = dot_i8<A, C>;
  std::int32_t minus = 0;
  for (std::int8_t x : p.x) minus -= x;
  std::vector<float> out(lanes);
  for (std::size_t part = 0; part < f32x16<A>::parts; ++part) {
    typename dot::sums s[1][1] = {{dot::template begin<Shift>(&minus)}};
    const auto* w = reinterpret_cast<const std::byte*>(p.w.data()) + part * code_bytes<A>;
    const auto add = [&]<std::size_t G>(std::size_t k) {
      dot::template add<G, 0>(
          s, [&](std::size_t, std::size_t g) { return dot::stored(dot::codes::load(w + (k / 4 + g) * 64)); }, &p.x[k]);
    };
    std::size_t k = 0;
    for (; k + 32 <= p.cols; k += 32) add.template operator()<8>(k);
    for (; k < p.cols; k += 4) add.template operator()<1>(k);
    compat::store(&out[part * (lanes / f32x16<A>::parts)], dot::to_float(s[0][0]));
  }
  return out;
}

template <code_range C = int8_codes, int Shift = -1> void check(const problem& p) {
  std::vector<float> expected;
  for (std::size_t row = 0; row < lanes; ++row) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < p.cols; ++k) {
      const std::int8_t w = p.w[k / 4 * 64 + row * 4 + k % 4];
      const int code = C.is_signed ? w : static_cast<std::uint8_t>(w);
      sum += (code - (Shift < 0 ? 0 : 1 << (Shift < 0 ? 0 : Shift))) * std::int64_t{p.x[k]};
    }
    expected.push_back(static_cast<float>(sum));  // rounded once, past 2^24
  }
  CHECK(test::same_bits(sums<arch::scalar, C, Shift>(p), expected));
  CHECK(test::same_bits(sums<default_arch, C, Shift>(p), expected));
#if LLAMBDA_HAS_AVX2
  CHECK(test::same_bits(sums<arch::avx2, C, Shift>(p), expected));
#endif
#if LLAMBDA_HAS_AVXVNNI
  CHECK(test::same_bits(sums<arch::avxvnni, C, Shift>(p), expected));
#endif
#if LLAMBDA_HAS_AVX512
  CHECK(test::same_bits(sums<arch::avx512, C, Shift>(p), expected));
#endif
}

/// Codes 0 .. Max with the zero point 2^Shift: all largest, alternating, random.
template <unsigned Max, int Shift> void check_unsigned() {
  constexpr code_range range{false, Max};
  for (std::size_t cols : {4, 16, 32, 256, 4096, 16384}) {
    INFO("codes to " << Max << ", " << cols << " columns");
    for (int x : {-127, 127}) {
      check<range, Shift>(make(
          cols, [](std::size_t, std::size_t) { return static_cast<int>(Max); }, [&](std::size_t) { return x; }));
    }
    check<range, Shift>(make(
        cols, [](std::size_t row, std::size_t k) { return (row + k) % 2 ? static_cast<int>(Max) : 0; },
        [](std::size_t k) { return k % 2 ? 127 : -127; }));
    test::random_source random(cols + Max);
    check<range, Shift>(make(
        cols, [&](std::size_t, std::size_t) { return static_cast<int>(random.below(Max + 1)); },
        [&](std::size_t) { return static_cast<int>(random.below(255)) - 127; }));
  }
}

constexpr std::size_t sizes[] = {4, 32, 256, 512, 1024, 4096, 16384};

}  // namespace

TEST_CASE("dot_i8: extreme codes") {
  for (std::size_t cols : sizes) {
    INFO(cols << " columns");
    for (int w : {-128, -127, 127}) {
      for (int x : {-127, 127}) {
        INFO("weights " << w << ", activations " << x);
        check(make(
            cols, [&](std::size_t, std::size_t) { return w; }, [&](std::size_t) { return x; }));
      }
    }
  }
}

TEST_CASE("dot_i8: extreme codes of changing sign") {
  for (std::size_t cols : sizes) {
    INFO(cols << " columns");
    test::random_source random(cols);
    check(make(
        cols, [](std::size_t row, std::size_t k) { return (row + k) % 2 ? -128 : 127; },
        [](std::size_t k) { return k % 2 ? -127 : 127; }));
    check(make(
        cols, [&](std::size_t, std::size_t) { return random.below(2) ? -128 : 127; },
        [&](std::size_t) { return random.below(2) ? -127 : 127; }));
  }
}

TEST_CASE("dot_i8: every pair of codes") {
  for (int x = -127; x <= 127; ++x) {
    INFO("activations " << x);
    check(make(
        64, [](std::size_t row, std::size_t k) { return static_cast<int>(row * 16 + k % 16) - 128; },
        [&](std::size_t) { return x; }));
  }
}

TEST_CASE("dot_i8: random codes") {
  test::random_source random(8);
  for (int round = 0; round < 200; ++round) {
    const std::size_t cols = 4 * (1 + random.below(300));
    check(make(
        cols, [&](std::size_t, std::size_t) { return static_cast<int>(random.below(256)) - 128; },
        [&](std::size_t) { return static_cast<int>(random.below(255)) - 127; }));
  }
}

TEST_CASE("dot_i8: unsigned codes with and without a zero point") {
  check_unsigned<3, -1>();
  check_unsigned<3, 0>();
  check_unsigned<7, 2>();
  check_unsigned<15, -1>();
  check_unsigned<15, 3>();
  check_unsigned<31, 4>();
  check_unsigned<63, 5>();
}

TEST_CASE("dot_i8: signed codes of a table") {
  constexpr code_range range{true, 127};
  test::random_source random(9);
  check<range>(make(
      16384, [](std::size_t row, std::size_t) { return row % 2 ? 113 : -127; },
      [](std::size_t k) { return k / 4 % 2 ? -127 : 127; }));
  check<code_range{true, 12}>(make(
      16384, [](std::size_t row, std::size_t) { return row % 2 ? 12 : -12; }, [](std::size_t) { return 127; }));
}
