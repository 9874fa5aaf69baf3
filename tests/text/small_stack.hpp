// Runs a function on a thread with 256 KiB of stack: what recursion over a long text would overflow.
#pragma once

#include "../catch.hpp"

#include <functional>

#if defined(__unix__)
#include <pthread.h>
#endif

namespace test {

inline void on_small_stack(std::function<void()> f) {
#if defined(__unix__)
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto run = [](void* p) -> void* {
    (*static_cast<std::function<void()>*>(p))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
#else
  f();
#endif
}

/// Length of the runs that such tests encode. Sanitizers are slow; the stack they need does not depend on it either.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr int long_run = 100000;
#else
inline constexpr int long_run = 1000000;
#endif

}  // namespace test
