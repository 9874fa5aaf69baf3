// The sequences of tokens that stand for a text which no repetition goes across (DRY): the text may lie within one
// token, or begin at the end of one and go on in the next. After koboldcpp's and llama.cpp's treatment.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/text/tokenizer.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// For sampling_params::dry_breakers, from texts such as "\n", ":", "\"" and "*" (llama.cpp's default). A token with
/// the text in it is a sequence alone; one that ends with the beginning of the text is followed by the tokens of the rest,
/// of which at most 20 count; left out if they cannot be told from the space that the vocabulary puts before a text.
/// Sorted, each once. Cost: the vocabulary once a text. Errors: bad_argument for an empty text.
inline std::vector<std::vector<token_id>> sequence_breakers(const tokenizer& t, std::span<const std::string> texts) {
  std::vector<std::vector<token_id>> found;
  encode_options plain;
  plain.add_bos = false;
  for (const std::string& text : texts) {
    if (text.empty()) throw error(errc::bad_argument, "llambda: sampling: a sequence breaker is empty");
    for (std::size_t i = 0; i < t.vocabulary().texts.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const std::string_view piece = t.piece(id);
      if (piece.find(text) != std::string_view::npos) {
        found.push_back({id});
        continue;
      }
      for (std::size_t n = (std::min)(text.size() - 1, piece.size()); n > 0; --n) {
        if (!piece.ends_with(std::string_view(text).substr(0, n))) continue;
        std::vector<token_id> rest = t.encode(std::string_view(text).substr(n), plain);
        if (t.vocabulary().add_space_prefix && text[n] != ' ') {  // nothing stands between the two here
          if (t.piece(rest.front()) != " ") continue;
          rest.erase(rest.begin());
        }
        rest.resize((std::min)(rest.size(), std::size_t{20}));
        rest.insert(rest.begin(), id);
        found.push_back(std::move(rest));
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace llambda::inline LLAMBDA_ABI
