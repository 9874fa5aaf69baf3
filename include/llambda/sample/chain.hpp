// The sampling chain: stages composed when the program is compiled, from the logits of one step to a token, without
// allocation. `sampler` (sampler.hpp) is the chain that options describe.
//   sampling_chain chain(vocab_size, seed, stages::top_k{40}, my_stage{}, stages::temperature{0.7f});
// A stage is a struct with `void apply(sampling_step&)`; step.hpp says what it may do. If no stage chooses, the chain
// draws by the probabilities of what is left.
#pragma once

#include <llambda/core/hana.hpp>
#include <llambda/sample/log_probs.hpp>
#include <llambda/sample/stages.hpp>
#include <llambda/sample/step.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// One stream of choices: stages, random numbers and all memory they take. One per sequence; not for two threads at a
/// time. Memory: 16 bytes per token of the vocabulary, and what stages take.
template <class... Stages>
class sampling_chain {
  static_assert((SamplingStage<Stages> && ...),
                "llambda: sampling: a stage has a member function void apply(sampling_step&); add it");

 public:
  /// Errors: bad_argument for a vocabulary of 0 or more than 2^31 - 1 tokens, and what `check` and `prepare` of the
  /// stages throw.
  sampling_chain(std::size_t vocab_size, std::uint64_t seed, Stages... stages)
      : sampling_chain(vocab_size, seed, hana::tuple<Stages...>(std::move(stages)...)) {}

  sampling_chain(std::size_t vocab_size, std::uint64_t seed, hana::tuple<Stages...> stages)
      : stages_(std::move(stages)), random_(seed) {
    constexpr std::size_t most = 0x7fffffff;
    sampling::check_range(vocab_size >= 1 && vocab_size <= most, "vocab_size", "1 to 2^31 - 1",
                          static_cast<double>(vocab_size));
    for_each([&](auto& stage) {
      if constexpr (requires { stage.check(); }) stage.check();
      if constexpr (requires { stage.prepare(vocab_size); }) stage.prepare(vocab_size);
    });
    edited_.resize(vocab_size);
    candidates_.resize(vocab_size);
  }

  std::size_t vocab_size() const noexcept { return candidates_.size(); }

  /// Choose a token. `logits` (vocab_size) are those of the last position, `history` the tokens so far, prompt
  /// included. Nothing is allocated unless an error is thrown: bad_argument if the length of logits is not vocab_size;
  /// non_finite_logits if one is NaN or all are -inf; bad_token_id if the part of the history that a stage looks at
  /// leaves the vocabulary.
  token_id sample(std::span<const float> logits, std::span<const token_id> history = {}) {
    check_size(logits);
    sampling_step step(logits, history, random_, edited_, candidates_);
    for_each([&](auto& stage) {
      if (!step.is_chosen()) stage.apply(step);
    });
    if (!step.is_chosen()) stages::draw{}.apply(step);
    return step.chosen();
  }

  /// Log-probability of token `id`. `logits` are the raw ones that were given to sample.
  /// Errors: bad_argument, bad_token_id, non_finite_logits.
  float log_prob(std::span<const float> logits, token_id id) const {
    check_size(logits);
    sampling::check_token(id, logits.size(), "log_prob");
    return sampling::log_prob(logits[static_cast<std::size_t>(id)], sampling::log_sum_exp(logits));
  }

  /// sampling::top_log_probs of the raw logits. The chosen token need not be among them when it was drawn or a stage
  /// changed its logit: ask log_prob for it. Nothing is allocated. Errors: bad_argument, non_finite_logits.
  std::size_t top_log_probs(std::span<const float> logits, std::span<token_log_prob> top) {
    check_size(logits);
    return sampling::top_log_probs(logits, sampling::log_sum_exp(logits), top, candidates_);
  }

  /// row[0] becomes the token `chosen`, the rest the most probable tokens, then {token_none, -inf} if there are no
  /// more. Nothing is allocated. Precondition: row is not empty. Errors: as log_prob.
  void log_prob_row(std::span<const float> logits, token_id chosen, std::span<token_log_prob> row) {
    check_size(logits);
    sampling::check_token(chosen, logits.size(), "log_prob");
    const double log_sum = sampling::log_sum_exp(logits);
    row[0] = {chosen, sampling::log_prob(logits[static_cast<std::size_t>(chosen)], log_sum)};
    const std::span<token_log_prob> top = row.subspan(1);
    const std::size_t found = sampling::top_log_probs(logits, log_sum, top, candidates_);
    std::fill(top.begin() + static_cast<std::ptrdiff_t>(found), top.end(), token_log_prob{});
  }

  /// Begin again: the stream of random numbers of `seed`, and stages that remember nothing.
  void reset(std::uint64_t seed) noexcept {
    random_ = pcg32(seed);
    for_each([](auto& stage) {
      if constexpr (requires { stage.reset(); }) stage.reset();
    });
  }

 private:
  template <class F>
  void for_each(F&& f) {
    hana::unpack(stages_, [&](auto&... stage) { (f(stage), ...); });
  }

  void check_size(std::span<const float> logits) const {
    if (logits.size() == candidates_.size()) return;
    throw error(errc::bad_argument, "llambda: sampling: " + std::to_string(logits.size()) +
                                        " logits for a vocabulary of " + std::to_string(candidates_.size()));
  }

  hana::tuple<Stages...> stages_;
  pcg32 random_;
  std::vector<float> edited_;          // (vocab)
  std::vector<candidate> candidates_;  // (vocab)
};

}  // namespace llambda::inline LLAMBDA_ABI
