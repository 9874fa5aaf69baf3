// The stages that change the logits of single tokens: bias, penalties for what was said before, DRY. Names and defaults
// are llama.cpp's, and neutral values switch them off; what they do to a logit is in penalties.hpp.
// Errors of check: bad_argument naming the parameter; bad_token_id of prepare for a bias, of apply for the history.
#pragma once

#include <llambda/sample/penalties.hpp>
#include <llambda/sample/step.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

namespace stages {

/// Adds to the logits of single tokens; of two biases for one token the last counts.
struct logit_bias {
  std::vector<token_bias> biases;
  std::vector<token_id> ids{};  // of biases
  std::vector<int> marks{};     // (vocab): place in biases + 1

  void check() const {
    for (const token_bias& b : biases) sampling::check_range(b.bias == b.bias, "logit_bias", "a number", b.bias);
  }
  void prepare(std::size_t vocab_size) {
    for (const token_bias& b : biases) {
      sampling::check_token(b.id, vocab_size, "logit_bias");
      ids.push_back(b.id);
    }
    if (!biases.empty()) marks.assign(vocab_size, 0);
  }
  void apply(sampling_step& step) {
    if (biases.empty()) return;
    for (std::size_t i = 0; i < biases.size(); ++i) marks[static_cast<std::size_t>(ids[i])] = static_cast<int>(i) + 1;
    step.edit(ids, marks, [&](float logit, int mark) {
      return sampling::biased(logit, biases[static_cast<std::size_t>(mark) - 1].bias);
    });
  }
};

/// Repetition, presence and frequency penalties on the last tokens.
struct penalties {
  float repeat = 1;
  float presence = 0;
  float frequency = 0;
  int last_n = 64;
  std::vector<int> counts{};  // (vocab): how often a token stands in the window

  bool active() const noexcept { return last_n != 0 && (repeat != 1 || presence != 0 || frequency != 0); }
  void check() const {
    sampling::check_repeat_penalty(repeat);
    sampling::check_presence_penalty(presence);
    sampling::check_frequency_penalty(frequency);
    sampling::check_last_n(last_n, "repeat_last_n");
  }
  void prepare(std::size_t vocab_size) {
    if (active()) counts.assign(vocab_size, 0);
  }
  void apply(sampling_step& step) {
    if (!active()) return;
    const auto window = sampling::penalty_window(step.history(), last_n);
    for (const token_id id : window) sampling::check_token(id, counts.size(), "history");
    for (const token_id id : window) ++counts[static_cast<std::size_t>(id)];
    step.edit(window, counts, [&](float logit, int count) {
      return sampling::penalised(logit, count, repeat, presence, frequency);
    });
  }
};

/// DRY: tokens that would lengthen a repetition are made less likely, the more the longer it is. Breakers are sequences
/// of tokens that no repetition goes across (sequence_breakers.hpp makes them of text).
/// Cost: the window times the longest repetition that still matters (160 tokens for a base of 1.75).
struct dry {
  float multiplier = 0;
  float base = 1.75f;
  int allowed_length = 2;
  int last_n = -1;
  std::vector<std::vector<token_id>> breakers{};
  std::vector<int> lengths{};  // (vocab): the longest repetition a token would lengthen + 1

  bool active() const noexcept { return multiplier != 0 && last_n != 0; }
  void check() const {
    sampling::check_dry_multiplier(multiplier);
    sampling::check_dry_base(base);
    sampling::check_dry_allowed_length(allowed_length);
    sampling::check_last_n(last_n, "dry_penalty_last_n");
    for (const auto& b : breakers) sampling::check_range(!b.empty(), "dry_breakers", "of a token or more each", 0);
  }
  void prepare(std::size_t vocab_size) {
    if (!active()) return;
    std::sort(breakers.begin(), breakers.end());
    lengths.assign(vocab_size, 0);
  }
  void apply(sampling_step& step) {
    if (!active()) return;
    const auto window = sampling::penalty_window(step.history(), last_n);
    const auto allowed = static_cast<std::size_t>(allowed_length);
    if (window.size() <= allowed) return;
    for (const token_id id : window) sampling::check_token(id, lengths.size(), "history");
    std::size_t most = sampling::tokens_since_breaker(window, breakers);
    if (most < allowed) return;
    const int exponents = sampling::dry_max_exponent(base);
    if (exponents > 0) most = (std::min)(most, allowed + static_cast<std::size_t>(exponents));
    for (std::size_t back = 1; back < window.size(); ++back) {
      const std::size_t n = sampling::repeated_tokens(window, back, most);
      const token_id next = window[window.size() - back];
      if (n < allowed || std::binary_search(breakers.begin(), breakers.end(), std::span(&next, 1), less{})) continue;
      int& length = lengths[static_cast<std::size_t>(next)];
      length = (std::max)(length, static_cast<int>(n) + 1);
    }
    step.edit(window, lengths, [&](float logit, int length) {
      return sampling::dry_penalised(logit, length - 1 - allowed_length, multiplier, base);
    });
  }

 private:
  struct less {
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
    }
  };
};

}  // namespace stages

}  // namespace llambda::inline LLAMBDA_ABI
