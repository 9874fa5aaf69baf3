// What a run cost: how long loading, the first token and each token took, and how much memory.
// Times are of the wall clock, in seconds; memory is the process's, in bytes.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <chrono>
#include <cstddef>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/resource.h>
#endif

namespace llambda::inline LLAMBDA_ABI {

/// Seconds since construction, on a clock that never jumps.
class stopwatch {
 public:
  double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Largest resident set of this process so far, in bytes; 0 where the system does not say.
inline std::size_t peak_rss_bytes() noexcept {
#if defined(__linux__)
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
#elif defined(__APPLE__)
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::size_t>(usage.ru_maxrss);
#else
  return 0;
#endif
}

/// Figures of one generation. Times in seconds.
struct generation_stats {
  std::size_t prompt_tokens = 0;
  std::size_t generated_tokens = 0;
  double prefill_seconds = 0;      ///< prompt through the model
  double first_token_seconds = 0;  ///< from the call to the first token, prefill and sampling included
  double decode_seconds = 0;       ///< all later tokens

  double prefill_tokens_per_second() const noexcept { return rate(prompt_tokens, prefill_seconds); }
  /// Of the tokens after the first one.
  double decode_tokens_per_second() const noexcept {
    return rate(generated_tokens > 1 ? generated_tokens - 1 : 0, decode_seconds);
  }

 private:
  static double rate(std::size_t tokens, double seconds) noexcept {
    return seconds > 0 ? static_cast<double>(tokens) / seconds : 0;
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
