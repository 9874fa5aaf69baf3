// The model: embed, layers, logits. Transformer<Config> is const and shared; what changes is in the Context.
//
// The guarantee: the logits of a token are the same bits whether its prompt came one token at a time or in chunks of
// any size, on any number of threads, on every instruction set. Every sum has one order, and it is part of the types.
#pragma once

#include <llambda/model/attention_mixer.hpp>
#include <llambda/model/swiglu_ffn.hpp>

#include <atomic>
#include <string>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// Lets all threads of a step agree to stop. Thread 0 looks at the caller's flag when a layer begins; everyone reads
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

}  // namespace detail

template <ModelConfig C, Arch A = default_arch>
class Transformer {
 public:
  using config = C;
  using context = Context<C>;

  explicit Transformer(Weights<C> weights) noexcept : weights_(std::move(weights)) {}

  const Weights<C>& weights() const noexcept { return weights_; }

  /// Appends `tokens` to the context and computes the logits that follow the last one: ctx.logits(), (vocab).
  /// Works through them in chunks of Limits::batch. Nothing is allocated. When `cancel` becomes true on another thread,
  /// stops before the next layer and returns false: whole chunks done before stay in the context, the rest does not.
  /// Throws, before anything is changed: error(bad_argument) for no tokens or a pool larger than Limits::threads,
  /// error(bad_token_id), error(context_overflow).
  template <class Trace = NoTrace>
  bool forward(Context<C>& ctx, std::span<const token_id> tokens, thread_pool& pool, Trace&& trace = {},
               const std::atomic<bool>* cancel = nullptr) const {
    check(ctx, tokens, pool);
    while (!tokens.empty()) {
      const std::size_t n = tokens.size() < limits_of<C>.batch ? tokens.size() : limits_of<C>.batch;
      const bool last = n == tokens.size();
      const auto chunk = tokens.first(n);
      const std::size_t position = ctx.position();
      detail::stop_flags stop(cancel);
      pool.run([&](const worker& thread) noexcept {
        const Step<C, A, std::remove_reference_t<Trace>> step{ctx, weights_, thread, n, position, trace};
        embed(step, chunk);
        for (std::size_t layer = 0; layer < C::spec.layers; ++layer) {
          if (thread.index() == 0) stop.look(layer);
          weights_.visit_layer(layer, [&](const auto& w) LLAMBDA_LAMBDA {
            attention_mixer(step, w, layer);
            swiglu_ffn(step, w, layer);
          });
          if (stop.seen(layer)) return;
        }
        if (last) head(step, n - 1);
      });
      if (stop.cancelled()) return false;
      ctx.advance(n);
      tokens = tokens.subspan(n);
    }
    return true;
  }

  /// Computes the logits that follow token `i` of the last chunk (forward leaves those of its last token).
  /// Throws error(bad_argument) when the chunk has no such token.
  template <class Trace = NoTrace>
  void logits(Context<C>& ctx, std::size_t i, thread_pool& pool, Trace&& trace = {}) const {
    if (i >= ctx.chunk() || pool.size() > limits_of<C>.threads) {
      throw error(errc::bad_argument, "llambda: transformer: the last chunk has " + std::to_string(ctx.chunk()) +
                                          " tokens, asked for the logits of token " + std::to_string(i));
    }
    pool.run([&](const worker& thread) noexcept {
      head(Step<C, A, std::remove_reference_t<Trace>>{ctx, weights_, thread, 1, ctx.position(), trace}, i);
    });
  }

 private:
  template <class Trace>
  LLAMBDA_INLINE void embed(const Step<C, A, Trace>& s, std::span<const token_id> tokens) const noexcept {
    const range mine = s.thread.share(s.tokens);
    for (std::size_t t = mine.begin; t < mine.end; ++t) {
      weights_.globals.token_embd.decode_row(static_cast<std::size_t>(tokens[t]),
                                             s.ctx.hidden + t * context_layout<C>::hidden_stride);
    }
    s.thread.barrier();
    s.template show<"inp_embd">(no_layer, s.ctx.hidden, C::spec.hidden, context_layout<C>::hidden_stride);
  }

  /// Logits of token i of the chunk. Each thread normalises for itself and computes its share of the vocabulary.
  template <class Trace>
  LLAMBDA_INLINE void head(const Step<C, A, Trace>& chunk, std::size_t i) const noexcept {
    constexpr std::size_t N = C::spec.hidden;
    const auto& matrix = output();
    using W = std::remove_cvref_t<decltype(matrix)>;
    const Step<C, A, Trace> s{chunk.ctx, chunk.weights, chunk.thread, 1, chunk.position, chunk.trace};
    float* own = s.ctx.scratch_floats(s.thread.index());
    rmsnorm<N, A>(s.ctx.hidden + i * context_layout<C>::hidden_stride, weights_.globals.output_norm.data,
                  C::spec.norm_eps, own);
    s.template show<"result_norm">(no_layer, own, N, context_layout<C>::hidden_stride);
    const auto x = s.template prepared<N, operand_needs<W>>(own, 0);
    s.product(matrix, s.thread.share(W::tiles), x, s.ctx.logits_data(), context_layout<C>::logits_count);
    s.template show<"result_output">(no_layer, s.ctx.logits_data(), C::spec.vocab, context_layout<C>::logits_count);
  }

  const auto& output() const noexcept {
    if constexpr (tied<C>) return weights_.globals.token_embd;
    else return weights_.globals.output;
  }

  static void check(const Context<C>& ctx, std::span<const token_id> tokens, const thread_pool& pool) {
    if (tokens.empty()) throw error(errc::bad_argument, "llambda: transformer: forward needs at least one token");
    if (pool.size() > limits_of<C>.threads) {
      throw error(errc::bad_argument, "llambda: transformer: a pool of " + std::to_string(pool.size()) +
                                          " threads, but Limits::threads is " + std::to_string(limits_of<C>.threads));
    }
    if (tokens.size() > ctx.capacity() - ctx.position()) {
      throw error(errc::context_overflow, "llambda: transformer: " + std::to_string(tokens.size()) + " tokens after " +
                                              std::to_string(ctx.position()) + " do not fit in a context of " +
                                              std::to_string(ctx.capacity()));
    }
    for (token_id t : tokens) {
      if (t < 0 || static_cast<std::size_t>(t) >= C::spec.vocab) {
        throw error(errc::bad_token_id, "llambda: transformer: token " + std::to_string(t) +
                                            " is not in the vocabulary of " + std::to_string(C::spec.vocab));
      }
    }
  }

  Weights<C> weights_;
};

}  // namespace llambda::inline LLAMBDA_ABI
