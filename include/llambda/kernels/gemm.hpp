// Several tokens: y[t][row] = sum over k of w[row][k] * x[t][k] for the rows of a range of tiles.
// A block of columns is opened once (codes taken out of their bits, scales widened: a panel in the first-level cache)
// and all tokens pass over it, several at a time in registers. Sums wait in a small buffer between two blocks of
// columns, so that the order of the additions is that of gemv.
#pragma once

#include <llambda/kernels/gemv.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// One block of columns [begin, end) of R tiles.
template <quant Q, std::size_t Cols, Arch A, std::size_t R> struct float_panel {
  using F = Format<Q>;
  static constexpr std::size_t stride = operand_stride<Q, Cols>;
  static constexpr bool in_place = F::step_bytes == lanes * sizeof(float);  // f32 needs no widening
  static constexpr std::size_t tile_floats = blocking<Q, A>::columns * lanes;

  static constexpr std::size_t sums_stride = blocking<Q, A>::batch * lanes;

  const float* weights[R];
  alignas(buffer_alignment) float opened[in_place ? 1 : R * tile_floats];

  LLAMBDA_INLINE void open(const std::byte* tiles, std::size_t begin, std::size_t end) noexcept {
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      const std::byte* tile = tiles + r * tile_bytes<Q>(Cols);
      if constexpr (in_place) {
        weights[r] = reinterpret_cast<const float*>(tile) + begin * lanes;
      } else {
        float* to = opened + r * tile_floats;
        for (std::size_t k = begin; k < end; ++k) F::template load<A>(tile, k).store(to + (k - begin) * lanes);
        weights[r] = to;
      }
    });
  }

  /// sums (R, T, 16), tiles sums_stride apart, += the block times T tokens.
  template <std::size_t T>
  LLAMBDA_INLINE void multiply(const std::byte* x, std::size_t begin, std::size_t end, float* sums) const noexcept {
    f32x16<A> acc[R][T];
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      unroll<T>([&](auto t) LLAMBDA_LAMBDA { acc[r][t] = f32x16<A>::load(sums + r * sums_stride + t * lanes); });
    });
    const auto* in = reinterpret_cast<const float*>(x) + begin;
    for (std::size_t k = 0; k < end - begin; ++k) {
      f32x16<A> w[R];
      unroll<R>([&](auto r) LLAMBDA_LAMBDA { w[r] = f32x16<A>::load(weights[r] + k * lanes); });
      unroll<T>([&](auto t) LLAMBDA_LAMBDA {
        const f32x16<A> value = f32x16<A>::broadcast(in[t * (stride / sizeof(float)) + k]);
        unroll<R>([&](auto r) LLAMBDA_LAMBDA { acc[r][t] = fma<A>(w[r], value, acc[r][t]); });
      });
    }
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      unroll<T>([&](auto t) LLAMBDA_LAMBDA { acc[r][t].store(sums + r * sums_stride + t * lanes); });
    });
  }
};

template <quant Q, std::size_t Cols, Arch A, std::size_t R> struct code_panel {
  using F = Format<Q>;
  static constexpr std::size_t stride = operand_stride<Q, Cols>;
  static constexpr std::size_t tile_panel = blocking<Q, A>::columns / 32 * F::panel_unit;

  alignas(buffer_alignment) std::byte opened[R * tile_panel];

  LLAMBDA_INLINE void open(const std::byte* tiles, std::size_t begin, std::size_t end) noexcept {
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      F::template open<A>(tiles + r * tile_bytes<Q>(Cols), Cols, begin, end, opened + r * tile_panel);
    });
  }
  template <std::size_t T>
  LLAMBDA_INLINE void multiply(const std::byte* x, std::size_t begin, std::size_t end, float* sums) const noexcept {
    F::template multiply_panel<A, stride, tile_panel, blocking<Q, A>::batch * lanes, R, T>(
        opened, (end - begin) / 32, q8_row<Cols>::codes(x) + begin, q8_row<Cols>::info(x) + begin / 32, sums);
  }
};

/// As many groups of N tokens as there are, then smaller groups.
template <std::size_t N, std::size_t Stride, class Panel>
LLAMBDA_INLINE void pass_tokens(const Panel& panel, const std::byte* x, std::size_t tokens, std::size_t begin,
                                std::size_t end, float* sums) noexcept {
  std::size_t t = 0;
  for (; t + N <= tokens; t += N) {
    panel.template multiply<N>(x + t * Stride, begin, end, sums + t * lanes);
  }
  if constexpr (N > 1) {
    if (t < tokens) {
      pass_tokens<N / 2, Stride>(panel, x + t * Stride, tokens - t, begin, end, sums + t * lanes);
    }
  }
}

/// R tiles times at most blocking::batch tokens.
template <quant Q, std::size_t Cols, Arch A, class Result, std::size_t R>
LLAMBDA_INLINE void gemm_tiles(const std::byte* tiles, const std::byte* x, std::size_t tokens, rows_out y,
                               std::size_t first_row) noexcept {
  using block = blocking<Q, A>;
  using panel_of = std::conditional_t<block::floats, float_panel<Q, Cols, A, R>, code_panel<Q, Cols, A, R>>;
  constexpr std::size_t sums_stride = block::batch * lanes;
  alignas(buffer_alignment) float sums[R * sums_stride];
  panel_of panel;
  for (std::size_t r = 0; r < R; ++r) std::memset(sums + r * sums_stride, 0, tokens * lanes * sizeof(float));
  for (std::size_t k = 0; k < Cols; k += block::columns) {
    const std::size_t end = k + block::columns < Cols ? k + block::columns : Cols;
    panel.open(tiles, k, end);
    pass_tokens<block::tokens, operand_stride<Q, Cols>>(panel, x, tokens, k, end, sums);
  }
  for (std::size_t t = 0; t < tokens; ++t) {
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      Result::template apply<A>(y[t] + first_row + r * lanes, f32x16<A>::load(sums + r * sums_stride + t * lanes));
    });
  }
}

/// As many groups of R tiles as there are, then smaller groups.
template <std::size_t R, quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_INLINE void pass_tiles(const std::byte* packed, range tiles, const std::byte* x, std::size_t tokens,
                               rows_out y) noexcept {
  std::size_t tile = tiles.begin;
  for (; tile + R <= tiles.end; tile += R) {
    gemm_tiles<Q, Cols, A, Result, R>(packed + tile * tile_bytes<Q>(Cols), x, tokens, y, tile * lanes);
  }
  if constexpr (R > 1) {
    if (tile < tiles.end) pass_tiles<R / 2, Q, Cols, A, Result>(packed, {tile, tiles.end}, x, tokens, y);
  }
}

}  // namespace detail

/// Tiles [tiles.begin, tiles.end) of `packed` times `tokens` rows of x, operand_stride<Q, Cols> bytes apart; y rows are
/// indexed by row of the whole matrix.
template <quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_NOINLINE void gemm(const std::byte* packed, range tiles, const std::byte* x, std::size_t tokens,
                           rows_out y) noexcept {
  using block = blocking<Q, A>;
  static_assert(block::columns % Format<Q>::step == 0 && block::columns % 32 == 0);
  for (std::size_t first = 0; first < tokens; first += block::batch) {
    const std::size_t count = tokens - first < block::batch ? tokens - first : block::batch;
    const std::byte* in = x + first * operand_stride<Q, Cols>;
    const rows_out out{y[first], y.stride};
    detail::pass_tiles<block::tiles, Q, Cols, A, Result>(packed, tiles, in, count, out);
  }
}

/// The product for any number of tokens.
template <quant Q, std::size_t Cols, Arch A, class Result>
LLAMBDA_INLINE void matmul(const std::byte* packed, range tiles, const std::byte* x, std::size_t tokens,
                           rows_out y) noexcept {
  if (tokens == 1) {
    gemv<Q, Cols, A, Result>(packed, tiles, x, y[0]);
  } else {
    gemm<Q, Cols, A, Result>(packed, tiles, x, tokens, y);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
