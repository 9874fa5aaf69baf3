// Matrix times activations for one token or many: y[t][row] = sum over k of w[row][k] * x[t][k].
// One micro kernel serves gemv.hpp (one token, several tiles at once, bound by memory) and gemm.hpp (several tokens a
// tile, bound by arithmetic). Both add the columns of a row in the same order, so a token's result does not depend on
// how many others are computed with it.
#pragma once

#include <llambda/core/thread_pool.hpp>
#include <llambda/quant/format.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// A batch of rows in memory: row t starts `stride` bytes after row t - 1.
struct rows_in {
  const std::byte* base;
  std::size_t stride;
  LLAMBDA_INLINE const std::byte* operator[](std::size_t t) const noexcept { return base + t * stride; }
};

/// A batch of float rows: row t starts `stride` floats after row t - 1.
struct rows_out {
  float* base;
  std::size_t stride;
  LLAMBDA_INLINE float* operator[](std::size_t t) const noexcept { return base + t * stride; }
};

/// What happens with a finished vector of 16 results.
struct store_result {
  template <Arch A>
  static LLAMBDA_INLINE void apply(float* y, const f32x16<A>& sum) noexcept {
    sum.store(y);
  }
};
/// Residual connection: y += result.
struct add_result {
  template <Arch A>
  static LLAMBDA_INLINE void apply(float* y, const f32x16<A>& sum) noexcept {
    (f32x16<A>::load(y) + sum).store(y);
  }
};

/// Register and cache blocking of the products, by format and instruction set.
template <quant Q, Arch A>
struct blocking {
  static constexpr std::size_t registers = f32x16<A>::parts == 1 ? 32 : 16;
  /// Tiles side by side for one token: enough independent sums to hide the latency of an addition.
  static constexpr std::size_t gemv_tiles = Format<Q>::activation == activation_kind::f32 ? 4 : 1;
  /// Tokens side by side for one tile.
  static constexpr std::size_t gemm_tokens = Format<Q>::activation == activation_kind::f32 ? 6 : 4;
  /// Columns of a tile that stay in the first-level cache while all tokens pass over them.
  static constexpr std::size_t columns = round_up(16384 / Format<Q>::step_bytes * Format<Q>::step, Format<Q>::step);
  /// Tokens whose sums wait in memory between two column blocks.
  static constexpr std::size_t tokens = 64;
};

/// R tiles times T tokens over columns [begin, end), sums in registers.
template <quant Q, std::size_t Cols, Arch A, std::size_t R, std::size_t T>
struct micro_kernel {
  /// Sums of one tile and T tokens, kept in `sums` (T, 16) between calls.
  static LLAMBDA_INLINE void resume(const std::byte* tile, rows_in x, float* sums, std::size_t begin,
                                    std::size_t end) noexcept {
    static_assert(R == 1);
    f32x16<A> acc[1][T];
    const std::byte* rows[T];
    unroll<T>([&](auto t) LLAMBDA_LAMBDA {
      acc[0][t] = f32x16<A>::load(sums + t * lanes);
      rows[t] = x[t];
    });
    const std::byte* const w[1] = {tile};
    Format<Q>::template multiply<A, Cols, 1, T>(acc, w, rows, begin, end);
    unroll<T>([&](auto t) LLAMBDA_LAMBDA { acc[0][t].store(sums + t * lanes); });
  }

  /// Whole rows of R tiles, `tile_stride` bytes apart, for one token.
  template <class Result>
  static LLAMBDA_INLINE void whole(const std::byte* tiles, std::size_t tile_stride, const std::byte* x,
                                   float* y) noexcept {
    static_assert(T == 1);
    f32x16<A> acc[R][1];
    const std::byte* w[R];
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      acc[r][0] = f32x16<A>::zero();
      w[r] = tiles + r * tile_stride;
    });
    const std::byte* const row[1] = {x};
    Format<Q>::template multiply<A, Cols, R, 1>(acc, w, row, 0, round_up(Cols, Format<Q>::step));
    unroll<R>([&](auto r) LLAMBDA_LAMBDA { Result::template apply<A>(y + r * lanes, acc[r][0]); });
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
