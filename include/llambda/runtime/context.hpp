// Every mutable byte of one inference: KV cache, activations, logits, scratch a thread, and how many positions are
// filled. It takes one block of memory when made and allocates nothing afterwards. Many contexts may run on one model
// at the same time; one context is used by one caller at a time.
#pragma once

#include <llambda/core/token.hpp>
#include <llambda/kernels/attention.hpp>
#include <llambda/quant/activation.hpp>
#include <llambda/quant/all.hpp>
#include <llambda/runtime/kv_cache.hpp>

#include <span>
#include <string>

namespace llambda::inline LLAMBDA_ABI {

/// Calls f.template operator()<format, columns>() for the matrices of a model, one a format and kind of layer.
template <ModelConfig C, class F> constexpr void for_each_matrix(F f) {
  f.template operator()<C::spec.output == quant::none ? C::spec.token_embd : C::spec.output, C::spec.hidden>();
  [&]<std::size_t... K>(std::index_sequence<K...>) {
    ((f.template operator()<C::spec.kinds[K].attn_q, C::spec.hidden>(),
      f.template operator()<C::spec.kinds[K].attn_k, C::spec.hidden>(),
      f.template operator()<C::spec.kinds[K].attn_v, C::spec.hidden>(),
      f.template operator()<C::spec.kinds[K].attn_output, q_dim<C>>(),
      f.template operator()<C::spec.kinds[K].ffn_gate, C::spec.hidden>(),
      f.template operator()<C::spec.kinds[K].ffn_up, C::spec.hidden>(),
      f.template operator()<C::spec.kinds[K].ffn_down, C::spec.ffn>()),
     ...);
  }
  (std::make_index_sequence<kind_count<C>>{});
}

/// Does any matrix of the model multiply quantised activations?
template <ModelConfig C>
inline constexpr bool uses_q8_activations = [] {
  bool any = false;
  for_each_matrix<C>([&]<quant Q, std::size_t>() { any = any || Format<Q>::activation == activation_kind::q8; });
  return any;
}();

/// Bytes of the largest tile a thread packs while it multiplies; 0 when all are packed beforehand.
template <ModelConfig C>
inline constexpr std::size_t tile_scratch = [] {
  std::size_t largest = 0;
  for_each_matrix<C>([&]<quant Q, std::size_t Cols>() {
    if (limits_of<C>.in_place && tile_bytes<Q>(Cols) > largest) largest = tile_bytes<Q>(Cols);
  });
  return largest;
}();

/// Sizes of the buffers of a context, shared by the context and the plan. Strides are floats from token to token.
template <ModelConfig C> struct context_layout {
  static constexpr Limits limits = limits_of<C>;
  static constexpr std::size_t hidden_stride = row_stride(C::spec.hidden);
  static constexpr std::size_t q_stride = row_stride(q_dim<C>);
  static constexpr std::size_t kv_stride = row_stride(kv_dim<C>);
  static constexpr std::size_t ffn_stride = row_stride(C::spec.ffn);
  static constexpr std::size_t logits_count = padded(C::spec.vocab);
  static constexpr std::size_t q8_stride = uses_q8_activations<C> ? q8_row_bytes(widest<C>) : 0;  // bytes

  /// Partial results of a token's attention, one a query head and span of positions; none where one span is enough.
  static constexpr std::size_t spans = attention_spans(limits.context);
  static constexpr std::size_t partials = spans > 1 ? C::spec.heads * spans : 0;

  static constexpr std::size_t floats(std::size_t count) noexcept { return aligned_bytes(count * sizeof(float)); }

  static constexpr std::size_t activation_bytes =
      2 * floats(limits.batch * hidden_stride) + 2 * floats(limits.batch * q_stride) +
      2 * floats(limits.batch * kv_stride) + 2 * floats(limits.batch * ffn_stride) +
      aligned_bytes(limits.batch * q8_stride) + floats(logits_count) +
      partials * sizeof(attention_partial<head_dim<C>>);
  static constexpr std::size_t scratch_stride = floats(hidden_stride) + q8_stride + tile_scratch<C>;  // bytes a thread
  static constexpr std::size_t scratch_bytes = limits.threads * scratch_stride;
  static constexpr std::size_t bytes = KvCache<C>::bytes + activation_bytes + scratch_bytes;
};

template <ModelConfig C> class Context {
 public:
  using layout = context_layout<C>;

  /// Reserves layout::bytes. Throws error(out_of_memory). Make it on the heap: std::make_unique<Context<C>>().
  Context()
      : memory_(layout::bytes),
        kv(memory_),
        hidden(memory_.take<float>(limits.batch * layout::hidden_stride)),
        normed(memory_.take<float>(limits.batch * layout::hidden_stride)),
        q(memory_.take<float>(limits.batch * layout::q_stride)),
        attn_out(memory_.take<float>(limits.batch * layout::q_stride)),
        k(memory_.take<float>(limits.batch * layout::kv_stride)),
        v(memory_.take<float>(limits.batch * layout::kv_stride)),
        ffn_gate(memory_.take<float>(limits.batch * layout::ffn_stride)),
        ffn_up(memory_.take<float>(limits.batch * layout::ffn_stride)),
        quantised(memory_.take<std::byte>(limits.batch * layout::q8_stride)),
        partials(memory_.take<attention_partial<head_dim<C>>>(layout::partials)),
        logits_(memory_.take<float>(layout::logits_count)),
        scratch_(memory_.take<std::byte>(layout::scratch_bytes)) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  static constexpr std::size_t capacity() noexcept { return limits.context; }

  /// Tokens in the cache; the next token gets this position.
  std::size_t position() const noexcept { return position_; }
  /// Tokens of the last chunk whose hidden states are still here.
  std::size_t chunk() const noexcept { return chunk_; }
  /// Logits of the token that was asked for last, (vocab).
  std::span<const float> logits() const noexcept { return {logits_, C::spec.vocab}; }

  /// Forgets all tokens.
  void reset() noexcept { position_ = chunk_ = 0; }

  /// Keeps the first `positions` tokens. Throws error(bad_argument) when there are fewer.
  void truncate(std::size_t positions) {
    if (positions > position_) {
      throw error(errc::bad_argument, "llambda: context: cannot keep " + std::to_string(positions) + " of " +
                                          std::to_string(position_) + " tokens");
    }
    position_ = positions;
    chunk_ = 0;
  }

  std::size_t memory_used() const noexcept { return memory_.used(); }
  std::size_t memory_size() const noexcept { return memory_.size(); }

 private:
  static constexpr Limits limits = limits_of<C>;
  arena memory_;

 public:  // for the forward pass; shapes are (batch, stride)
  KvCache<C> kv;
  float* hidden;         // (batch, hidden) residual stream
  float* normed;         // (batch, hidden)
  float* q;              // (batch, heads, head_dim)
  float* attn_out;       // (batch, heads, head_dim)
  float* k;              // (batch, kv_heads, head_dim)
  float* v;              // (batch, kv_heads, head_dim)
  float* ffn_gate;       // (batch, ffn)
  float* ffn_up;         // (batch, ffn)
  std::byte* quantised;  // (batch, q8_stride) operand of the integer formats

  attention_partial<head_dim<C>>* partials;  // (heads, spans) of one token

  float* logits_data() noexcept { return logits_; }
  float* scratch_floats(unsigned thread) noexcept {
    return reinterpret_cast<float*>(scratch_ + thread * layout::scratch_stride);
  }
  std::byte* scratch_q8(unsigned thread) noexcept {
    return scratch_ + thread * layout::scratch_stride + layout::floats(layout::hidden_stride);
  }
  std::byte* scratch_tile(unsigned thread) noexcept { return scratch_q8(thread) + layout::q8_stride; }
  void advance(std::size_t tokens) noexcept {
    position_ += tokens;
    chunk_ = tokens;
  }

 private:
  float* logits_;       // (vocab)
  std::byte* scratch_;  // (threads, scratch_stride)
  std::size_t position_ = 0;
  std::size_t chunk_ = 0;
};

}  // namespace llambda::inline LLAMBDA_ABI
