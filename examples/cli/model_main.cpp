// The command line of a model's program: run, bench, plan, perplexity. Compiled once for any x86-64 and linked with the
// specialised half of each model.
#include "model_commands.hpp"
#include "run_options.hpp"

int main(int argc, char** argv) try {
  cli::handle_signals();
  const cli::program& program = cli::this_program();
  CLI::App app("A program for one model: " + program.name());
  app.set_version_flag("--version", "llambda " LLAMBDA_PROGRAM_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  cli::model_source source;
  if (!program.embedded()) source.path = program.default_path();
  app.add_option("-m,--model", source.path,
                 program.embedded() ? "use this file instead of the embedded model" : "model file")
      ->capture_default_str();
  cli::add_pack_cache_option(app, source);

  cli::run_options run;
  auto* run_command = app.add_subcommand("run", "generate text");
  cli::add_run_options(*run_command, run);

  const std::size_t context = program.plan().context;
  cli::bench_options bench;
  bench.prompt = std::min<std::size_t>(512, context);
  bench.generate = std::min<std::size_t>(128, context);
  auto* bench_command = app.add_subcommand("bench", "measure prefill and decode speed");
  bench_command->add_option("-p,--n-prompt", bench.prompt, "prompt tokens")->capture_default_str();
  bench_command->add_option("-n,--n-gen", bench.generate, "generated tokens")->capture_default_str();
  bench_command->add_option("--depth", bench.depth, "tokens already in the context")->capture_default_str();
  bench_command->add_option("-r,--repetitions", bench.repeats, "measurements of each")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench_command->add_option("-t,--threads", bench.threads, "thread counts, comma separated; 0 = default")
      ->delimiter(',')
      ->check(CLI::Range(0u, 1024u));
  bench_command->add_option("-o,--output", bench.output, "md, csv or json")
      ->check(CLI::IsMember({"md", "csv", "json"}));
  bench_command->add_flag_callback(
      "--json", [&] { bench.output = "json"; }, "same as -o json");

  bool plan_json = false;
  auto* plan_command = app.add_subcommand("plan", "show the memory plan");
  plan_command->add_flag("--json", plan_json, "as JSON");

  cli::perplexity_options perplexity;
  auto* perplexity_command = app.add_subcommand("perplexity", "score a text");
  perplexity_command->add_option("-f,--file", perplexity.file, "text file; - is standard input")->required();
  perplexity_command->add_option("--window", perplexity.window, "tokens a window; 0 = the context, at most 512");
  perplexity_command->add_flag("--json", perplexity.json, "as JSON");
  cli::add_thread_option(*perplexity_command, perplexity.threads);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : cli::exit_usage;
  }
  if (plan_command->parsed()) return cli::command_plan(program, plan_json);
  if (source.path.empty() && !program.embedded()) throw cli::failure(cli::exit_usage, "no model file: give it with -m");
  if (run_command->parsed()) return cli::command_run(program, run, source);
  if (bench_command->parsed()) return cli::command_bench(program, bench, source);
  return cli::command_perplexity(program, perplexity, source);
} catch (const cli::failure& e) {
  std::fprintf(stderr, "llambda: error: %s\n", e.what());
  return e.exit_code;
} catch (const std::exception& e) {
  std::fprintf(stderr, "llambda: error: %s\n", e.what());
  return cli::exit_failed;
}
