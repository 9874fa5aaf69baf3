// The only way bytes of a file become numbers and strings: a cursor that checks every step against the bytes left.
// Values are little-endian and loaded with memcpy, so no alignment is assumed. A fault names the file, what was being
// read and the byte offset. The checked arithmetic here is the one used for every size computed from a file.
#pragma once

#include <llambda/core/config_macros.hpp>
#include <llambda/core/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

/// a * b, or nothing when it does not fit in 64 bits.
constexpr std::optional<std::uint64_t> checked_mul(std::uint64_t a, std::uint64_t b) noexcept {
  if (a != 0 && b > (std::numeric_limits<std::uint64_t>::max)() / a) return std::nullopt;
  return a * b;
}

/// a + b, or nothing when it does not fit in 64 bits.
constexpr std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) noexcept {
  if (b > (std::numeric_limits<std::uint64_t>::max)() - a) return std::nullopt;
  return a + b;
}

/// `value` rounded up to a multiple of `alignment` (a power of two), or nothing when it does not fit in 64 bits.
constexpr std::optional<std::uint64_t> checked_align_up(std::uint64_t value, std::uint64_t alignment) noexcept {
  const std::optional<std::uint64_t> sum = checked_add(value, alignment - 1);
  if (!sum) return std::nullopt;
  return *sum & ~(alignment - 1);
}

/// The little-endian number at `from`, which need not be aligned. `bool` is left out: most bytes are not one.
template <class T>
requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) inline T load_le(const std::byte* from) noexcept {
  std::array<std::byte, sizeof(T)> raw;
  std::memcpy(raw.data(), from, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<T>(raw);
}

namespace detail {

/// Length in bytes of the UTF-8 sequence at the start of `text`, 0 when there is none (overlong forms, surrogates and
/// code points past 10FFFF are none). Table 3-7 of the Unicode standard.
constexpr std::size_t utf8_sequence(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((at(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

/// Whether names in a file are text.
constexpr bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// A name from a file as one short line for a message: control bytes and what is not UTF-8 become \xNN.
inline std::string printable(std::string_view text) {
  constexpr std::size_t limit = 120;
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  while (!text.empty()) {
    if (out.size() >= limit) return out + "...";
    std::size_t length = utf8_sequence(text);
    const unsigned lead = static_cast<unsigned char>(text.front());
    if (length == 0 || lead < 0x20 || lead == 0x7F) {
      out += {'\\', 'x', digits[lead >> 4], digits[lead & 15]};
      length = 1;
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace detail

/// A cursor over the bytes of one file. `bytes`, `path` and every subject must outlive it; strings it returns are
/// views.
class byte_reader {
 public:
  byte_reader(std::span<const std::byte> bytes, std::string_view path) noexcept : bytes_(bytes), path_(path) {}

  /// Names what is read next (a key, a tensor), for messages.
  void set_subject(std::string_view subject) noexcept { subject_ = subject; }

  /// Bytes from the start of the file to the cursor, and from the cursor to the end.
  std::uint64_t offset() const noexcept { return at_; }
  std::uint64_t remaining() const noexcept { return bytes_.size() - at_; }

  /// The next number. Throws load_error(truncated).
  template <class T> T read() {
    if (remaining() < sizeof(T)) fail_truncated(sizeof(T));
    const T value = load_le<T>(bytes_.data() + at_);
    at_ += sizeof(T);
    return value;
  }

  /// The next `length` bytes, `length` being a number out of the file. Throws load_error(length_too_large).
  std::span<const std::byte> read_bytes(std::uint64_t length) {
    if (length > remaining()) fail_length(length, 1);
    const std::size_t size = static_cast<std::size_t>(length);
    const std::span<const std::byte> out = bytes_.subspan(at_, size);
    at_ += size;
    return out;
  }

  /// A 64-bit length and that many bytes. Throws load_error(truncated or length_too_large).
  std::string_view read_string() {
    const std::span<const std::byte> text = read_bytes(read<std::uint64_t>());
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  /// Bytes taken by `count` items of `bytes_each`. Throws load_error(length_too_large) when fewer are left.
  std::uint64_t check_length(std::uint64_t count, std::uint64_t bytes_each) const {
    const std::optional<std::uint64_t> needed = checked_mul(count, bytes_each);
    if (!needed || *needed > remaining()) fail_length(count, bytes_each);
    return *needed;
  }

  /// Refuses a count of items, each of at least `bytes_each`, that the bytes left cannot hold, or above `limit`: the
  /// gate in front of every allocation sized from a file. Throws load_error(count_too_large).
  std::size_t check_count(std::uint64_t count, std::uint64_t bytes_each, std::uint64_t limit) const {
    const std::uint64_t most = (std::min)(limit, remaining() / bytes_each);
    if (count > most) {
      fail(errc::count_too_large, "at most " + std::to_string(most) + " in the bytes left", std::to_string(count));
    }
    return static_cast<std::size_t>(count);
  }

  /// Throws load_error about the current subject; the offset of the cursor is added to `got`.
  [[noreturn]] LLAMBDA_NOINLINE void fail(errc code, std::string expected, std::string got) const {
    throw load_error(code, std::string(path_), detail::printable(subject_), std::move(expected),
                     std::move(got) + " at byte " + std::to_string(at_));
  }

 private:
  [[noreturn]] LLAMBDA_NOINLINE void fail_truncated(std::size_t size) const {
    fail(errc::truncated, std::to_string(size) + " bytes more", std::to_string(remaining()) + " bytes left");
  }
  [[noreturn]] LLAMBDA_NOINLINE void fail_length(std::uint64_t count, std::uint64_t bytes_each) const {
    fail(errc::length_too_large, "at most " + std::to_string(remaining()) + " bytes",
         std::to_string(count) + " times " + std::to_string(bytes_each) + " bytes");
  }

  std::span<const std::byte> bytes_;
  std::string_view path_;
  std::string_view subject_ = "file";
  std::size_t at_ = 0;
};

}  // namespace llambda::inline LLAMBDA_ABI
