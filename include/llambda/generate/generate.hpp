// The token loop: prefill the prompt, then sample, show, decode, until something says stop. Text reaches the caller
// through a callback, always in whole UTF-8 characters and without anything of a stop string. Nothing is allocated once
// the loop runs.
#pragma once

#include <llambda/generate/model.hpp>
#include <llambda/generate/stop_matcher.hpp>
#include <llambda/sample/sampler.hpp>
#include <llambda/text/stream.hpp>

#include <atomic>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

enum class finish_reason : std::uint8_t {
  end_of_text,  ///< the model produced an end token (its text is not shown)
  length,       ///< max_tokens, or the context is full
  stop,         ///< a stop string came (it is not shown)
  stopped,      ///< the callback returned false
  cancelled,    ///< the cancel flag was set
};

constexpr std::string_view name_of(finish_reason r) noexcept {
  switch (r) {
    case finish_reason::end_of_text: return "end_of_text";
    case finish_reason::length: return "length";
    case finish_reason::stop: return "stop";
    case finish_reason::stopped: return "stopped";
    case finish_reason::cancelled: return "cancelled";
  }
  return "unknown";
}

struct generate_options {
  /// Tokens to generate: -1 until the text ends or the context is full, 0 only the prompt, n > 0 at most n.
  std::int64_t max_tokens = -1;
  sampling_params sampling{};
  std::vector<std::string> stop{};              ///< texts that end the generation, wherever tokens begin and end
  int log_probs = 0;                            ///< report this many most probable tokens for each; 0: none
  bool ignore_end_of_text = false;              ///< go on after an end token; its text is not shown
  bool parse_special = false;                   ///< control tokens written in the prompt become control tokens
  const std::atomic<bool>* cancel = nullptr;    ///< looked at before every layer, prefill included
};

struct generation {
  finish_reason reason = finish_reason::length;
  generation_stats stats;
  std::vector<token_id> tokens;  ///< what was generated, an end token and the tokens of a stop string included
  /// (tokens, 1 + log_probs) if they were asked for: the token itself, then the most probable ones, best first. They
  /// are the model's, before bias, penalties, filters and temperature. Rows that lack tokens end with token_none.
  std::vector<token_log_prob> log_probs;
};

/// A function of a piece of text; returning false stops the generation, returning nothing goes on.
template <class F>
concept TextCallback = std::invocable<F&, std::string_view>;

/// What chooses tokens: a sampling_chain, so a sampler too, or anything like it.
template <class S>
concept TokenSampler = requires(S& s, std::span<const float> logits, std::span<const token_id> history, token_id token,
                                std::span<token_log_prob> row) {
  { s.sample(logits, history) } -> std::same_as<token_id>;
  s.log_prob_row(logits, token, row);
};

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
/// `choose` is used instead of options.sampling.
/// Throws error(bad_argument) for max_tokens < -1, log_probs < 0 or above the vocabulary, an empty prompt, a stop
/// string that is empty or not UTF-8, or sampling parameters out of range, and what Transformer::forward throws; before
/// anything is changed.
template <ModelConfig C, Arch A, TextCallback F, TokenSampler S>
generation generate(const Model<C, A>& model, Context<C>& ctx, thread_pool& pool, std::span<const token_id> prompt,
                    const generate_options& options, F&& callback, S& choose) {
  if (options.max_tokens < -1) {
    throw error(errc::bad_argument, "llambda: generate: max_tokens must be -1 (no limit), 0 (prompt only) or more, not " +
                                        std::to_string(options.max_tokens));
  }
  sampling::check_range(options.log_probs >= 0 && static_cast<std::size_t>(options.log_probs) <= C::spec.vocab,
                        "log_probs", "0 (off) to the size of the vocabulary", options.log_probs);
  const stopwatch clock;
  const bool at_start = ctx.position() == 0 && prompt.size() == 1 && prompt[0] == model.tokens().bos();
  stream_decoder text(model.tokens(), {.at_start = at_start});
  stop_matcher stop(options.stop, text.longest_chunk());
  const std::size_t room = ctx.capacity() - ctx.position();
  const std::size_t left = prompt.size() < room ? room - prompt.size() : 0;  // positions after the prompt
  const std::size_t most = options.max_tokens < 0 || static_cast<std::uint64_t>(options.max_tokens) > left + 1
                               ? left + 1
                               : static_cast<std::size_t>(options.max_tokens);
  std::vector<token_id> history(prompt.begin(), prompt.end());
  history.reserve(prompt.size() + most);
  generation result;
  result.tokens.reserve(most);
  const std::size_t row = options.log_probs == 0 ? 0 : 1 + static_cast<std::size_t>(options.log_probs);
  result.log_probs.reserve(most * row);
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
    if (row != 0) {
      result.log_probs.resize(result.log_probs.size() + row);
      choose.log_prob_row(ctx.logits(), token, std::span(result.log_probs).last(row));
    }
    stats.generated_tokens = result.tokens.size();
    if (result.tokens.size() == 1) stats.first_token_seconds = clock.seconds();
    else stats.decode_seconds = clock.seconds() - stats.first_token_seconds;
    const bool end = model.tokens().is_eog(token);
    if (end && !options.ignore_end_of_text) {
      result.reason = finish_reason::end_of_text;
      break;
    }
    const bool wanted = end || detail::deliver(callback, stop.push(text.push(token)));
    if (stop.matched() || !wanted) {
      result.reason = stop.matched() ? finish_reason::stop : finish_reason::stopped;
      return result;
    }
    if (result.tokens.size() == most) break;
    if (!model.transformer().forward(ctx, {&token, 1}, pool, NoTrace{}, options.cancel)) {
      result.reason = finish_reason::cancelled;
      break;
    }
  }
  // What waited for the rest of a character or of a stop string.
  if (detail::deliver(callback, stop.push(text.finish()))) detail::deliver(callback, stop.finish());
  return result;
}

/// Generates from ids, choosing tokens as options.sampling says.
template <ModelConfig C, Arch A, TextCallback F>
generation generate(const Model<C, A>& model, Context<C>& ctx, thread_pool& pool, std::span<const token_id> prompt,
                    const generate_options& options, F&& callback) {
  sampler choose(options.sampling, C::spec.vocab);
  return generate(model, ctx, pool, prompt, options, callback, choose);
}

/// Generates from text, with a TokenSampler at the end or without. The beginning-of-text token is added where the
/// vocabulary asks for it and the context is empty.
template <ModelConfig C, Arch A, TextCallback F, TokenSampler... S>
  requires(sizeof...(S) <= 1)
generation generate(const Model<C, A>& model, Context<C>& ctx, thread_pool& pool, std::string_view prompt,
                    const generate_options& options, F&& callback, S&... choose) {
  encode_options encoding;
  encoding.parse_special = options.parse_special;
  if (ctx.position() != 0) encoding.add_bos = false;
  const std::vector<token_id> ids = model.tokens().encode(prompt, encoding);
  return generate(model, ctx, pool, std::span<const token_id>(ids), options, callback, choose...);
}

}  // namespace llambda::inline LLAMBDA_ABI
