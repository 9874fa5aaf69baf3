// A GGUF model file (versions 2 and 3): metadata and tensors as an index over the mapped bytes.
// The file is hostile until proved sound: everything is checked when it is opened, in one pass and before any tensor is
// touched, so that afterwards every key, string and tensor lies inside the mapping. Nothing is allocated on the word of
// a number in the file: the index takes less than four times the file, and looks at no tensor data.
#pragma once

#include <llambda/core/config_macros.hpp>
#include <llambda/core/error.hpp>
#include <llambda/io/byte_reader.hpp>
#include <llambda/io/gguf_tensor.hpp>
#include <llambda/io/gguf_value.hpp>
#include <llambda/io/mmap.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// A key and its value.
struct gguf_entry {
  std::string_view key;
  gguf_value value;
};

/// An opened GGUF file. Move-only; views it gives out live as long as it does, moves included.
class gguf_file {
 public:
  /// Maps and checks `path`. Throws load_error naming key or tensor and the byte; a file shortened by another process
  /// later on is beyond help here: parse(mapped_file::read(path)) is immune to that.
  static gguf_file open(const std::string& path) { return parse(mapped_file::map(path)); }

  /// Checks bytes that are already there, for instance embedded in the program. Throws load_error.
  static gguf_file parse(mapped_file file) {
    gguf_file out(std::move(file));
    try {
      out.read_all();
    } catch (const std::bad_alloc&) {
      throw load_error(errc::out_of_memory, out.path(), "file", "memory for the index", "none");
    }
    return out;
  }

  std::uint32_t version() const noexcept { return version_; }
  std::uint64_t alignment() const noexcept { return alignment_; }
  const std::string& path() const noexcept { return file_.path(); }
  std::uint64_t file_bytes() const noexcept { return file_.bytes().size(); }
  const mapped_file& file() const noexcept { return file_; }

  /// Keys and values in the order of the file.
  std::span<const gguf_entry> metadata() const noexcept { return metadata_; }
  /// Tensors in the order of the file.
  std::span<const gguf_tensor> tensors() const noexcept { return tensors_; }

  /// The value of `key`, or nullptr. Logarithmic.
  const gguf_value* find(std::string_view key) const noexcept {
    const gguf_entry* entry = lookup(metadata_, by_key_, key, &gguf_entry::key);
    return entry ? &entry->value : nullptr;
  }

  /// The tensor called `name`, or nullptr. Logarithmic.
  const gguf_tensor* find_tensor(std::string_view name) const noexcept {
    return lookup(tensors_, by_name_, name, &gguf_tensor::name);
  }

  /// The value of a key that must be there, converted as gguf_value::as does. Throws load_error(missing_key) too.
  template <class T> T get(std::string_view key) const {
    const gguf_value* value = find(key);
    if (!value) throw load_error(errc::missing_key, path(), detail::printable(key), "the key", "nothing");
    return value->as<T>();
  }

  /// The value of a key, or `fallback` when the key is absent. A value of the wrong type is an error all the same.
  template <class T> T get_or(std::string_view key, T fallback) const {
    const gguf_value* value = find(key);
    return value ? value->as<T>() : std::move(fallback);
  }

 private:
  static constexpr std::uint64_t shortest_entry = 14;   // key length 8, key 1, type 4, value 1
  static constexpr std::uint64_t shortest_tensor = 33;  // name length 8, name 1, rank 4, one dim 8, type 4, offset 8
  static constexpr std::uint64_t most_entries = std::uint64_t{1} << 18;
  static constexpr std::uint64_t most_tensors = std::uint64_t{1} << 24;
  static constexpr std::uint64_t longest_key = 65535;
  static constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 20;

  explicit gguf_file(mapped_file file) noexcept : file_(std::move(file)) {}

  void read_all() {
    value_path_ = std::make_unique<const std::string>(file_.path());
    byte_reader in(file_.bytes(), *value_path_);
    read_magic(in);
    in.set_subject("tensor count");
    const std::uint64_t n_tensors = in.read<std::uint64_t>();
    in.set_subject("metadata count");
    const std::uint64_t n_entries = in.read<std::uint64_t>();
    const std::size_t entries = in.check_count(n_entries, shortest_entry, most_entries);
    in.set_subject("tensor count");
    in.check_count(n_tensors, shortest_tensor, most_tensors);

    metadata_.reserve(entries);
    for (std::size_t i = 0; i < entries; ++i) metadata_.push_back(read_entry(in));
    sort_unique(metadata_, by_key_, &gguf_entry::key, errc::duplicate_key);
    read_alignment();

    in.set_subject("tensor count");  // again: the metadata have taken their share of the bytes
    tensors_.reserve(in.check_count(n_tensors, shortest_tensor, most_tensors));
    for (std::uint64_t i = 0; i < n_tensors; ++i) tensors_.push_back(gguf_tensor::read(in, alignment_));
    sort_unique(tensors_, by_name_, &gguf_tensor::name, errc::duplicate_tensor);
    place_data(in.offset());
    check_overlap();
  }

  void read_magic(byte_reader& in) {
    in.set_subject("magic");
    const std::span<const std::byte> raw = in.remaining() < 4 ? file_.bytes() : in.read_bytes(4);
    const std::string_view magic(reinterpret_cast<const char*>(raw.data()), raw.size());
    if (magic.size() < 4) in.fail(errc::truncated, "4 bytes", std::to_string(magic.size()) + " bytes");
    if (magic != "GGUF") in.fail(errc::bad_magic, "GGUF", detail::printable(magic));
    in.set_subject("version");
    version_ = in.read<std::uint32_t>();
    if (version_ != 0 && (version_ & 0xFFFF) == 0) {
      in.fail(errc::wrong_endian, "a little-endian file", "version " + std::to_string(version_));
    }
    if (version_ != 2 && version_ != 3) in.fail(errc::bad_version, "2 or 3", std::to_string(version_));
  }

  gguf_entry read_entry(byte_reader& in) const {
    const std::string_view key = read_gguf_name(in, "metadata key", longest_key);
    const gguf_type type = gguf_value::read_type(in);
    if (type == gguf_type::array) return {key, gguf_value::read_array(in, *value_path_, key, false)};
    const std::uint64_t size = type == gguf_type::string ? in.read<std::uint64_t>() : gguf_type_bytes(type);
    return {key, gguf_value(*value_path_, key, type, type, 1, in.read_bytes(size))};
  }

  void read_alignment() {
    const gguf_value* value = find("general.alignment");
    if (!value) return;
    if (value->type() != gguf_type::uint32) {
      fail(errc::bad_alignment, value->key(), "a uint32", std::string(gguf_type_name(value->type())));
    }
    alignment_ = value->as<std::uint32_t>();
    if (!std::has_single_bit(alignment_) || alignment_ > largest_alignment) {
      fail(errc::bad_alignment, value->key(), "a power of two up to " + std::to_string(largest_alignment),
           std::to_string(alignment_));
    }
  }

  /// Turns offsets into the data section, which starts at the first aligned byte from `end_of_index`, into data.
  void place_data(std::uint64_t end_of_index) {
    const std::optional<std::uint64_t> base = checked_align_up(end_of_index, alignment_);
    for (gguf_tensor& t : tensors_) {
      const std::optional<std::uint64_t> begin = base ? checked_add(*base, t.offset) : std::nullopt;
      const std::optional<std::uint64_t> end = begin ? checked_add(*begin, t.bytes) : std::nullopt;
      if (!end || *end > file_bytes()) {
        fail(errc::data_out_of_file, t.name, "data inside the " + std::to_string(file_bytes()) + " bytes of the file",
             std::to_string(t.bytes) + " bytes at " + std::to_string(t.offset) + " after byte " +
                 std::to_string(base.value_or(0)));
      }
      t.offset = *begin;
      t.data = file_.bytes().subspan(static_cast<std::size_t>(t.offset), static_cast<std::size_t>(t.bytes));
    }
  }

  void check_overlap() const {
    std::vector<std::uint32_t> order = by_name_;
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return tensors_[a].offset < tensors_[b].offset; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const gguf_tensor &low = tensors_[order[i - 1]], &high = tensors_[order[i]];
      if (low.offset + low.bytes > high.offset) {
        fail(errc::data_overlap, high.name, "data of its own",
             "byte " + std::to_string(high.offset) + ", which belongs to " + detail::printable(low.name));
      }
    }
  }

  /// Fills `order` with the places of `items` sorted by name. Throws load_error(code) when a name comes twice.
  template <class Item>
  void sort_unique(const std::vector<Item>& items, std::vector<std::uint32_t>& order, std::string_view Item::*name,
                   errc code) const {
    order.resize(items.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const int way = (items[a].*name).compare(items[b].*name);
      return way != 0 ? way < 0 : a < b;
    });
    for (std::size_t i = 1; i < order.size(); ++i) {
      const std::string_view second = items[order[i]].*name;
      if (items[order[i - 1]].*name == second) {
        fail(code, second, "one of this name", "a second one");
      }
    }
  }

  template <class Item>
  static const Item* lookup(const std::vector<Item>& items, const std::vector<std::uint32_t>& order,
                            std::string_view wanted, std::string_view Item::*name) noexcept {
    const auto at = std::lower_bound(order.begin(), order.end(), wanted,
                                     [&](std::uint32_t i, std::string_view w) { return items[i].*name < w; });
    return at != order.end() && items[*at].*name == wanted ? &items[*at] : nullptr;
  }

  /// Throws load_error about a key or tensor; the place of its name in the file is added to `got`.
  [[noreturn]] LLAMBDA_NOINLINE void fail(errc code, std::string_view subject, std::string expected,
                                          std::string got) const {
    const std::ptrdiff_t at = subject.data() - reinterpret_cast<const char*>(file_.bytes().data());
    throw load_error(code, path(), detail::printable(subject), std::move(expected),
                     std::move(got) + ", named at byte " + std::to_string(at));
  }

  mapped_file file_;
  std::unique_ptr<const std::string> value_path_;  // values point at it: it must not move with the object
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 32;
  std::vector<gguf_entry> metadata_;
  std::vector<gguf_tensor> tensors_;
  std::vector<std::uint32_t> by_key_;   // places in metadata_, sorted by key
  std::vector<std::uint32_t> by_name_;  // places in tensors_, sorted by name
};

}  // namespace llambda::inline LLAMBDA_ABI
