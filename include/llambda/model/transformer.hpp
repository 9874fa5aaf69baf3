// The model: embed, layers, logits. Transformer<Config> is const and shared; what changes is in the Context.
//
// The guarantee: the logits of a token are the same bits whether its prompt came one token at a time or in chunks of
// any size, on any number of threads, on every instruction set. Every sum has one order, and it is part of the types.
#pragma once

#include <llambda/model/pass.hpp>

#include <string>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

template <ModelConfig C, Arch A = default_arch> class Transformer {
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
      stop_flags stop(cancel);
      pool.run(chunk_pass<C, A, std::remove_reference_t<Trace>>{ctx, weights_, tokens.first(n), ctx.position(), last,
                                                                stop, trace});
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
    pool.run(head_pass<C, A, std::remove_reference_t<Trace>>{ctx, weights_, i, trace});
  }

 private:
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
