// The bounds-checked cursor: values at any address, checked sizes, and what its errors say.
#include <llambda/io/byte_reader.hpp>

#include <cmath>
#include <limits>

#include "../catch.hpp"
#include "gguf_builder.hpp"

namespace {

constexpr std::uint64_t top = (std::numeric_limits<std::uint64_t>::max)();

/// What `run` throws, as code and text; fails the test when it throws nothing.
template <class Run> llambda::load_error error_of(Run&& run) {
  try {
    run();
  } catch (const llambda::load_error& e) {
    return e;
  }
  FAIL("no load_error");
  throw 0;
}

}  // namespace

TEST_CASE("checked arithmetic at the edges of 64 bits", "[io]") {
  static_assert(llambda::checked_mul(3, 5) == 15);
  CHECK(llambda::checked_mul(0, top) == 0);
  CHECK(llambda::checked_mul(top, 0) == 0);
  CHECK(llambda::checked_mul(top, 1) == top);
  CHECK(llambda::checked_mul(1ull << 32, (1ull << 32) - 1) == (top >> 32 << 32));
  CHECK_FALSE(llambda::checked_mul(1ull << 32, 1ull << 32));
  CHECK_FALSE(llambda::checked_mul(2, (top >> 1) + 1));
  CHECK(llambda::checked_add(top, 0) == top);
  CHECK_FALSE(llambda::checked_add(top, 1));
  CHECK_FALSE(llambda::checked_add(1, top));
  CHECK(llambda::checked_align_up(0, 32) == 0);
  CHECK(llambda::checked_align_up(1, 32) == 32);
  CHECK(llambda::checked_align_up(32, 32) == 32);
  CHECK(llambda::checked_align_up(33, 1) == 33);
  CHECK(llambda::checked_align_up(top - 31, 32) == top - 31);
  CHECK_FALSE(llambda::checked_align_up(top - 30, 32));
}

TEST_CASE("numbers are little-endian and need no alignment", "[io]") {
  test::bytes data;
  data.num<std::uint8_t>(7).num<std::uint64_t>(0x0102030405060708).num<std::int16_t>(-2).num<float>(-0.0f);
  data.num<double>(2.5);
  llambda::byte_reader in(data.span(), "m");
  CHECK(in.read<std::uint8_t>() == 7);
  CHECK(static_cast<int>(data.span()[1]) == 8);
  CHECK(in.read<std::uint64_t>() == 0x0102030405060708);
  CHECK(in.read<std::int16_t>() == -2);
  const float zero = in.read<float>();
  CHECK(zero == 0.0f);
  CHECK(std::signbit(zero));
  CHECK(in.read<double>() == 2.5);
  CHECK(in.offset() == data.size());
  CHECK(in.remaining() == 0);
}

TEST_CASE("errors name file, subject and byte", "[io]") {
  test::bytes data;
  data.fill(3).string("abc").num<std::uint64_t>(top);
  llambda::byte_reader in(data.span(), "model.gguf");
  in.read_bytes(3);
  CHECK(in.read_string() == "abc");
  in.set_subject("some.key");
  const auto length = error_of([&] { in.read_string(); });
  CHECK(length.code() == llambda::errc::length_too_large);
  CHECK(length.path() == "model.gguf");
  CHECK(length.subject() == "some.key");
  CHECK(length.got().find("at byte 22") != std::string::npos);
  const auto end = error_of([&] { in.read<std::uint8_t>(); });
  CHECK(end.code() == llambda::errc::truncated);
  CHECK(end.expected() == "1 bytes more");
  CHECK(end.got() == "0 bytes left at byte 22");
}

TEST_CASE("a refused read moves nothing", "[io]") {
  test::bytes data;
  data.fill(7);
  llambda::byte_reader in(data.span(), "m");
  CHECK_THROWS_AS(in.read<std::uint64_t>(), llambda::load_error);
  CHECK_THROWS_AS(in.read_bytes(8), llambda::load_error);
  CHECK(in.offset() == 0);
  CHECK(in.read_bytes(7).size() == 7);
  CHECK(in.read_bytes(0).empty());
}

TEST_CASE("counts and lengths are judged against the bytes left", "[io]") {
  test::bytes data;
  data.fill(100);
  llambda::byte_reader in(data.span(), "m");
  CHECK(in.check_count(7, 14, 1000) == 7);
  CHECK(error_of([&] { in.check_count(8, 14, 1000); }).code() == llambda::errc::count_too_large);
  CHECK(error_of([&] { in.check_count(5, 14, 4); }).code() == llambda::errc::count_too_large);
  CHECK(error_of([&] { in.check_count(top, 14, top); }).code() == llambda::errc::count_too_large);
  CHECK(in.check_length(25, 4) == 100);
  CHECK(error_of([&] { in.check_length(26, 4); }).code() == llambda::errc::length_too_large);
  CHECK(error_of([&] { in.check_length(1ull << 61, 8); }).code() == llambda::errc::length_too_large);  // wraps to 0
  CHECK(error_of([&] { in.check_length((1ull << 61) + 1, 8); }).code() == llambda::errc::length_too_large);  // to 8
}

TEST_CASE("UTF-8 is checked by the book", "[io]") {
  using llambda::detail::is_utf8;
  for (const char* good : {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "x\xE4\xB8\xADy"}) {
    INFO(good);
    CHECK(is_utf8(good));
  }
  for (const char* bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2",
        "\xC2"
        "a",
        "\xE0\x9F\xBF", "\xE1\x80", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
        "a\xE1\x80"
        "a",
        "\xF1\x80\x80",
        "\xF1\x80"
        "a\x80"}) {
    INFO(llambda::detail::printable(bad));
    CHECK_FALSE(is_utf8(bad));
  }
}

TEST_CASE("names in messages are one short line", "[io]") {
  using llambda::detail::printable;
  CHECK(printable("blk.0.attn_q.weight") == "blk.0.attn_q.weight");
  CHECK(printable("a\x1B[2J\n\x7F") == "a\\x1b[2J\\x0a\\x7f");
  CHECK(printable("\xC3\xA4\xFF") == "\xC3\xA4\\xff");
  const std::string cut = printable(std::string(100000, 'x'));
  CHECK(cut.size() < 130);
  CHECK(cut.substr(cut.size() - 3) == "...");
}
