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

/// attn_out = attention of all heads and tokens of the chunk; q, k and v are not yet turned.
/// One token and one span: a thread attends only to heads it appended to itself. One token in a long context: heads and
/// spans are divided, and merged in order. Several tokens: heads and tiles of tokens are divided.
template <ModelConfig C, Arch A, class Trace>
LLAMBDA_INLINE void attend_all(const Step<C, A, Trace>& s, std::size_t layer) noexcept {
  using layout = context_layout<C>;
  using kernel = attention<limits_of<C>.kv, head_dim<C>, group<C>, A>;
  constexpr std::size_t D = head_dim<C>, heads = C::spec.kv_heads, row = group<C> * D;
  Context<C>& ctx = s.ctx;
  const float scale = 1.0f / std::sqrt(static_cast<float>(D));
  const std::size_t positions = s.position + 1, spans = attention_spans(positions);
  const bool divided = s.tokens == 1 && spans > 1;

  rotate_and_append(s, layer, s.thread.share(heads * s.tokens));
  if (s.tokens > 1 || divided) s.thread.barrier();
  s.template show<"q_rope">(layer, ctx.q, q_dim<C>, layout::q_stride);
  s.template show<"k_rope">(layer, ctx.k, kv_dim<C>, layout::kv_stride);
  if constexpr (layout::spans > 1) {
    if (divided) {
      const range mine = s.thread.share(heads * spans);
      for (std::size_t i = mine.begin; i < mine.end; ++i) {
        const std::size_t head = i / spans, span = i % spans;
        kernel::span(ctx.q + head * row, ctx.kv.keys(layer, head), ctx.kv.values(layer, head), positions, span, scale,
                     ctx.partials + head * group<C> * layout::spans + span, layout::spans);
      }
      s.thread.barrier();
      const range merged = s.thread.share(C::spec.heads);
      for (std::size_t h = merged.begin; h < merged.end; ++h) {
        kernel::finish(ctx.partials + h * layout::spans, spans, ctx.attn_out + h * D);
      }
      return;
    }
  }
  const std::size_t tile = s.tokens == 1 ? 1 : kernel::tokens, tiles = (s.tokens + tile - 1) / tile;
  const range mine = s.thread.share(heads * tiles);
  for (std::size_t i = mine.begin; i < mine.end; ++i) {
    const std::size_t head = i / tiles, first = i % tiles * tile;
    const std::size_t count = s.tokens - first < tile ? s.tokens - first : tile;
    const std::size_t at = first * layout::q_stride + head * row;
    kernel::tile(ctx.q + at, layout::q_stride, count, ctx.kv.keys(layer, head), ctx.kv.values(layer, head),
                 positions + first, scale, ctx.attn_out + at);
  }
}

}  // namespace detail

template <ModelConfig C, Arch A, class Trace, class Layer>
LLAMBDA_INLINE void attention_mixer(const Step<C, A, Trace>& s, const Layer& w, std::size_t layer) noexcept {
  using layout = context_layout<C>;
  using W = Layer;
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

  detail::attend_all(s, layer);
  s.thread.barrier();
  s.template show<"attn_out">(layer, ctx.attn_out, q_dim<C>, layout::q_stride);

  const auto heads = s.template prepared<q_dim<C>, operand_needs<typename W::Wo>>(ctx.attn_out);
  s.template product<add_result>(w.attn_output, s.thread.share(W::Wo::tiles), heads, ctx.hidden, layout::hidden_stride);
  s.thread.barrier();
  s.template show<"ffn_inp">(layer, ctx.hidden, C::spec.hidden, layout::hidden_stride);
}

}  // namespace llambda::inline LLAMBDA_ABI
