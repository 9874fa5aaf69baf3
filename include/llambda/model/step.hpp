// What every part of a layer needs while a step runs: who this thread is, how many tokens at which position, and how a
// vector becomes the operand of the products that follow. With one token each thread prepares its own copy of the
// operand, which is cheaper than a barrier; with several the tokens are divided.
#pragma once

#include <llambda/kernels/gemm.hpp>
#include <llambda/kernels/rmsnorm.hpp>
#include <llambda/model/weights.hpp>
#include <llambda/runtime/trace.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Which forms of an operand the formats of the matrices need that multiply it.
template <class... Tensors> struct operand_needs {
  static constexpr bool q8 = ((Format<Tensors::format>::activation == activation_kind::q8) || ...);
};

/// One thread's view of a step.
template <ModelConfig C, Arch A, class Trace> struct Step {
  using layout = context_layout<C>;

  Context<C>& ctx;
  const Weights<C>& weights;
  const worker& thread;
  std::size_t tokens;    // of this chunk
  std::size_t position;  // of its first token
  Trace& trace;

  /// The rows that a group of matrices multiplies, as floats and (where a format asks for it) as int8. Rows are a
  /// row_stride or a q8_row apart.
  struct operand {
    const float* f32;
    const std::byte* q8;
  };

  /// operand = rmsnorm(hidden) * weight.
  template <class Needs> LLAMBDA_INLINE operand normalised(const float* weight) const noexcept {
    constexpr std::size_t N = C::spec.hidden;
    if (tokens == 1) {
      float* own = ctx.scratch_floats(thread.index());
      std::byte* codes = ctx.scratch_q8(thread.index());
      rmsnorm<N, A>(ctx.hidden, weight, C::spec.norm_eps, own);
      if constexpr (Needs::q8) quantise_q8<N, A>(own, codes);
      return {own, codes};
    }
    const range mine = thread.share(tokens);
    for (std::size_t t = mine.begin; t < mine.end; ++t) {
      float* row = ctx.normed + t * layout::hidden_stride;
      rmsnorm<N, A>(ctx.hidden + t * layout::hidden_stride, weight, C::spec.norm_eps, row);
      if constexpr (Needs::q8) quantise_q8<N, A>(row, ctx.quantised + t * q8_row<N>::bytes);
    }
    thread.barrier();
    return {ctx.normed, ctx.quantised};
  }

  /// operand = rows of `buffer`, N wide, complete on all threads.
  template <std::size_t N, class Needs> LLAMBDA_INLINE operand prepared(const float* buffer) const noexcept {
    if constexpr (!Needs::q8) {
      return {buffer, nullptr};
    } else if (tokens == 1) {
      std::byte* codes = ctx.scratch_q8(thread.index());
      quantise_q8<N, A>(buffer, codes);
      return {buffer, codes};
    } else {
      const range mine = thread.share(tokens);
      for (std::size_t t = mine.begin; t < mine.end; ++t) {
        quantise_q8<N, A>(buffer + t * row_stride(N), ctx.quantised + t * q8_row<N>::bytes);
      }
      thread.barrier();
      return {buffer, ctx.quantised};
    }
  }

  /// Tiles `tiles` of `matrix` times the operand of all tokens, into (or onto) `out`.
  template <class Result = store_result, class T>
  LLAMBDA_INLINE void product(const T& matrix, range tiles, const operand& x, float* out,
                              std::size_t stride) const noexcept {
    constexpr bool q8 = Format<T::format>::activation == activation_kind::q8;
    const std::byte* in = q8 ? x.q8 : reinterpret_cast<const std::byte*>(x.f32);
    if constexpr (limits_of<C>.in_place) {
      std::byte* tile = ctx.scratch_tile(thread.index());
      for (std::size_t i = tiles.begin; i < tiles.end; ++i) {
        matrix.pack_tile(i, tile);
        matmul<T::format, T::cols, A, Result>(tile, {0, 1}, in, tokens, {out + i * lanes, stride});
      }
    } else {
      matmul<T::format, T::cols, A, Result>(matrix.packed, tiles, in, tokens, {out, stride});
    }
  }

  /// The part of `mine` that falls on `count` tiles starting at `first`, counted from there.
  static constexpr range overlap(range mine, std::size_t first, std::size_t count) noexcept {
    const auto clamp = [&](std::size_t i) { return i <= first ? 0 : i - first < count ? i - first : count; };
    return {clamp(mine.begin), clamp(mine.end)};
  }

  /// Shows a buffer to the trace. Precondition: the buffer is complete on all threads.
  template <fixed_string Name>
  LLAMBDA_INLINE void show(std::size_t layer, const float* data, std::size_t width, std::size_t stride) const noexcept {
    if constexpr (Trace::enabled) {
      thread.barrier();
      if (thread.index() == 0) trace.template operator()<Name>(layer, trace_rows{data, tokens, width, stride});
      thread.barrier();
    }
  }

  /// Shows an operand's floats.
  template <fixed_string Name>
  LLAMBDA_INLINE void show(std::size_t layer, const operand& x, std::size_t width) const noexcept {
    show<Name>(layer, x.f32, width, row_stride(width));
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
