// GPT-2's alphabet of bytes: the texts of a byte-level vocabulary write every byte as one printable character. Visible
// bytes of Latin-1 stand for themselves, the other 68 for U+0100 to U+0143 in order (a space is U+0120).
// Source: Radford et al. 2019, encoder.py of the GPT-2 release.
#pragma once

#include <llambda/text/unicode.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

constexpr bool stands_for_itself(unsigned byte) noexcept {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

inline constexpr auto bytes_of_alphabet = [] {
  std::array<std::int16_t, 0x144> bytes{};
  bytes.fill(-1);
  std::size_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    bytes[stands_for_itself(byte) ? byte : next++] = static_cast<std::int16_t>(byte);
  }
  return bytes;
}();

}  // namespace detail

/// Append the bytes that `text` writes to `out`. False, with `out` as it was, if a character is not of the alphabet.
inline bool append_alphabet_bytes(std::string& out, std::string_view text) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < text.size();) {
    const utf8_step step = decode_utf8(text, at);
    const bool known = step.code_point < detail::bytes_of_alphabet.size() && step.status == utf8_status::valid;
    const int byte = known ? detail::bytes_of_alphabet[step.code_point] : -1;
    if (byte < 0) {
      out.resize(before);
      return false;
    }
    out += static_cast<char>(byte);
    at += step.length;
  }
  return true;
}

}  // namespace llambda::inline LLAMBDA_ABI
