// One token: y[row] = sum over k of w[row][k] * x[k] for the rows of a range of tiles.
// Every weight is read once and used once, so the loop must only keep up with memory: the tiles are walked in storage
// order, several side by side where the sums of one are too few to hide the latency of a fused multiply-add.
#pragma once

#include <llambda/kernels/matmul.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// Whole rows of R tiles.
template <quant Q, std::size_t Cols, Arch A, class Result, std::size_t R>
LLAMBDA_INLINE void gemv_tiles(const std::byte* tiles, const std::byte* x, float* y) noexcept {
  f32x16<A> acc[R][1];
  const std::byte* w[R];
  unroll<R>([&](auto r) LLAMBDA_LAMBDA {
    acc[r][0] = f32x16<A>::zero();
    w[r] = tiles + r * tile_bytes<Q>(Cols);
  });
  const std::byte* const row[1] = {x};
  Format<Q>::template multiply<A, Cols, R, 1>(acc, w, row, 0, Cols);
  unroll<R>([&](auto r) LLAMBDA_LAMBDA { Result::template apply<A>(y + r * lanes, acc[r][0]); });
}

}  // namespace detail

/// Tiles [tiles.begin, tiles.end) of `packed` times x; y (rows padded to 16) is indexed by row of the whole matrix.
template <quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_NOINLINE void gemv(const std::byte* packed, range tiles, const std::byte* x, float* y) noexcept {
  constexpr std::size_t stride = tile_bytes<Q>(Cols);
  constexpr std::size_t together = blocking<Q, A>::gemv_tiles;
  std::size_t tile = tiles.begin;
  for (; tile + together <= tiles.end; tile += together) {
    detail::gemv_tiles<Q, Cols, A, Result, together>(packed + tile * stride, x, y + tile * lanes);
  }
  if constexpr (together > 1) {
    for (; tile < tiles.end; ++tile) {
      detail::gemv_tiles<Q, Cols, A, Result, 1>(packed + tile * stride, x, y + tile * lanes);
    }
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
