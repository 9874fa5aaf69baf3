// Grouped-query self-attention with rotary positions: hidden += Wo attention(rope(Wq x), rope(Wk x), Wv x),
// x = rmsnorm(hidden). Three phases for one token: products, attention, output product.
#pragma once

#include <llambda/kernels/attention.hpp>
#include <llambda/kernels/rope.hpp>
#include <llambda/model/step.hpp>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// Turns q and k, and appends k and v to the cache, for items [mine.begin, mine.end) of (kv_heads, tokens).
template <ModelConfig C, Arch A, class Trace>
LLAMBDA_INLINE void rotate_and_append(const Step<C, A, Trace>& s, std::size_t layer, range mine) noexcept {
  using layout = context_layout<C>;
  constexpr std::size_t D = head_dim<C>;
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const std::size_t kv_head = i / s.tokens, t = i % s.tokens, position = s.position + t;
    const float* angles = s.weights.rope_row(position);
    float* q = s.ctx.q + t * layout::q_stride + kv_head * group<C> * D;
    float* k = s.ctx.k + t * layout::kv_stride + kv_head * D;
    for (std::size_t g = 0; g < group<C>; ++g) rope<rope_dim<C>, C::spec.rope.pairing>(q + g * D, angles);
    rope<rope_dim<C>, C::spec.rope.pairing>(k, angles);
    KvCache<C>::layout::template append<A>(k, s.ctx.v + t * layout::kv_stride + kv_head * D, position,
                                           s.ctx.kv.keys(layer, kv_head), s.ctx.kv.values(layer, kv_head));
  }
}

}  // namespace detail

template <ModelConfig C, Arch A, class Trace, class Layer>
LLAMBDA_INLINE void attention_mixer(const Step<C, A, Trace>& s, const Layer& w, std::size_t layer) noexcept {
  using layout = context_layout<C>;
  using W = Layer;
  constexpr std::size_t D = head_dim<C>;
  Context<C>& ctx = s.ctx;

  const auto x = s.template normalised<operand_needs<typename W::Wq, typename W::Wk, typename W::Wv>>(w.attn_norm.data);
  s.template show<"attn_norm">(layer, x, C::spec.hidden);

  constexpr std::size_t q_tiles = W::Wq::tiles, k_tiles = W::Wk::tiles, v_tiles = W::Wv::tiles;
  const range tiles = s.thread.share(q_tiles + k_tiles + v_tiles);
  s.product(w.attn_q, s.overlap(tiles, 0, q_tiles), x, ctx.q, layout::q_stride);
  s.product(w.attn_k, s.overlap(tiles, q_tiles, k_tiles), x, ctx.k, layout::kv_stride);
  s.product(w.attn_v, s.overlap(tiles, q_tiles + k_tiles, v_tiles), x, ctx.v, layout::kv_stride);
  s.thread.barrier();
  s.template show<"q">(layer, ctx.q, q_dim<C>, layout::q_stride);
  s.template show<"k">(layer, ctx.k, kv_dim<C>, layout::kv_stride);
  s.template show<"v">(layer, ctx.v, kv_dim<C>, layout::kv_stride);

  // With one token a thread attends only to heads it appended to itself; with several it needs the others' tokens.
  const range mine = s.thread.share(C::spec.kv_heads * s.tokens);
  detail::rotate_and_append(s, layer, mine);
  if (s.tokens > 1) s.thread.barrier();
  s.template show<"q_rope">(layer, ctx.q, q_dim<C>, layout::q_stride);
  s.template show<"k_rope">(layer, ctx.k, kv_dim<C>, layout::kv_stride);
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const std::size_t kv_head = i / s.tokens, t = i % s.tokens, at = t * layout::q_stride + kv_head * group<C> * D;
    attention<limits_of<C>.kv, D, group<C>, A>(ctx.q + at, ctx.kv.keys(layer, kv_head), ctx.kv.values(layer, kv_head),
                                               s.position + t + 1, scale, ctx.attn_out + at);
  }
  s.thread.barrier();
  s.template show<"attn_out">(layer, ctx.attn_out, q_dim<C>, layout::q_stride);

  const auto heads = s.template prepared<q_dim<C>, operand_needs<typename W::Wo>>(ctx.attn_out);
  s.template product<add_result>(w.attn_output, s.thread.share(W::Wo::tiles), heads, ctx.hidden, layout::hidden_stride);
  s.thread.barrier();
  s.template show<"ffn_inp">(layer, ctx.hidden, C::spec.hidden, layout::hidden_stride);
}

}  // namespace llambda::inline LLAMBDA_ABI
