// Chat templates: the Jinja program in a model file that turns messages into the prompt the model was trained on.
// Parsed once, immutable, shared by any number of threads; the settings are those of Hugging Face transformers
// (trim_blocks, lstrip_blocks, a sandbox, tojson without HTML escapes), so that the text is theirs byte for byte.
//
//   const auto chat = llambda::chat_template::parse(source);
//   const std::vector<llambda::chat_message> messages = {{"user", "Hello"}};
//   std::string prompt = chat.render(messages, {.bos_token = "<s>"});
//
// What a user typed must not become a control token. render_marked says of every byte whether the template wrote it or
// the data did (marked_text.hpp); a tokenizer that reads control tokens only where is_template holds is safe by design,
// and still sees one text, so that no token is split where template and data meet. Roles count as the template's when
// they are plain words, because templates build control tokens from them ('<|' + role + '|>').
#pragma once

#include <llambda/text/jinja/interpreter.hpp>
#include <llambda/text/jinja/parser.hpp>

#include <algorithm>
#include <ctime>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// The plain kind of message. Others (tool calls, content in parts, reasoning) are given as jinja::value.
struct chat_message {
  std::string role;
  std::string content;
};

struct chat_options {
  bool add_generation_prompt = true;                    ///< end with what begins the assistant's turn
  jinja::value tools = {};                              ///< a list of tools, or none
  jinja::value documents = {};                          ///< a list of documents, or none
  std::optional<std::string> bos_token = std::nullopt;  ///< texts of the tokens; undefined if absent
  std::optional<std::string> eos_token = std::nullopt;
  std::vector<std::pair<std::string, jinja::value>> variables = {};  ///< further ones, as enable_thinking; these win
  std::function<std::tm()> clock = {};  ///< what strftime_now sees; the local time by default
};

class chat_template {
 public:
  /// Errors: template_error with bad_template or template_limit.
  static chat_template parse(std::string_view source, jinja::limits bounds = {}) {
    return chat_template(jinja::parser::parse(source, bounds), bounds);
  }

  /// The prompt for `messages`. Errors: template_error with template_raised (the template refuses these messages; its
  /// words are in detail()), template_failed or template_limit.
  std::string render(std::span<const chat_message> messages, const chat_options& options = {}) const {
    return render_marked(messages, options).str();
  }
  /// The same for a list of dicts, as in the messages of a chat completion request.
  std::string render(const jinja::value& messages, const chat_options& options = {}) const {
    return render_marked(messages, options).str();
  }

  marked_text render_marked(std::span<const chat_message> messages, const chat_options& options = {}) const {
    std::vector<jinja::value> list;
    for (const chat_message& m : messages)
      list.push_back(jinja::value::dict({{"role", m.role}, {"content", m.content}}));
    return render_marked(jinja::value::list(std::move(list)), options);
  }

  marked_text render_marked(const jinja::value& messages, const chat_options& options = {}) const {
    std::vector<jinja::interpreter::variable> variables = {
        {"messages", with_trusted_roles(messages)},
        {"tools", options.tools},
        {"documents", options.documents},
        {"add_generation_prompt", options.add_generation_prompt},
    };
    if (options.bos_token) variables.emplace_back("bos_token", jinja::value::trusted(*options.bos_token));
    if (options.eos_token) variables.emplace_back("eos_token", jinja::value::trusted(*options.eos_token));
    for (const auto& [name, v] : options.variables) variables.emplace_back(name, v);
    return jinja::interpreter(program_, bounds_, options.clock ? options.clock : local_time, variables).run();
  }

 private:
  chat_template(jinja::program p, const jinja::limits& bounds) : program_(std::move(p)), bounds_(bounds) {}

  static std::tm local_time() {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    localtime_r(&now, &parts);
    return parts;
  }

  static bool is_plain_word(std::string_view text) noexcept {
    return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == text.npos;
  }

  /// The messages with roles that are plain words marked as the template's.
  static jinja::value with_trusted_roles(const jinja::value& messages) {
    if (!messages.is(jinja::kind::list)) return messages;
    std::vector<jinja::value> list = messages.items().items;
    for (jinja::value& message : list) {
      if (!message.is(jinja::kind::dict)) continue;
      const jinja::value* role = message.entries().find(std::string_view("role"));
      if (!role || !role->is_string() || !is_plain_word(role->view())) continue;
      auto copy = std::make_shared<jinja::dict>(message.entries());
      copy->set(jinja::value::trusted("role"), jinja::value::trusted(role->view()));
      copy->frozen = true;
      message = copy;
    }
    return jinja::value::list(std::move(list));
  }

  jinja::program program_;
  jinja::limits bounds_;
};

}  // namespace llambda::inline LLAMBDA_ABI
