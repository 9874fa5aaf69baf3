// Points where a forward pass can be watched. A trace is a type with `enabled` and a call operator; NoTrace costs
// nothing, since every point stands under `if constexpr`. The golden tests watch the same points.
//   trace.template operator()<"ffn_norm">(layer, trace_rows{data, tokens, width, stride})
// Called on one thread; the other threads wait until it returns, so that a trace may read but must not throw.
#pragma once

#include <llambda/core/fixed_string.hpp>

#include <cstddef>
#include <limits>

namespace llambda::inline LLAMBDA_ABI {

/// What a trace point shows: (tokens, width) floats, `stride` floats from row to row.
struct trace_rows {
  const float* data;
  std::size_t tokens;
  std::size_t width;
  std::size_t stride;

  const float* operator[](std::size_t token) const noexcept { return data + token * stride; }
};

/// Layer number of points outside the layers ("inp_embd", "result_norm", "result_output").
inline constexpr std::size_t no_layer = (std::numeric_limits<std::size_t>::max)();

/// Watches nothing.
struct NoTrace {
  static constexpr bool enabled = false;
};

}  // namespace llambda::inline LLAMBDA_ABI
