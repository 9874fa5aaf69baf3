// Marked texts by character: white space, stripping, case, length, places, search and replacement. What Python's str
// does, on UTF-8. Every function keeps the marks of the bytes it keeps.
#pragma once

#include <llambda/text/marked_text.hpp>
#include <llambda/text/unicode.hpp>
#include <llambda/text/unicode_case.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

/// White space to Python.
constexpr bool is_space(char32_t c) noexcept {
  return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Bytes of the white space character at `at`, 0 if there is none.
constexpr std::size_t space_length(std::string_view text, std::size_t at) noexcept {
  const utf8_step step = decode_utf8(text, at);
  return step.status == utf8_status::valid && is_space(step.code_point) ? step.length : 0;
}

/// Where the character that ends before byte `end` begins; `end` > 0.
constexpr std::size_t previous_character(std::string_view text, std::size_t end) noexcept {
  std::size_t at = end - 1;
  for (std::size_t back = 0; back < 3 && at > 0 && (text[at] & 0xC0) == 0x80; ++back) --at;
  return at + decode_utf8(text, at).length == end ? at : end - 1;
}

/// f(character) decides what goes at the ends.
template <class F> std::string_view strip_if(std::string_view text, bool left, bool right, F&& goes) {
  while (left && !text.empty()) {
    const utf8_step step = decode_utf8(text, 0);
    if (!goes(text.substr(0, step.length))) break;
    text.remove_prefix(step.length);
  }
  while (right && !text.empty()) {
    const std::size_t at = previous_character(text, text.size());
    if (!goes(text.substr(at))) break;
    text.remove_suffix(text.size() - at);
  }
  return text;
}

inline std::string_view strip(std::string_view text, bool left, bool right) {
  return strip_if(text, left, right, [](std::string_view c) { return space_length(c, 0) != 0; });
}

/// The part of `whole` that `part`, a view of it, shows.
inline marked_text part_of(const marked_text& whole, std::string_view part) {
  return whole.substr(static_cast<std::size_t>(part.data() - whole.str().data()), part.size());
}

/// `text` in quotes, for messages; shortened, and valid whatever it holds.
inline std::string in_quotes(std::string_view text) {
  return "'" + repair_utf8(text.substr(0, 40)) + (text.size() > 40 ? "...'" : "'");
}

/// f(code point, its bytes, origin) for each character. A character that runs across two origins counts as its bytes.
template <class F> void for_each_character(const marked_text& text, F&& f) {
  text.for_each_run([&](std::string_view run, text_origin origin) {
    for (std::size_t at = 0; at < run.size();) {
      const utf8_step step = decode_utf8(run, at);
      f(step.status == utf8_status::valid ? step.code_point : char32_t{0xFFFFFFFF}, run.substr(at, step.length),
        origin);
      at += step.length;
    }
  });
}

/// Byte offsets of all characters and of the end.
inline std::vector<std::size_t> character_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).length) offsets.push_back(at);
  offsets.push_back(text.size());
  return offsets;
}

inline bool is_lower_letter(char32_t c) noexcept { return upper_case(c) != c || c == 0xDF; }
inline bool is_upper_letter(char32_t c) noexcept { return lower_case(c) != c; }
inline bool is_cased(char32_t c) noexcept { return is_lower_letter(c) || is_upper_letter(c); }

enum class case_change : std::uint8_t { lower, upper, capital, title, swap };

/// The case of `text` changed. `capital`: the first character large, the others small; `title`: that for every word.
inline marked_text change_case(const marked_text& text, case_change change) {
  marked_text out;
  bool inside = false;
  for_each_character(text, [&](char32_t c, std::string_view bytes, text_origin origin) {
    bool up = change == case_change::upper;
    if (change == case_change::capital || change == case_change::title) up = !inside;
    if (change == case_change::swap) up = is_lower_letter(c);
    inside = change == case_change::title ? is_cased(c) : true;
    if (c == 0xFFFFFFFF) return out.append(bytes, origin);
    if (c == 0xDF && up)
      return out.append(change == case_change::upper || change == case_change::swap ? "SS" : "Ss", origin);
    std::string changed;
    append_utf8(changed, up ? upper_case(c) : lower_case(c));
    out.append(changed, origin);
  });
  return out;
}

/// `text` with up to `count` occurrences of `from` replaced. An empty `from` stands between all characters.
inline marked_text replace(const marked_text& text, std::string_view from, const marked_text& to,
                           std::size_t count = SIZE_MAX) {
  marked_text out;
  std::size_t begin = 0;
  for (std::size_t search = 0; count > 0; --count) {
    const std::size_t at =
        from.empty() ? (search <= text.size() ? search : std::string::npos) : text.view().find(from, search);
    if (at == std::string::npos) break;
    out.append(text, begin, at - begin);
    out.append(to);
    begin = at + from.size();
    search = from.empty() ? at + (at < text.size() ? decode_utf8(text.view(), at).length : 1u) : begin;
  }
  out.append(text, (std::min)(begin, text.size()));
  return out;
}

/// How often `part` occurs without overlap; an empty one between all characters.
inline std::size_t occurrences(std::string_view text, std::string_view part) noexcept {
  if (part.empty()) return utf8_length(text) + 1;
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
