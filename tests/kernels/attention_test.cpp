// Attention of one key/value head against F64, in both formats of the cache, for head sizes and groups that are and are
// not multiples of the registers' shape, and for numbers of positions around a tile of 16 and a block of 64.
// What lies in the cache past the last position must not matter: it is NaN here.
#include <llambda/kernels/attention.hpp>
#include <llambda/kernels/reference.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

constexpr std::size_t most = 704;

/// A cache of random keys and values, NaN (or codes and scales that would be noticed) where nothing was appended, and
/// the same as floats.
template <quant Kv, std::size_t HeadDim> struct cache {
  using layout = kv_layout<Kv, HeadDim>;
  std::vector<std::byte> keys, values;
  std::vector<float> k, v;  // (positions, head_dim), as stored

  template <class Fill>
  cache(std::size_t positions, Fill fill)
      : keys(layout::key_bytes(most), std::byte{0xff}), values(layout::value_bytes(most), std::byte{0xff}) {
    for (std::size_t p = 0; p < positions; ++p) {
      std::vector<float> key(HeadDim + lanes), value(HeadDim + lanes);
      for (std::size_t d = 0; d < HeadDim; ++d) fill(p, d, key[d], value[d]);
      layout::template append<default_arch>(key.data(), value.data(), p, keys.data(), values.data());
      for (std::size_t d = 0; d < HeadDim; ++d) {
        k.push_back(stored(key[d], p, d, keys, layout::key_tile, d * lanes + p % lanes));
        v.push_back(stored(value[d], p, d, values, layout::value_tile, p % lanes * padded(HeadDim) + d));
      }
    }
  }
  /// What is stored, by the meaning of the format: q8_0 from its code and scale, the rest by rounding.
  static float stored(float x, std::size_t p, std::size_t d, const std::vector<std::byte>& bytes, std::size_t tile,
                      std::size_t code) {
    if constexpr (Kv == quant::f32) return x;
    if constexpr (Kv == quant::f16) {
      return static_cast<float>(test::half_value(test::half_code(static_cast<double>(x))));
    }
    if constexpr (Kv == quant::bf16) {
      const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
      return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
    }
    if constexpr (Kv == quant::q8_0) {
      const std::size_t base = p / lanes * tile, scales = base + HeadDim * lanes;
      std::uint16_t scale;
      std::memcpy(&scale, bytes.data() + scales + (d / 32 * lanes + p % lanes) * 2, 2);
      return static_cast<float>(static_cast<std::int8_t>(bytes[base + code]) * test::half_value(scale));
    }
  }
};

/// One token, its spans apart and merged; the same through a tile of prefill.
template <quant Kv, std::size_t HeadDim, std::size_t Group, class A>
std::vector<float> run(const cache<Kv, HeadDim>& c, const std::vector<float>& q, std::size_t positions) {
  using kernel = attention<Kv, HeadDim, Group, A>;
  const float scale = 1.0f / std::sqrt(static_cast<float>(HeadDim));
  const std::size_t spans = attention_spans(positions);
  std::vector<float> out(Group * HeadDim + 1, 7.0f);
  std::vector<attention_partial<HeadDim>> partials(Group * spans);
  for (std::size_t s = spans; s-- > 0;) {  // any order of threads
    kernel::span(q.data(), c.keys.data(), c.values.data(), positions, s, scale, partials.data() + s, spans);
  }
  for (std::size_t g = 0; g < Group; ++g) kernel::finish(&partials[g * spans], spans, out.data() + g * HeadDim);
  CHECK(out.back() == 7.0f);
  out.pop_back();
  std::vector<float> whole(Group * HeadDim);
  kernel::tile(q.data(), whole.size(), 1, c.keys.data(), c.values.data(), positions, scale, whole.data());
  CHECK(test::same_bits(whole, out));
  return out;
}

/// Tiles of 2 .. 9 tokens that end at `positions` give each token the bits it has alone.
template <quant Kv, std::size_t HeadDim, std::size_t Group, class A>
void check_tiles(const cache<Kv, HeadDim>& c, std::size_t positions) {
  using kernel = attention<Kv, HeadDim, Group, A>;
  constexpr std::size_t stride = Group * HeadDim + 5;
  for (std::size_t count : {2, 5, 9}) {
    if (count > positions) continue;
    test::random_source random(count);
    const std::vector<float> q = random.uniform_floats(count * stride);
    std::vector<float> out(count * stride, 7.0f);
    kernel::tile(q.data(), stride, count, c.keys.data(), c.values.data(), positions - count + 1,
                 1.0f / std::sqrt(static_cast<float>(HeadDim)), out.data());
    for (std::size_t t = 0; t < count; ++t) {
      const auto row = q.begin() + static_cast<std::ptrdiff_t>(t * stride);
      const std::vector<float> one(row, row + Group * HeadDim);
      INFO(count << " tokens up to position " << positions << ", token " << t);
      CHECK(test::same_bits(run<Kv, HeadDim, Group, A>(c, one, positions - count + 1 + t).data(), &out[t * stride],
                            Group * HeadDim));
      CHECK(out[t * stride + Group * HeadDim] == 7.0f);
    }
  }
}

template <quant Kv, std::size_t HeadDim, std::size_t Group> void check(float size = 2.0f) {
  INFO("head_dim " << HeadDim << ", group " << Group << ", cache " << info(Kv).name);
  for (std::size_t positions : {1, 2, 15, 16, 17, 63, 64, 65, 128, 200, 256, 257, 600}) {
    INFO(positions << " positions");
    test::random_source random(HeadDim * 100 + positions);
    const cache<Kv, HeadDim> c(positions, [&](std::size_t, std::size_t, float& k, float& v) {
      k = random.uniform() * size, v = random.uniform();
    });
    const std::vector<float> q = random.uniform_floats(Group * HeadDim, size);
    const auto fast = run<Kv, HeadDim, Group, default_arch>(c, q, positions);
    const auto slow = run<Kv, HeadDim, Group, arch::scalar>(c, q, positions);
    CHECK(test::same_bits(fast, slow));
    check_tiles<Kv, HeadDim, Group, default_arch>(c, positions);
    // A score is D fused operations on terms of at most size^2, times a scale rounded three times: off by
    // e = (D + 4) units of sqrt(D) size^2; shifted by the largest it loses a unit more of twice its size. exp turns
    // that into a relative error and adds 4 units, a rescaling a block the same again. Numerator and denominator carry
    // it alike, and positions + 20 roundings of sums. |v| <= 1.
    const double top = std::sqrt(static_cast<double>(HeadDim)) * static_cast<double>(size) * static_cast<double>(size);
    const double e = (static_cast<double>(HeadDim) + 4) * top + 2 * top + 4;
    const double blocks = static_cast<double>(positions + 63) / 64 + static_cast<double>(positions) / 256;
    const double bound = 2 * (e + blocks * (2 * top + 6) + static_cast<double>(positions) + 20) * test::unit;
    std::size_t far = 0;
    for (std::size_t g = 0; g < Group; ++g) {
      const auto exact = reference::attention(&q[g * HeadDim], c.k.data(), c.v.data(), positions, HeadDim);
      for (std::size_t d = 0; d < HeadDim; ++d) {
        far += !(std::fabs(static_cast<double>(fast[g * HeadDim + d]) - exact[d]) <= bound);
      }
    }
    CHECK(far == 0);
  }
}

}  // namespace

TEST_CASE("attention: F32 cache, head sizes and groups") {
  check<quant::f32, 12, 1>();
  check<quant::f32, 12, 5>();
  check<quant::f32, 16, 3>();
  check<quant::f32, 20, 4>();
  check<quant::f32, 32, 8>();
  check<quant::f32, 64, 3>();
}

TEST_CASE("attention: F16 cache, head sizes and groups") {
  check<quant::f16, 12, 4>();
  check<quant::f16, 16, 5>();
  check<quant::f16, 20, 1>();
  check<quant::f16, 32, 3>();
  check<quant::f16, 64, 8>();
}

TEST_CASE("attention: BF16 and Q8_0 caches") {
  check<quant::bf16, 20, 4>();
  check<quant::bf16, 64, 3>();
  check<quant::q8_0, 32, 1>();
  check<quant::q8_0, 64, 7>();
  check<quant::q8_0, 96, 4>();
}

TEST_CASE("attention: a query head's result does not depend on its group") {
  test::random_source random(1);
  const cache<quant::f32, 12> c(
      100, [&](std::size_t, std::size_t, float& k, float& v) { k = random.uniform(), v = random.uniform(); });
  const std::vector<float> q = random.uniform_floats(5 * 12);
  const auto five = run<quant::f32, 12, 5, default_arch>(c, q, 100);
  for (std::size_t g = 0; g < 5; ++g) {
    const std::vector<float> one(q.begin() + static_cast<std::ptrdiff_t>(g * 12),
                                 q.begin() + static_cast<std::ptrdiff_t>(g * 12 + 12));
    CHECK(test::same_bits(run<quant::f32, 12, 1, default_arch>(c, one, 100).data(), &five[g * 12], 12));
  }
}

TEST_CASE("attention: scores beyond the range of fp16 stay finite") {
  // q = k = 32 over 128 elements: q . k = 131072, the score 11585.24 (ggml-org/llama.cpp#8412). One key is a little
  // smaller, so that the weights tell whether the scores were right.
  const auto fill = [](std::size_t p, std::size_t d, float& k, float& v) {
    k = p == 1 && d == 0 ? 31.75f : 32.0f;
    v = static_cast<float>(p);
  };
  const std::vector<float> q(128, 32.0f);
  const double difference = 32 * 0.25 / std::sqrt(128.0);
  const double expected = std::exp(-difference) / (1 + std::exp(-difference));
  const auto f32 = run<quant::f32, 128, 1, default_arch>(cache<quant::f32, 128>(2, fill), q, 2);
  const auto f16 = run<quant::f16, 128, 1, default_arch>(cache<quant::f16, 128>(2, fill), q, 2);
  // Sums of numbers that floats hold exactly; the scaled scores are off by a few units of 11585, 1e-3.
  for (float x : f32) CHECK(std::fabs(static_cast<double>(x) - expected) < 4e-3);
  CHECK(test::same_bits(f32, f16));
}

TEST_CASE("attention: the largest keys and values an F16 cache holds stay finite") {
  const cache<quant::f16, 128> c(65, [](std::size_t p, std::size_t, float& k, float& v) {
    k = p % 2 ? 65504.0f : -65504.0f;
    v = 65504.0f;
  });
  for (float x : run<quant::f16, 128, 1, default_arch>(c, std::vector<float>(128, 65504.0f), 65)) {
    CHECK(x == 65504.0f);
  }
}

TEST_CASE("attention: NaN in a key or value that counts reaches the result") {
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t at : {0, 20, 64, 69}) {
    for (bool in_key : {true, false}) {
      const cache<quant::f32, 12> c(70, [&](std::size_t p, std::size_t d, float& k, float& v) {
        k = p == at && d == 3 && in_key ? nan_value : 0.5f;
        v = p == at && !in_key ? nan_value : 1.0f;
      });
      for (float x : run<quant::f32, 12, 1, default_arch>(c, std::vector<float>(12, 1.0f), 70)) CHECK(test::is_nan(x));
    }
  }
}
