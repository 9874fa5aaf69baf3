// Element-wise steps of a block over vectors padded to 16.
// They work on whole virtual vectors; what they write past the end of a row is padding.
#pragma once

#include <llambda/simd/math.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// SwiGLU: out[i] = silu(gate[i]) * up[i] for i in [begin, end), both multiples of 16. out may be gate or up.
template <Arch A>
void silu_mul(const float* gate, const float* up, std::size_t begin, std::size_t end, float* out) noexcept {
  for (std::size_t i = begin; i < end; i += lanes) {
    (silu<A>(f32x16<A>::load(gate + i)) * f32x16<A>::load(up + i)).store(out + i);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
