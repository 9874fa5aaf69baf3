// Where the KV cache puts an element, for heads that are and are not multiples of 16: written in the test as indices.
// Appending one position must not touch any other.
#include <llambda/kernels/kv_layout.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

double value_of(float x) { return static_cast<double>(x); }
double value_of(std::uint16_t code) { return test::half_value(code); }

/// x as the cache stores it.
template <quant Kv> double stored(float x) {
  return Kv == quant::f16 ? test::half_value(test::half_code(static_cast<double>(x))) : static_cast<double>(x);
}

template <class T> T element_at(const std::vector<std::byte>& bytes, std::size_t i) {
  T x;
  std::memcpy(&x, bytes.data() + i * sizeof(T), sizeof(T));
  return x;
}

/// Appends `count` positions in a shuffled order, each with one of two instruction sets.
template <class Layout>
void append_all(const std::vector<float>& k, const std::vector<float>& v, std::size_t head_dim, std::size_t count,
                std::vector<std::byte>& keys, std::vector<std::byte>& values) {
  for (std::size_t done = 0; done < count; ++done) {
    const std::size_t p = (done * 5 + 3) % count;
    const float *key = &k[p * head_dim], *value = &v[p * head_dim];
    if (done % 2)
      Layout::template append<arch::scalar>(key, value, p, keys.data(), values.data());
    else
      Layout::template append<default_arch>(key, value, p, keys.data(), values.data());
  }
}

template <quant Kv, std::size_t HeadDim> void check() {
  INFO("head_dim " << HeadDim);
  using layout = kv_layout<Kv, HeadDim>;
  using element = typename layout::element;
  constexpr std::size_t count = 37, stride = (HeadDim + 15) / 16 * 16;
  CHECK(layout::key_bytes(count) == 48 * HeadDim * sizeof(element));
  CHECK(layout::value_bytes(count) == 48 * stride * sizeof(element));
  const std::byte mark{0x3c};
  std::vector<std::byte> keys(layout::key_bytes(count), mark), values(layout::value_bytes(count), mark);
  const double untouched = value_of(element_at<element>(keys, 0));
  test::random_source random(HeadDim);
  const std::vector<float> k = random.uniform_floats(count * HeadDim + lanes),
                           v = random.uniform_floats(count * HeadDim + lanes);
  append_all<layout>(k, v, HeadDim, count, keys, values);
  std::size_t wrong = 0;
  for (std::size_t p = 0; p < 48; ++p) {
    for (std::size_t d = 0; d < HeadDim; ++d) {
      const double key = value_of(element_at<element>(keys, p / 16 * HeadDim * 16 + d * 16 + p % 16));
      wrong += key != (p < count ? stored<Kv>(k[p * HeadDim + d]) : untouched);
    }
    for (std::size_t d = 0; d < stride; ++d) {
      const double value = value_of(element_at<element>(values, p * stride + d));
      wrong += value != (p >= count ? untouched : d < HeadDim ? stored<Kv>(v[p * HeadDim + d]) : 0.0);
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("kv_layout: keys by tiles of 16 positions, values by rows") {
  check<quant::f32, 2>();
  check<quant::f32, 12>();
  check<quant::f32, 16>();
  check<quant::f32, 20>();
  check<quant::f32, 64>();
  check<quant::f16, 12>();
  check<quant::f16, 20>();
  check<quant::f16, 64>();
}

TEST_CASE("kv_layout: q8_0 has a scale a position and 32 elements, behind the codes of a tile") {
  constexpr std::size_t D = 64, count = 21, tile = D * 16 + 2 * 16 * 2;
  using layout = kv_layout<quant::q8_0, D>;
  REQUIRE(layout::key_bytes(count) == 2 * tile);
  REQUIRE(layout::value_bytes(count) == 2 * tile);
  std::vector<std::byte> keys(2 * tile), values(2 * tile);
  test::random_source random(5);
  const std::vector<float> k = random.uniform_floats(count * D), v = random.uniform_floats(count * D, 3.0f);
  append_all<layout>(k, v, D, count, keys, values);
  std::size_t far = 0;
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t base = p / 16 * tile, lane = p % 16;
    for (std::size_t d = 0; d < D; ++d) {
      const std::size_t scale = (base + D * 16) / 2 + d / 32 * 16 + lane;
      double largest_k = 0, largest_v = 0;
      for (std::size_t i = d / 32 * 32; i < d / 32 * 32 + 32; ++i) {
        largest_k = std::max(largest_k, std::fabs(static_cast<double>(k[p * D + i])));
        largest_v = std::max(largest_v, std::fabs(static_cast<double>(v[p * D + i])));
      }
      const double key = element_at<std::int8_t>(keys, base + d * 16 + lane) *
                         test::half_value(element_at<std::uint16_t>(keys, scale));
      const double value = element_at<std::int8_t>(values, base + lane * D + d) *
                           test::half_value(element_at<std::uint16_t>(values, scale));
      // Half a code, and a scale rounded to 11 bits; the product before rounding may be off by a float's rounding.
      far += !(std::fabs(key - static_cast<double>(k[p * D + d])) <= largest_k * (0.5 / 127 + 0x1p-11 + 1e-6));
      far += !(std::fabs(value - static_cast<double>(v[p * D + d])) <= largest_v * (0.5 / 127 + 0x1p-11 + 1e-6));
    }
  }
  CHECK(far == 0);
}

TEST_CASE("kv_layout: the largest fp16 stays finite, larger numbers become infinite") {
  using layout = kv_layout<quant::f16, 16>;
  std::vector<std::byte> keys(layout::key_bytes(1)), values(layout::value_bytes(1));
  std::vector<float> k(16, 65504.0f), v(16, -65504.0f);
  k[3] = 1e6f;
  layout::append<default_arch>(k.data(), v.data(), 0, keys.data(), values.data());
  CHECK(test::half_value(element_at<std::uint16_t>(keys, 0)) == 65504.0);
  CHECK(test::half_value(element_at<std::uint16_t>(keys, 3 * 16)) == std::numeric_limits<double>::infinity());
  CHECK(test::half_value(element_at<std::uint16_t>(values, 5)) == -65504.0);
}
