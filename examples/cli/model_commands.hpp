// What the commands of a model's program print. Text of the model goes to stdout alone; its figures go to stderr.
// Where figures are what was asked for (bench, plan, perplexity) they are the output.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <random>

#include "program.hpp"
#include "terminal.hpp"

namespace cli {

using ordered_json = nlohmann::ordered_json;

/// JSON as text; bytes of a model's name that are no UTF-8 are replaced.
inline std::string dump(const ordered_json& j, int indent) {
  return j.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline int command_run(const program& p, run_options o, const model_source& source) {
  if (o.seed < 0) o.seed = static_cast<std::int64_t>(std::random_device{}() & 0x7fffffffu);
  const std::string prompt = o.prompt_file.empty() ? o.prompt : read_text(o.prompt_file);
  bool written = true;
  progress_line line("packing weights");
  const run_report r = p.run(
      source, o, prompt, interrupted,
      [&](std::size_t done, std::size_t total) {
        line.update(done, total);
        if (done >= total) line.clear();
      },
      [&](std::string_view text) { return written = write_text(text); });
  if (written) written = write_text("\n");
  if (o.json) {
    ordered_json figures = {{"model", p.name()},
                                  {"arch", p.arch()},
                                  {"threads", r.threads},
                                  {"seed", o.seed},
                                  {"finish_reason", r.finish_reason},
                                  {"load_seconds", r.load_seconds},
                                  {"first_token_seconds", r.first_token_seconds},
                                  {"prompt_tokens", r.prompt_tokens},
                                  {"prefill_tok_s", r.prefill_tok_s},
                                  {"generated_tokens", r.generated_tokens},
                                  {"decode_tok_s", r.decode_tok_s},
                                  {"planned_bytes", r.planned_bytes},
                                  {"arena_bytes", r.arena_bytes},
                                  {"mapped_bytes", r.mapped_bytes},
                                  {"peak_rss_bytes", r.peak_rss_bytes}};
    const auto scored = [](const scored_token& t) {
      return ordered_json{{"id", t.id}, {"text", t.text}, {"logprob", t.log_prob}};
    };
    for (const auto& row : r.log_probs) {
      ordered_json token = scored(row.front());
      token["top"] = ordered_json::array();
      for (std::size_t i = 1; i < row.size(); ++i) token["top"].push_back(scored(row[i]));
      figures["logprobs"].push_back(std::move(token));
    }
    std::fprintf(stderr, "%s\n", dump(figures, -1).c_str());
  } else {
    std::fprintf(stderr,
                 "\n%s, %s, %u threads, seed %lld: %s\n"
                 "load        %9.1f ms\n"
                 "first token %9.1f ms\n"
                 "prefill     %9.1f tok/s  (%zu tokens)\n"
                 "decode      %9.1f tok/s  (%zu tokens)\n"
                 "memory      %s planned, %s in arenas, %s peak resident\n",
                 p.name().c_str(), p.arch().c_str(), r.threads, static_cast<long long>(o.seed), r.finish_reason.c_str(),
                 r.load_seconds * 1e3, r.first_token_seconds * 1e3, r.prefill_tok_s, r.prompt_tokens, r.decode_tok_s,
                 r.generated_tokens, human_bytes(r.planned_bytes).c_str(), human_bytes(r.arena_bytes).c_str(),
                 human_bytes(r.peak_rss_bytes).c_str());
  }
  if (!written) throw failure(exit_failed, "standard output was closed");
  return r.cancelled ? exit_interrupted : 0;
}

inline double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  return v.size() % 2 ? v[v.size() / 2] : (v[v.size() / 2 - 1] + v[v.size() / 2]) / 2;
}

/// Largest minus smallest.
inline double spread(const std::vector<double>& v) {
  return v.empty() ? 0.0 : *std::max_element(v.begin(), v.end()) - *std::min_element(v.begin(), v.end());
}

inline int command_bench(const program& p, const bench_options& o, const model_source& source) {
  std::vector<bench_row> rows;
  for (unsigned t : o.threads) {
    progress_line line("measuring");
    rows.push_back(
        p.bench(source, o, t, interrupted, [&](std::size_t done, std::size_t total) { line.update(done, total); }));
  }
  if (o.output == "json") {
    ordered_json out = {{"model", p.name()},
                        {"arch", p.arch()},
                        {"n_prompt", o.prompt},
                        {"n_gen", o.generate},
                        {"depth", o.depth},
                        {"repeats", o.repeats},
                        {"planned_bytes", p.plan().total},
                        {"peak_rss_bytes", p.peak_rss_bytes()}};
    out["results"] = ordered_json::array();
    for (const bench_row& r : rows) {
      out["results"].push_back({{"threads", r.threads},
                                {"load_seconds", r.load_seconds},
                                {"first_token_ms", r.first_token_ms},
                                {"pp_tok_s", median(r.prefill)},
                                {"pp_all", r.prefill},
                                {"tg_tok_s", median(r.decode)},
                                {"tg_all", r.decode}});
    }
    std::printf("%s\n", dump(out, 2).c_str());
  } else if (o.output == "csv") {
    std::printf(
        "model,arch,threads,n_prompt,n_gen,depth,load_s,first_token_ms,pp_tok_s,pp_spread,tg_tok_s,tg_spread\n");
    for (const bench_row& r : rows) {
      std::printf("%s,%s,%u,%zu,%zu,%zu,%.3f,%.2f,%.2f,%.2f,%.2f,%.2f\n", dump(p.name(), -1).c_str(), p.arch().c_str(),
                  r.threads, o.prompt, o.generate, o.depth, r.load_seconds, r.first_token_ms, median(r.prefill),
                  spread(r.prefill), median(r.decode), spread(r.decode));
    }
  } else {
    std::printf("| model | arch | threads | load s | first token ms | pp%zu tok/s | tg%zu tok/s |\n", o.prompt,
                o.generate);
    std::printf("|---|---|--:|--:|--:|--:|--:|\n");
    for (const bench_row& r : rows) {
      std::printf("| %s | %s | %u | %.3f | %.1f | %.1f ± %.1f | %.1f ± %.1f |\n", p.name().c_str(), p.arch().c_str(),
                  r.threads, r.load_seconds, r.first_token_ms, median(r.prefill), spread(r.prefill) / 2,
                  median(r.decode), spread(r.decode) / 2);
    }
  }
  return interrupted ? exit_interrupted : 0;
}

inline int command_plan(const program& p, bool json) {
  const plan_report r = p.plan();
  if (json) {
    ordered_json out = {{"model", p.name()},
                        {"context", r.context},
                        {"batch", r.batch},
                        {"kv", r.kv},
                        {"threads", r.threads},
                        {"weights_in_file", r.weights_in_file},
                        {"kv_per_token", r.kv_per_token}};
    for (const auto& [name, bytes] : r.entries) out[name] = bytes;
    out["total"] = r.total;
    std::printf("%s\n", dump(out, 2).c_str());
    return 0;
  }
  std::printf("%s: context %zu, batch %zu, KV cache %s, up to %zu threads\n\n", p.name().c_str(), r.context, r.batch,
              r.kv.c_str(), r.threads);
  print_plan(r.entries, r.total);
  std::printf("\nKV cache a token: %s; tensors in the file: %s\n", human_bytes(r.kv_per_token).c_str(),
              human_bytes(r.weights_in_file).c_str());
  return 0;
}

inline int command_perplexity(const program& p, const perplexity_options& o, const model_source& source) {
  const std::string text = read_text(o.file);
  progress_line line("scoring");
  const perplexity_report r =
      p.perplexity(source, o, text, [&](std::size_t done, std::size_t total) { line.update(done, total); });
  line.clear();
  const double bits = r.nats / std::log(2.0) / static_cast<double>(std::max<std::size_t>(1, text.size()));
  if (o.json) {
    const ordered_json out = {{"model", p.name()},   {"perplexity", r.perplexity}, {"scored_tokens", r.scored_tokens},
                              {"tokens", r.tokens},  {"window", r.window},         {"bits_per_byte", bits},
                              {"seconds", r.seconds}};
    std::printf("%s\n", dump(out, 2).c_str());
  } else {
    std::printf("perplexity %.4f over %zu tokens (windows of %zu), %.4f bits a byte, %.1f s\n", r.perplexity,
                r.scored_tokens, r.window, bits, r.seconds);
  }
  return 0;
}

}  // namespace cli
