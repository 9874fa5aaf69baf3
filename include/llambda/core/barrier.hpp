// Waiting for a number to change: spin for a bounded time, then sleep in the kernel. Both the barrier between the
// phases of a step and the wait for the next job are made of it. The bound is in time, not in iterations: a pause
// instruction takes from 5 to 140 cycles depending on the CPU.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace llambda::inline LLAMBDA_ABI {

/// Tells the core that this is a spin loop.
LLAMBDA_INLINE void cpu_pause() noexcept {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#endif
}

/// Returns once `value != old`. Spins at most `spin`, then sleeps until notified.
inline int wait_while_equal(const std::atomic<int>& value, int old, std::chrono::microseconds spin) noexcept {
  int now = value.load(std::memory_order_acquire);
  if (now != old) return now;
  if (spin.count() > 0) {
    const auto end = std::chrono::steady_clock::now() + spin;
    do {
      for (int i = 0; i < 64; ++i) {
        if ((now = value.load(std::memory_order_acquire)) != old) return now;
        cpu_pause();
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  while ((now = value.load(std::memory_order_acquire)) == old) value.wait(old, std::memory_order_acquire);
  return now;
}

/// The number after `phase`; wraps, since a busy pool passes 2^31 phases in a day.
constexpr int next_phase(int phase) noexcept { return static_cast<int>(static_cast<unsigned>(phase) + 1u); }

/// Reusable barrier for a fixed number of threads: the last to arrive opens it by moving the phase on.
class spin_barrier {
 public:
  spin_barrier(int threads, std::chrono::microseconds spin) noexcept : threads_(threads), spin_(spin) {}

  /// Returns when all threads have arrived; what they wrote before is visible after.
  void arrive_and_wait() noexcept {
    const int phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(next_phase(phase), std::memory_order_release);
      phase_.notify_all();  // no system call unless a thread sleeps
    } else {
      wait_while_equal(phase_, phase, spin_);
    }
  }

 private:
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<int> phase_{0};
  alignas(64) const int threads_;
  const std::chrono::microseconds spin_;
};

}  // namespace llambda::inline LLAMBDA_ABI
