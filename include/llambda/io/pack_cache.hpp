// Packed weights in a file of their own, so that the next start maps them instead of packing them again: a header of
// one page, then the model's arena as it stands in memory (the same on every instruction set). The file holds numbers
// only, no addresses, so a damaged one gives wrong numbers and nothing worse. It counts only if it was made from the
// same file for the same compiled model; anything else is made anew. Written beside its final name and then renamed:
// no reader sees half a file, and of two writers one wins.
#pragma once

#include <llambda/core/aligned.hpp>
#include <llambda/io/gguf.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>

namespace llambda::inline LLAMBDA_ABI {

/// 64 bits that tell one sequence of bytes from another; not against an attacker.
class fingerprint {
 public:
  void add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15u;  // odd: no two words collide in one step
    value_ ^= value_ >> 32;
  }
  void add(std::span<const std::byte> bytes) noexcept {
    add(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t n = (std::min)(bytes.size(), sizeof word);
      std::memcpy(&word, bytes.data(), n);
      add(word);
      bytes = bytes.subspan(n);
    }
  }
  void add(std::string_view text) noexcept { add(std::as_bytes(std::span(text))); }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0x243f6a8885a308d3u;  // digits of pi: any start but zero
};

/// First bytes of a pack cache; the arena begins at `page`.
struct pack_cache_header {
  static constexpr std::size_t page = 4096;

  std::array<char, 8> magic{'l', 'l', 'p', 'a', 'c', 'k', '0', '1'};  // the number counts changes of any packed layout
  std::uint64_t model = 0;   ///< fingerprint of the compiled model
  std::uint64_t source = 0;  ///< fingerprint of the model file
  std::uint64_t bytes = 0;   ///< of the arena

  bool operator==(const pack_cache_header&) const = default;
};

/// Of a model file: size, time of the last change, everything before the tensors' data, 64 bytes of each tensor.
inline std::uint64_t fingerprint_of(const gguf_file& file) {
  const std::span<const std::byte> bytes = file.file().bytes();
  fingerprint f;
  f.add(bytes.size());
  std::error_code ignored;
  const auto changed = std::filesystem::last_write_time(file.path(), ignored);
  f.add(static_cast<std::uint64_t>(changed.time_since_epoch().count()));
  std::uint64_t data = bytes.size();
  for (const gguf_tensor& t : file.tensors()) {
    data = (std::min)(data, t.offset);
    const std::span<const std::byte> middle = t.data.subspan(t.data.size() / 2);
    f.add(middle.first((std::min)(middle.size(), std::size_t{64})));
  }
  f.add(bytes.first(static_cast<std::size_t>(data)));
  return f.value();
}

/// Where the packed weights of `model` are kept: beside the file, one name a compiled model.
inline std::string pack_cache_path(const std::string& model, std::uint64_t compiled) {
  char hex[17];
  std::snprintf(hex, sizeof hex, "%016llx", static_cast<unsigned long long>(compiled));
  return model + "." + hex + ".pack";
}

/// The cache, mapped, if there is one and it is the one `wanted` describes. Throws error(out_of_memory).
inline std::optional<mapped_file> open_pack_cache(const std::string& path, const pack_cache_header& wanted) {
  std::error_code status;
  if (!std::filesystem::is_regular_file(path, status)) return std::nullopt;
  try {
    mapped_file file = mapped_file::map(path);
    pack_cache_header found;
    if (file.bytes().size() != pack_cache_header::page + wanted.bytes) return std::nullopt;
    std::memcpy(static_cast<void*>(&found), file.bytes().data(), sizeof found);
    if (found != wanted) return std::nullopt;
    return file;
  } catch (const load_error& e) {
    if (e.code() == errc::out_of_memory) throw;
    return std::nullopt;  // unreadable: as good as absent
  }
}

/// Writes header and arena under a name of its own, then renames. Throws load_error(io_error); leaves nothing behind.
inline void write_pack_cache(const std::string& path, const pack_cache_header& header,
                             std::span<const std::byte> packed) {
#if defined(LLAMBDA_NO_MMAP)
  (void)header, (void)packed;
  throw load_error(errc::io_error, path, "pack cache", "a system that maps files", "one that does not");
#else
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) detail::throw_io_error(path, "a pack cache that can be written", errno);
  std::byte first[pack_cache_header::page] = {};
  std::memcpy(first, &header, sizeof header);
  int failure = 0;
  for (std::span<const std::byte> rest : {std::span<const std::byte>(first), packed}) {
    while (!rest.empty() && failure == 0) {
      const auto done = ::write(descriptor, rest.data(), (std::min)(rest.size(), std::size_t{1} << 30));
      if (done >= 0) {
        rest = rest.subspan(static_cast<std::size_t>(done));
      } else if (errno != EINTR) {
        failure = errno;
      }
    }
  }
  if (failure == 0 && (::fchmod(descriptor, 0644) != 0 || ::fsync(descriptor) != 0)) failure = errno;
  if (::close(descriptor) != 0 && failure == 0) failure = errno;
  if (failure == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) failure = errno;
  if (failure != 0) {
    (void)::unlink(temporary.c_str());
    detail::throw_io_error(path, "a pack cache that can be written", failure);
  }
#endif
}

}  // namespace llambda::inline LLAMBDA_ABI
