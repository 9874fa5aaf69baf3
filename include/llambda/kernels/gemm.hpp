// Several tokens: y[t][row] = sum over k of w[row][k] * x[t][k] for the rows of a range of tiles.
// A block of columns of one tile stays in the first-level cache while all tokens pass over it; sums wait in a small
// buffer between two blocks, so that the order of the additions is that of gemv.
#pragma once

#include <llambda/kernels/gemv.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// As many groups of N tokens as there are, then smaller groups.
template <quant Q, std::size_t Cols, Arch A, std::size_t N>
LLAMBDA_INLINE void gemm_tokens(const std::byte* tile, rows_in x, std::size_t tokens, float* sums, std::size_t begin,
                                std::size_t end) noexcept {
  std::size_t t = 0;
  for (; t + N <= tokens; t += N) {
    micro_kernel<Q, Cols, A, 1, N>::resume(tile, {x[t], x.stride}, sums + t * lanes, begin, end);
  }
  if constexpr (N > 1) {
    if (t < tokens) {
      gemm_tokens<Q, Cols, A, N / 2>(tile, {x[t], x.stride}, tokens - t, sums + t * lanes, begin, end);
    }
  }
}

}  // namespace detail

/// Tiles [tiles.begin, tiles.end) of `packed` times `tokens` rows of x; y rows are indexed by row of the whole matrix.
template <quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_NOINLINE void gemm(const std::byte* packed, range tiles, rows_in x, std::size_t tokens, rows_out y) noexcept {
  using block = blocking<Q, A>;
  constexpr std::size_t stride = tile_bytes<Q>(Cols), columns = round_up(Cols, Format<Q>::step);
  alignas(buffer_alignment) float sums[block::tokens * lanes];
  for (std::size_t first = 0; first < tokens; first += block::tokens) {
    const std::size_t count = tokens - first < block::tokens ? tokens - first : block::tokens;
    for (std::size_t tile = tiles.begin; tile < tiles.end; ++tile) {
      std::memset(sums, 0, count * lanes * sizeof(float));
      for (std::size_t k = 0; k < columns; k += block::columns) {
        const std::size_t end = k + block::columns < columns ? k + block::columns : columns;
        detail::gemm_tokens<Q, Cols, A, block::gemm_tokens>(packed + tile * stride, {x[first], x.stride}, count, sums, k,
                                                            end);
      }
      for (std::size_t t = 0; t < count; ++t) {
        Result::template apply<A>(y[first + t] + tile * lanes, f32x16<A>::load(sums + t * lanes));
      }
    }
  }
}

/// The product for any number of tokens.
template <quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_INLINE void matmul(const std::byte* packed, range tiles, rows_in x, std::size_t tokens, rows_out y) noexcept {
  if (tokens == 1) {
    gemv<Q, Cols, A, Result>(packed, tiles, x[0], y[0]);
  } else {
    gemm<Q, Cols, A, Result>(packed, tiles, x, tokens, y);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
