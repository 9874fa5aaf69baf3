// The specialised half of a model's program: the only file that is compiled for the model and the instruction set.
// LLAMBDA_MODEL_HEADER is the config's header and LLAMBDA_MODEL_TYPE its type; LLAMBDA_MODEL_EMBEDDED says that the
// model file is linked in, LLAMBDA_MODEL_PATH where it was otherwise.
#include <llambda/llambda.hpp>
#include <llambda/simd/isa_guard.hpp>

#include LLAMBDA_MODEL_HEADER

#include <cstdio>

#include "program.hpp"

LLAMBDA_ISA_GUARD();

#ifdef LLAMBDA_MODEL_EMBEDDED
extern "C" const unsigned char llambda_embedded_begin[];
extern "C" const unsigned char llambda_embedded_end[];
#endif
#ifndef LLAMBDA_MODEL_PATH
#define LLAMBDA_MODEL_PATH ""
#endif

namespace {

using namespace llambda;
using config = LLAMBDA_MODEL_TYPE;
using model_type = Model<config>;

/// Calls f; errors of the library become failures: 2 for a bad argument, 1 for the rest.
template <class F> auto guarded(F&& f) {
  try {
    return f();
  } catch (const llambda::error& e) {
    throw cli::failure(e.code() == errc::bad_argument ? 2 : 1, e.what());
  }
}

model_type load(const cli::model_source& source, thread_pool& pool, const cli::progress& progress) {
  const load_options options{progress, source.pack_cache};
#ifdef LLAMBDA_MODEL_EMBEDDED
  if (source.path.empty()) {
    const std::span<const unsigned char> bytes(llambda_embedded_begin, llambda_embedded_end);
    return model_type::from_bytes(std::as_bytes(bytes), "embedded model", pool, options);
  }
#endif
  model_type model = model_type::load(source.path, pool, options);
  const std::string& failure = model.transformer().weights().cache_failure;
  if (!failure.empty()) std::fprintf(stderr, "llambda: warning: %s\n", failure.c_str());
  return model;
}

/// "15043-1.5": the sign that ends the digits begins the number.
token_bias parse_bias(const std::string& text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  std::size_t id_end = 0, end = 0;
  token_bias b{};
  try {
    b.id = std::stoi(text, &id_end);
    b.bias = std::stof(text.substr(id_end), &end);
  } catch (const std::exception&) {
    end = 0;
  }
  if (digits == 0 || id_end != digits || end == 0 || id_end + end != text.size() ||
      (text[digits] != '+' && text[digits] != '-')) {
    throw cli::failure(2, "--logit-bias " + text + ": expected TOKEN_ID(+/-)BIAS, as 15043+1.5");
  }
  return b;
}

sampling_params sampling_of(const cli::run_options& o) {
  sampling_params p{.temperature = o.temperature,
                    .dynatemp_range = o.dynatemp_range,
                    .dynatemp_exponent = o.dynatemp_exponent,
                    .top_k = o.top_k,
                    .top_p = o.top_p,
                    .min_p = o.min_p,
                    .typical_p = o.typical_p,
                    .top_n_sigma = o.top_n_sigma,
                    .xtc_probability = o.xtc_probability,
                    .xtc_threshold = o.xtc_threshold,
                    .repeat_penalty = o.repeat_penalty,
                    .repeat_last_n = o.repeat_last_n,
                    .presence_penalty = o.presence_penalty,
                    .frequency_penalty = o.frequency_penalty,
                    .dry_multiplier = o.dry_multiplier,
                    .dry_base = o.dry_base,
                    .dry_allowed_length = o.dry_allowed_length,
                    .dry_penalty_last_n = o.dry_penalty_last_n,
                    .mirostat = o.mirostat,
                    .mirostat_tau = o.mirostat_ent,
                    .mirostat_eta = o.mirostat_lr,
                    .seed = static_cast<std::uint64_t>(o.seed)};
  for (const std::string& text : o.logit_bias) p.logit_bias.push_back(parse_bias(text));
  return p;
}

std::vector<std::vector<cli::scored_token>> scored_tokens(const tokenizer& t, const generation& g, int log_probs) {
  std::vector<std::vector<cli::scored_token>> rows;
  for (std::size_t i = 0; i < g.log_probs.size(); ++i) {
    const token_log_prob& x = g.log_probs[i];
    if (i % (1 + static_cast<std::size_t>(log_probs)) == 0) rows.emplace_back();
    if (x.id != token_none) rows.back().push_back({x.id, std::string(t.piece(x.id, true)), x.log_prob});
  }
  return rows;
}

class specialised_program final : public cli::program {
 public:
  std::string name() const override { return std::string(config::spec.name); }
  std::string arch() const override { return std::string(default_arch::name); }
  bool embedded() const override {
#ifdef LLAMBDA_MODEL_EMBEDDED
    return true;
#else
    return false;
#endif
  }
  std::string default_path() const override { return LLAMBDA_MODEL_PATH; }
  std::size_t peak_rss_bytes() const override { return llambda::peak_rss_bytes(); }

  cli::plan_report plan() const override {
    using P = MemoryPlan<config>;
    constexpr Limits limits = limits_of<config>;
    cli::plan_report r{limits.context,     limits.batch,    limits.threads, std::string(info(limits.kv).name),
                       P::weights_in_file, P::kv_per_token, P::total(),     {}};
    for (const auto& [entry, bytes] : P::entries()) r.entries.emplace_back(entry, bytes);
    return r;
  }

  cli::run_report run(const cli::model_source& source, const cli::run_options& o, std::string_view prompt,
                      const std::atomic<bool>& cancel, const cli::progress& loading,
                      const std::function<bool(std::string_view)>& text) const override {
    return guarded([&] {
      generate_options options;
      options.max_tokens = o.max_tokens;
      options.sampling = sampling_of(o);
      options.sampling.validate();  // before minutes of loading
      options.ignore_end_of_text = o.ignore_eos;
      options.parse_special = o.special;
      options.cancel = &cancel;
      options.stop = o.stop;
      options.log_probs = o.log_probs;
      stop_matcher{options.stop};  // refuses what is no text
      thread_pool pool(o.threads);
      const model_type model = load(source, pool, loading);
      if (o.dry_multiplier > 0 && o.dry_breakers != std::vector<std::string>{"none"}) {
        options.sampling.dry_breakers = sequence_breakers(model.tokens(), o.dry_breakers);
      }
      const auto context = model.make_context();
      const generation g = generate(model, *context, pool, prompt, options, text);
      const generation_stats& s = g.stats;
      return cli::run_report{
          .finish_reason = std::string(name_of(g.reason)),
          .cancelled = g.reason == finish_reason::cancelled,
          .threads = pool.size(),
          .load_seconds = model.load_seconds(),
          .first_token_seconds = s.first_token_seconds,
          .prompt_tokens = s.prompt_tokens,
          .generated_tokens = s.generated_tokens,
          .prefill_tok_s = s.prefill_tokens_per_second(),
          .decode_tok_s = s.decode_tokens_per_second(),
          .planned_bytes = MemoryPlan<config>::total(),
          .arena_bytes = model.transformer().weights().memory.used() + context->memory_used(),
          .mapped_bytes = MemoryPlan<config>::weights_mapped,
          .peak_rss_bytes = llambda::peak_rss_bytes(),
          .log_probs = scored_tokens(model.tokens(), g, o.log_probs),
      };
    });
  }

  cli::bench_row bench(const cli::model_source& source, const cli::bench_options& o, unsigned threads,
                       const std::atomic<bool>& cancel, const cli::progress& measuring) const override {
    return guarded([&] {
      thread_pool pool(threads);
      const model_type model = load(source, pool, {});
      const auto context = model.make_context();
      const std::size_t longest = (std::max)(o.prompt, o.generate);
      if (o.depth > context->capacity() || longest > context->capacity() - o.depth) {
        throw llambda::error(errc::context_overflow,
                             "llambda: bench: depth " + std::to_string(o.depth) + " + " + std::to_string(longest) +
                                 " tokens do not fit in the context of " + std::to_string(context->capacity()) +
                                 "; lower -p, -n or --depth, or build with a larger --context");
      }
      std::vector<token_id> tokens((std::max)({o.prompt, o.depth, std::size_t{16}}));
      std::uint32_t random = 1;  // any ids do; these are the same in every run
      for (token_id& t : tokens) {
        random = random * 1664525u + 1013904223u;
        t = static_cast<token_id>((random >> 8) % config::spec.vocab);
      }
      const auto seconds = [&](std::size_t calls, std::size_t n) {
        const stopwatch clock;
        for (std::size_t i = 0; i < calls; ++i) {
          model.transformer().forward(*context, std::span(tokens).first(n), pool);
        }
        return clock.seconds();
      };
      cli::bench_row row{pool.size(), model.load_seconds(), 0, {}, {}};
      for (std::size_t r = 0; r <= o.repeats && !cancel; ++r) {  // round 0 warms up
        if (measuring) measuring(r, o.repeats + 1);
        context->reset();
        row.first_token_ms = seconds(1, (std::min)(std::size_t{16}, context->capacity())) * 1e3;
        context->reset();
        if (o.depth) seconds(1, o.depth);
        if (o.prompt) {
          const double s = seconds(1, o.prompt);
          if (r) row.prefill.push_back(static_cast<double>(o.prompt) / s);
        }
        context->truncate(o.depth);
        if (o.generate) {
          const double s = seconds(o.generate, 1);
          if (r) row.decode.push_back(static_cast<double>(o.generate) / s);
        }
      }
      return row;
    });
  }

  cli::perplexity_report perplexity(const cli::model_source& source, const cli::perplexity_options& o,
                                    std::string_view text, const cli::progress& scoring) const override {
    return guarded([&] {
      thread_pool pool(o.threads);
      const model_type model = load(source, pool, {});
      const auto context = model.make_context();
      encode_options encoding;
      encoding.add_bos = false;
      const std::vector<token_id> ids = model.tokens().encode(text, encoding);
      const std::size_t window = o.window ? o.window : (std::min)(std::size_t{512}, context->capacity() - 1);
      const stopwatch clock;
      const auto r = llambda::perplexity(model, *context, pool, std::span<const token_id>(ids), window, scoring);
      return cli::perplexity_report{r.perplexity(), r.nats, clock.seconds(), r.scored_tokens, ids.size(), window};
    });
  }
};

}  // namespace

const cli::program& cli::this_program() {
  static const specialised_program program;
  return program;
}
