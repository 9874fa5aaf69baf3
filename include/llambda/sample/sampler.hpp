// The chain that options describe, in llama.cpp's default order:
//   bias -> penalties -> DRY -> top-n-sigma -> top-k -> typical -> top-p -> min-p -> XTC -> temperature -> draw
// Temperature 0 is greedy: the largest logit that bias, penalties, typical and XTC leave, the first on ties.
// With mirostat 2 it is bias -> penalties -> DRY -> temperature -> mirostat: the filters are not asked.
#pragma once

#include <llambda/sample/chain.hpp>
#include <llambda/sample/stages.hpp>
#include <llambda/sample/token_stages.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

struct sampling_params {
  float temperature = 0.8f;        ///< 0: greedy; +inf: all that the filters leave are equal
  float dynatemp_range = 0;        ///< temperature +- this, by the entropy; 0: off
  float dynatemp_exponent = 1;     ///< how the entropy becomes a temperature
  int top_k = 40;                  ///< keep the k best; 0: off
  float top_p = 0.95f;             ///< keep the best that together reach this probability; >= 1: off
  float min_p = 0.05f;             ///< keep those at least this many times as probable as the best; 0: off
  float typical_p = 1;             ///< keep those of typical surprise that together exceed this probability; >= 1: off
  float top_n_sigma = -1;          ///< keep logits within n standard deviations of the largest; <= 0: off
  float xtc_probability = 0;       ///< how often the top choices are excluded; 0: off
  float xtc_threshold = 0.1f;      ///< what probability makes a top choice; above 0.5: off
  float repeat_penalty = 1.0f;     ///< above 1: tokens seen lately are made less likely; 1: off
  int repeat_last_n = 64;          ///< how many tokens back the penalties look; 0: off; -1: the whole history
  float presence_penalty = 0;      ///< taken from the logit of a token seen lately; 0: off
  float frequency_penalty = 0;     ///< the same, for each time it was seen; 0: off
  float dry_multiplier = 0;        ///< DRY penalty of a repetition of the allowed length; 0: off
  float dry_base = 1.75f;          ///< how much more for each further token
  int dry_allowed_length = 2;      ///< repetitions shorter than this cost nothing
  int dry_penalty_last_n = -1;     ///< how many tokens back DRY looks; 0: off; -1: the whole history
  std::vector<std::vector<token_id>> dry_breakers{};  ///< no repetition goes across these; see sequence_breakers
  std::vector<token_bias> logit_bias{};
  int mirostat = 0;                ///< 2: mirostat 2 instead of the filters; 0: off
  float mirostat_tau = 5;          ///< the surprise it aims at, in bits
  float mirostat_eta = 0.1f;       ///< how fast it learns
  std::uint64_t seed = 0;          ///< same seed, same logits: same tokens

  /// Errors: bad_argument naming the parameter that is outside its range (NaN always is).
  void validate() const;
};

using standard_chain =
    sampling_chain<stages::logit_bias, stages::penalties, stages::dry, stages::top_n_sigma, stages::top_k,
                   stages::typical, stages::top_p, stages::min_p, stages::xtc, stages::temperature, stages::mirostat>;

namespace sampling {

/// The stages of standard_chain with the parameters `p`.
inline auto standard_stages(const sampling_params& p) {
  return hana::make_tuple(
      stages::logit_bias{.biases = p.logit_bias},
      stages::penalties{.repeat = p.repeat_penalty,
                        .presence = p.presence_penalty,
                        .frequency = p.frequency_penalty,
                        .last_n = p.repeat_last_n},
      stages::dry{.multiplier = p.dry_multiplier,
                  .base = p.dry_base,
                  .allowed_length = p.dry_allowed_length,
                  .last_n = p.dry_penalty_last_n,
                  .breakers = p.dry_breakers},
      stages::top_n_sigma{.n = p.top_n_sigma}, stages::top_k{.k = p.top_k}, stages::typical{.p = p.typical_p},
      stages::top_p{.p = p.top_p}, stages::min_p{.p = p.min_p},
      stages::xtc{.probability = p.xtc_probability, .threshold = p.xtc_threshold},
      stages::temperature{.t = p.temperature, .range = p.dynatemp_range, .exponent = p.dynatemp_exponent},
      stages::mirostat{.version = p.mirostat, .tau = p.mirostat_tau, .eta = p.mirostat_eta});
}

}  // namespace sampling

inline void sampling_params::validate() const {
  hana::unpack(sampling::standard_stages(*this), [](const auto&... stage) { (stage.check(), ...); });
}

/// One stream of choices as sampling_params describe it.
class sampler : public standard_chain {
 public:
  /// Errors: bad_argument for a parameter outside its range, bad_token_id for a bias outside the vocabulary.
  sampler(const sampling_params& params, std::size_t vocab_size) : sampler(valid(params), vocab_size, params) {}

  const sampling_params& params() const noexcept { return params_; }

  /// Begin the stream of random numbers of `seed` again.
  void reset(std::uint64_t seed) noexcept {
    params_.seed = seed;
    standard_chain::reset(seed);
  }

 private:
  sampler(sampling_params&& used, std::size_t vocab_size, const sampling_params& params)
      : standard_chain(vocab_size, params.seed, sampling::standard_stages(used)), params_(params) {}

  /// The same choices with less work: filters that cannot change the largest logit, or are not asked, are off.
  static sampling_params valid(sampling_params p) {
    p.validate();
    const bool greedy = sampling::is_greedy(p.temperature) && p.dynatemp_range == 0;
    const bool may_lose_best = p.typical_p < 1 || p.xtc_probability > 0;
    if (p.mirostat != 0 || (greedy && !may_lose_best)) {
      p.top_k = 0;
      p.top_p = 1;
      p.min_p = 0;
      p.top_n_sigma = -1;
    }
    if (p.mirostat != 0) {
      p.typical_p = 1;
      p.xtc_probability = 0;
    }
    return p;
  }

  sampling_params params_;
};

}  // namespace llambda::inline LLAMBDA_ABI
