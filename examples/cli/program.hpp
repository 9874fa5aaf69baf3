// The border between the two halves of a model's program. One half knows the command line and is compiled once, for any
// x86-64; the other knows the model and is compiled for it (model_program.cpp). Only plain types cross, so that the
// second half is the library and nothing else: it compiles in a third of the time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// An error that ends the program with a message and this exit code.
struct failure : std::runtime_error {
  failure(int code, const std::string& message) : std::runtime_error(message), exit_code(code) {}
  int exit_code;
};

/// Bytes or tokens done, and in all; may be empty.
using progress = std::function<void(std::size_t done, std::size_t total)>;

/// Where the model is: the path of a file, or nothing for the embedded one.
struct model_source {
  std::string path;
  bool pack_cache = false;
};

struct run_options {
  std::string prompt;
  std::string prompt_file;
  std::int64_t max_tokens = -1;
  float temperature = 0.8f;
  int top_k = 40;
  float top_p = 0.95f;
  float min_p = 0.05f;
  float repeat_penalty = 1.0f;
  int repeat_last_n = 64;
  float presence_penalty = 0, frequency_penalty = 0;
  float dry_multiplier = 0, dry_base = 1.75f;
  int dry_allowed_length = 2, dry_penalty_last_n = -1;
  std::vector<std::string> dry_breakers{"\n", ":", "\"", "*"};
  float typical_p = 1, top_n_sigma = -1;
  float xtc_probability = 0, xtc_threshold = 0.1f;
  float dynatemp_range = 0, dynatemp_exponent = 1;
  int mirostat = 0;
  float mirostat_lr = 0.1f, mirostat_ent = 5;
  std::vector<std::string> logit_bias;  ///< each a token id, a sign and a number: 15043-1.5
  std::vector<std::string> stop;
  int log_probs = 0;
  std::int64_t seed = -1;  ///< -1 = choose one
  unsigned threads = 0;    ///< 0 = default
  bool special = false;
  bool ignore_eos = false;
  bool json = false;
};

/// A token, what it says, and the natural logarithm of its probability.
struct scored_token {
  std::int32_t id = -1;
  std::string text;
  float log_prob = 0;
};

struct run_report {
  std::string finish_reason;
  bool cancelled = false;
  unsigned threads = 0;
  double load_seconds = 0, first_token_seconds = 0;
  std::size_t prompt_tokens = 0, generated_tokens = 0;
  double prefill_tok_s = 0, decode_tok_s = 0;
  std::size_t planned_bytes = 0, arena_bytes = 0, mapped_bytes = 0, peak_rss_bytes = 0;
  std::vector<std::vector<scored_token>> log_probs;  ///< for each token generated: itself, then the most probable ones
};

struct bench_options {
  std::size_t prompt = 512;
  std::size_t generate = 128;
  std::size_t depth = 0;  ///< tokens in the context before either is measured
  std::size_t repeats = 5;
  std::vector<unsigned> threads{0};
  std::string output = "md";
};

/// One thread count; tok/s, one value a repeat.
struct bench_row {
  unsigned threads = 0;
  double load_seconds = 0, first_token_ms = 0;
  std::vector<double> prefill, decode;
};

struct plan_report {
  std::size_t context = 0, batch = 0, threads = 0;
  std::string kv;
  std::size_t weights_in_file = 0, kv_per_token = 0, total = 0;
  std::vector<std::pair<std::string, std::size_t>> entries;
};

struct perplexity_options {
  std::string file;
  std::size_t window = 0;  ///< 0 = as many tokens as fit in the context, at most 512
  unsigned threads = 0;
  bool json = false;
};

struct perplexity_report {
  double perplexity = 0, nats = 0, seconds = 0;
  std::size_t scored_tokens = 0, tokens = 0, window = 0;
};

/// What the specialised half offers. Everything throws cli::failure.
struct program {
  virtual ~program() = default;
  virtual std::string name() const = 0;          ///< of the model
  virtual std::string arch() const = 0;          ///< instruction set
  virtual bool embedded() const = 0;             ///< the model file is part of the program
  virtual std::string default_path() const = 0;  ///< of the model file when it was built; empty if none
  virtual plan_report plan() const = 0;
  /// `text` gets the generated text and returns false to stop.
  virtual run_report run(const model_source&, const run_options&, std::string_view prompt,
                         const std::atomic<bool>& cancel, const progress& loading,
                         const std::function<bool(std::string_view)>& text) const = 0;
  virtual bench_row bench(const model_source&, const bench_options&, unsigned threads,
                          const std::atomic<bool>& cancel, const progress& measuring) const = 0;
  virtual perplexity_report perplexity(const model_source&, const perplexity_options&, std::string_view text,
                                       const progress& scoring) const = 0;
  virtual std::size_t peak_rss_bytes() const = 0;
};

/// The one program of this executable; defined in model_program.cpp.
const program& this_program();

}  // namespace cli
