// `llambda template`: the prompt that a chat template makes of messages. No model is loaded and no compiler involved.
// The template is a GGUF file's or a file of its own; the messages are JSON, as in a chat completion request: a list of
// them, or an object with "messages" and perhaps "tools". Further members of the object become variables.
#pragma once

#include <llambda/io/gguf.hpp>
#include <llambda/text/chat_template.hpp>
#include <llambda/text/chat_template_gguf.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "program.hpp"
#include "terminal.hpp"

namespace cli {

struct template_options {
  std::string source, messages, tools, name;
  std::optional<std::string> bos, eos;
  bool no_generation_prompt = false;
  bool marks = false;

  void add_to(CLI::App& app) {
    app.add_option("file", source, "GGUF file, or a file with a template")->required();
    app.add_option("-f,--file", messages, "JSON file with the messages; - for standard input")->required();
    app.add_option("--tools", tools, "JSON file with the tools");
    app.add_option("--name", name, "the file's template of this name, as tool_use");
    app.add_option("--bos", bos, "text of the token that begins a text; default: the file's");
    app.add_option("--eos", eos, "text of the token that ends a text; default: the file's");
    app.add_flag("--no-generation-prompt", no_generation_prompt, "do not begin the assistant's turn");
    app.add_flag("--marks", marks, "as JSON: pieces of text, and which of them the template wrote");
  }
};

namespace detail {

inline std::string read_all(const std::string& path) {
  std::ifstream in(path == "-" ? "/dev/stdin" : path, std::ios::binary);
  if (!in) throw failure(exit_failed, path + ": " + std::strerror(errno));
  return {std::istreambuf_iterator<char>(in), {}};
}

inline llambda::jinja::value to_value(const nlohmann::ordered_json& json) {
  using llambda::jinja::value;
  switch (json.type()) {
    case nlohmann::ordered_json::value_t::boolean:
      return json.get<bool>();
    case nlohmann::ordered_json::value_t::number_integer:
      return json.get<std::int64_t>();
    case nlohmann::ordered_json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() <= INT64_MAX) return json.get<std::int64_t>();
      [[fallthrough]];
    case nlohmann::ordered_json::value_t::number_float:
      return json.get<double>();
    case nlohmann::ordered_json::value_t::string:
      return json.get<std::string>();
    case nlohmann::ordered_json::value_t::array: {
      std::vector<value> items;
      for (const auto& item : json) items.push_back(to_value(item));
      return value::list(std::move(items));
    }
    case nlohmann::ordered_json::value_t::object: {
      std::vector<std::pair<std::string, value>> entries;
      for (const auto& [key, item] : json.items()) entries.emplace_back(key, to_value(item));
      return value::dict(std::move(entries));
    }
    default:
      return {};
  }
}

/// JSON that nests less than values may: the reader itself would take any depth.
inline llambda::jinja::value read_json(const std::string& path) {
  const auto shallow = [](int depth, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
    if (depth > llambda::jinja::max_value_depth) throw failure(exit_failed, "JSON that nests too deep");
    return true;
  };
  try {
    return to_value(nlohmann::ordered_json::parse(read_all(path), shallow));
  } catch (const nlohmann::json::exception& e) {
    throw failure(exit_failed, path + ": " + e.what());
  }
}

inline void print_marks(const llambda::marked_text& text) {
  nlohmann::ordered_json pieces = nlohmann::ordered_json::array();
  text.for_each_run([&](std::string_view run, llambda::text_origin origin) {
    pieces.push_back({{"text", run}, {"template", origin == llambda::text_origin::from_template}});
  });
  std::printf("%s\n", pieces.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

}  // namespace detail

inline int render_template(const template_options& o) {
  llambda::chat_options options{.add_generation_prompt = !o.no_generation_prompt};
  std::string source;
  char magic[4] = {};
  std::ifstream(o.source, std::ios::binary).read(magic, sizeof magic);
  if (std::string_view(magic, sizeof magic) == "GGUF") {
    const auto file = llambda::gguf_file::open(o.source);
    source = llambda::chat_template_source(file, o.name);
    options.bos_token = llambda::token_text(file, "tokenizer.ggml.bos_token_id");
    options.eos_token = llambda::token_text(file, "tokenizer.ggml.eos_token_id");
  } else {
    if (!o.name.empty()) throw failure(exit_usage, "--name is for GGUF files");
    source = detail::read_all(o.source);
  }
  if (o.bos) options.bos_token = o.bos;
  if (o.eos) options.eos_token = o.eos;

  llambda::jinja::value messages = detail::read_json(o.messages);
  if (messages.is(llambda::jinja::kind::dict)) {
    const llambda::jinja::value request = messages;
    messages = llambda::jinja::value();
    for (const auto& [key, v] : request.entries().entries) {
      if (key.view() == "messages")
        messages = v;
      else
        options.variables.emplace_back(key.text().str(), v);
    }
  }
  if (!messages.is(llambda::jinja::kind::list)) {
    throw failure(exit_failed, o.messages + ": expected a list of messages, or an object with \"messages\"");
  }
  if (!o.tools.empty()) options.tools = detail::read_json(o.tools);

  const llambda::marked_text text = llambda::chat_template::parse(source).render_marked(messages, options);
  if (o.marks) {
    detail::print_marks(text);
  } else {
    std::fwrite(text.str().data(), 1, text.size(), stdout);
  }
  return 0;
}

}  // namespace cli
