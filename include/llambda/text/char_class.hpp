// What kind of character a code point is, as sets of bits: the questions that the patterns of pre-tokenizers ask
// (\p{L}, \p{N}, \s, ...), in the sense of Unicode and not of a C locale. The run table is unfolded by the compiler;
// ASCII is one load, everything else a search among the few runs that share a page of 256 code points.
#pragma once

#include <llambda/text/char_class_table.hpp>
#include <llambda/text/unicode.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

namespace chars {

/// A set of classes. Every character is in one; line ends are in `space` and `newline`.
using set = std::uint16_t;

inline constexpr set upper = 1;         ///< Lu, Lt
inline constexpr set lower = 2;         ///< Ll
inline constexpr set caseless = 4;      ///< Lm, Lo
inline constexpr set mark = 8;          ///< M
inline constexpr set number = 16;       ///< N
inline constexpr set punctuation = 32;  ///< P
inline constexpr set symbol = 64;       ///< S
inline constexpr set space = 128;       ///< White_Space, what \s means
inline constexpr set newline = 256;     ///< CR and LF
inline constexpr set rest = 512;        ///< controls, formats, unassigned
inline constexpr set letter = upper | lower | caseless;
inline constexpr set any = letter | mark | number | punctuation | symbol | space | rest;

namespace detail {

struct unfolded_runs {
  std::array<std::uint32_t, run_count> runs{};    // (runs): first code point << 8 | class letter
  std::array<std::uint16_t, 0x1101> first_run{};  // (pages + 1): the run that holds a page's first code point
};

constexpr unfolded_runs unfold() noexcept {
  unfolded_runs out;
  std::uint32_t code_point = 0;
  std::size_t page = 0;
  std::size_t at = 0;
  for (std::size_t run = 0; run < run_count; ++run) {
    out.runs[run] = code_point << 8 | static_cast<unsigned char>(runs[at++]);
    std::uint32_t length = 0;
    for (; at < runs.size() && runs[at] >= '0' && runs[at] <= '9'; ++at) {
      length = length * 10 + static_cast<std::uint32_t>(runs[at] - '0');
    }
    code_point += length == 0 ? 1 : length;
    for (; page << 8 < code_point; ++page) out.first_run[page] = static_cast<std::uint16_t>(run);
  }
  out.first_run[page] = static_cast<std::uint16_t>(run_count - 1);
  return out;
}

inline constexpr unfolded_runs table = unfold();

constexpr set set_of(char run_class, bool odd) noexcept {
  switch (run_class) {
    case 'U':
      return upper;
    case 'l':
      return lower;
    case 'A':
      return odd ? lower : upper;
    case 'a':
      return odd ? upper : lower;
    case 'o':
      return caseless;
    case 'M':
      return mark;
    case 'N':
      return number;
    case 'P':
      return punctuation;
    case 'S':
      return symbol;
    case 's':
      return space;
    default:
      return rest;
  }
}

}  // namespace detail

/// The set with the one class of `code_point`; `rest` past U+10FFFF.
constexpr set of(char32_t code_point) noexcept {
  if (code_point > 0x10FFFF) return rest;
  if (code_point == '\n' || code_point == '\r') return space | newline;
  std::size_t low = detail::table.first_run[code_point >> 8];
  std::size_t high = detail::table.first_run[(code_point >> 8) + 1];
  while (low < high) {  // the last run that begins at or before the code point
    const std::size_t middle = (low + high + 1) / 2;
    if (detail::table.runs[middle] >> 8 <= code_point)
      low = middle;
    else
      high = middle - 1;
  }
  const std::uint32_t run = detail::table.runs[low];
  return detail::set_of(static_cast<char>(run & 0xFF), ((code_point - (run >> 8)) & 1) != 0);
}

namespace detail {

inline constexpr auto ascii = [] {
  std::array<set, 128> sets{};
  for (char32_t c = 0; c < 128; ++c) sets[c] = of(c);
  return sets;
}();

}  // namespace detail

/// One character of a text: its class and its bytes.
struct step {
  set classes;          ///< nothing at the end of the text
  std::uint8_t length;  ///< 1 ... 4; 0 at the end
};

/// The character of `text` at byte `at`. A byte that begins no well-formed character is a symbol of its own, as U+FFFD
/// would be.
constexpr step at(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return {0, 0};
  const auto lead = static_cast<unsigned char>(text[at]);
  if (lead < 128) return {detail::ascii[lead], 1};
  const utf8_step character = decode_utf8(text, at);
  if (character.status != utf8_status::valid) return {symbol, 1};
  return {of(character.code_point), character.length};
}

/// The first place at or after `at` whose character is in none of `classes`. At most `most` characters are passed.
constexpr std::size_t skip(std::string_view text, std::size_t at, set classes, std::size_t most = ~std::size_t{0}) {
  for (; most > 0; --most) {
    const step here = chars::at(text, at);
    if ((here.classes & classes) == 0) break;
    at += here.length;
  }
  return at;
}

}  // namespace chars

}  // namespace llambda::inline LLAMBDA_ABI
