// Perplexity of a text: exp of the mean of -log p(token | tokens before it). The text is cut into windows of equal
// length; each starts from an empty context, with the beginning-of-text token in front where the vocabulary asks for
// it, and every token of a window after its first is scored. Sums are in F64.
#pragma once

#include <llambda/generate/model.hpp>
#include <llambda/sample/log_probs.hpp>

#include <cmath>
#include <functional>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

struct perplexity_result {
  std::size_t scored_tokens = 0;
  double nats = 0;  ///< sum of -log p
  double perplexity() const noexcept {
    return scored_tokens ? std::exp(nats / static_cast<double>(scored_tokens)) : 0;
  }
};

/// `window`: tokens of the text a window, beginning-of-text not counted; it must fit the context.
/// `progress(done, total)` may be empty. Throws error(bad_argument), and non_finite_logits for NaN.
template <ModelConfig C, Arch A>
perplexity_result perplexity(const Model<C, A>& model, Context<C>& ctx, thread_pool& pool,
                             std::span<const token_id> text, std::size_t window,
                             const std::function<void(std::size_t, std::size_t)>& progress = {}) {
  const bool add_bos = model.tokens().vocabulary().add_bos && model.tokens().bos() != token_none;
  if (window < 2 || window + add_bos > ctx.capacity()) {
    throw error(errc::bad_argument, "llambda: perplexity: a window of " + std::to_string(window) +
                                        " tokens; 2 to " + std::to_string(ctx.capacity() - add_bos) + " fit");
  }
  perplexity_result result;
  std::vector<token_id> tokens;
  for (std::size_t first = 0; first + 1 < text.size(); first += window) {
    const auto part = text.subspan(first, (std::min)(window, text.size() - first));
    tokens.clear();
    if (add_bos) tokens.push_back(model.tokens().bos());
    tokens.insert(tokens.end(), part.begin(), part.end());
    ctx.reset();
    for (std::size_t at = 0; at + 1 < tokens.size();) {
      const std::size_t n = (std::min)(limits_of<C>.batch, tokens.size() - 1 - at);
      model.transformer().forward(ctx, std::span(tokens).subspan(at, n), pool);
      for (std::size_t i = 0; i < n; ++i) {
        const token_id next = tokens[at + i + 1];
        if (at + i + 1 == add_bos) continue;  // the first token of the text has nothing of it before it
        model.transformer().logits(ctx, i, pool);
        const auto logits = ctx.logits();
        result.nats -= static_cast<double>(logits[static_cast<std::size_t>(next)]) - sampling::log_sum_exp(logits);
        ++result.scored_tokens;
      }
      at += n;
    }
    if (progress) progress(first + part.size(), text.size());
  }
  return result;
}

}  // namespace llambda::inline LLAMBDA_ABI
