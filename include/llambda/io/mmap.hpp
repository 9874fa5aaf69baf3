// The bytes of a file, held for as long as the object lives: mapped, read into memory, or viewed where they already
// are. Mapping costs nothing until a page is touched, but a file that another process shortens afterwards makes the
// next touch of a lost page raise SIGBUS; `read` is immune to that and to later writes, at the price of a copy. Only
// regular files are taken: a FIFO would hang, a directory or a device has no size.
#pragma once

#include <llambda/core/config_macros.hpp>
#include <llambda/core/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#if defined(_WIN32) && !defined(LLAMBDA_NO_MMAP)
#define LLAMBDA_NO_MMAP 1  // `map` then reads the file into memory
#endif

#if defined(LLAMBDA_NO_MMAP)
#include <filesystem>
#include <fstream>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// Fills `size` bytes from `read_some(to, wanted)`, which returns bytes read, 0 at the end, or -1 with errno set.
/// Interrupted and short reads are continued. Returns the bytes read, less than `size` only at the end of the file;
/// a failure leaves errno in `failure`, which is 0 otherwise.
template <class ReadSome> std::size_t read_fully(ReadSome&& read_some, std::byte* to, std::size_t size, int& failure) {
  constexpr std::size_t chunk = std::size_t{1} << 30;  // one call moves at most 2^31 bytes on Linux
  std::size_t done = 0;
  failure = 0;
  while (done < size) {
    const auto got = read_some(to + done, (std::min)(size - done, chunk));
    if (got > 0) {
      done += static_cast<std::size_t>(got);
    } else if (got == 0) {
      break;
    } else if (errno != EINTR) {
      failure = errno;
      break;
    }
  }
  return done;
}

[[noreturn]] LLAMBDA_NOINLINE inline void throw_io_error(const std::string& path, const char* expected, int code) {
  throw load_error(errc::io_error, path, "file", expected, std::generic_category().message(code));
}

#if !defined(LLAMBDA_NO_MMAP)
/// An open regular file and its size in bytes. Throws load_error(io_error).
class regular_file {
 public:
  explicit regular_file(const std::string& path) {
    if (path.find('\0') != std::string::npos) throw_io_error(path, "a path without a zero byte", EINVAL);
    do {  // without O_NONBLOCK, opening a FIFO waits for a writer
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) throw_io_error(path, "a file that opens for reading", errno);
    struct ::stat status {};
    if (::fstat(descriptor_, &status) != 0) refuse(path, "a file with a status", errno);
    if (S_ISDIR(status.st_mode)) refuse(path, "a regular file", EISDIR);
    if (!S_ISREG(status.st_mode)) refuse(path, "a regular file", EINVAL);
    if (!std::in_range<std::size_t>(status.st_size)) refuse(path, "a file that fits the address space", EFBIG);
    size_ = static_cast<std::size_t>(status.st_size);
  }
  regular_file(const regular_file&) = delete;
  regular_file& operator=(const regular_file&) = delete;
  ~regular_file() { ::close(descriptor_); }

  int descriptor() const noexcept { return descriptor_; }
  std::size_t size() const noexcept { return size_; }

 private:
  [[noreturn]] void refuse(const std::string& path, const char* expected, int code) {
    ::close(descriptor_);
    throw_io_error(path, expected, code);
  }

  int descriptor_ = -1;
  std::size_t size_ = 0;
};
#endif

}  // namespace detail

/// Bytes of one file. Move-only; a moved-from object has no bytes.
class mapped_file {
 public:
  mapped_file() noexcept = default;
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  mapped_file(mapped_file&& other) noexcept { swap(other); }
  mapped_file& operator=(mapped_file&& other) noexcept {
    mapped_file taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~mapped_file() { release(); }

  /// Maps `path` read-only; an empty file gives no bytes. Throws load_error(io_error).
  static mapped_file map(const std::string& path) {
#if defined(LLAMBDA_NO_MMAP)
    return read(path);
#else
    const detail::regular_file file(path);
    mapped_file result;
    result.path_ = path;
    if (file.size() == 0) return result;
    void* at = ::mmap(nullptr, file.size(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (at == MAP_FAILED) detail::throw_io_error(path, "a file that can be mapped", errno);
    result.data_ = static_cast<const std::byte*>(at);
    result.size_ = file.size();
    result.kind_ = kind::mapped;
    return result;
#endif
  }

  /// Copies `path` into memory of its own, aligned to 64 bytes. Throws load_error(io_error), or (out_of_memory).
  static mapped_file read(const std::string& path) {
    mapped_file result;
    result.path_ = path;
    int failure = 0;
#if defined(LLAMBDA_NO_MMAP)
    std::error_code status;
    if (!std::filesystem::is_regular_file(path, status)) detail::throw_io_error(path, "a regular file", ENOENT);
    const std::uintmax_t size = std::filesystem::file_size(path, status);
    std::ifstream in(path, std::ios::binary);
    if (status || !in) detail::throw_io_error(path, "a file that opens for reading", EACCES);
    if (!std::in_range<std::size_t>(size)) detail::throw_io_error(path, "a file that fits the address space", EFBIG);
    std::byte* to = result.own(static_cast<std::size_t>(size));
    const auto read_some = [&](std::byte* into, std::size_t wanted) {
      in.read(reinterpret_cast<char*>(into), static_cast<std::streamsize>(wanted));
      return in.gcount();
    };
#else
    const detail::regular_file file(path);
    std::byte* to = result.own(file.size());
    const auto read_some = [&](std::byte* into, std::size_t wanted) { return ::read(file.descriptor(), into, wanted); };
#endif
    const std::size_t done = detail::read_fully(read_some, to, result.size_, failure);
    if (failure != 0) detail::throw_io_error(path, "a file that can be read", failure);
    if (done != result.size_) {
      throw load_error(errc::io_error, path, "file", std::to_string(result.size_) + " bytes",
                       std::to_string(done) + " bytes: the file was shortened while it was read");
    }
    return result;
  }

  /// Looks at `bytes`, which the caller keeps alive and unchanged; `name` stands for the path in messages.
  static mapped_file view(std::span<const std::byte> bytes, std::string name) noexcept {
    mapped_file result;
    result.path_ = std::move(name);
    result.data_ = bytes.data();
    result.size_ = bytes.size();
    return result;
  }

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  const std::string& path() const noexcept { return path_; }
  /// The path names a file, and not bytes that the caller keeps.
  bool has_file() const noexcept { return kind_ != kind::viewed; }

  /// Asks the system to fetch the whole mapping ahead of use. A hint: a refusal is ignored.
  void will_need() const noexcept {
#if !defined(LLAMBDA_NO_MMAP)
    if (kind_ == kind::mapped) (void)::madvise(address(0), size_, MADV_WILLNEED);
#endif
  }

  /// Tells the system that `length` bytes from `offset` are not needed soon; they stay readable and are fetched again
  /// on the next touch. Only whole pages inside the range are dropped. A hint: a refusal is ignored.
  void dont_need(std::size_t offset, std::size_t length) const noexcept {
#if defined(LLAMBDA_NO_MMAP)
    (void)offset, (void)length;
#else
    if (kind_ != kind::mapped || offset >= size_) return;  // dropping memory of our own would zero it
    const long page_size = ::sysconf(_SC_PAGESIZE);
    if (page_size <= 0) return;
    const std::size_t page = static_cast<std::size_t>(page_size);
    const std::size_t whole = (std::min)(length, size_ - offset);
    const std::size_t first = offset + (page - offset % page) % page;
    const std::size_t last = (offset + whole) - (offset + whole) % page;
    if (first < last) (void)::madvise(address(first), last - first, MADV_DONTNEED);
#endif
  }

 private:
  enum class kind { viewed, mapped, owned };
  static constexpr std::align_val_t alignment{64};

  std::byte* own(std::size_t size) {
    if (size == 0) return nullptr;
    void* at = ::operator new(size, alignment, std::nothrow);
    if (at == nullptr) {
      throw load_error(errc::out_of_memory, path_, "file", std::to_string(size) + " bytes of memory", "none");
    }
    data_ = static_cast<std::byte*>(at);
    size_ = size;
    kind_ = kind::owned;
    return static_cast<std::byte*>(at);
  }

  void* address(std::size_t offset) const noexcept { return const_cast<std::byte*>(data_ + offset); }

  void release() noexcept {
#if !defined(LLAMBDA_NO_MMAP)
    if (kind_ == kind::mapped) (void)::munmap(address(0), size_);
#endif
    if (kind_ == kind::owned) ::operator delete(address(0), alignment);
  }

  void swap(mapped_file& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(kind_, other.kind_);
    path_.swap(other.path_);
  }

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  kind kind_ = kind::viewed;
  std::string path_;
};

}  // namespace llambda::inline LLAMBDA_ABI
