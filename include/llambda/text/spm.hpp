// SentencePiece's BPE as GGUF "llama" vocabularies define it: merge the adjacent pair whose text is the best-scored
// token, again and again. Source: Kudo and Richardson 2018 (SentencePiece), Sennrich et al. 2016 (BPE).
// Vocabularies write a space as U+2581. Here the table is turned round once (U+2581 -> space), so that text is encoded
// without growing and the same bytes serve as the decoded pieces. Loops only: the stack does not grow with the text.
#pragma once

#include <llambda/text/seen_pieces.hpp>
#include <llambda/text/unicode.hpp>
#include <llambda/text/vocab.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// U+2581, the visible stand-in for a space in the texts of a vocabulary.
inline constexpr std::string_view spm_space = "\xE2\x96\x81";

/// Append `text` to `out` with every U+2581 turned into a space.
inline void append_unescaped(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = (std::min)(text.find(spm_space, at), text.size());
    out.append(text, at, next - at);
    if (next < text.size()) out += ' ';
    at = next < text.size() ? next + spm_space.size() : next;
  }
}

/// Where a text can be cut because no token, and so no merge, reaches across: before a space, but for those few bytes
/// that some token has in front of one (Gemma's ">U+2581</").
class word_cuts {
 public:
  /// Call with every piece that merges may produce.
  void add(std::string_view piece) noexcept {
    for (std::size_t at = 1; at < piece.size(); ++at) {
      if (piece[at] == ' ' && piece[at - 1] != ' ') joins_[static_cast<unsigned char>(piece[at - 1])] = true;
    }
  }

  /// The end of the word that begins at `at`, spaces before it included.
  std::size_t word_end(std::string_view text, std::size_t at) const noexcept {
    do {
      at = (std::min)(text.find_first_not_of(' ', at), text.size());
      at = (std::min)(text.find(' ', at), text.size());
    } while (at < text.size() && joins_[static_cast<unsigned char>(text[at - 1])]);
    return at;
  }

 private:
  std::array<bool, 256> joins_{};
};

/// The decoded bytes of every token, and the encoder of plain text. Immutable: const calls are safe in many threads.
class spm_encoder {
 public:
  /// Precondition: `v` is validated.
  explicit spm_encoder(const vocab& v) : index_(v.size()), unk_(v.unk) {
    bytes_.fill(token_none);
    pieces_.reserve(v.size(), 8 * v.size());
    std::string piece;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const std::string_view text = v.texts[i];
      piece.clear();
      if (v.kinds[i] == token_kind::normal) append_unescaped(piece, text);
      if (v.kinds[i] == token_kind::user_defined) piece = text;
      if (v.kinds[i] == token_kind::byte) {
        const auto value = static_cast<std::size_t>(byte_token_value(text));
        piece = static_cast<char>(value);
        if (bytes_[value] == token_none) bytes_[value] = id;
      }
      pieces_.add(piece);
      // Only normal tokens come out of merges: no text a user types can spell a control token. A text with a real space
      // in it would after the turn be mistaken for one with U+2581.
      if (v.kinds[i] != token_kind::normal || text.empty() || text.find(' ') != text.npos) continue;
      index_.insert(pieces_, id);
      scores_.resize(i + 1);
      scores_[i] = v.scores[i];
      longest_ = (std::max)(longest_, piece.size());
      cuts_.add(piece);
    }
  }

  /// Decoded bytes of each token: empty for control, unknown and unused ones.
  const string_table& pieces() const noexcept { return pieces_; }

  /// Append the ids of `text` to `out`; `space_prefix` encodes it as if a space stood before it. U+2581 in `text`
  /// counts as a space. Characters without a token become their byte tokens (a space that of 0x20), or one unknown
  /// token where the vocabulary lacks one of those; ill-formed bytes are taken one by one, so that decoding restores
  /// them. Precondition: text.size() <= 2^30. Cost: O(n log n) in the longest stretch that cannot be cut, words as a
  /// rule. Errors: bad_vocabulary if a character has no token, no byte tokens and there is no unknown token.
  void encode(std::string_view text, bool space_prefix, std::vector<token_id>& out) const {
    if (text.empty()) return;
    std::string plain;
    plain.reserve(text.size() + 1);
    if (space_prefix) plain += ' ';
    append_unescaped(plain, text);
    scratch work;
    seen_pieces seen(plain, out);
    for (std::size_t begin = 0; begin < plain.size();) {
      const std::size_t end = cuts_.word_end(plain, begin);
      const std::string_view stretch = std::string_view(plain).substr(begin, end - begin);
      seen.encode(stretch, [&](std::uint32_t) { encode_stretch(stretch, work, out); });
      begin = end;
    }
  }

 private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  // A link of the list of what the text consists of so far. Absorbed links have length 0.
  struct symbol {
    std::uint32_t begin, length;
    std::uint32_t next;  // index of the right neighbour, or nowhere
    std::uint32_t prev;
    token_id id;  // the token it was merged into, or token_none for a single character
  };

  struct merge {
    float score;
    std::uint32_t left;    // index of the left symbol; its right neighbour is found in the list
    std::uint32_t length;  // bytes of both: tells whether either has changed since
    token_id id;
    // Order of a max-heap: higher score first, then the leftmost.
    friend bool operator<(const merge& a, const merge& b) noexcept {
      return a.score < b.score || (a.score == b.score && a.left > b.left);
    }
  };

  struct scratch {
    std::vector<symbol> symbols;
    std::vector<merge> heap;
  };

  void encode_stretch(std::string_view text, scratch& work, std::vector<token_id>& out) const {
    std::vector<symbol>& symbols = work.symbols;
    std::vector<merge>& heap = work.heap;
    symbols.clear();
    heap.clear();
    for (std::size_t at = 0; at < text.size();) {
      const utf8_step step = decode_utf8(text, at);
      const std::uint32_t length = step.status == utf8_status::valid ? step.length : std::uint32_t{1};
      const auto i = static_cast<std::uint32_t>(symbols.size());
      symbols.push_back({static_cast<std::uint32_t>(at), length, i + 1, i - 1, token_none});  // 0 - 1 is nowhere
      at += length;
    }
    symbols.back().next = nowhere;

    const auto propose = [&](std::uint32_t left) {
      const symbol& a = symbols[left];
      const std::uint32_t length = a.length + symbols[a.next].length;
      if (length > longest_) return false;
      const token_id id = index_.find(pieces_, text.substr(a.begin, length));
      if (id == token_none) return false;
      heap.push_back({scores_[static_cast<std::size_t>(id)], left, length, id});
      return true;
    };
    for (std::uint32_t left = 0; symbols[left].next != nowhere; ++left) propose(left);
    std::make_heap(heap.begin(), heap.end());

    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end());
      const merge best = heap.back();
      heap.pop_back();
      symbol& a = symbols[best.left];
      // Stale unless both sides are as they were: a side that grew or was absorbed changes the sum.
      if (a.length == 0 || a.next == nowhere || a.length + symbols[a.next].length != best.length) continue;
      symbol& b = symbols[a.next];
      a.length = best.length;
      a.id = best.id;
      a.next = b.next;
      b.length = 0;
      if (a.next != nowhere) {
        symbols[a.next].prev = best.left;
        if (propose(best.left)) std::push_heap(heap.begin(), heap.end());
      }
      if (a.prev != nowhere && propose(a.prev)) std::push_heap(heap.begin(), heap.end());
    }

    for (std::uint32_t i = 0; i != nowhere; i = symbols[i].next) {
      const symbol& s = symbols[i];
      if (s.id != token_none) {
        out.push_back(s.id);
      } else {
        append_character(text.substr(s.begin, s.length), out);
      }
    }
  }

  void append_character(std::string_view character, std::vector<token_id>& out) const {
    const token_id whole = index_.find(pieces_, character);
    if (whole != token_none) return out.push_back(whole);
    const auto as_byte = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
    if (std::all_of(character.begin(), character.end(), [&](char c) { return as_byte(c) != token_none; })) {
      for (const char c : character) out.push_back(as_byte(c));
    } else if (unk_ != token_none) {
      out.push_back(unk_);
    } else {
      throw error(errc::bad_vocabulary, "llambda: vocabulary: no token, byte token or unknown token covers \"" +
                                            repair_utf8(character) + "\"");
    }
  }

  string_table pieces_;        // (tokens)
  std::vector<float> scores_;  // (up to the last mergeable token)
  token_index index_;          // mergeable tokens only
  std::array<token_id, 256> bytes_{};
  token_id unk_;
  std::size_t longest_ = 0;  // bytes of the longest mergeable token
  word_cuts cuts_;
};

}  // namespace llambda::inline LLAMBDA_ABI
