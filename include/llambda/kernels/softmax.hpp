// softmax: y[i] = exp(x[i] - max x) / sum of exp(x - max x). The maximum is subtracted first, so no exp overflows.
// A row that is all -infinity has no distribution: it becomes zeros. A NaN makes the whole row NaN.
#pragma once

#include <llambda/simd/math.hpp>

#include <limits>

namespace llambda::inline LLAMBDA_ABI {

/// In place over n floats; x has room for n rounded up to 16, and the padding is overwritten.
template <Arch A>
void softmax(float* x, std::size_t n) noexcept {
  using vec = f32x16<A>;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (std::size_t i = n; i < padded(n); ++i) x[i] = -infinity;
  vec largest = vec::broadcast(-infinity);
  for (std::size_t i = 0; i < padded(n); i += lanes) largest = max_or_second<A>(largest, vec::load(x + i));
  const float top = reduce_max<A>(largest);
  if (top == -infinity) {
    // NaN entries lose every comparison: look for them before calling the row empty
    bool any_nan = false;
    for (std::size_t i = 0; i < n; ++i) any_nan = any_nan || x[i] != x[i];
    for (std::size_t i = 0; i < padded(n); ++i) x[i] = any_nan ? std::numeric_limits<float>::quiet_NaN() : 0.0f;
    return;
  }
  const vec shift = vec::broadcast(top);
  vec sum = vec::zero();
  for (std::size_t i = 0; i < padded(n); i += lanes) {
    const vec e = exp<A>(vec::load(x + i) - shift);
    e.store(x + i);
    sum = sum + e;
  }
  const vec total = vec::broadcast(reduce_add<A>(sum));
  for (std::size_t i = 0; i < padded(n); i += lanes) (vec::load(x + i) / total).store(x + i);
}

}  // namespace llambda::inline LLAMBDA_ABI
