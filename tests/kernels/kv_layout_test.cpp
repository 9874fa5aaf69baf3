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

template <quant Kv, std::size_t HeadDim> void check() {
  INFO("head_dim " << HeadDim);
  using layout = kv_layout<Kv, HeadDim>;
  using element = typename layout::element;
  constexpr std::size_t count = 37, stride = (HeadDim + 15) / 16 * 16;
  CHECK(layout::key_elements(count) == 48 * HeadDim);
  CHECK(layout::value_elements(count) == count * stride);
  const auto mark = static_cast<element>(1);
  std::vector<element> keys(layout::key_elements(count), mark), values(layout::value_elements(count), mark);
  test::random_source random(HeadDim);
  std::vector<float> k = random.uniform_floats(count * HeadDim + lanes),
                     v = random.uniform_floats(count * HeadDim + lanes);
  std::vector<std::size_t> order;
  for (std::size_t p = 0; p < count; ++p) order.push_back((p * 5 + 3) % count);
  std::size_t wrong = 0;
  for (std::size_t done = 0; done < count; ++done) {
    const std::size_t p = order[done];
    const float *key = &k[p * HeadDim], *value = &v[p * HeadDim];
    if (done % 2)
      layout::template append<arch::scalar>(key, value, p, keys.data(), values.data());
    else
      layout::template append<default_arch>(key, value, p, keys.data(), values.data());
  }
  for (std::size_t p = 0; p < 48; ++p) {
    for (std::size_t d = 0; d < HeadDim; ++d) {
      const element key = keys[p / 16 * HeadDim * 16 + d * 16 + p % 16];
      wrong += value_of(key) != (p < count ? stored<Kv>(k[p * HeadDim + d]) : value_of(mark));
    }
    for (std::size_t d = 0; d < stride && p < count; ++d) {
      wrong += value_of(values[p * stride + d]) != (d < HeadDim ? stored<Kv>(v[p * HeadDim + d]) : 0.0);
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

TEST_CASE("kv_layout: the largest fp16 stays finite, larger numbers become infinite") {
  using layout = kv_layout<quant::f16, 16>;
  std::vector<std::uint16_t> keys(layout::key_elements(1)), values(layout::value_elements(1));
  std::vector<float> k(16, 65504.0f), v(16, -65504.0f);
  k[3] = 1e6f;
  layout::append<default_arch>(k.data(), v.data(), 0, keys.data(), values.data());
  CHECK(test::half_value(keys[0]) == 65504.0);
  CHECK(test::half_value(keys[3 * 16]) == std::numeric_limits<double>::infinity());
  CHECK(test::half_value(values[5]) == -65504.0);
}
