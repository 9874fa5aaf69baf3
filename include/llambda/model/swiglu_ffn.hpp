// Gated feed-forward part (Shazeer 2020): hidden += Wdown (silu(Wgate x) * Wup x), x = rmsnorm(hidden).
// Two phases: a thread computes the same rows of gate and up and joins them at once; then the product down.
#pragma once

#include <llambda/kernels/vec.hpp>
#include <llambda/model/step.hpp>

namespace llambda::inline LLAMBDA_ABI {

template <ModelConfig C, Arch A, class Trace, class Layer>
LLAMBDA_INLINE void swiglu_ffn(const Step<C, A, Trace>& s, const Layer& w, std::size_t layer) noexcept {
  using layout = context_layout<C>;
  using W = Layer;
  constexpr std::size_t stride = layout::ffn_stride;
  Context<C>& ctx = s.ctx;

  const auto x = s.template normalised<operand_needs<typename W::Gate, typename W::Up>>(w.ffn_norm.data);
  s.template show<"ffn_norm">(layer, x, C::spec.hidden);

  const range tiles = s.thread.share(W::Gate::tiles);
  s.product(w.ffn_gate, tiles, x, ctx.ffn_gate, stride);
  s.product(w.ffn_up, tiles, x, ctx.ffn_up, stride);
  s.template show<"ffn_gate">(layer, ctx.ffn_gate, C::spec.ffn, stride);
  s.template show<"ffn_up">(layer, ctx.ffn_up, C::spec.ffn, stride);
  for (std::size_t t = 0; t < s.tokens; ++t) {
    float* gate = ctx.ffn_gate + t * stride;
    silu_mul<A>(gate, ctx.ffn_up + t * stride, tiles.begin * lanes, tiles.end * lanes, gate);
  }
  s.thread.barrier();
  s.template show<"ffn_act">(layer, ctx.ffn_gate, C::spec.ffn, stride);

  const auto act = s.template prepared<C::spec.ffn, operand_needs<typename W::Down>>(ctx.ffn_gate);
  s.template product<add_result>(w.ffn_down, s.thread.share(W::Down::tiles), act, ctx.hidden, layout::hidden_stride);
  s.thread.barrier();
  s.template show<"l_out">(layer, ctx.hidden, C::spec.hidden, layout::hidden_stride);
}

}  // namespace llambda::inline LLAMBDA_ABI
