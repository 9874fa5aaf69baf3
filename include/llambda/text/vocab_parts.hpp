// What every source of a vocabulary needs, whatever its file looks like: merges from texts to ids, and the tokens that
// end generation by a text that is known.
#pragma once

#include <llambda/text/vocab.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

/// Turns the two texts of a merge into ids.
class merge_reader {
 public:
  /// Keeps a reference. Precondition: all tokens are added.
  explicit merge_reader(const vocab& v) : vocab_(v), index_(v.size()) {
    for (std::size_t i = 0; i < v.size(); ++i) index_.insert(v.texts, static_cast<token_id>(i));
  }

  /// The merge of two texts; nothing unless both are tokens and, put together, a third.
  std::optional<token_merge> read(std::string_view left, std::string_view right) {
    whole_.assign(left).append(right);
    const token_merge m{find(left), find(right), find(whole_)};
    if (left.empty() || right.empty() || m.left == token_none || m.right == token_none || m.result == token_none) {
      return std::nullopt;
    }
    return m;
  }

  /// "left right". Bytes are never written as spaces; on characters a token may begin with one.
  std::optional<token_merge> read(std::string_view entry) {
    const std::size_t cut = (std::min)(entry.find(' ', 1), entry.size());
    return read(entry.substr(0, cut), entry.substr((std::min)(cut + 1, entry.size())));
  }

 private:
  token_id find(std::string_view text) const noexcept { return index_.find(vocab_.texts, text); }

  const vocab& vocab_;
  token_index index_;
  std::string whole_;
};

/// Texts that end a turn or a document in the vocabularies in use. Many files name only one end token where the model
/// was trained with two; a token with one of these texts ends generation whatever the file says of it.
inline constexpr std::array<std::string_view, 17> end_texts = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|endoftext|>",
    "<end_of_turn>",
    "<|endofturn|>",
    "<|eot|>",
    "<|EOT|>",
    "<|end_of_text|>",
    "<end_of_utterance>",
    "<EOT>",
    "<|return|>",
    "<|call|>",
    "<turn|>",
    "<|tool_response>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",  // DeepSeek
};

/// Add tokens with a well-known text to v.eog, and make every end and the bos control tokens, so that their texts
/// neither print nor come out of what a user typed.
inline void finish_ends(vocab& v) {
  if (v.eog.empty() && v.eos != token_none) v.eog.push_back(v.eos);
  token_id turn_end = token_none;
  token_id part_end = token_none;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::string_view text = v.texts[i];
    if (text.size() < 5 || text.front() != '<') continue;
    const auto id = static_cast<token_id>(i);
    if (text == "<|return|>") turn_end = id;
    if (text == "<|end|>") part_end = id;
    const bool end = std::find(end_texts.begin(), end_texts.end(), text) != end_texts.end();
    if (end && std::find(v.eog.begin(), v.eog.end(), id) == v.eog.end()) v.eog.push_back(id);
  }
  for (const token_id id : v.eog) v.kinds[static_cast<std::size_t>(id)] = token_kind::control;
  if (v.bos != token_none) v.kinds[static_cast<std::size_t>(v.bos)] = token_kind::control;
  // GPT-OSS ends a part of its turn with <|end|> and goes on; the turn ends with <|return|> or <|call|>.
  if (turn_end != token_none && part_end != token_none && part_end != v.eos) {
    v.eog.erase(std::find(v.eog.begin(), v.eog.end(), part_end));
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
