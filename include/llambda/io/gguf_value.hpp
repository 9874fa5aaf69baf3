// One metadata value of a GGUF file, seen where it lies in the file: nothing is copied until somebody asks.
// Numbers are converted only when the value survives it; everything else is an error that names file and key.
// Lengths were checked when the file was opened; strings() and arrays() check them again, because a mapped file can
// change under a reader.
#pragma once

#include <llambda/core/config_macros.hpp>
#include <llambda/core/error.hpp>
#include <llambda/io/byte_reader.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// Value types of the format, numbered from 0 as in the file.
enum class gguf_type : std::uint8_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64
};
inline constexpr std::uint32_t gguf_type_count = 13;

/// Name of a type for messages.
constexpr std::string_view gguf_type_name(gguf_type type) noexcept {
  constexpr std::string_view names[gguf_type_count] = {"uint8",  "int8",    "uint16", "int16",  "uint32",
                                                       "int32",  "float32", "bool",   "string", "array",
                                                       "uint64", "int64",   "float64"};
  return names[static_cast<std::size_t>(type)];
}

/// Bytes of one value, 0 for strings and arrays.
constexpr std::uint64_t gguf_type_bytes(gguf_type type) noexcept {
  constexpr std::uint8_t sizes[gguf_type_count] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return sizes[static_cast<std::size_t>(type)];
}

/// What numbers can be asked for: bool, the standard integers, float and double.
template <class T>
concept gguf_number =
    std::is_arithmetic_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char8_t> &&
    !std::is_same_v<T, char16_t> && !std::is_same_v<T, char32_t> && !std::is_same_v<T, long double>;

/// A view of one value; valid as long as the file it came from.
class gguf_value {
 public:
  /// `bytes` are the value itself: of a string its text, of an array its elements. `path` and `key` name it in
  /// messages; `key` lies before `bytes` in the same file.
  gguf_value(const std::string& path, std::string_view key, gguf_type type, gguf_type element_type, std::uint64_t count,
             std::span<const std::byte> bytes) noexcept
      : path_(&path),
        data_(bytes.data()),
        bytes_(bytes.size()),
        count_(count),
        type_(type),
        element_type_(element_type) {
    const std::ptrdiff_t back = reinterpret_cast<const char*>(data_) - key.data();
    if (std::in_range<std::uint32_t>(back) && std::in_range<std::uint16_t>(key.size())) {
      key_back_ = static_cast<std::uint32_t>(back);
      key_size_ = static_cast<std::uint16_t>(key.size());
    }
  }

  gguf_type type() const noexcept { return type_; }
  bool is_array() const noexcept { return type_ == gguf_type::array; }
  /// Type of the elements of an array, the type itself otherwise.
  gguf_type element_type() const noexcept { return element_type_; }
  /// Elements of an array, 1 otherwise.
  std::uint64_t count() const noexcept { return count_; }
  /// The value as it lies in the file, without lengths and type numbers in front.
  std::span<const std::byte> bytes() const noexcept { return {data_, static_cast<std::size_t>(bytes_)}; }
  std::string_view key() const noexcept { return {reinterpret_cast<const char*>(data_) - key_back_, key_size_}; }

  /// The single value as bool, integer, float, double, std::string_view (a view of the file) or std::string.
  /// Throws load_error: wrong_type for a value of another kind, bad_hparam for a number that does not fit T.
  template <class T>
  requires(gguf_number<T> || std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>) T as()
  const {
    if constexpr (gguf_number<T>) {
      if (is_array()) fail_type(wanted<T>());
      return number<T>(data_);
    } else {
      if (type_ != gguf_type::string) fail_type("a string");
      return T(reinterpret_cast<const char*>(data_), static_cast<std::size_t>(bytes_));
    }
  }

  /// The elements of an array of numbers. Throws as `as` does.
  template <gguf_number T> std::vector<T> to_vector() const {
    const std::uint64_t size = gguf_type_bytes(element_type_);
    if (!is_array() || size == 0) fail_type("an array, each element " + wanted<T>());
    std::vector<T> out;
    out.reserve(static_cast<std::size_t>(count_));
    for (std::uint64_t i = 0; i < count_; ++i) out.push_back(number<T>(data_ + i * size));
    return out;
  }

  /// The elements of an array of strings, as views of the file: 16 bytes of memory each. Throws load_error(wrong_type).
  std::vector<std::string_view> strings() const {
    if (!is_array() || element_type_ != gguf_type::string) fail_type("an array of strings");
    std::vector<std::string_view> out;
    out.reserve(static_cast<std::size_t>(count_));
    byte_reader in = reader();
    for (std::uint64_t i = 0; i < count_; ++i) out.push_back(in.read_string());
    return out;
  }

  /// The elements of an array of arrays. Throws load_error(wrong_type).
  std::vector<gguf_value> arrays() const {
    if (!is_array() || element_type_ != gguf_type::array) fail_type("an array of arrays");
    std::vector<gguf_value> out;
    out.reserve(static_cast<std::size_t>(count_));
    byte_reader in = reader();
    for (std::uint64_t i = 0; i < count_; ++i) out.push_back(read_array(in, *path_, key(), true));
    return out;
  }

  /// Reads the number of a value type. Throws load_error(unknown_type).
  static gguf_type read_type(byte_reader& in) {
    const std::uint32_t raw = in.read<std::uint32_t>();
    if (raw >= gguf_type_count) in.fail(errc::unknown_type, "a value type from 0 to 12", std::to_string(raw));
    return static_cast<gguf_type>(raw);
  }

  /// Reads element type, count and elements of an array, checking all of them in one pass. Arrays may hold arrays, but
  /// those hold no further ones. Throws load_error(truncated, unknown_type, length_too_large, nesting_too_deep).
  static gguf_value read_array(byte_reader& in, const std::string& path, std::string_view key, bool nested) {
    const gguf_type element = read_type(in);
    const std::uint64_t count = in.read<std::uint64_t>();
    if (element == gguf_type::array && nested)
      in.fail(errc::nesting_too_deep, "arrays in one array at most", "a third");
    byte_reader begin = in;
    if (const std::uint64_t size = gguf_type_bytes(element); size != 0) {
      in.read_bytes(in.check_length(count, size));
    } else if (element == gguf_type::string) {
      in.check_length(count, sizeof(std::uint64_t));
      for (std::uint64_t i = 0; i < count; ++i) in.read_string();
    } else {
      in.check_length(count, sizeof(std::uint32_t) + sizeof(std::uint64_t));
      for (std::uint64_t i = 0; i < count; ++i) read_array(in, path, key, true);  // one level: `nested` stops the next
    }
    return {path, key, gguf_type::array, element, count, begin.read_bytes(in.offset() - begin.offset())};
  }

 private:
  byte_reader reader() const noexcept {
    byte_reader in(bytes(), *path_);
    in.set_subject(key());
    return in;
  }

  template <class T> static std::string wanted() {
    if constexpr (std::is_same_v<T, bool>) {
      return "a bool";
    } else if constexpr (std::is_floating_point_v<T>) {
      return "a floating-point number";
    } else {
      return "an integer from " + std::to_string((std::numeric_limits<T>::min)()) + " to " +
             std::to_string((std::numeric_limits<T>::max)());
    }
  }

  [[noreturn]] LLAMBDA_NOINLINE void fail(errc code, std::string expected, std::string got) const {
    throw load_error(code, *path_, detail::printable(key()), std::move(expected), std::move(got));
  }
  [[noreturn]] LLAMBDA_NOINLINE void fail_type(std::string expected) const {
    std::string got(gguf_type_name(type_));
    if (is_array()) got += " of " + std::to_string(count_) + " " + std::string(gguf_type_name(element_type_));
    fail(errc::wrong_type, std::move(expected), std::move(got));
  }

  /// The number at `at`, of the element type, as T.
  template <class T> T number(const std::byte* at) const {
    switch (element_type_) {
      case gguf_type::uint8:
        return convert<T>(load_le<std::uint8_t>(at));
      case gguf_type::int8:
        return convert<T>(load_le<std::int8_t>(at));
      case gguf_type::uint16:
        return convert<T>(load_le<std::uint16_t>(at));
      case gguf_type::int16:
        return convert<T>(load_le<std::int16_t>(at));
      case gguf_type::uint32:
        return convert<T>(load_le<std::uint32_t>(at));
      case gguf_type::int32:
        return convert<T>(load_le<std::int32_t>(at));
      case gguf_type::uint64:
        return convert<T>(load_le<std::uint64_t>(at));
      case gguf_type::int64:
        return convert<T>(load_le<std::int64_t>(at));
      case gguf_type::float32:
        return convert<T>(load_le<float>(at));
      case gguf_type::float64:
        return convert<T>(load_le<double>(at));
      case gguf_type::boolean:
        return convert<T>(load_le<std::uint8_t>(at) != 0);
      default:
        fail_type(wanted<T>());
    }
  }

  template <class T, class From> T convert(From value) const {
    constexpr bool to_bool = std::is_same_v<T, bool>, from_bool = std::is_same_v<From, bool>;
    if constexpr (to_bool != from_bool || std::is_integral_v<T> != std::is_integral_v<From>) {
      fail_type(wanted<T>());
    } else if constexpr (to_bool) {
      return value;
    } else if constexpr (std::is_integral_v<T>) {
      if (!std::in_range<T>(value)) fail(errc::bad_hparam, wanted<T>(), std::to_string(value));
      return static_cast<T>(value);
    } else {
      if constexpr (sizeof(T) < sizeof(From)) {
        if (std::isfinite(value) && std::abs(value) > static_cast<From>((std::numeric_limits<T>::max)())) {
          fail(errc::bad_hparam, "a number that fits in 32 bits", std::to_string(value));
        }
      }
      return static_cast<T>(value);
    }
  }

  // 40 bytes: with its key an entry takes 56, four times the shortest one a file can hold.
  const std::string* path_;
  const std::byte* data_;
  std::uint64_t bytes_;
  std::uint64_t count_;
  std::uint32_t key_back_ = 0;  // bytes from the key to the value
  std::uint16_t key_size_ = 0;
  gguf_type type_;
  gguf_type element_type_;
};

}  // namespace llambda::inline LLAMBDA_ABI
