// One step of sampling as the stages of a chain see it: first all logits by token id, then, from the first stage that
// asks for them, a list of candidates that only gets shorter. Stages that find few among many never make a list of all.
#pragma once

#include <llambda/core/token.hpp>
#include <llambda/sample/rng.hpp>
#include <llambda/sample/samplers.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

class sampling_step {
 public:
  /// Keeps references. `edited` and `room` are memory to work in, of the size of `logits`.
  sampling_step(std::span<const float> logits, std::span<const token_id> history, pcg32& random,
                std::span<float> edited, std::span<candidate> room) noexcept
      : logits_(logits), history_(history), random_(&random), edited_(edited), room_(room) {}

  std::span<const token_id> history() const noexcept { return history_; }  ///< tokens so far, prompt included
  pcg32& random() noexcept { return *random_; }
  std::size_t vocab_size() const noexcept { return logits_.size(); }

  /// Whether there is a list of candidates already.
  bool listed() const noexcept { return listed_; }

  /// All logits, as the stages before left them. Precondition: not listed().
  std::span<const float> logits() const noexcept { return logits_; }

  /// The candidates that are left; the first call lists all but those of -inf, ids rising.
  /// Errors: non_finite_logits on NaN or nothing but -inf.
  std::span<candidate> candidates() {
    if (!listed_) keep(sampling::gather(logits_, static_cast<double>(-sampling::infinity), room_));
    return kept_;
  }

  /// What goes on: some of candidates(), in any order, or of room() when nothing was listed.
  void keep(std::span<candidate> c) noexcept {
    kept_ = c;
    listed_ = true;
  }

  /// Memory for a list of all, for stages that make one from logits().
  std::span<candidate> room() noexcept { return room_; }

  /// Ends the step: no later stage is asked.
  void choose(token_id id) noexcept { chosen_ = id; }
  bool is_chosen() const noexcept { return chosen_ != token_none; }
  token_id chosen() const noexcept { return chosen_; }

  /// logit = change(logit, mark) for every token with a mark, once each. `marks` (vocab_size) are 0 but for some of
  /// `ids`, which may hold a token several times; they are all 0 again afterwards.
  template <std::invocable<float, int> F>
  void edit(std::span<const token_id> ids, std::span<int> marks, F&& change) {
    if (listed_) {
      for (candidate& c : kept_) {
        if (const int mark = marks[static_cast<std::size_t>(c.id)]) c.logit = change(c.logit, mark);
      }
    } else if (logits_.data() != edited_.data()) {
      std::copy(logits_.begin(), logits_.end(), edited_.begin());
      logits_ = edited_;
    }
    for (const token_id id : ids) {
      const auto i = static_cast<std::size_t>(id);
      const int mark = std::exchange(marks[i], 0);
      if (mark != 0 && !listed_) edited_[i] = change(edited_[i], mark);
    }
  }

 private:
  std::span<const float> logits_;
  std::span<const token_id> history_;
  pcg32* random_;
  std::span<float> edited_;     // (vocab): logits that a stage changed
  std::span<candidate> room_;   // (vocab)
  std::span<candidate> kept_;   // part of room_
  bool listed_ = false;
  token_id chosen_ = token_none;
};

/// A stage of a chain: a struct with `void apply(sampling_step&)`. It may also have
///   void check() const                     throws bad_argument for parameters outside their range
///   void prepare(std::size_t vocab_size)   called once by the chain: all memory is taken here
///   void reset()                           a new stream of tokens begins
template <class S>
concept SamplingStage = std::movable<S> && requires(S& stage, sampling_step& step) { stage.apply(step); };

}  // namespace llambda::inline LLAMBDA_ABI
