// Which pre-tokenizer a tokenizer.json describes. Its steps are written down as one line of text, and that line is
// looked up among those of known models: a regular expression is recognised, never run. Needs nlohmann-json, see
// vocab_json.hpp.
#pragma once

#include <llambda/text/pretokenizers.hpp>
#include <llambda/text/spm.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

struct pretokenizer_signature {
  std::string steps;        ///< regular expressions, "digits", "digit", "punctuation" and "gpt2", each after a newline
  bool byte_level = false;  ///< a ByteLevel step was there
  bool metaspace = false;   ///< a Metaspace step was there
  bool space_prefix = false;  ///< with a space before every text

  /// Adds a pre_tokenizer of the file. Returns the step that is not known, as JSON; an empty text otherwise.
  std::string add(const nlohmann::json& p) {
    if (p.is_null()) return {};
    const auto is = [&](const char* key, const nlohmann::json& value) {
      return p.value(key, nlohmann::json()) == value;
    };
    if (!p.is_object()) return p.dump();
    if (is("type", "Sequence")) {
      for (const auto& step : p.value("pretokenizers", nlohmann::json::array())) {
        if (std::string refused = add(step); !refused.empty()) return refused;
      }
    } else if (is("type", "ByteLevel") && !is("add_prefix_space", true)) {
      byte_level = true;
      if (!is("use_regex", false)) steps += "\ngpt2";
    } else if (is("type", "Digits")) {
      steps += is("individual_digits", true) ? "\ndigit" : "\ndigits";
    } else if (is("type", "Punctuation") && is("behavior", "Contiguous")) {
      steps += "\npunctuation";
    } else if (is("type", "Split") && is("behavior", "Isolated") && !is("invert", true)) {
      const auto& pattern = p.value("pattern", nlohmann::json::object());
      if (!pattern.is_object() || !pattern.contains("Regex") || !pattern["Regex"].is_string()) return p.dump();
      steps += "\n" + pattern["Regex"].get<std::string>();
    } else if (is("type", "Metaspace") && is("replacement", spm_space) && is("split", false) &&
               (is("prepend_scheme", "always") || is("prepend_scheme", "never"))) {
      metaspace = true;
      space_prefix = is("prepend_scheme", "always");
    } else if (!(is("type", "Split") && is("behavior", "MergedWithPrevious") &&
                 is("pattern", nlohmann::json{{"String", " "}}))) {  // Gemma's, which finds no space any more
      return p.dump();
    }
    return {};
  }

  /// The pre-tokenizer whose steps these are.
  std::optional<pretokenizer> find() const {
    for (const auto& [known, kind] : known_steps()) {
      if (known == steps) return kind;
    }
    return std::nullopt;
  }

 private:
  static std::array<std::pair<std::string, pretokenizer>, 9> known_steps() {
    const std::string any_case = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
    const std::string tail = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
    const auto words = [&](const char* letters, const char* digits, const char* other) {
      return "\n" + any_case + R"(|[^\r\n\p{L}\p{N}]?)" + letters + "+|" + digits + "| ?" + other + R"(+[\r\n]*)" +
             tail;
    };
    const auto by_case = [&](const std::string& contractions, const char* digits) {
      const std::string prefix = R"([^\r\n\p{L}\p{N}]?)";
      const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])";
      const std::string lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
      return "\n" + prefix + upper + "*" + lower + "+" + contractions + "|" + prefix + upper + "+" + lower + "*" +
             contractions + "|" + digits + R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)" + tail;
    };
    const char* other = R"([^\s\p{L}\p{N}])";
    const std::string deepseek3 =
        "\n\\p{N}{1,3}\n[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+\n"
        R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)"
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+";
    return {{{"\ngpt2", pretokenizer::gpt2},
             {"\ndigit\ngpt2", pretokenizer::digits},
             {"\npunctuation\ngpt2\ndigits\n[0-9][0-9][0-9]", pretokenizer::falcon},
             {words(R"(\p{L})", R"(\p{N}{1,3})", other), pretokenizer::llama3},
             {words(R"(\p{L})", R"(\p{N})", other), pretokenizer::qwen2},
             {words(R"([\p{L}\p{M}])", R"(\p{N})", R"([^\s\p{L}\p{M}\p{N}])"), pretokenizer::qwen35},
             {by_case(any_case + "?", R"(\p{N}{1,3})"), pretokenizer::gpt4o},
             {by_case("", R"(\p{N})"), pretokenizer::tekken},
             {deepseek3, pretokenizer::deepseek3}}};
  }
};

}  // namespace detail

}  // namespace llambda::inline LLAMBDA_ABI
