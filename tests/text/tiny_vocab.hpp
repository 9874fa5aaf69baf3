// Vocabularies made by hand for the text tests.
// Ids 0, 1, 2 are <unk>, <s>, </s> as in SentencePiece files; byte tokens follow from 3 on when asked for.
#pragma once

#include <llambda/text/vocab.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace test {

struct entry {
  std::string text;
  float score = 0;
  llambda::token_kind kind = llambda::token_kind::normal;
};

inline const std::string bar = "\xE2\x96\x81";  // U+2581

inline llambda::vocab tiny_vocab(const std::vector<entry>& entries, bool with_bytes = true) {
  llambda::vocab v;
  v.add("<unk>", 0, llambda::token_kind::unknown);
  v.add("<s>", 0, llambda::token_kind::control);
  v.add("</s>", 0, llambda::token_kind::control);
  v.unk = 0;
  v.bos = 1;
  v.eos = 2;
  for (int i = 0; with_bytes && i < 256; ++i) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(i) & 0xFFu);
    v.add(text, 0, llambda::token_kind::byte);
  }
  for (const entry& e : entries) v.add(e.text, e.score, e.kind);
  return v;
}

/// Id of the byte token of `value` in a tiny_vocab with bytes; the first of `entries` has byte_id(256).
inline llambda::token_id byte_id(int value) { return 3 + value; }

/// The code of the error that `f` throws, as text; "none" without one.
template <class F> std::string code_of(F&& f) {
  try {
    f();
  } catch (const llambda::error& e) {
    return std::string(llambda::errc_name(e.code()));
  }
  return "none";
}

}  // namespace test
