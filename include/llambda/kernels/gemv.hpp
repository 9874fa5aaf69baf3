// One token: y[row] = sum over k of w[row][k] * x[k] for the rows of a range of tiles.
// Every weight is read once and used once, so the loop must only keep up with memory: the tiles are walked in storage
// order, several side by side where the sums of one are too few to hide the latency of a fused multiply-add.
#pragma once

#include <llambda/kernels/matmul.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Tiles [tiles.begin, tiles.end) of `packed` times x; y (rows padded to 16) is indexed by row of the whole matrix.
template <quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_NOINLINE void gemv(const std::byte* packed, range tiles, const std::byte* x, float* y) noexcept {
  constexpr std::size_t stride = tile_bytes<Q>(Cols);
  constexpr std::size_t together = blocking<Q, A>::gemv_tiles;
  std::size_t tile = tiles.begin;
  for (; tile + together <= tiles.end; tile += together) {
    micro_kernel<Q, Cols, A, together, 1>::template whole<Result>(packed + tile * stride, stride, x, y + tile * lanes);
  }
  if constexpr (together > 1) {
    for (; tile < tiles.end; ++tile) {
      micro_kernel<Q, Cols, A, 1, 1>::template whole<Result>(packed + tile * stride, stride, x, y + tile * lanes);
    }
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
