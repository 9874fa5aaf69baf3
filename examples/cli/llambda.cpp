// llambda, the driver: compiles a program for a model file once and runs it, or looks at a file without a compiler.
//   llambda run MODEL.gguf -p PROMPT ...     llambda build MODEL.gguf -o BIN ...     llambda inspect MODEL.gguf
//   llambda bench MODEL.gguf ...             llambda perplexity MODEL.gguf -f FILE ...
//   llambda template FILE -f MESSAGES.json ...       llambda tokenize MODEL.gguf -p TEXT ...
#include "build_model.hpp"
#include "inspect.hpp"
#include "run_options.hpp"
#include "template.hpp"
#include "tokenize.hpp"

namespace {

/// Options that decide what is compiled.
struct compile_options {
  cli::build_options build;
  std::string kv = "f16";

  void add_to(CLI::App& app) {
    app.add_option("--arch", build.arch, "instruction set: avx2, avxvnni, avx512, avx512vnni or native")
        ->check(CLI::IsMember({"avx2", "avxvnni", "avx512", "avx512vnni", "native"}))
        ->capture_default_str();
    add_limits(app);
    app.add_option("--cxx", build.compiler, "compiler; default $CXX, else g++");
  }
  void add_limits(CLI::App& app) {
    app.add_option("-c,--context", build.limits.context, "positions of the KV cache; 0 = the model's, at most 4096")
        ->check(CLI::Range(std::size_t{0}, llambda::rules::max_context));
    app.add_option("-b,--batch", build.limits.batch, "most tokens computed together")
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    app.add_flag("--in-place", build.limits.in_place, "no packed copy of the weights: least memory, slower");
    app.add_option("--kv", kv, "format of the KV cache: f16, f32, bf16 or q8_0")
        ->check(CLI::IsMember({"f16", "f32", "bf16", "q8_0"}));
  }
  void finish() { build.limits.kv = llambda::quant_named(kv); }
};

/// Replaces this process by the model's program.
[[noreturn]] void execute(const std::filesystem::path& binary, const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  execv(binary.c_str(), argv.data());
  throw cli::failure(cli::exit_failed, binary.string() + ": " + std::strerror(errno));
}

/// The words of `run` as the model's program takes them.
std::vector<std::string> run_arguments(const cli::run_options& o, const cli::model_source& source) {
  const auto number = [](float x) { return llambda::exact_text(x); };
  std::vector<std::string> a{"llambda",
                             "run",
                             "-m",
                             source.path,
                             "-n",
                             std::to_string(o.max_tokens),
                             "--temp",
                             number(o.temperature),
                             "--top-k",
                             std::to_string(o.top_k),
                             "--top-p",
                             number(o.top_p),
                             "--min-p",
                             number(o.min_p),
                             "--repeat-penalty",
                             number(o.repeat_penalty),
                             "--repeat-last-n",
                             std::to_string(o.repeat_last_n),
                             "--seed",
                             std::to_string(o.seed),
                             "--threads",
                             std::to_string(o.threads)};
  const std::pair<const char*, float> numbers[] = {{"--presence-penalty", o.presence_penalty},
                                                   {"--frequency-penalty", o.frequency_penalty},
                                                   {"--dry-multiplier", o.dry_multiplier},
                                                   {"--dry-base", o.dry_base},
                                                   {"--typical", o.typical_p},
                                                   {"--top-n-sigma", o.top_n_sigma},
                                                   {"--xtc-probability", o.xtc_probability},
                                                   {"--xtc-threshold", o.xtc_threshold},
                                                   {"--dynatemp-range", o.dynatemp_range},
                                                   {"--dynatemp-exp", o.dynatemp_exponent},
                                                   {"--mirostat-lr", o.mirostat_lr},
                                                   {"--mirostat-ent", o.mirostat_ent}};
  for (const auto& [name, value] : numbers) a.push_back(std::string(name) + "=" + number(value));
  const std::pair<const char*, int> counts[] = {{"--dry-allowed-length", o.dry_allowed_length},
                                                {"--dry-penalty-last-n", o.dry_penalty_last_n},
                                                {"--mirostat", o.mirostat},
                                                {"--logprobs", o.log_probs}};
  for (const auto& [name, value] : counts) a.push_back(std::string(name) + "=" + std::to_string(value));
  for (const std::string& text : o.dry_breakers) a.push_back("--dry-sequence-breaker=" + text);
  for (const std::string& text : o.logit_bias) a.push_back("--logit-bias=" + text);
  for (const std::string& text : o.stop) a.push_back("--stop=" + text);
  if (!o.prompt_file.empty())
    a.insert(a.end(), {"--file", o.prompt_file});
  else if (!o.prompt.empty())
    a.push_back("--prompt=" + o.prompt);
  if (source.pack_cache) a.push_back("--pack-cache");
  if (o.special) a.push_back("--special");
  if (o.ignore_eos) a.push_back("--ignore-eos");
  if (o.json) a.push_back("--json");
  return a;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("llambda: compiles a program for one model and runs it");
  app.set_version_flag("--version", std::string("llambda ") + llambda::version);
  app.require_subcommand(1);
  cli::model_source source;
  std::string& model = source.path;
  compile_options compile;

  cli::run_options run;
  auto* run_command = app.add_subcommand("run", "generate text; compiles a program for the model the first time");
  run_command->add_option("model", model, "GGUF file")->required();
  cli::add_run_options(*run_command, run);
  cli::add_pack_cache_option(*run_command, source);
  compile.add_to(*run_command);

  std::string output;
  auto* build_command = app.add_subcommand("build", "compile a program for the model");
  build_command->add_option("model", model, "GGUF file")->required();
  build_command->add_option("-o,--output", output, "the program")->required();
  build_command->add_flag("--embed", compile.build.embed, "link the model file into the program");
  compile.add_to(*build_command);

  // What these understand is the program's own affair: the words after the model are handed on.
  CLI::App* handed_on[] = {
      app.add_subcommand("bench", "measure prefill and decode speed: -p N -n N -t N,N -r N --depth N -o md|csv|json "
                     "--pack-cache"),
      app.add_subcommand("perplexity", "score a text: -f FILE --window N --threads N --json --pack-cache")};
  for (CLI::App* command : handed_on) {
    command->add_option("model", model, "GGUF file")->required();
    command->allow_extras();
    compile.add_to(*command);
  }

  bool json = false;
  auto* inspect_command = app.add_subcommand("inspect", "show metadata, tensors and memory plan of a file");
  inspect_command->add_option("model", model, "GGUF file")->required();
  inspect_command->add_flag("--json", json, "as JSON");
  compile.add_limits(*inspect_command);

  cli::template_options chat;
  auto* template_command = app.add_subcommand("template", "show the prompt that a chat template makes of messages");
  chat.add_to(*template_command);
  cli::tokenize_options tokenize;
  auto* tokenize_command = app.add_subcommand("tokenize", "show the tokens of a text; needs a vocabulary only");
  tokenize.add_to(*tokenize_command);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : cli::exit_usage;
  }
  compile.finish();
  if (template_command->parsed()) return cli::render_template(chat);
  if (tokenize_command->parsed()) return cli::tokenize(tokenize, tokenize_command->count("--prompt") != 0);
  if (inspect_command->parsed()) return cli::inspect(model, compile.build.limits, json);
  if (build_command->parsed()) {
    const auto binary = cli::build_model(model, compile.build);
    const std::filesystem::path temporary = output + ".tmp" + std::to_string(getpid());
    std::filesystem::copy_file(binary, temporary, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::rename(temporary, output);
    return 0;
  }
  const auto binary = cli::build_model(model, compile.build);
  for (const CLI::App* command : handed_on) {
    if (!command->parsed()) continue;
    std::vector<std::string> words{"llambda", command->get_name(), "-m", model};
    const std::vector<std::string> rest = command->remaining();
    words.insert(words.end(), rest.begin(), rest.end());
    execute(binary, words);
  }
  execute(binary, run_arguments(run, source));
} catch (const cli::failure& e) {
  std::fprintf(stderr, "llambda: error: %s\n", e.what());
  return e.exit_code;
} catch (const std::exception& e) {
  std::fprintf(stderr, "llambda: error: %s\n", e.what());
  return cli::exit_failed;
}
