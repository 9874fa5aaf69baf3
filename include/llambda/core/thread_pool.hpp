// Threads that run one function together, in phases divided by barriers. The pool is an object the caller owns and
// passes in; there is no global one. A pool of size 1 starts no thread and is a true serial path.
// Nothing is allocated by run(), and every thread computes in the same floating-point mode (core/fp_env.hpp).
#pragma once

#include <llambda/core/barrier.hpp>
#include <llambda/core/cpu_count.hpp>
#include <llambda/core/error.hpp>
#include <llambda/core/fp_env.hpp>

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// A half-open range of work items.
struct range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// What one thread of a job knows: which of how many it is, and where to meet the others.
class worker {
 public:
  worker(unsigned index, unsigned count, spin_barrier* meeting) noexcept
      : index_(index), count_(count), meeting_(meeting) {}

  unsigned index() const noexcept { return index_; }
  unsigned count() const noexcept { return count_; }

  /// Waits for all threads of the job.
  void barrier() const noexcept {
    if (meeting_) meeting_->arrive_and_wait();
  }

  /// This thread's share of `items`: contiguous, sizes differ by at most one, the same at every call.
  range share(std::size_t items) const noexcept {
    return {items * index_ / count_, items * (index_ + 1) / count_};
  }

 private:
  unsigned index_;
  unsigned count_;
  spin_barrier* meeting_;
};

class thread_pool {
 public:
  static constexpr unsigned max_threads = 1024;

  /// Starts `threads - 1` threads; 0 = default_threads(). Throws error(bad_argument) above max_threads and
  /// error(out_of_memory) when the system refuses a thread.
  explicit thread_pool(unsigned threads = 0)
      : size_(threads ? threads : default_threads()), spin_(spin_time(size_)), meeting_(static_cast<int>(size_), spin_) {
    if (size_ > max_threads) {
      throw error(errc::bad_argument, "llambda: thread_pool: at most 1024 threads, asked for " + std::to_string(size_));
    }
    threads_.reserve(size_ - 1);
    try {
      for (unsigned i = 1; i < size_; ++i) threads_.emplace_back([this, i] { serve(i); });
    } catch (const std::system_error& e) {
      stop();
      throw error(errc::out_of_memory, std::string("llambda: thread_pool: cannot start a thread: ") + e.what());
    }
  }
  ~thread_pool() { stop(); }
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  unsigned size() const noexcept { return size_; }

  /// Calls f(worker) on every thread of the pool, the caller's included, and returns when all are done.
  /// Calls from different threads take turns. Precondition: not called from inside a job of the same pool.
  template <class F>
  void run(F&& f) noexcept {
    static_assert(std::is_nothrow_invocable_v<F&, const worker&>, "llambda: thread_pool: a job must be noexcept");
    if (size_ == 1) {
      scoped_fp_env mode;
      f(worker(0, 1, nullptr));
      return;
    }
    const std::lock_guard<std::mutex> turn(turn_);
    job_ = [](void* context, const worker& w) noexcept { (*static_cast<std::remove_reference_t<F>*>(context))(w); };
    context_ = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    generation_.store(next_phase(generation_.load(std::memory_order_relaxed)), std::memory_order_release);
    generation_.notify_all();
    work(0);
    meeting_.arrive_and_wait();
  }

 private:
  /// With more threads than CPUs a spinning thread keeps a working one from its CPU: sleep at once.
  static std::chrono::microseconds spin_time(unsigned threads) {
    const std::size_t cpus = affinity_cpus().size();
    return std::chrono::microseconds(cpus != 0 && threads > cpus ? 0 : 50);
  }

  void work(unsigned index) noexcept {
    scoped_fp_env mode;
    job_(context_, worker(index, size_, &meeting_));
  }

  void serve(unsigned index) noexcept {
    int seen = 0;
    while (true) {
      seen = wait_while_equal(generation_, seen, spin_);
      if (stopping_.load(std::memory_order_acquire)) return;
      work(index);
      meeting_.arrive_and_wait();
    }
  }

  void stop() noexcept {
    stopping_.store(true, std::memory_order_release);
    generation_.store(next_phase(generation_.load(std::memory_order_relaxed)), std::memory_order_release);
    generation_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

  const unsigned size_;
  const std::chrono::microseconds spin_;
  spin_barrier meeting_;
  std::mutex turn_;
  void (*job_)(void*, const worker&) noexcept = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<int> generation_{0};
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace llambda::inline LLAMBDA_ABI
