// The options of generation on the command line: defined once, used by a model's `run` and checked by `llambda run`
// before it compiles one. Names and defaults are those people know from llama.cpp.
#pragma once

#include <CLI/CLI.hpp>

#include <limits>

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
  app.add_option("-s,--seed", o.seed, "of the random numbers; -1 = a new one each time")
      ->check(CLI::Range(std::int64_t{-1}, (std::numeric_limits<std::int64_t>::max)()))
      ->capture_default_str();
  add_thread_option(app, o.threads);
  app.add_flag("--special", o.special, "control tokens written in the prompt count as control tokens");
  app.add_flag("--ignore-eos", o.ignore_eos, "go on after an end token");
  app.add_flag("--json", o.json, "figures as JSON on standard error");
}

}  // namespace cli
