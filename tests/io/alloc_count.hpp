// Counts the bytes asked from operator new in this test, and makes the n-th call fail on demand. The operators
// are weak: where the program brings its own, those are used and nothing is counted, which `counts_allocations` tells.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <new>

namespace test {

inline std::atomic<std::size_t> asked{0};
inline std::atomic<int> calls_until_failure{0};

inline std::size_t bytes_asked() { return asked; }

/// The n-th allocation from now throws bad_alloc; 0 ends that.
inline void fail_allocation(int nth) { calls_until_failure = nth; }

inline void* counted(std::size_t size) {
  if (calls_until_failure > 0 && --calls_until_failure == 0) throw std::bad_alloc();
  asked += size;
  if (void* at = std::malloc(size != 0 ? size : 1)) return at;
  throw std::bad_alloc();
}

/// Whether the operators below are the ones in use; says on stderr when a check is skipped because they are not.
inline bool counts_allocations() {
  const std::size_t before = asked;
  ::operator delete(::operator new(100));
  if (asked - before == 100) return true;
  std::cerr << "skipped: allocations are not counted in this program\n";
  return false;
}

}  // namespace test

// A sanitizer brings operators of its own, which also check that new and delete fit together.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LLAMBDA_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LLAMBDA_TEST_SANITIZED 1
#endif
#endif

#if (defined(__GNUC__) || defined(__clang__)) && !defined(LLAMBDA_TEST_SANITIZED)
__attribute__((weak)) void* operator new(std::size_t size) { return test::counted(size); }
__attribute__((weak)) void* operator new[](std::size_t size) { return test::counted(size); }
__attribute__((weak)) void operator delete(void* at) noexcept { std::free(at); }
__attribute__((weak)) void operator delete[](void* at) noexcept { std::free(at); }
__attribute__((weak)) void operator delete(void* at, std::size_t) noexcept { std::free(at); }
__attribute__((weak)) void operator delete[](void* at, std::size_t) noexcept { std::free(at); }
#endif
