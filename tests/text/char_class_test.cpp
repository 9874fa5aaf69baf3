// Character classes: every code point against the Unicode database where it is installed, and the known traps.
#include "../catch.hpp"

#include <llambda/text/char_class.hpp>

#include <string>
#include <vector>

namespace chars = llambda::chars;

TEST_CASE("white space and numbers are Unicode's, not a C locale's (B27)", "[chars]") {
  for (const char32_t c : {0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 9, 11, 12, 32}) {
    CHECK(chars::of(c) == chars::space);
  }
  CHECK(chars::of('\n') == (chars::space | chars::newline));
  CHECK(chars::of('\r') == (chars::space | chars::newline));
  for (const char32_t c : {0x1F, 0x200B, 0x200D, 0x2060, 0xFEFF, 0x10FFFF, 0x110000})
    CHECK(chars::of(c) == chars::rest);
  for (const char32_t c : {0xBC, 0xBD, 0x3007, 0x2165, 0x660, 0xFF11}) CHECK(chars::of(c) == chars::number);
  CHECK(chars::of(0x1C5) == chars::upper);  // title case
  CHECK(chars::of(0x4E00) == chars::caseless);
  CHECK(chars::of(0x301) == chars::mark);
  CHECK(chars::of(0xFFFD) == chars::symbol);
}

TEST_CASE("steps through a text", "[chars]") {
  const std::string text = "a\xC3\xA9\xFF\xE6\xAD";
  CHECK(chars::at(text, 0).classes == chars::lower);
  CHECK(chars::at(text, 1).length == 2);
  for (const std::size_t at : {3, 4, 5}) {
    CHECK(chars::at(text, at).classes == chars::symbol);  // ill-formed, byte by byte
    CHECK(chars::at(text, at).length == 1);
  }
  CHECK(chars::at(text, 6).classes == 0);
  CHECK(chars::at(text, 6).length == 0);
  CHECK(chars::skip(text, 0, chars::lower) == 3);
  CHECK(chars::skip(text, 0, chars::lower, 1) == 1);
  static_assert(chars::of(U'\u00DF') == chars::lower);
}

TEST_CASE("every code point as in the Unicode database", "[chars][data]") {
  const std::string database = test::read_file("/usr/share/unicode/UnicodeData.txt");
  const std::string properties = test::read_file("/usr/share/unicode/PropList.txt");
  if (properties.find("PropList-" + std::string(chars::unicode_version) + ".txt") == properties.npos) {
    std::cerr << "skipped: no Unicode database of version " << chars::unicode_version << " (Debian: unicode-data)\n";
    return;
  }
  std::vector<chars::set> want(0x110000, chars::rest);
  const auto number = [](const std::string& text, std::size_t at) {
    return std::stoul(text.substr(at, 8), nullptr, 16);
  };
  unsigned long first = 0;
  for (std::size_t at = 0; at < database.size(); at = database.find('\n', at) + 1) {
    const std::size_t name = database.find(';', at) + 1;
    const std::size_t category = database.find(';', name) + 1;
    const unsigned long last = number(database, at);
    const bool range = database.compare(category - 8, 8, ", Last>;") == 0;
    const std::string c = database.substr(category, 2);
    const chars::set is = c == "Lu" || c == "Lt" ? chars::upper
                          : c == "Ll"            ? chars::lower
                          : c[0] == 'L'          ? chars::caseless
                          : c[0] == 'M'          ? chars::mark
                          : c[0] == 'N'          ? chars::number
                          : c[0] == 'P'          ? chars::punctuation
                          : c[0] == 'S'          ? chars::symbol
                                                 : chars::rest;
    for (unsigned long i = range ? first : last; i <= last; ++i) want[i] = is;
    first = last;
  }
  for (std::size_t at = 0; at < properties.size(); at = properties.find('\n', at) + 1) {
    const std::string line = properties.substr(at, properties.find('\n', at) - at);
    if (line.find("; White_Space") == line.npos) continue;
    const unsigned long low = number(line, 0);
    const unsigned long high = line.find("..") < 8 ? number(line, line.find("..") + 2) : low;
    for (unsigned long i = low; i <= high; ++i)
      want[i] = i == '\n' || i == '\r' ? chars::space | chars::newline : chars::space;
  }
  std::size_t differ = 0;
  for (char32_t c = 0; c < 0x110000; ++c) differ += chars::of(c) != want[c];
  CHECK(differ == 0);
}
