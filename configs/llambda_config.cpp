// The config generator: reads a GGUF file's header and writes the C++ header of a type the library compiles.
//   llambda_config MODEL.gguf OUT.hpp [--name TYPE] [--sha256 HEX] [--context N] [--batch N] [--kv f16|f32|bf16|q8_0]
// Standard library only, compiled for any x86-64; llambda_model.cmake runs it while a project is built.
#include <llambda/arch/all.hpp>
#include <llambda/config/emit.hpp>
#include <llambda/io/gguf.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace {

int usage(const std::string& complaint) {
  std::fprintf(stderr,
               "llambda_config: %s\nusage: llambda_config MODEL.gguf OUT.hpp [--name TYPE] [--sha256 HEX] [--context N] "
               "[--batch N] [--kv f16|f32|bf16|q8_0]\n",
               complaint.c_str());
  return 2;
}

bool is_identifier(std::string_view s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (s.empty() || !letter(s.front())) return false;
  for (char c : s) {
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  }
  return true;
}

bool parse_size(std::string_view text, std::size_t& out) {
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  return code == std::errc{} && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<std::string> files;
  llambda::emit_options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (!arg.starts_with("--")) {
      files.push_back(arg);
      continue;
    }
    if (i + 1 == argc) return usage(arg + " needs a value");
    const std::string value = argv[++i];
    if (arg == "--name") {
      if (!is_identifier(value)) return usage("--name: not a C++ identifier: " + value);
      options.type_name = value;
    } else if (arg == "--sha256") {
      options.sha256 = value;
    } else if (arg == "--context") {
      if (!parse_size(value, options.limits.context)) return usage("--context: not a number: " + value);
    } else if (arg == "--batch") {
      if (!parse_size(value, options.limits.batch)) return usage("--batch: not a number: " + value);
    } else if (arg == "--kv") {
      options.limits.kv = llambda::quant_named(value);
      if (!llambda::is_kv_format(options.limits.kv)) return usage("--kv: f16, f32, bf16 or q8_0, not " + value);
    } else {
      return usage("unknown option " + arg);
    }
  }
  if (files.size() != 2) return usage("one input and one output file are needed");

  const llambda::gguf_file file = llambda::gguf_file::open(files[0]);
  options.source = std::filesystem::path(files[0]).filename().string();
  const std::string text = llambda::emit_config(llambda::read_spec(file), options);
  std::ofstream out(files[1], std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    std::fprintf(stderr, "llambda_config: cannot write %s\n", files[1].c_str());
    return 1;
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "llambda_config: %s\n", e.what());
  return 1;
}
