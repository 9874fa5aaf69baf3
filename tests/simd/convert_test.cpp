// Conversions between stored numbers and the virtual vector: all 65,536 codes of fp16 and bf16 against F64, floats to
// fp16 around every rounding boundary, and floats to int8. Scalar meaning and vector code must agree on each.
#include <llambda/simd/convert.hpp>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

using namespace llambda;

namespace {

template <class A> std::vector<std::uint16_t> to_half(const std::vector<float>& x) {
  std::vector<std::uint16_t> out(x.size());
  for (std::size_t i = 0; i < x.size(); i += lanes) convert<A>::to_half(f32x16<A>::load(&x[i]), &out[i]);
  return out;
}

template <class A> std::vector<std::int8_t> to_i8(const std::vector<float>& x) {
  std::vector<std::int8_t> out(x.size());
  for (std::size_t i = 0; i < x.size(); i += lanes) convert<A>::to_i8(f32x16<A>::load(&x[i]), &out[i]);
  return out;
}

/// Decodes all 65,536 codes with `load` of both arches and compares with `value`.
template <class Slow, class Fast> void check_all_codes(Slow slow, Fast fast, double (*value)(std::uint16_t)) {
  std::size_t wrong = 0, different = 0;
  std::uint16_t codes[lanes];
  float a[lanes], b[lanes];
  for (std::uint32_t first = 0; first < 65536; first += lanes) {
    for (std::uint32_t i = 0; i < lanes; ++i) codes[i] = static_cast<std::uint16_t>(first + i);
    slow(codes).store(a);
    fast(codes).store(b);
    for (std::size_t i = 0; i < lanes; ++i) {
      wrong += !test::same_number(a[i], static_cast<float>(value(codes[i])));
      different += !test::same_number(a[i], b[i]);
    }
  }
  CHECK(wrong == 0);
  CHECK(different == 0);
}

bool half_is_nan(std::uint16_t h) { return (h & 0x7fffu) > 0x7c00u; }

}  // namespace

TEST_CASE("convert: every fp16 code") {
  check_all_codes([](const std::uint16_t* p) { return convert<arch::scalar>::from_half(p); },
                  [](const std::uint16_t* p) { return convert<default_arch>::from_half(p); }, test::half_value);
}

TEST_CASE("convert: every bf16 code") {
  check_all_codes([](const std::uint16_t* p) { return convert<arch::scalar>::from_bf16(p); },
                  [](const std::uint16_t* p) { return convert<default_arch>::from_bf16(p); }, test::bf16_value);
}

TEST_CASE("convert: fp16 NaN comes out quiet") {
  for (std::uint32_t sign : {0u, 0x8000u}) {
    for (std::uint32_t payload = 1; payload < 1024; ++payload) {
      std::uint16_t codes[lanes];
      for (std::uint16_t& c : codes) c = static_cast<std::uint16_t>(sign | 0x7c00u | payload);
      float x[lanes];
      convert<default_arch>::from_half(codes).store(x);
      const bool quiet = (std::bit_cast<std::uint32_t>(x[0]) & 0x7fc00000u) == 0x7fc00000u;
      const bool scalar_same =
          std::bit_cast<std::uint32_t>(half_to_float(codes[0])) == std::bit_cast<std::uint32_t>(x[0]);
      if (!quiet || !scalar_same) FAIL("code " << codes[0]);
    }
  }
}

TEST_CASE("convert: floats to fp16, to nearest, ties to even") {
  std::vector<float> x = test::special_floats();
  for (std::uint32_t code = 0; code < 0x7c00; ++code) {  // every fp16, halfway to the next, and the floats around
    const double low = test::half_value(static_cast<std::uint16_t>(code));
    const double high = code == 0x7bff ? 65536.0 : test::half_value(static_cast<std::uint16_t>(code + 1));
    const float middle = static_cast<float>((low + high) / 2);
    for (float v : {static_cast<float>(low), middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e9f)}) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  test::random_source random(5);
  while (x.size() < 600000 || x.size() % lanes != 0) x.push_back(random.awkward());
  const auto slow = to_half<arch::scalar>(x), fast = to_half<default_arch>(x);
  std::size_t wrong = 0, different = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    wrong += test::is_nan(x[i]) ? !half_is_nan(slow[i]) || !(slow[i] & 0x200)
                                : slow[i] != test::half_code(static_cast<double>(x[i]));
    different += slow[i] != fast[i];
  }
  CHECK(wrong == 0);
  CHECK(different == 0);
}

TEST_CASE("convert: floats to int8, ties to even") {
  std::vector<float> x;
  for (int sixteenths = -127 * 16 - 7; sixteenths <= 127 * 16 + 7; ++sixteenths) {
    const float v = static_cast<float>(sixteenths) / 16;
    for (float near : {v, std::nextafter(v, 200.0f), std::nextafter(v, -200.0f)}) x.push_back(near);
  }
  x.push_back(-127.5f);  // rounds to -128, which fits
  x.push_back(std::nextafter(127.5f, 0.0f));
  test::random_source random(6);
  while (x.size() < 200000 || x.size() % lanes != 0) x.push_back(random.uniform() * 127.49f);
  const auto slow = to_i8<arch::scalar>(x), fast = to_i8<default_arch>(x);
  std::size_t wrong = 0, different = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    wrong += static_cast<double>(slow[i]) != std::nearbyint(static_cast<double>(x[i]));
    different += slow[i] != fast[i];
  }
  CHECK(wrong == 0);
  CHECK(different == 0);
}

TEST_CASE("convert: int8 of numbers out of range and NaN is some value, on a defined path") {
  test::random_source random(7);
  const std::vector<float> x = random.awkward_floats(lanes * 1000);
  CHECK(to_i8<arch::scalar>(x).size() == to_i8<default_arch>(x).size());
}
