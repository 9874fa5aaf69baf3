// The floating-point mode the kernels run in, the same on every thread whatever the caller set: round to nearest,
// exceptions masked, subnormal operands and results flushed to zero (they cost up to a hundred cycles each and carry
// nothing a model needs). The caller's mode is restored on the way out.
#pragma once

#include <llambda/core/config_macros.hpp>

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace llambda::inline LLAMBDA_ABI {

/// While it lives, this thread computes in the kernels' mode.
class scoped_fp_env {
 public:
#if defined(__x86_64__) || defined(_M_X64)
  scoped_fp_env() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(all_masked | flush_to_zero | denormals_are_zero); }
  ~scoped_fp_env() { _mm_setcsr(saved_); }
#else
  scoped_fp_env() noexcept = default;
  ~scoped_fp_env() = default;
#endif
  scoped_fp_env(const scoped_fp_env&) = delete;
  scoped_fp_env& operator=(const scoped_fp_env&) = delete;

 private:
#if defined(__x86_64__) || defined(_M_X64)
  static constexpr unsigned all_masked = 0x1f80, flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  unsigned saved_;
#endif
};

}  // namespace llambda::inline LLAMBDA_ABI
