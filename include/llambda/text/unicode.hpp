// UTF-8 one step at a time: decode, validate, count, append, repair.
// Nothing here reads past the end of its view. Ill-formed bytes follow the practice of the Unicode Standard
// (section 3.9, "U+FFFD Substitution of Maximal Subparts"): the longest prefix that could still have become a
// character counts as one replacement character, every other byte as one of its own.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

/// What stands for bytes that are no character: U+FFFD, and its three bytes in UTF-8.
inline constexpr char32_t replacement_character = 0xFFFD;
inline constexpr std::string_view replacement_utf8 = "\xEF\xBF\xBD";

enum class utf8_status : std::uint8_t {
  valid,       ///< a whole, well-formed character
  ill_formed,  ///< bytes that can never become a character, whatever follows
  truncated,   ///< a sound beginning that stops at the end of the text: at most 3 bytes
};

/// One step through a text. `length` is never 0 while there is text left.
struct utf8_step {
  char32_t code_point;  ///< U+FFFD unless valid
  std::uint8_t length;  ///< bytes taken, 1 ... 4; 0 at the end of the text
  utf8_status status;
};

/// Decode the character of `text` that begins at byte `at`. At or past the end: length 0, truncated.
constexpr utf8_step decode_utf8(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return {replacement_character, 0, utf8_status::truncated};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, utf8_status::valid};

  // Table 3-7 of the standard: how many bytes follow, and the range allowed for the first of them. The narrow ranges
  // keep out overlong forms (E0, F0), surrogates (ED) and values past U+10FFFF (F4).
  std::size_t following = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    following = 1;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    following = 2;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    following = 3;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {replacement_character, 1, utf8_status::ill_formed};
  }

  char32_t code_point = lead & (0x3Fu >> following);
  for (std::size_t i = 1; i <= following; ++i) {
    const auto taken = static_cast<std::uint8_t>(i);
    if (at + i >= text.size()) return {replacement_character, taken, utf8_status::truncated};
    const unsigned char next = byte(i);
    if (next < low || next > high) return {replacement_character, taken, utf8_status::ill_formed};
    code_point = (code_point << 6) | (next & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code_point, static_cast<std::uint8_t>(following + 1), utf8_status::valid};
}

/// True if every byte of `text` belongs to a well-formed character.
constexpr bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const utf8_step step = decode_utf8(text, at);
    if (step.status != utf8_status::valid) return false;
    at += step.length;
  }
  return true;
}

/// Number of characters of `text`; a maximal ill-formed part counts as the one U+FFFD it would become.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += decode_utf8(text, at).length;
  return count;
}

/// Write `code_point` to `out` (room for 4 bytes); returns the bytes written. Surrogates and values past U+10FFFF are
/// no characters and come out as U+FFFD.
constexpr std::size_t encode_utf8(char32_t code_point, char* out) noexcept {
  if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point <= 0xDFFF)) code_point = replacement_character;
  const auto tail = [&](int shift) { return static_cast<char>(0x80u | ((code_point >> shift) & 0x3Fu)); };
  if (code_point < 0x80) {
    out[0] = static_cast<char>(code_point);
    return 1;
  }
  if (code_point < 0x800) {
    out[0] = static_cast<char>(0xC0u | (code_point >> 6));
    out[1] = tail(0);
    return 2;
  }
  if (code_point < 0x10000) {
    out[0] = static_cast<char>(0xE0u | (code_point >> 12));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0u | (code_point >> 18));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

/// Append `code_point` to `out` as UTF-8, under the rule of encode_utf8.
inline void append_utf8(std::string& out, char32_t code_point) {
  char bytes[4] = {};
  out.append(bytes, encode_utf8(code_point, bytes));
}

/// `text` with every ill-formed part replaced by U+FFFD, so that the result is always UTF-8.
inline std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8_step step = decode_utf8(text, at);
    out += step.status == utf8_status::valid ? text.substr(at, step.length) : replacement_utf8;
    at += step.length;
  }
  return out;
}

}  // namespace llambda::inline LLAMBDA_ABI
