// The pieces of one text that were encoded already: a few words make up most of any text, and copying the ids that came
// out the first time costs less than merging again. Belongs to one call: nothing is shared, nothing grows. An entry is
// two places, in the text and in the output, so that no bytes are copied; of two pieces in one slot the later stays.
#pragma once

#include <llambda/text/vocab.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

class seen_pieces {
 public:
  /// Both must outlive this. Short texts are not worth a table. Precondition: text.size() <= 2^30.
  seen_pieces(std::string_view text, std::vector<token_id>& out) : text_(text), out_(out) {
    if (text.size() >= 256) slots_.resize((std::min)(std::bit_ceil(text.size() / 16), std::size_t{8192}));
  }

  /// Append the ids of `piece`, a part of the text: those of its last time, or what `encode(hash)` appends; `hash` is
  /// token_index::hash(piece).
  template <class Encode> void encode(std::string_view piece, Encode&& encode) {
    const std::uint32_t hash = token_index::hash(piece);
    if (slots_.empty()) return encode(hash);
    slot& s = slots_[hash & (slots_.size() - 1)];
    if (s.length == piece.size() && text_.substr(s.begin, s.length) == piece) {
      for (std::size_t i = 0; i < s.count; ++i) out_.push_back(out_[s.ids + i]);
      return;
    }
    const std::size_t before = out_.size();
    encode(hash);
    s = {static_cast<std::uint32_t>(piece.data() - text_.data()), static_cast<std::uint32_t>(piece.size()),
         static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(out_.size() - before)};
  }

 private:
  struct slot {
    std::uint32_t begin = 0, length = 0;  // in the text; no piece is empty
    std::uint32_t ids = 0, count = 0;     // in the output
  };

  std::string_view text_;
  std::vector<token_id>& out_;
  std::vector<slot> slots_;  // (a power of two, or none)
};

}  // namespace llambda::inline LLAMBDA_ABI
