// Loops whose index is a constant expression. g++ keeps an array of vector accumulators in memory unless every index
// into it is constant before optimisation; these loops make it so. The bodies must be always_inline lambdas.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

/// Before a loop with a constant, small number of turns: unrolls it whole. Costs the compiler far less than unroll()
/// below, and serves where the index need not be a constant expression.
#if defined(__clang__)
#define LLAMBDA_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define LLAMBDA_UNROLL _Pragma("GCC unroll 32")
#else
#define LLAMBDA_UNROLL
#endif

namespace llambda::inline LLAMBDA_ABI {

/// Calls f(integral_constant<size_t, 0>), ..., f(integral_constant<size_t, N - 1>) in this order.
template <std::size_t N, class F> LLAMBDA_INLINE constexpr void unroll(F&& f) noexcept {
  [&]<std::size_t... I>(std::index_sequence<I...>) LLAMBDA_LAMBDA {
    (f(std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::make_index_sequence<N>{});
}

}  // namespace llambda::inline LLAMBDA_ABI
