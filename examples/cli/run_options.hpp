// The options of generation on the command line: defined once, used by a model's `run` and checked by `llambda run`
// before it compiles one. Names and defaults are those people know from llama.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <limits>
#include <string>
#include <vector>

#include "program.hpp"

namespace cli {

inline void add_thread_option(CLI::App& app, unsigned& threads) {
  app.add_option("-t,--threads", threads, "threads; 0 = one a physical core that may be used")
      ->check(CLI::Range(0u, 1024u))
      ->capture_default_str();
}

inline void add_pack_cache_option(CLI::App& app, model_source& source) {
  app.add_flag("--pack-cache", source.pack_cache,
               "keep the packed weights in a file beside the model, and map it from the second start on");
}

/// Sampling beyond the usual: one line of help each, ranges as sampling_params has them.
inline void add_sampling_options(CLI::App& app, run_options& o) {
  constexpr float most = (std::numeric_limits<float>::max)();
  constexpr int many = (std::numeric_limits<int>::max)();
  const auto number = [&](const char* name, float& to, const char* help, float least, float largest) {
    app.add_option(name, to, help)->check(CLI::Range(least, largest))->capture_default_str();
  };
  const auto count = [&](const char* name, int& to, const char* help, int least) {
    app.add_option(name, to, help)->check(CLI::Range(least, many))->capture_default_str();
  };
  const auto texts = [&](const char* name, std::vector<std::string>& to, const char* help) {
    return app.add_option(name, to, help)->take_all()->allow_extra_args(false);
  };
  number("--presence-penalty", o.presence_penalty, "taken from tokens seen in the last --repeat-last-n; 0 = off", -most,
         most);
  number("--frequency-penalty", o.frequency_penalty, "the same for each time a token was seen; 0 = off", -most, most);
  number("--dry-multiplier", o.dry_multiplier, "DRY penalty for lengthening a repetition; 0 = off", 0, most);
  number("--dry-base", o.dry_base, "how much more for each further token", 1, most);
  count("--dry-allowed-length", o.dry_allowed_length, "longest repetition without a penalty", 0);
  count("--dry-penalty-last-n", o.dry_penalty_last_n, "tokens DRY looks at; 0 = none, -1 = all", -1);
  texts("--dry-sequence-breaker", o.dry_breakers,
        "text no repetition goes across; repeatable, replaces newline : \" *; none = no breakers");
  number("--typical", o.typical_p, "keep tokens of typical surprise up to probability P; 1 = all", 0, 1);
  number("--top-n-sigma", o.top_n_sigma, "keep logits within N standard deviations of the largest; -1 = all", -1, most);
  number("--xtc-probability", o.xtc_probability, "how often to exclude the top choices; 0 = never", 0, 1);
  number("--xtc-threshold", o.xtc_threshold, "probability of a top choice; above 0.5 = none", 0, 1);
  number("--dynatemp-range", o.dynatemp_range, "temperature varies by this with the entropy; 0 = off", 0, most);
  number("--dynatemp-exp", o.dynatemp_exponent, "exponent of dynamic temperature", 0, most);
  app.add_option("--mirostat", o.mirostat, "2 = mirostat 2.0 instead of the filters; 0 = off")
      ->check(CLI::IsMember({0, 2}))
      ->capture_default_str();
  number("--mirostat-lr", o.mirostat_lr, "learning rate of mirostat", 0, most);
  number("--mirostat-ent", o.mirostat_ent, "surprise that mirostat aims at, in bits", 0, most);
  texts("-l,--logit-bias", o.logit_bias, "TOKEN_ID(+/-)BIAS, as 15043+1.5 or 15043-inf; repeatable");
  texts("-r,--reverse-prompt,--stop", o.stop, "text that ends the generation; not shown; repeatable");
  app.add_option("--logprobs", o.log_probs, "with --json: log-probabilities of each token and the N most probable")
      ->check(CLI::Range(0, 1000));
}

inline void add_run_options(CLI::App& app, run_options& o) {
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);  // scripts append options
  constexpr double most = (std::numeric_limits<float>::max)();
  auto* prompt = app.add_option("-p,--prompt", o.prompt, "text to continue");
  app.add_option("-f,--file", o.prompt_file, "read the prompt from a file; - is standard input")->excludes(prompt);
  app.add_option("-n,--predict", o.max_tokens, "tokens to generate; -1 until the text ends or the context is full")
      ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
      ->capture_default_str();
  app.add_option("--temp", o.temperature, "temperature; 0 = greedy")
      ->check(CLI::Range(0.0, most))
      ->capture_default_str();
  app.add_option("--top-k", o.top_k, "keep the K most probable tokens; 0 = all")
      ->check(CLI::Range(0, (std::numeric_limits<int>::max)()))
      ->capture_default_str();
  app.add_option("--top-p", o.top_p, "keep the fewest tokens that reach probability P; 1 = all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--min-p", o.min_p, "drop tokens below P times the most probable; 0 = none")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--repeat-penalty", o.repeat_penalty, "1 = off")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--repeat-last-n", o.repeat_last_n, "tokens the penalty looks at; 0 = none, -1 = all")
      ->check(CLI::Range(-1, (std::numeric_limits<int>::max)()))
      ->capture_default_str();
  add_sampling_options(app, o);
  app.add_option("-s,--seed", o.seed, "of the random numbers; -1 = a new one each time")
      ->check(CLI::Range(std::int64_t{-1}, (std::numeric_limits<std::int64_t>::max)()))
      ->capture_default_str();
  add_thread_option(app, o.threads);
  app.add_flag("--special", o.special, "control tokens written in the prompt count as control tokens");
  app.add_flag("--ignore-eos", o.ignore_eos, "go on after an end token");
  app.add_flag("--json", o.json, "figures as JSON on standard error");
}

}  // namespace cli
