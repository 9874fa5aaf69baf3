// One chunk of tokens through the model, as the threads of a pool run it: embedding, layers, logits. Function objects
// with short names rather than lambdas: they are what a profiler and a debugger show.
#pragma once

#include <llambda/model/attention_mixer.hpp>
#include <llambda/model/swiglu_ffn.hpp>

#include <atomic>
#include <span>

namespace llambda::inline LLAMBDA_ABI {

/// Lets all threads of a pass agree to stop. Thread 0 looks at the caller's flag when a layer begins; everyone reads
/// what it saw when the layer ends, some barriers later. Two slots in turn, so that the next look cannot overtake a
/// slow reader.
class stop_flags {
 public:
  explicit stop_flags(const std::atomic<bool>* cancel) noexcept : cancel_(cancel) {}
  void look(std::size_t layer) noexcept {
    if (cancel_) slots_[layer % 2] = cancel_->load(std::memory_order_relaxed);
  }
  bool seen(std::size_t layer) const noexcept { return slots_[layer % 2]; }
  bool cancelled() const noexcept { return slots_[0] || slots_[1]; }

 private:
  const std::atomic<bool>* cancel_;
  bool slots_[2] = {false, false};
};

/// One layer, for Weights::visit_layer.
template <ModelConfig C, Arch A, class Trace> struct layer_pass {
  const Step<C, A, Trace>& step;
  std::size_t layer;

  template <class Layer> LLAMBDA_INLINE void operator()(const Layer& w) const noexcept {
    attention_mixer(step, w, layer);
    swiglu_ffn(step, w, layer);
  }
};

template <ModelConfig C> LLAMBDA_INLINE const auto& output_matrix(const Weights<C>& weights) noexcept {
  if constexpr (tied<C>)
    return weights.globals.token_embd;
  else
    return weights.globals.output;
}

/// Logits of token `i` of the chunk in the context. Each thread normalises for itself and computes its share of the
/// vocabulary.
template <ModelConfig C, Arch A, class Trace> struct head_pass {
  Context<C>& ctx;
  const Weights<C>& weights;
  std::size_t i;
  Trace& trace;

  void operator()(const worker& thread) const noexcept {
    constexpr std::size_t N = C::spec.hidden;
    const auto& matrix = output_matrix(weights);
    using W = std::remove_cvref_t<decltype(matrix)>;
    const Step<C, A, Trace> s{ctx, weights, thread, 1, 0, trace};
    float* own = ctx.scratch_floats(thread.index());
    rmsnorm<N, A>(ctx.hidden + i * context_layout<C>::hidden_stride, weights.globals.output_norm.data, C::spec.norm_eps,
                  own);
    s.template show<"result_norm">(no_layer, own, N, context_layout<C>::hidden_stride);
    const auto x = s.template prepared<N, operand_needs<W>>(own);
    s.product(matrix, thread.share(W::tiles), x, ctx.logits_data(), context_layout<C>::logits_count);
    s.template show<"result_output">(no_layer, ctx.logits_data(), C::spec.vocab, context_layout<C>::logits_count);
  }
};

/// A chunk of tokens from embedding to the last layer, and the logits of its last token where they are wanted.
template <ModelConfig C, Arch A, class Trace> struct chunk_pass {
  Context<C>& ctx;
  const Weights<C>& weights;
  std::span<const token_id> tokens;
  std::size_t position;  // of the first token
  bool wants_logits;
  stop_flags& stop;
  Trace& trace;

  void operator()(const worker& thread) const noexcept {
    const Step<C, A, Trace> step{ctx, weights, thread, tokens.size(), position, trace};
    embed(step);
    for (std::size_t layer = 0; layer < C::spec.layers; ++layer) {
      if (thread.index() == 0) stop.look(layer);
      weights.visit_layer(layer, layer_pass<C, A, Trace>{step, layer});
      if (stop.seen(layer)) return;
    }
    if (wants_logits) head_pass<C, A, Trace>{ctx, weights, tokens.size() - 1, trace}(thread);
  }

 private:
  LLAMBDA_INLINE void embed(const Step<C, A, Trace>& s) const noexcept {
    const range mine = s.thread.share(s.tokens);
    for (std::size_t t = mine.begin; t < mine.end; ++t) {
      weights.globals.token_embd.decode_row(static_cast<std::size_t>(tokens[t]),
                                            ctx.hidden + t * context_layout<C>::hidden_stride);
    }
    s.thread.barrier();
    s.template show<"inp_embd">(no_layer, ctx.hidden, C::spec.hidden, context_layout<C>::hidden_stride);
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
