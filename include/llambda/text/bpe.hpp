// Byte-pair encoding by ranked merges (Sennrich et al. 2016), as GGUF "gpt2" vocabularies define it on bytes and
// "gemma4" on characters: cut the text into pieces, then merge in each the adjacent pair of lowest rank, leftmost on
// ties, again and again. Short pieces scan an array, long ones keep a heap, so that a text costs n log n at worst. A
// piece that stood in the text before is not merged again: its ids are copied from where they came out then. Loops
// only: the stack does not grow with the text.
#pragma once

#include <llambda/text/byte_alphabet.hpp>
#include <llambda/text/merge_table.hpp>
#include <llambda/text/pretokenizers.hpp>
#include <llambda/text/seen_pieces.hpp>
#include <llambda/text/spm.hpp>
#include <llambda/text/vocab.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// The decoded bytes of every token, and the encoder of plain text. Immutable: const calls are safe in many threads.
class bpe_encoder {
 public:
  /// Precondition: `v` is validated.
  explicit bpe_encoder(const vocab& v)
      : index_(v.size()),
        merges_(v.merges.size()),
        kind_(v.pre),
        whole_pieces_(v.whole_pieces),
        bytes_only_(v.model == vocab_model::byte_bpe),
        unk_(v.unk) {
    bytes_.fill(token_none);
    symbols_.fill(token_none);
    pieces_.reserve(v.size(), 8 * v.size());
    std::string piece;
    for (std::size_t i = 0; i < v.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const std::string_view text = v.texts[i];
      piece.clear();
      bool mergeable = v.kinds[i] == token_kind::normal;
      if (mergeable && bytes_only_) mergeable = append_alphabet_bytes(piece, text);
      if (mergeable && !bytes_only_) append_unescaped(piece, text);
      if (v.kinds[i] == token_kind::user_defined || (v.kinds[i] == token_kind::normal && !mergeable)) piece = text;
      if (v.kinds[i] == token_kind::byte) {
        const auto value = static_cast<std::size_t>(byte_token_value(text));
        piece = static_cast<char>(value);
        if (bytes_[value] == token_none) bytes_[value] = id;
      }
      pieces_.add(piece);
      if (!mergeable || piece.empty()) continue;
      index_.insert(pieces_, id);
      longest_ = (std::max)(longest_, piece.size());
      const auto first = static_cast<unsigned char>(piece[0]);
      if (piece.size() == 1 && symbols_[first] == token_none) symbols_[first] = id;
      cuts_.add(piece);
    }
    std::uint32_t rank = 0;
    for (const token_merge& m : v.merges) {
      // No text a user types can spell a control token.
      const token_kind kind = v.kinds[static_cast<std::size_t>(m.result)];
      if (kind != token_kind::control && kind != token_kind::unknown) merges_.insert(m, rank);
      ++rank;
    }
  }

  /// Decoded bytes of each token: empty for control, unknown and unused ones.
  const string_table& pieces() const noexcept { return pieces_; }

  /// Append the ids of `text` to `out`; `space_prefix` encodes it as if a space stood before it (on characters only).
  /// Ill-formed bytes are taken one by one, so that decoding restores them. A byte
  /// without a token becomes the bytes of U+FFFD (the unknown token of some files ends generation), a character without
  /// one its byte tokens, else either becomes the unknown token. Precondition: text.size() <= 2^30. Errors:
  /// bad_vocabulary if the vocabulary has none of these.
  void encode(std::string_view text, bool space_prefix, std::vector<token_id>& out) const {
    if (bytes_only_ || text.empty()) return encode_pieces(text, out);
    std::string plain;
    plain.reserve(text.size() + 1);
    if (space_prefix) plain += ' ';
    append_unescaped(plain, text);
    encode_pieces(plain, out);
  }

 private:
  using ranked = merge_table::ranked;
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  static constexpr std::size_t short_piece = 48;  // symbols: where a heap begins to pay

  // A link of the list of what a long piece consists of so far. Absorbed links have merge == absorbed.
  struct symbol {
    ranked merge;  // with the right neighbour
    std::uint32_t next, prev;
    token_id id;
    std::uint32_t begin;  // in the piece
  };

  struct scratch {
    std::vector<symbol> symbols;
    std::vector<std::uint64_t> heap;  // rank << 32 | left symbol
  };

  void encode_pieces(std::string_view text, std::vector<token_id>& out) const {
    scratch work;
    seen_pieces seen(text, out);
    const auto encode = [&](std::string_view piece, bool whole) {
      seen.encode(piece, [&](std::uint32_t hash) {
        whole = (whole || piece.size() == 1) && piece.size() <= longest_;
        const token_id id = whole ? index_.find(pieces_, piece, hash) : token_none;
        if (id != token_none)
          out.push_back(id);
        else
          merge(piece, work, out);
      });
    };
    pretokenize::text(kind_, text, [&](std::string_view piece) {
      if (kind_ != pretokenizer::blocks) return encode(piece, whole_pieces_);
      if (piece[0] == '\n') return encode(piece, true);  // line ends are one token where there is one
      for (std::size_t begin = 0; begin < piece.size();) {
        const std::size_t end = cuts_.word_end(piece, begin);
        encode(piece.substr(begin, end - begin), whole_pieces_);
        begin = end;
      }
    });
  }

  // The token of the symbol of `piece` at `at`, a byte or a character, and its bytes.
  std::pair<token_id, std::size_t> symbol_at(std::string_view piece, std::size_t at) const noexcept {
    const auto lead = static_cast<unsigned char>(piece[at]);
    if (bytes_only_ || lead < 0x80) return {symbols_[lead], 1};
    const utf8_step step = decode_utf8(piece, at);
    const std::size_t length = step.status == utf8_status::valid ? step.length : 1;
    return {index_.find(pieces_, piece.substr(at, length)), length};
  }

  void merge(std::string_view piece, scratch& work, std::vector<token_id>& out) const {
    if (piece.size() > short_piece) return merge_long(piece, work, out);
    std::array<token_id, short_piece> ids;
    std::array<std::uint8_t, short_piece> begins;
    std::array<ranked, short_piece> merges;  // of a symbol with its right neighbour
    std::size_t count = 0;
    for (std::size_t at = 0; at < piece.size(); ++count) {
      const auto [id, length] = symbol_at(piece, at);
      ids[count] = id;
      begins[count] = static_cast<std::uint8_t>(at);
      at += length;
    }
    for (std::size_t i = 0; i + 1 < count; ++i) merges[i] = merges_.find(ids[i], ids[i + 1]);
    while (count > 1) {
      const std::size_t best = static_cast<std::size_t>(
          std::min_element(merges.begin(), merges.begin() + static_cast<std::ptrdiff_t>(count - 1)) - merges.begin());
      if (merges[best] == merge_table::none) break;
      ids[best] = merge_table::result_of(merges[best]);
      --count;
      for (std::size_t i = best + 1; i < count; ++i) {
        ids[i] = ids[i + 1];
        begins[i] = begins[i + 1];
        merges[i - 1] = merges[i];
      }
      if (best > 0) merges[best - 1] = merges_.find(ids[best - 1], ids[best]);
      if (best + 1 < count) merges[best] = merges_.find(ids[best], ids[best + 1]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t end = i + 1 < count ? begins[i + 1] : piece.size();
      append(ids[i], piece.substr(begins[i], end - begins[i]), out);
    }
  }

  void merge_long(std::string_view piece, scratch& work, std::vector<token_id>& out) const {
    std::vector<symbol>& symbols = work.symbols;
    std::vector<std::uint64_t>& heap = work.heap;
    symbols.clear();
    heap.clear();
    for (std::size_t at = 0; at < piece.size();) {
      const auto [id, length] = symbol_at(piece, at);
      const auto i = static_cast<std::uint32_t>(symbols.size());
      symbols.push_back({merge_table::none, i + 1, i - 1, id, static_cast<std::uint32_t>(at)});  // 0 - 1 is nowhere
      at += length;
    }
    symbols.back().next = nowhere;

    // Looks the pair of `left` and its right neighbour up anew; true if it was put into the heap.
    const auto propose = [&](std::uint32_t left) {
      symbol& s = symbols[left];
      s.merge = s.next == nowhere ? merge_table::none : merges_.find(s.id, symbols[s.next].id);
      if (s.merge == merge_table::none) return false;
      heap.push_back(std::uint64_t{merge_table::rank_of(s.merge)} << 32 | left);
      return true;
    };
    for (std::uint32_t left = 0; left != nowhere; left = symbols[left].next) propose(left);
    std::make_heap(heap.begin(), heap.end(), std::greater<>());

    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      const std::uint64_t best = heap.back();
      heap.pop_back();
      const auto left = static_cast<std::uint32_t>(best & 0xFFFFFFFF);
      symbol& a = symbols[left];
      // Stale unless the pair still has this rank; an absorbed symbol has no merge. Texts only grow, so that no pair
      // comes back to a place.
      if (a.merge == merge_table::none || merge_table::rank_of(a.merge) != best >> 32) continue;
      symbol& b = symbols[a.next];
      a.id = merge_table::result_of(a.merge);
      a.next = b.next;
      b.merge = merge_table::none;
      if (a.next != nowhere) symbols[a.next].prev = left;
      if (propose(left)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
      if (a.prev != nowhere && propose(a.prev)) std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }

    for (std::uint32_t i = 0; i != nowhere; i = symbols[i].next) {
      const std::size_t end = symbols[i].next == nowhere ? piece.size() : symbols[symbols[i].next].begin;
      append(symbols[i].id, piece.substr(symbols[i].begin, end - symbols[i].begin), out);
    }
  }

  // `id`, or what stands for `bytes`, a symbol without a token.
  void append(token_id id, std::string_view bytes, std::vector<token_id>& out) const {
    if (id != token_none) return out.push_back(id);
    const auto as_byte = [&](char c) { return bytes_[static_cast<unsigned char>(c)]; };
    const auto as_symbol = [&](char c) { return symbols_[static_cast<unsigned char>(c)]; };
    if (std::all_of(bytes.begin(), bytes.end(), [&](char c) { return as_byte(c) != token_none; })) {
      for (const char c : bytes) out.push_back(as_byte(c));
    } else if (bytes_only_ && std::all_of(replacement_utf8.begin(), replacement_utf8.end(),
                                          [&](char c) { return as_symbol(c) != token_none; })) {
      for (const char c : replacement_utf8) out.push_back(as_symbol(c));
    } else if (unk_ != token_none) {
      out.push_back(unk_);
    } else {
      throw error(errc::bad_vocabulary,
                  "llambda: vocabulary: no token, byte token or unknown token covers \"" + repair_utf8(bytes) + "\"");
    }
  }

  string_table pieces_;  // (tokens)
  token_index index_;    // normal tokens only
  merge_table merges_;
  std::array<token_id, 256> symbols_{};  // normal tokens of one byte
  std::array<token_id, 256> bytes_{};    // byte tokens
  pretokenizer kind_;
  bool whole_pieces_;
  bool bytes_only_;  // symbols are bytes, not characters
  token_id unk_;
  std::size_t longest_ = 0;  // bytes of the longest normal token
  word_cuts cuts_;
};

}  // namespace llambda::inline LLAMBDA_ABI
