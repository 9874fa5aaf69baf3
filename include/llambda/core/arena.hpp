// One block of memory of a size known beforehand, handed out front to back. The plan computes the same sum with the
// same rounding, so that `used() == plan` is checked after loading. Pages come zeroed from the system, are asked to be
// huge, and are touched first by whoever writes them. An arena can also lie over memory that is filled already.
#pragma once

#include <llambda/core/aligned.hpp>
#include <llambda/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <utility>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/mman.h>
#define LLAMBDA_HAS_MMAP 1
#else
#include <cstring>
#define LLAMBDA_HAS_MMAP 0
#endif

namespace llambda::inline LLAMBDA_ABI {

class arena {
 public:
  arena() noexcept = default;

  /// Reserves `bytes` zeroed bytes. Throws error(out_of_memory).
  explicit arena(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
#if LLAMBDA_HAS_MMAP
    base_ = reserve(bytes);
#else
    void* p = ::operator new(bytes, std::align_val_t{buffer_alignment}, std::nothrow);
    if (!p) fail(bytes);
    std::memset(p, 0, bytes);
    base_ = static_cast<std::byte*>(p);
#endif
  }

  /// Hands out `filled` as it is: nothing may be written into what `take` returns. The bytes must outlive the arena.
  static arena over(std::span<const std::byte> filled) noexcept {
    arena result;
    result.base_ = const_cast<std::byte*>(filled.data());
    result.size_ = filled.size();
    result.owned_ = false;
    return result;
  }

  arena(arena&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        used_(std::exchange(other.used_, 0)),
        owned_(other.owned_) {}
  arena& operator=(arena&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    std::swap(used_, other.used_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~arena() {
    if (!base_ || !owned_) return;
#if LLAMBDA_HAS_MMAP
    ::munmap(base_, size_);
#else
    ::operator delete(base_, std::align_val_t{buffer_alignment});
#endif
  }

  /// `count` objects of T, zeroed, aligned to a cache line. Throws error(out_of_memory) if the plan was too small.
  template <class T>
  T* take(std::size_t count) {
    const std::size_t bytes = aligned_bytes(count * sizeof(T));
    if (bytes > size_ - used_) {
      throw error(errc::out_of_memory, "llambda: arena: planned " + std::to_string(size_) + " bytes, asked for " +
                                           std::to_string(used_ + bytes));
    }
    std::byte* p = base_ + used_;
    used_ += bytes;
    return reinterpret_cast<T*>(p);
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t used() const noexcept { return used_; }
  /// False when the arena lies over memory that was filled before.
  bool owned() const noexcept { return owned_; }
  std::span<const std::byte> bytes() const noexcept { return {base_, size_}; }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t smallest_page = 4096;

#if LLAMBDA_HAS_MMAP
  /// Zeroed pages. A large block begins at a huge page's border: a block laid across one would waste two.
  static std::byte* reserve(std::size_t bytes) {
    const std::size_t slack = bytes >= huge_page ? huge_page : 0;
    if (bytes > static_cast<std::size_t>(-1) - slack) fail(bytes);
    void* const p = ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) fail(bytes);
    std::byte* base = static_cast<std::byte*>(p);
    if (slack != 0) {
      const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(p) % huge_page) % huge_page;
      if (before != 0) (void)::munmap(base, before);
      base += before;
      if (before != slack) (void)::munmap(base + round_up(bytes, smallest_page), slack - before);
#if defined(MADV_HUGEPAGE)
      (void)::madvise(base, bytes, MADV_HUGEPAGE);  // a hint: failure is harmless
#endif
    }
    return base;
  }
#endif

  [[noreturn]] static void fail(std::size_t bytes) {
    throw error(errc::out_of_memory, "llambda: arena: the system refused " + std::to_string(bytes) + " bytes");
  }

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
  bool owned_ = true;
};

}  // namespace llambda::inline LLAMBDA_ABI
