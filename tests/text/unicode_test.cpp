// UTF-8: every code point there and back, the maximal-subpart practice, and no byte past the end.
#include "../catch.hpp"

#include <llambda/text/unicode.hpp>

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>

using llambda::utf8_status;

TEST_CASE("every code point survives encoding and decoding", "[unicode]") {
  std::string all;
  std::size_t count = 0;
  bool good = true;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string one;
    llambda::append_utf8(one, c);
    const auto step = llambda::decode_utf8(one, 0);
    good = good && step.code_point == c && step.length == one.size() && step.status == utf8_status::valid;
    for (std::size_t cut = 1; cut < one.size(); ++cut) {
      const auto part = llambda::decode_utf8(std::string_view(one).substr(0, cut), 0);
      good = good && part.status == utf8_status::truncated && part.length == cut && part.code_point == 0xFFFD;
    }
    all += one;
    ++count;
  }
  CHECK(good);
  CHECK(llambda::is_utf8(all));
  CHECK(llambda::utf8_length(all) == count);
  CHECK(llambda::repair_utf8(all) == all);
}

TEST_CASE("what is no character encodes as U+FFFD", "[unicode]") {
  for (const char32_t c : {char32_t{0xD800}, char32_t{0xDFFF}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) {
    std::string out;
    llambda::append_utf8(out, c);
    CHECK(out == llambda::replacement_utf8);
  }
}

TEST_CASE("ill-formed text becomes U+FFFD by maximal subparts", "[unicode]") {
  const std::string r(llambda::replacement_utf8);
  const auto repaired = [](std::string_view text) { return llambda::repair_utf8(text); };
  // The examples of the Unicode Standard 15, tables 3-8 to 3-11.
  CHECK(repaired("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == r + r + r + r + r + r + r + r + "A");
  CHECK(repaired("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") == r + r + r + r + r + r + r + r + "A");
  CHECK(repaired("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") == r + r + r + r + r + "A" + r + r + "B");
  CHECK(repaired("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == r + r + r + r + "A");
  // A lone lead before a sound character, and a tail that stops.
  CHECK(repaired("\xF0"
                 "a") == r + "a");
  CHECK(repaired("ok\xE6\xAD") == "ok" + r);
  CHECK(repaired("\xF0\x9F\x98\x80") == "\xF0\x9F\x98\x80");
  CHECK_FALSE(llambda::is_utf8("\xE6\xAD"));
  CHECK(llambda::is_utf8(""));
  CHECK(llambda::utf8_length("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == 5);
}

TEST_CASE("a NUL is a character, the end is not", "[unicode]") {
  const std::string_view text("a\0b", 3);
  CHECK(llambda::is_utf8(text));
  CHECK(llambda::utf8_length(text) == 3);
  CHECK(llambda::decode_utf8(text, 3).length == 0);
  CHECK(llambda::decode_utf8(text, 99).length == 0);
}

TEST_CASE("random bytes: steps cover the text, and repair is UTF-8 and idempotent", "[unicode]") {
  std::mt19937 random(7);
  bool good = true;
  for (int round = 0; round < 20000; ++round) {
    const std::size_t n = random() % 12;
    // Exactly n bytes on the heap, so that a sanitizer sees one byte too many.
    const auto bytes = std::make_unique<char[]>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto kind = random() % 4;
      bytes[i] = static_cast<char>(kind == 0   ? random() % 128
                                   : kind == 1 ? 0x80 + random() % 64
                                               : 0xC0 + random() % 64);
    }
    const std::string_view text(bytes.get(), n);
    std::size_t at = 0;
    while (at < n) {
      const auto step = llambda::decode_utf8(text, at);
      good = good && step.length >= 1 && step.length <= 4 && at + step.length <= n;
      good = good && (step.status != utf8_status::truncated || at + step.length == n);
      at += step.length;
    }
    const std::string fixed = llambda::repair_utf8(text);
    good = good && llambda::is_utf8(fixed) && llambda::repair_utf8(fixed) == fixed;
    good = good && (fixed == text) == llambda::is_utf8(text);
  }
  CHECK(good);
}

static_assert(llambda::decode_utf8("\xE2\x96\x81", 0).code_point == 0x2581);
static_assert(llambda::is_utf8("plain"));
