// A vocabulary from the metadata of a GGUF file; the only file of text/ that knows about files.
// Key names as in the GGUF specification (ggml-org/ggml, docs/gguf.md). Lists of different lengths, ids outside the
// vocabulary and values of the wrong type are load_errors that name the key.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/io/gguf.hpp>
#include <llambda/text/vocab_parts.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

inline const gguf_value& required(const gguf_file& file, const char* key) {
  const gguf_value* value = file.find(key);
  if (value == nullptr) throw load_error(errc::missing_key, file.path(), key, "the key", "nothing");
  return *value;
}

/// Kinds when the file has none: byte tokens by their texts, the usual three names, everything else normal.
inline token_kind guess_kind(std::string_view text) noexcept {
  if (byte_token_value(text) >= 0) return token_kind::byte;
  if (text == "<unk>") return token_kind::unknown;
  return text == "<s>" || text == "</s>" ? token_kind::control : token_kind::normal;
}

inline std::vector<token_kind> load_kinds(const gguf_file& file, const vocab& v) {
  constexpr std::string_view key = "tokenizer.ggml.token_type";
  std::vector<token_kind> kinds;
  const gguf_value* value = file.find(key);
  if (value == nullptr) {
    for (std::size_t i = 0; i < v.size(); ++i) kinds.push_back(guess_kind(v.texts[i]));
    return kinds;
  }
  for (const std::int64_t kind : value->to_vector<std::int64_t>()) {
    if (kind < 0 || kind > 6) {
      throw load_error(errc::bad_vocabulary, file.path(), std::string(key) + "[" + std::to_string(kinds.size()) + "]",
                       "0 to 6", std::to_string(kind));
    }
    kinds.push_back(kind == 0 ? token_kind::normal : static_cast<token_kind>(kind));  // 0: undefined
  }
  return kinds;
}

/// The ids under `key`: one, or a list of them; nothing if the key is absent. -1, also written as 2^32 - 1, says
/// "none". Errors: wrong_type; bad_vocabulary for an id outside the vocabulary.
inline std::vector<token_id> load_ids(const gguf_file& file, const char* key, const vocab& v) {
  const gguf_value* value = file.find(key);
  if (value == nullptr) return {};
  std::vector<token_id> ids;
  for (const std::int64_t id :
       value->is_array() ? value->to_vector<std::int64_t>() : std::vector{value->as<std::int64_t>()}) {
    if (id == -1 || id == 0xFFFFFFFF) continue;
    if (id < 0 || static_cast<std::uint64_t>(id) >= v.size()) {
      throw load_error(errc::bad_vocabulary, file.path(), key, "an id below " + std::to_string(v.size()),
                       std::to_string(id));
    }
    ids.push_back(static_cast<token_id>(id));
  }
  return ids;
}

/// The id under `key`; without the key `usual`, but only if that token exists and is of the kind it ought to be: a
/// small vocabulary then has no such token.
inline token_id load_id(const gguf_file& file, const char* key, const vocab& v, token_id usual, token_kind kind) {
  if (file.find(key) == nullptr) {
    const auto i = static_cast<std::size_t>(usual);
    return usual != token_none && i < v.size() && v.kinds[i] == kind ? usual : token_none;
  }
  const std::vector<token_id> ids = load_ids(file, key, v);
  return ids.empty() ? token_none : ids.front();
}

/// The merges as ids. Errors: missing_key, wrong_type; bad_vocabulary for an entry that does not name two tokens and,
/// put together, a third.
inline std::vector<token_merge> load_merges(const gguf_file& file, const vocab& v) {
  constexpr const char* key = "tokenizer.ggml.merges";
  const std::vector<std::string_view> entries = required(file, key).strings();
  merge_reader reader(v);
  std::vector<token_merge> merges;
  merges.reserve(entries.size());
  for (const std::string_view entry : entries) {
    const std::optional<token_merge> m = reader.read(entry);
    if (!m) {
      throw load_error(errc::bad_vocabulary, file.path(), std::string(key) + "[" + std::to_string(merges.size()) + "]",
                       "two tokens that make a third", "\"" + repair_utf8(entry.substr(0, 80)) + "\"");
    }
    merges.push_back(*m);
  }
  return merges;
}

}  // namespace detail

/// Read the vocabulary: "llama" (SentencePiece BPE), "gpt2" (byte-level BPE) or "gemma4" (BPE on characters).
/// Special ids whose key is absent are bos 1, eos 2, unknown 0 ("llama") or bos and eos 11 ("gpt2") where those tokens
/// are of that kind, else there is none.
/// Ends of generation: eos (one or a list), eot, eom, and the well-known texts; they become control tokens, so that
/// their text neither prints nor comes out of what a user typed.
/// Errors: load_error with missing_key, wrong_type, unsupported (another tokenizer or pre-tokenizer) or bad_vocabulary.
inline vocab load_vocab(const gguf_file& file) {
  const auto model = file.get<std::string_view>("tokenizer.ggml.model");
  vocab v;
  if (model == "gpt2") {
    v.model = vocab_model::byte_bpe;
  } else if (model == "gemma4") {
    v.model = vocab_model::char_bpe;
  } else if (model != "llama") {
    throw load_error(errc::unsupported, file.path(), "tokenizer.ggml.model", "\"llama\", \"gpt2\" or \"gemma4\"",
                     "\"" + repair_utf8(model) + "\"");
  }
  const bool spm = v.model == vocab_model::spm;
  v.add_bos = v.add_space_prefix = spm;
  if (!spm) {
    const auto name =
        v.model == vocab_model::char_bpe ? model : file.get_or<std::string_view>("tokenizer.ggml.pre", "default");
    const pretokenizer_entry* known = find_pretokenizer(name);
    if (known == nullptr) {
      throw load_error(errc::unsupported, file.path(), "tokenizer.ggml.pre", pretokenizer_names(),
                       "\"" + repair_utf8(name.substr(0, 80)) + "\"");
    }
    v.pre = known->kind;
    v.whole_pieces = known->whole_pieces;
    v.add_bos = known->add_bos;
  }

  const gguf_value& tokens = detail::required(file, "tokenizer.ggml.tokens");
  v.texts.reserve(static_cast<std::size_t>(tokens.count()), tokens.bytes().size());
  for (const std::string_view text : tokens.strings()) v.texts.add(text);
  if (spm)
    v.scores = detail::required(file, "tokenizer.ggml.scores").to_vector<float>();
  else
    v.scores.assign(v.size(), 0.0f);
  v.kinds = detail::load_kinds(file, v);
  v.validate(file.path());
  if (!spm) v.merges = detail::load_merges(file, v);

  const token_id none = token_none;
  const bool bytes = v.model == vocab_model::byte_bpe;
  v.bos = detail::load_id(file, "tokenizer.ggml.bos_token_id", v, spm ? 1 : bytes ? 11 : none, token_kind::control);
  v.eos = detail::load_id(file, "tokenizer.ggml.eos_token_id", v, spm ? 2 : bytes ? 11 : none, token_kind::control);
  v.unk = detail::load_id(file, "tokenizer.ggml.unknown_token_id", v, spm ? 0 : none, token_kind::unknown);
  v.pad = detail::load_id(file, "tokenizer.ggml.padding_token_id", v, none, token_kind::control);
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    for (const token_id id : detail::load_ids(file, key, v)) v.eog.push_back(id);
  }
  finish_ends(v);

  v.add_bos = file.get_or<bool>("tokenizer.ggml.add_bos_token", v.add_bos);
  v.add_eos = file.get_or<bool>("tokenizer.ggml.add_eos_token", false);
  if (spm) v.add_space_prefix = file.get_or<bool>("tokenizer.ggml.add_space_prefix", true);
  return v;
}

}  // namespace llambda::inline LLAMBDA_ABI
