// One tensor of a GGUF file, as the list in front of the data describes it, and the checks that need no more than that.
// Rows, blocks and sizes are settled here, with checked arithmetic; where the data lies is settled by gguf_file, which
// knows the alignment, the start of the data section and the other tensors.
#pragma once

#include <llambda/core/config_macros.hpp>
#include <llambda/core/error.hpp>
#include <llambda/io/byte_reader.hpp>
#include <llambda/io/ggml_types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

/// Reads a name of 1 to `longest` bytes of UTF-8 and makes it the subject of what follows; `what` stands for it until
/// then. Throws load_error(truncated, length_too_large, bad_name).
inline std::string_view read_gguf_name(byte_reader& in, std::string_view what, std::uint64_t longest) {
  in.set_subject(what);
  const std::string_view name = in.read_string();
  if (name.empty()) in.fail(errc::bad_name, "a name", "an empty one");
  if (name.size() > longest) {
    in.fail(errc::bad_name, "at most " + std::to_string(longest) + " bytes", std::to_string(name.size()));
  }
  if (!detail::is_utf8(name)) in.fail(errc::bad_name, "UTF-8", detail::printable(name));
  in.set_subject(name);
  return name;
}

/// One tensor of the file. dims[0] is the row, contiguous in memory; dimensions not used are 1.
struct gguf_tensor {
  std::string_view name;
  const ggml_type* type = nullptr;
  std::array<std::uint64_t, 4> dims{1, 1, 1, 1};
  unsigned n_dims = 1;
  std::uint64_t offset = 0;         ///< of the data, in bytes from the start of the file
  std::uint64_t bytes = 0;          ///< of the data
  std::span<const std::byte> data;  ///< aligned only as much as the file is: may be odd

  std::uint64_t row_elements() const noexcept { return dims[0]; }
  std::uint64_t rows() const noexcept { return dims[1] * dims[2] * dims[3]; }
  std::uint64_t row_bytes() const noexcept { return bytes / rows(); }

  /// Dimensions as the file has them, row length first: "[576, 1536]".
  std::string shape() const {
    std::string out = "[";
    for (unsigned i = 0; i < n_dims; ++i) out += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
    return out + "]";
  }

  /// Reads and checks one entry of the tensor list, all but its place: `offset` is left as the file has it, counted
  /// from the data section, and `data` empty. Throws load_error.
  static gguf_tensor read(byte_reader& in, std::uint64_t alignment) {
    gguf_tensor t;
    t.name = read_gguf_name(in, "tensor name", longest_name);
    t.n_dims = in.read<std::uint32_t>();
    if (t.n_dims < 1 || t.n_dims > 4) in.fail(errc::bad_dimension, "1 to 4 dimensions", std::to_string(t.n_dims));
    std::optional<std::uint64_t> elements = 1;
    for (unsigned i = 0; i < t.n_dims; ++i) {
      t.dims[i] = in.read<std::uint64_t>();
      if (t.dims[i] == 0 || t.dims[i] > largest_extent) {
        in.fail(errc::bad_dimension, "dimensions from 1 to 2^63 - 1", std::to_string(t.dims[i]));
      }
      if (elements) elements = checked_mul(*elements, t.dims[i]);
    }
    if (!elements || *elements > largest_extent) in.fail(errc::size_overflow, "at most 2^63 - 1 elements", t.shape());
    const std::uint32_t id = in.read<std::uint32_t>();
    t.type = find_ggml_type(id);
    if (!t.type) in.fail(errc::unknown_type, "a known tensor type", std::to_string(static_cast<std::int32_t>(id)));
    if (t.dims[0] % t.type->block_length != 0) {
      in.fail(errc::row_not_multiple_of_block,
              "rows of a multiple of " + std::to_string(t.type->block_length) + " elements for " +
                  std::string(t.type->name),
              std::to_string(t.dims[0]));
    }
    const std::optional<std::uint64_t> bytes = checked_mul(*elements / t.type->block_length, t.type->block_bytes);
    if (!bytes) in.fail(errc::size_overflow, "a size in bytes below 2^64", t.shape());
    t.bytes = *bytes;
    t.offset = in.read<std::uint64_t>();
    if (t.offset % alignment != 0) {
      in.fail(errc::bad_offset, "a multiple of " + std::to_string(alignment), std::to_string(t.offset));
    }
    return t;
  }

 private:
  static constexpr std::uint64_t longest_name = 255;
  static constexpr std::uint64_t largest_extent = (std::uint64_t{1} << 63) - 1;
};

}  // namespace llambda::inline LLAMBDA_ABI
