// Chat templates and the texts of special tokens from the metadata of a GGUF file: tokenizer.chat_template, and
// tokenizer.chat_template.<name> for those with a name (tool_use, rag).
// Nothing of the file is believed: a template is parsed with limits, an id is looked up only within the vocabulary.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/io/gguf.hpp>
#include <llambda/text/chat_template.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {
inline constexpr std::string_view chat_template_key = "tokenizer.chat_template";
}

/// Names of the templates in `file`, in its order; the usual one is called "".
inline std::vector<std::string> chat_template_names(const gguf_file& file) {
  std::vector<std::string> names;
  for (const gguf_entry& entry : file.metadata()) {
    std::string_view key = entry.key;
    if (!key.starts_with(detail::chat_template_key) || entry.value.type() != gguf_type::string) continue;
    key.remove_prefix(detail::chat_template_key.size());
    if (key.empty()) names.emplace_back();
    if (key.size() > 1 && key.front() == '.') names.emplace_back(key.substr(1));
  }
  return names;
}

/// The text of the template called `name`. Errors: load_error missing_key or wrong_type.
inline std::string chat_template_source(const gguf_file& file, std::string_view name = {}) {
  std::string key(detail::chat_template_key);
  if (!name.empty()) (key += '.') += name;
  return file.get<std::string>(key);
}

/// The template called `name`, parsed. Errors: load_error; jinja::template_error with bad_template or template_limit.
inline chat_template load_chat_template(const gguf_file& file, std::string_view name = {}, jinja::limits bounds = {}) {
  return chat_template::parse(chat_template_source(file, name), bounds);
}

/// The text of the token whose id stands under `key` (tokenizer.ggml.bos_token_id, tokenizer.ggml.eos_token_id), for
/// chat_options; nothing if key or token is absent. Errors: load_error wrong_type.
inline std::optional<std::string> token_text(const gguf_file& file, std::string_view key) {
  const gguf_value* tokens = file.find("tokenizer.ggml.tokens");
  const gguf_value* id_value = file.find(key);
  if (tokens == nullptr || id_value == nullptr || id_value->is_array()) return std::nullopt;
  const auto id = id_value->as<std::int64_t>();
  if (id < 0 || static_cast<std::uint64_t>(id) >= tokens->count()) return std::nullopt;
  return std::string(tokens->strings()[static_cast<std::size_t>(id)]);
}

}  // namespace llambda::inline LLAMBDA_ABI
