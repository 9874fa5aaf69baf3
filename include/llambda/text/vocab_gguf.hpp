// A vocabulary from the metadata of a GGUF file; the only file of text/ that knows about files.
// Key names as in the GGUF specification (ggml-org/ggml, docs/gguf.md). Lists of different lengths, ids outside the
// vocabulary and values of the wrong type are load_errors that name the key.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/io/gguf.hpp>
#include <llambda/text/vocab.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

/// Texts that end a turn or a document in the vocabularies in use. Many files name only one end token where the model
/// was trained with two; a token with one of these texts ends generation whatever the file says of it.
inline constexpr std::array<std::string_view, 9> end_texts = {
    "<|im_end|>",    "<|eot_id|>",    "<|eom_id|>",      "<|end|>", "<|endoftext|>",
    "<end_of_turn>", "<|endofturn|>", "<|end_of_text|>", "<|eot|>",
};

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

}  // namespace detail

/// Read the vocabulary. Only SentencePiece BPE ("llama") is read so far.
/// Special ids whose key is absent are bos 1, eos 2, unknown 0 where those tokens are of that kind, else there is none.
/// Ends of generation: eos (one or a list), eot, eom, and the well-known texts; they become control tokens, so that
/// their text neither prints nor comes out of what a user typed.
/// Errors: load_error with missing_key, wrong_type, unsupported (another tokenizer) or bad_vocabulary.
inline vocab load_vocab(const gguf_file& file) {
  const auto model = file.get<std::string_view>("tokenizer.ggml.model");
  if (model != "llama") {
    throw load_error(errc::unsupported, file.path(), "tokenizer.ggml.model", "\"llama\" (SentencePiece BPE)",
                     "\"" + repair_utf8(model) + "\"");
  }
  const auto list = [&](const char* key) -> const gguf_value& {
    const gguf_value* value = file.find(key);
    if (value == nullptr) throw load_error(errc::missing_key, file.path(), key, "the key", "nothing");
    return *value;
  };

  vocab v;
  const gguf_value& tokens = list("tokenizer.ggml.tokens");
  v.texts.reserve(static_cast<std::size_t>(tokens.count()), tokens.bytes().size());
  for (const std::string_view text : tokens.strings()) v.texts.add(text);
  v.scores = list("tokenizer.ggml.scores").to_vector<float>();
  v.kinds = detail::load_kinds(file, v);
  v.validate(file.path());

  v.bos = detail::load_id(file, "tokenizer.ggml.bos_token_id", v, 1, token_kind::control);
  v.eos = detail::load_id(file, "tokenizer.ggml.eos_token_id", v, 2, token_kind::control);
  v.unk = detail::load_id(file, "tokenizer.ggml.unknown_token_id", v, 0, token_kind::unknown);
  v.pad = detail::load_id(file, "tokenizer.ggml.padding_token_id", v, token_none, token_kind::control);
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    for (const token_id id : detail::load_ids(file, key, v)) v.eog.push_back(id);
  }
  if (v.eog.empty() && v.eos != token_none) v.eog.push_back(v.eos);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const bool end =
        std::find(detail::end_texts.begin(), detail::end_texts.end(), v.texts[i]) != detail::end_texts.end();
    const auto id = static_cast<token_id>(i);
    if (end && std::find(v.eog.begin(), v.eog.end(), id) == v.eog.end()) v.eog.push_back(id);
  }
  for (const token_id id : v.eog) v.kinds[static_cast<std::size_t>(id)] = token_kind::control;
  if (v.bos != token_none) v.kinds[static_cast<std::size_t>(v.bos)] = token_kind::control;

  v.add_bos = file.get_or<bool>("tokenizer.ggml.add_bos_token", true);
  v.add_eos = file.get_or<bool>("tokenizer.ggml.add_eos_token", false);
  v.add_space_prefix = file.get_or<bool>("tokenizer.ggml.add_space_prefix", true);
  return v;
}

}  // namespace llambda::inline LLAMBDA_ABI
