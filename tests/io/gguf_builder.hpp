// A small GGUF writer for tests: std only, knows nothing of the library, and writes nonsense when told to.
// `bytes` appends whatever is asked for; `gguf_builder` lays out a whole sound file; `tiny_gguf` is one with a bit of
// everything in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// Value type numbers of the format.
enum kv : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, str, arr, u64, i64, f64 };

/// Bytes under construction, little-endian.
class bytes {
 public:
  template <class T> bytes& num(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {  // shifts, so that it holds on any host
      std::uint64_t bits = 0;
      if constexpr (sizeof(T) == 8) {
        std::memcpy(&bits, &value, 8);
      } else if constexpr (sizeof(T) == 4) {
        std::uint32_t word = 0;
        std::memcpy(&word, &value, 4);
        bits = word;
      } else {
        bits = static_cast<std::uint64_t>(value);
      }
      data_.push_back(static_cast<char>(bits >> (8 * i) & 0xFF));
    }
    return *this;
  }
  bytes& text(std::string_view t) {
    data_.append(t);
    return *this;
  }
  bytes& string(std::string_view t) { return num<std::uint64_t>(t.size()).text(t); }
  bytes& fill(std::size_t count, char value = 0) {
    data_.append(count, value);
    return *this;
  }
  /// Fixed head of a file.
  bytes& head(std::uint32_t version, std::uint64_t tensors, std::uint64_t entries) {
    return text("GGUF").num(version).num(tensors).num(entries);
  }
  /// Key and type number; the value follows.
  bytes& key(std::string_view name, std::uint32_t type) { return string(name).num(type); }
  /// Entry of the tensor list.
  bytes& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                std::uint64_t offset) {
    string(name).num(static_cast<std::uint32_t>(dims.size()));
    for (std::uint64_t dim : dims) num(dim);
    return num(type).num(offset);
  }
  bytes& align(std::size_t to) { return fill((to - data_.size() % to) % to); }

  std::size_t size() const { return data_.size(); }
  const std::string& chars() const { return data_; }
  std::span<const std::byte> span() const { return std::as_bytes(std::span(data_.data(), data_.size())); }
  operator const std::string&() const { return data_; }  // no copy: views of the bytes stay good

 private:
  std::string data_;
};

/// A sound file: entries, then tensors one after the other, each padded to the alignment.
class gguf_builder {
 public:
  template <class T> gguf_builder& scalar(std::string_view key, kv type, T value) {
    entries_.key(key, type).num(value);
    ++n_entries_;
    return *this;
  }
  gguf_builder& string(std::string_view key, std::string_view value) {
    entries_.key(key, str).string(value);
    ++n_entries_;
    return *this;
  }
  template <class T> gguf_builder& numbers(std::string_view key, kv type, const std::vector<T>& values) {
    entries_.key(key, arr).num<std::uint32_t>(type).num<std::uint64_t>(values.size());
    for (const T& value : values) entries_.num(value);
    ++n_entries_;
    return *this;
  }
  gguf_builder& strings(std::string_view key, const std::vector<std::string>& values) {
    entries_.key(key, arr).num<std::uint32_t>(str).num<std::uint64_t>(values.size());
    for (const std::string& value : values) entries_.string(value);
    ++n_entries_;
    return *this;
  }
  /// Two arrays of int32 in an array.
  gguf_builder& nested(std::string_view key, const std::vector<std::vector<std::int32_t>>& values) {
    entries_.key(key, arr).num<std::uint32_t>(arr).num<std::uint64_t>(values.size());
    for (const auto& inner : values) {
      entries_.num<std::uint32_t>(i32).num<std::uint64_t>(inner.size());
      for (std::int32_t value : inner) entries_.num(value);
    }
    ++n_entries_;
    return *this;
  }
  gguf_builder& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                       std::string_view data) {
    data_.align(alignment_);
    tensors_.tensor(name, dims, type, data_.size());
    data_.text(data);
    ++n_tensors_;
    return *this;
  }
  /// To be called before the first tensor; writes general.alignment.
  gguf_builder& alignment(std::uint32_t value) {
    alignment_ = value;
    return scalar("general.alignment", u32, value);
  }
  std::string build(std::uint32_t version = 3) const {
    bytes out;
    out.head(version, n_tensors_, n_entries_).text(entries_.chars()).text(tensors_.chars());
    if (n_tensors_ != 0) out.align(alignment_).text(data_.chars());
    return out;
  }

 private:
  std::size_t alignment_ = 32;
  std::uint64_t n_entries_ = 0, n_tensors_ = 0;
  bytes entries_, tensors_, data_;
};

/// A sound file of about 900 bytes with every value type and three tensors; its last byte belongs to a tensor.
inline std::string tiny_gguf() {
  return gguf_builder()
      .string("general.architecture", "llama")
      .scalar<std::uint8_t>("t.u8", u8, 200)
      .scalar<std::int8_t>("t.i8", i8, -100)
      .scalar<std::uint16_t>("t.u16", u16, 60000)
      .scalar<std::int16_t>("t.i16", i16, -30000)
      .scalar<std::uint32_t>("t.u32", u32, 4000000000u)
      .scalar<std::int32_t>("t.i32", i32, -2000000000)
      .scalar<float>("t.f32", f32, 1.5f)
      .scalar<std::uint8_t>("t.bool", boolean, 1)
      .scalar<std::uint64_t>("t.u64", u64, 1ull << 63)
      .scalar<std::int64_t>("t.i64", i64, -(1ll << 62))
      .scalar<double>("t.f64", f64, 1e300)
      .strings("tokenizer.ggml.tokens", {"<s>", "", "a", "\xF0\x9F\x98\x80", "\xFF"})
      .numbers<float>("tokenizer.ggml.scores", f32, {0.0f, -1.0f, 2.5f})
      .numbers<std::int32_t>("tokenizer.ggml.token_type", i32, {1, 2, 3})
      .numbers<std::uint8_t>("t.flags", boolean, {0, 1, 1})
      .numbers<std::uint16_t>("t.none", u16, {})
      .nested("t.nested", {{1, 2, 3}, {}, {-4}})
      .tensor("token_embd.weight", {4, 3}, 0, std::string(48, 'e'))
      .tensor("blk.0.attn_q.weight", {32, 2}, 8, std::string(68, 'q'))
      .tensor("output_norm.weight", {5}, 0, std::string(20, 'n'))
      .build();
}

}  // namespace test
