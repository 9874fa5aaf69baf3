// The token loop: prefill the prompt, then sample, show, decode, until something says stop. Text reaches the caller
// through a callback, always in whole UTF-8 characters. Nothing is allocated once the loop runs.
#pragma once

#include <llambda/generate/model.hpp>
#include <llambda/sample/sampler.hpp>
#include <llambda/text/stream.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

enum class finish_reason : std::uint8_t {
  end_of_text,  ///< the model produced an end token (its text is not shown)
  length,       ///< max_tokens, or the context is full
  stopped,      ///< the callback returned false
  cancelled,    ///< the cancel flag was set
};

constexpr std::string_view name_of(finish_reason r) noexcept {
  switch (r) {
    case finish_reason::end_of_text: return "end_of_text";
    case finish_reason::length: return "length";
    case finish_reason::stopped: return "stopped";
    case finish_reason::cancelled: return "cancelled";
  }
  return "unknown";
}

struct generate_options {
  /// Tokens to generate: -1 until the text ends or the context is full, 0 only the prompt, n > 0 at most n.
  std::int64_t max_tokens = -1;
  sampling_params sampling{};
  bool ignore_end_of_text = false;              ///< go on after an end token; its text is not shown
  bool parse_special = false;                   ///< control tokens written in the prompt become control tokens
  const std::atomic<bool>* cancel = nullptr;    ///< looked at before every layer, prefill included
};

struct generation {
  finish_reason reason = finish_reason::length;
  generation_stats stats;
  std::vector<token_id> tokens;  ///< what was generated, an end token included
};

/// A function of a piece of text; returning false stops the generation, returning nothing goes on.
template <class F>
concept TextCallback = std::invocable<F&, std::string_view>;

namespace detail {

template <TextCallback F>
bool deliver(F& callback, std::string_view text) {
  if (text.empty()) return true;
  if constexpr (std::convertible_to<std::invoke_result_t<F&, std::string_view>, bool>) return callback(text);
  else return callback(text), true;
}

}  // namespace detail

/// Generates from ids, appended to what the context holds. A prompt that fills the context to its last position still
/// yields one token, which needs no position of its own.
/// Throws error(bad_argument) for max_tokens < -1, an empty prompt or sampling parameters out of range, and what
/// Transformer::forward throws; before anything is changed.
template <ModelConfig C, Arch A, TextCallback F>
generation generate(const Model<C, A>& model, Context<C>& ctx, thread_pool& pool, std::span<const token_id> prompt,
                    const generate_options& options, F&& callback) {
  if (options.max_tokens < -1) {
    throw error(errc::bad_argument, "llambda: generate: max_tokens must be -1 (no limit), 0 (prompt only) or more, not " +
                                        std::to_string(options.max_tokens));
  }
  const stopwatch clock;
  sampler choose(options.sampling, C::spec.vocab);
  const bool at_start = ctx.position() == 0 && prompt.size() == 1 && prompt[0] == model.tokens().bos();
  stream_decoder text(model.tokens(), {.at_start = at_start});
  const std::size_t room = ctx.capacity() - ctx.position();
  const std::size_t left = prompt.size() < room ? room - prompt.size() : 0;  // positions after the prompt
  const std::size_t most = options.max_tokens < 0 || static_cast<std::uint64_t>(options.max_tokens) > left + 1
                               ? left + 1
                               : static_cast<std::size_t>(options.max_tokens);
  std::vector<token_id> history(prompt.begin(), prompt.end());
  history.reserve(prompt.size() + most);
  generation result;
  result.tokens.reserve(most);
  generation_stats& stats = result.stats;
  stats.prompt_tokens = prompt.size();

  if (!model.transformer().forward(ctx, prompt, pool, NoTrace{}, options.cancel)) {
    result.reason = finish_reason::cancelled;
    return result;
  }
  stats.prefill_seconds = clock.seconds();
  while (result.tokens.size() < most) {
    const token_id token = choose.sample(ctx.logits(), history);
    history.push_back(token);
    result.tokens.push_back(token);
    stats.generated_tokens = result.tokens.size();
    if (result.tokens.size() == 1) stats.first_token_seconds = clock.seconds();
    else stats.decode_seconds = clock.seconds() - stats.first_token_seconds;
    const bool end = model.tokens().is_eog(token);
    if (end && !options.ignore_end_of_text) {
      result.reason = finish_reason::end_of_text;
      break;
    }
    if (!end && !detail::deliver(callback, text.push(token))) {
      result.reason = finish_reason::stopped;
      return result;
    }
    if (result.tokens.size() == most) break;
    if (!model.transformer().forward(ctx, {&token, 1}, pool, NoTrace{}, options.cancel)) {
      result.reason = finish_reason::cancelled;
      break;
    }
  }
  detail::deliver(callback, text.finish());
  return result;
}

/// Generates from text. The beginning-of-text token is added where the vocabulary asks for it and the context is empty.
template <ModelConfig C, Arch A, TextCallback F>
generation generate(const Model<C, A>& model, Context<C>& ctx, thread_pool& pool, std::string_view prompt,
                    const generate_options& options, F&& callback) {
  encode_options encoding;
  encoding.parse_special = options.parse_special;
  if (ctx.position() != 0) encoding.add_bos = false;
  const std::vector<token_id> ids = model.tokens().encode(prompt, encoding);
  return generate(model, ctx, pool, std::span<const token_id>(ids), options, callback);
}

}  // namespace llambda::inline LLAMBDA_ABI
