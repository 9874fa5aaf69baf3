// A vocabulary from a Hugging Face tokenizer.json: BPE models on bytes (ByteLevel) or on characters with U+2581 for a
// space, both forms of merges, added tokens with their flags. What the file asks for beyond that is refused by name.
// Needs nlohmann-json (Debian: nlohmann-json3-dev; CMake: find_package(llambda COMPONENTS json), llambda::json), which
// no other header of the library does.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/io/mmap.hpp>
#include <llambda/text/pretokenizer_json.hpp>
#include <llambda/text/vocab_parts.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

struct tokenizer_json_options {
  /// Load a file that asks for Unicode normalisation (NFC, ...) all the same, and do without it, as GGUF files do: text
  /// that is not normalised may then get other ids than its model was trained with.
  bool skip_normalization = false;
};

namespace detail {

using json = nlohmann::json;

class json_vocab_reader {
 public:
  json_vocab_reader(const json& document, std::string source, const tokenizer_json_options& options)
      : document_(document), source_(std::move(source)), options_(options) {}

  vocab read() {
    const json& model = part(document_, "model");
    if (const std::string type = text_of(model, "type", "BPE"); type != "BPE") refuse("model.type", "BPE", type);
    for (const char* key : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
      const json& value = part(model, key);
      if (!value.is_null() && value != "" && value != 0) refuse(std::string("model.") + key, "nothing", value.dump());
    }
    v_.whole_pieces = flag(model, "ignore_merges");
    read_normalizer(part(document_, "normalizer"), "normalizer");
    read_pretokenizer();
    if (v_.model == vocab_model::char_bpe && flag(model, "fuse_unk") && !flag(model, "byte_fallback")) {
      refuse("model.fuse_unk", "byte_fallback with it", "true");
    }
    read_tokens(model);
    v_.validate(source_);
    read_merges(part(model, "merges"));
    const std::string unk = text_of(model, "unk_token", "");
    for (std::size_t i = 0; i < v_.size() && !unk.empty() && v_.unk == token_none; ++i) {
      if (v_.texts[i] == unk) v_.unk = static_cast<token_id>(i);
    }
    read_template(part(document_, "post_processor"));
    finish_ends(v_);
    return std::move(v_);
  }

 private:
  [[noreturn]] void fail(errc code, std::string subject, std::string expected, std::string got) const {
    throw load_error(code, source_, std::move(subject), std::move(expected), repair_utf8(got.substr(0, 300)));
  }
  [[noreturn]] void refuse(std::string subject, std::string expected, std::string got) const {
    fail(errc::unsupported, std::move(subject), std::move(expected), std::move(got));
  }
  [[noreturn]] void broken(std::string subject, std::string expected, std::string got) const {
    fail(errc::bad_vocabulary, std::move(subject), std::move(expected), std::move(got));
  }

  // The member `key`, or null.
  static const json& part(const json& object, const char* key) {
    static const json nothing;
    if (!object.is_object()) return nothing;
    const auto at = object.find(key);
    return at == object.end() ? nothing : *at;
  }
  static std::string text_of(const json& object, const char* key, const char* otherwise) {
    const json& value = part(object, key);
    return value.is_string() ? value.get<std::string>() : value.is_null() ? otherwise : value.dump();
  }
  static bool flag(const json& object, const char* key) { return part(object, key) == true; }

  void read_normalizer(const json& n, const std::string& where) {
    if (n.is_null()) return;
    const std::string type = text_of(n, "type", "");
    if (type == "Sequence") {
      for (const json& step : part(n, "normalizers")) read_normalizer(step, where + ".normalizers");
    } else if (type == "Replace" && part(part(n, "pattern"), "String") == " " && part(n, "content") == spm_space) {
      v_.model = vocab_model::char_bpe;
    } else if (type == "Prepend" && part(n, "prepend") == spm_space) {
      space_prefix_ = true;
    } else if (!(options_.skip_normalization && (type == "NFC" || type == "NFKC" || type == "NFD" || type == "NFKD"))) {
      refuse(where, "none, or U+2581 for a space (tokenizer_json_options::skip_normalization passes NFC over)",
             n.dump());
    }
  }

  void read_pretokenizer() {
    pretokenizer_signature signature;
    if (const std::string refused = signature.add(part(document_, "pre_tokenizer")); !refused.empty()) {
      refuse("pre_tokenizer", "ByteLevel, Split, Digits, Punctuation or Metaspace as known models have them", refused);
    }
    if (signature.metaspace)
      v_.model = vocab_model::char_bpe;
    else if (v_.model != vocab_model::char_bpe)
      v_.model = vocab_model::byte_bpe;
    v_.add_bos = false;
    v_.add_space_prefix = space_prefix_ || signature.space_prefix;
    if (v_.model == vocab_model::char_bpe && signature.steps.empty()) {
      v_.pre = pretokenizer::blocks;
      return;
    }
    const std::optional<pretokenizer> kind = signature.find();
    if (!kind || !signature.byte_level) refuse("pre_tokenizer", "the patterns of a known model", signature.steps);
    v_.pre = *kind;
  }

  void read_tokens(const json& model) {
    struct token {
      std::string text;
      token_kind kind = token_kind::unused;
    };
    const json& entries = part(model, "vocab");
    const json& added = part(document_, "added_tokens");
    if (!entries.is_object()) broken("model.vocab", "an object", entries.type_name());
    if (!added.is_null() && !added.is_array()) broken("added_tokens", "an array", added.type_name());
    // A few ids may be left out; an id far past the number of tokens would only ask for memory.
    const std::size_t most = 2 * (entries.size() + added.size()) + 256;
    std::vector<token> tokens;
    const auto place = [&](const std::string& where, const json& id) -> token& {
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= most) {
        broken(where, "an id below " + std::to_string(most), id.dump());
      }
      const auto i = id.get<std::size_t>();
      if (i >= tokens.size()) tokens.resize(i + 1);
      return tokens[i];
    };
    for (const auto& [text, id] : entries.items()) {
      token& t = place("model.vocab", id);
      if (t.kind != token_kind::unused)
        broken("model.vocab", "an id for each token", "\"" + text + "\" and \"" + t.text + "\"");
      const bool byte = v_.model == vocab_model::char_bpe && byte_token_value(text) >= 0;
      t = {text, byte ? token_kind::byte : token_kind::normal};
    }
    for (const json& entry : added) {
      const std::string text = text_of(entry, "content", "");
      const std::string where = "added_tokens: \"" + text + "\"";
      token& t = place(where, part(entry, "id"));
      if (text.empty()) broken("added_tokens", "a text", "an empty content");
      if (t.kind != token_kind::unused && t.text != text)
        broken(where, "an id of its own", "that of \"" + t.text + "\"");
      if (flag(entry, "single_word")) refuse(where, "single_word: false", "true");
      t = {text, flag(entry, "special") ? token_kind::control : token_kind::user_defined};
      const auto id = part(entry, "id").get<token_id>();
      if (flag(entry, "lstrip")) v_.strips_left.push_back(id);
      if (flag(entry, "rstrip")) v_.strips_right.push_back(id);
    }
    for (const token& t : tokens) {
      v_.add(t.text, 0.0f, t.kind);
      // Pieces end at line ends there (pretokenizer::blocks), which is right as long as no merge reaches across one.
      const bool across = t.text.find('\n') != t.text.npos && t.text.find_first_not_of('\n') != t.text.npos;
      if (v_.model == vocab_model::char_bpe && t.kind == token_kind::normal && across) {
        refuse("model.vocab", "no token of line ends and other text", "\"" + t.text + "\"");
      }
    }
  }

  void read_merges(const json& merges) {
    if (!merges.is_array()) broken("model.merges", "an array", merges.type_name());
    merge_reader reader(v_);
    v_.merges.reserve(merges.size());
    for (const json& entry : merges) {
      const bool pair = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
      std::optional<token_merge> m;
      if (entry.is_string()) m = reader.read(entry.get_ref<const std::string&>());
      if (pair) m = reader.read(entry[0].get_ref<const std::string&>(), entry[1].get_ref<const std::string&>());
      if (!m)
        broken("model.merges[" + std::to_string(v_.merges.size()) + "]", "two tokens that make a third", entry.dump());
      v_.merges.push_back(*m);
    }
  }

  // bos and eos: what the template puts before and after a text. Other templates are a chat program's affair.
  void read_template(const json& p) {
    if (text_of(p, "type", "") == "Sequence") {
      for (const json& step : part(p, "processors")) read_template(step);
    }
    bool before = true;
    for (const json& step : part(p, "single")) {
      if (step.contains("Sequence")) before = false;
      const json& name = part(part(step, "SpecialToken"), "id");
      for (std::size_t i = 0; i < v_.size() && name.is_string(); ++i) {
        if (v_.texts[i] != name.get_ref<const std::string&>()) continue;
        (before ? v_.bos : v_.eos) = static_cast<token_id>(i);
        (before ? v_.add_bos : v_.add_eos) = true;
        break;
      }
    }
  }

  const json& document_;
  std::string source_;
  tokenizer_json_options options_;
  vocab v_;
  bool space_prefix_ = false;
};

}  // namespace detail

/// The vocabulary of a tokenizer.json given as text; `source` stands in messages. Its bos and eos are those that its
/// post_processor adds; ends of generation are those and the well-known texts.
/// Errors: load_error bad_vocabulary (no JSON, ids or merges that make no sense) or unsupported, naming the part.
inline vocab parse_vocab_json(std::string_view text, const std::string& source,
                              const tokenizer_json_options& options = {}) {
  const detail::json document = [&] {
    try {
      return detail::json::parse(text);
    } catch (const detail::json::exception& e) {
      throw load_error(errc::bad_vocabulary, source, "file", "JSON", repair_utf8(e.what()));
    }
  }();
  return detail::json_vocab_reader(document, source, options).read();
}

/// The same from a file. Errors: io_error besides.
inline vocab load_vocab_json(const std::string& path, const tokenizer_json_options& options = {}) {
  const mapped_file file = mapped_file::map(path);
  const auto bytes = file.bytes();
  return parse_vocab_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path, options);
}

}  // namespace llambda::inline LLAMBDA_ABI
