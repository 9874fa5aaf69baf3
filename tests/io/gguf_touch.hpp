// Uses everything an opened GGUF file gives out: a sanitizer then sees every byte that lies outside the file.
#pragma once

#include <llambda/io/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

namespace test {

/// Ends the program when `part` is not inside `whole`: in the fuzzer this is the finding.
inline void require_inside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  const std::less_equal<const std::byte*> not_after;
  if (part.empty()) return;
  if (!not_after(whole.data(), part.data()) || !not_after(part.data() + part.size(), whole.data() + whole.size())) {
    std::abort();
  }
}

/// Sum of bytes, so that reading them cannot be left out.
inline unsigned sum(std::string_view text) {
  unsigned total = 0;
  for (char c : text) total += static_cast<unsigned char>(c);
  return total;
}
inline unsigned sum(std::span<const std::byte> data) {
  return sum({reinterpret_cast<const char*>(data.data()), data.size()});
}

/// `use()`, where an error is one of the right outcomes.
template <class Use> void attempt(Use&& use) {
  try {
    use();
  } catch (const llambda::load_error& e) {
    if (e.subject().empty() || e.code() == llambda::errc::out_of_memory) std::abort();
  }
}

/// Every accessor that can succeed for the type, and one more: an error costs far more time than a value.
inline unsigned touch_value(const llambda::gguf_value& value, std::span<const std::byte> whole) {
  using llambda::gguf_type;
  require_inside(value.bytes(), whole);
  unsigned total = sum(value.key()) + sum(value.bytes());
  const gguf_type type = value.element_type();
  const bool is_array = value.is_array();
  if (type == gguf_type::boolean) {
    total += is_array ? static_cast<unsigned>(value.to_vector<bool>().size()) : value.as<bool>();
  } else if (type == gguf_type::string && is_array) {
    for (std::string_view text : value.strings()) total += sum(text);
  } else if (type == gguf_type::string) {
    total += sum(value.as<std::string_view>());
  } else if (type == gguf_type::array) {
    for (const llambda::gguf_value& inner : value.arrays()) total += touch_value(inner, whole);
  } else if (type == gguf_type::float32 || type == gguf_type::float64) {
    attempt(
        [&] { total += is_array ? static_cast<unsigned>(value.to_vector<float>().size()) : value.as<float>() > 0; });
  } else {
    attempt([&] {
      total += is_array ? static_cast<unsigned>(value.to_vector<std::int64_t>().size())
                        : static_cast<unsigned>(value.as<std::int64_t>());
    });
  }
  if (total % 16 == 0) attempt([&] { total += value.as<std::uint8_t>(); });
  if (total % 16 == 1) attempt([&] { total += static_cast<unsigned>(value.to_vector<std::uint8_t>().size()); });
  return total;
}

/// Reads every value, every string and every tensor byte.
inline unsigned touch(const llambda::gguf_file& file) {
  const std::span<const std::byte> whole = file.file().bytes();
  unsigned total = file.version();
  for (const llambda::gguf_entry& entry : file.metadata()) {
    if (file.find(entry.key) != &entry.value) std::abort();
    total += touch_value(entry.value, whole);
  }
  for (const llambda::gguf_tensor& tensor : file.tensors()) {
    require_inside(tensor.data, whole);
    if (file.find_tensor(tensor.name) != &tensor) std::abort();
    if (tensor.rows() * tensor.row_bytes() != tensor.data.size()) std::abort();
    total += sum(tensor.data) + sum(tensor.shape());
  }
  [[maybe_unused]] static volatile unsigned sink;  // so that no read is left out
  sink = total;
  return total;
}

}  // namespace test
