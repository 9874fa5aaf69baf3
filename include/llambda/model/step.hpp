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

  /// The rows that a group of matrices multiplies, as floats and (where a format asks for it) as int8.
  struct operand {
    rows_in f32;
    rows_in q8;
  };

  /// operand = rmsnorm(hidden) * weight.
  template <class Needs> LLAMBDA_INLINE operand normalised(const float* weight) const noexcept {
    constexpr std::size_t N = C::spec.hidden;
    if (tokens == 1) {
      float* own = ctx.scratch_floats(thread.index());
      rmsnorm<N, A>(ctx.hidden, weight, C::spec.norm_eps, own);
      if constexpr (Needs::q8) quantise_q8<N, A>(own, ctx.scratch_q8(thread.index()));
      return {bytes(own, 0), {ctx.scratch_q8(thread.index()), 0}};
    }
    const range mine = thread.share(tokens);
    for (std::size_t t = mine.begin; t < mine.end; ++t) {
      float* row = ctx.normed + t * layout::hidden_stride;
      rmsnorm<N, A>(ctx.hidden + t * layout::hidden_stride, weight, C::spec.norm_eps, row);
      if constexpr (Needs::q8) quantise_q8<N, A>(row, ctx.quantised + t * layout::q8_stride);
    }
    thread.barrier();
    return {bytes(ctx.normed, layout::hidden_stride), {ctx.quantised, layout::q8_stride}};
  }

  /// operand = rows of `buffer`, N wide, complete on all threads.
  template <std::size_t N, class Needs>
  LLAMBDA_INLINE operand prepared(const float* buffer, std::size_t stride) const noexcept {
    if constexpr (!Needs::q8) {
      return {bytes(buffer, stride), {}};
    } else if (tokens == 1) {
      quantise_q8<N, A>(buffer, ctx.scratch_q8(thread.index()));
      return {bytes(buffer, 0), {ctx.scratch_q8(thread.index()), 0}};
    } else {
      const range mine = thread.share(tokens);
      for (std::size_t t = mine.begin; t < mine.end; ++t) {
        quantise_q8<N, A>(buffer + t * stride, ctx.quantised + t * layout::q8_stride);
      }
      thread.barrier();
      return {bytes(buffer, stride), {ctx.quantised, layout::q8_stride}};
    }
  }

  /// Tiles `tiles` of `matrix` times the operand of all tokens, into (or onto) `out`.
  template <class Result = store_result, class T>
  LLAMBDA_INLINE void product(const T& matrix, range tiles, const operand& x, float* out,
                              std::size_t stride) const noexcept {
    constexpr bool q8 = Format<T::format>::activation == activation_kind::q8;
    matmul<T::format, T::cols, A, Result>(matrix.packed, tiles, q8 ? x.q8 : x.f32, tokens, {out, stride});
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
    show<Name>(layer, reinterpret_cast<const float*>(x.f32.base), width, x.f32.stride / sizeof(float));
  }

 private:
  static LLAMBDA_INLINE rows_in bytes(const float* p, std::size_t stride) noexcept {
    return {reinterpret_cast<const std::byte*>(p), stride * sizeof(float)};
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
