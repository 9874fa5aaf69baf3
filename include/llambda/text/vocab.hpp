// The vocabulary as plain data: texts, scores, kinds and the ids with a meaning of their own.
// Texts live in one block of bytes with offsets, and a hash table of ids finds them, so that 128k tokens cost a handful
// of allocations. `validate` is the only gate between a file and the tokenizer: after it every id is in range and every
// list has the same length.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/core/token.hpp>
#include <llambda/text/merge_table.hpp>
#include <llambda/text/pretokenizers.hpp>
#include <llambda/text/unicode.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// How plain text becomes tokens.
enum class vocab_model : std::uint8_t {
  spm,       ///< SentencePiece: merges by score (GGUF "llama")
  byte_bpe,  ///< merges by rank, on bytes (GGUF "gpt2")
  char_bpe,  ///< merges by rank, on characters, with byte tokens and U+2581 for a space (GGUF "gemma4")
};

/// What a token is, with the numbers of GGUF's `tokenizer.ggml.token_type`.
enum class token_kind : std::uint8_t {
  normal = 1,    ///< a piece of text, found by merging
  unknown,       ///< stands for text that nothing else covers
  control,       ///< a mark of structure (<s>, <|im_end|>); never comes out of plain text
  user_defined,  ///< a text that is always one token, found before merging
  unused,        ///< a place in the table; never produced
  byte,          ///< `<0xHH>`: one byte of a character that has no token
};

/// Strings of any bytes in one block, addressed by index.
class string_table {
 public:
  void reserve(std::size_t strings, std::size_t bytes) {
    ends_.reserve(strings);
    bytes_.reserve(bytes);
  }

  /// Append one string. Errors: length_too_large when all strings together pass 2^32 - 1 bytes.
  void add(std::string_view text) {
    if (text.size() > (std::numeric_limits<std::uint32_t>::max)() - bytes_.size()) {
      throw error(errc::length_too_large, "llambda: vocabulary: the texts of all tokens pass 4 GiB");
    }
    bytes_.append(text);
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    longest_ = (std::max)(longest_, text.size());
  }

  std::size_t size() const noexcept { return ends_.size(); }

  /// Bytes of the longest string.
  std::size_t longest() const noexcept { return longest_; }

  /// Precondition: index < size().
  std::string_view operator[](std::size_t index) const noexcept {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return {bytes_.data() + begin, ends_[index] - begin};
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;  // (strings): one past the last byte of each
  std::size_t longest_ = 0;
};

/// From text to id by hashing; linear probing, at most half full. Keeps ids only: the texts stay in their table.
class token_index {
 public:
  explicit token_index(std::size_t tokens = 0) {
    std::size_t capacity = 16;
    while (capacity < 2 * tokens) capacity *= 2;
    slots_.assign(capacity, slot{});
  }

  /// Make `id` known under texts[id], unless an earlier id has that text. Precondition: no more calls than the
  /// constructor was told of.
  void insert(const string_table& texts, token_id id) {
    const std::string_view text = texts[static_cast<std::size_t>(id)];
    const std::uint32_t h = hash(text);
    slot& place = slots_[find_slot(texts, text, h)];
    if (place.id == token_none) place = {h, id};
  }

  /// The id whose text is `text`, or token_none.
  token_id find(const string_table& texts, std::string_view text) const noexcept {
    return find(texts, text, hash(text));
  }

  /// The same with hash(text) at hand.
  token_id find(const string_table& texts, std::string_view text, std::uint32_t h) const noexcept {
    return slots_[find_slot(texts, text, h)].id;
  }

  /// Eight bytes at a time, each mixed by a multiplication whose high half is folded back.
  static std::uint32_t hash(std::string_view text) noexcept {
    std::uint64_t h = text.size() * 0x9E3779B97F4A7C15u;
    const auto mix = [&h](std::uint64_t word) {
      h = (h ^ word) * 0xD6E8FEB86659FD93u;
      h ^= h >> 32;
    };
    for (; text.size() >= 8; text.remove_prefix(8)) mix(load<std::uint64_t>(text, 0));
    // The bytes that are left, in two loads that may overlap: their number is in h already.
    if (text.size() >= 4) {
      mix(std::uint64_t{load<std::uint32_t>(text, 0)} << 32 | load<std::uint32_t>(text, text.size() - 4));
    } else if (!text.empty()) {
      const auto byte = [&](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(text[i])}; };
      mix(byte(0) | byte(text.size() / 2) << 8 | byte(text.size() - 1) << 16);
    }
    return static_cast<std::uint32_t>(h);
  }

 private:
  struct slot {
    std::uint32_t hash = 0;
    token_id id = token_none;
  };

  template <class T> static T load(std::string_view text, std::size_t at) noexcept {
    T value;
    std::memcpy(&value, text.data() + at, sizeof value);
    return value;
  }

  std::size_t find_slot(const string_table& texts, std::string_view text, std::uint32_t h) const noexcept {
    std::size_t at = h & (slots_.size() - 1);
    while (slots_[at].id != token_none &&
           (slots_[at].hash != h || texts[static_cast<std::size_t>(slots_[at].id)] != text)) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }

  std::vector<slot> slots_;  // (capacity): a power of two
};

/// The value of a byte token's text, `<0xHH>` with exactly two hexadecimal digits; -1 for every other text.
constexpr int byte_token_value(std::string_view text) noexcept {
  if (text.size() != 6 || text.substr(0, 3) != "<0x" || text[5] != '>') return -1;
  int value = 0;
  for (const char c : text.substr(3, 2)) {
    int digit = -1;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'A' && c <= 'F') digit = c - 'A' + 10;
    if (c >= 'a' && c <= 'f') digit = c - 'a' + 10;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/// A vocabulary. Token i has texts[i], scores[i], kinds[i]. Where two tokens have one text, the first is the one that
/// encoding produces; a token with an empty text is never produced. Both decode to what they are.
struct vocab {
  vocab_model model = vocab_model::spm;
  string_table texts;               // (size): as in the file, U+2581 for a space or GPT-2's alphabet in normal tokens
  std::vector<float> scores;        // (size): the larger, the earlier a merge
  std::vector<token_kind> kinds;    // (size)
  std::vector<token_merge> merges;  // (merges): in order of rank; none for spm
  pretokenizer pre = pretokenizer::gpt2;  ///< how BPE cuts a text into pieces
  bool whole_pieces = false;              ///< a piece that is a token is that token, whatever the merges say
  std::vector<token_id> strips_left;      ///< tokens that take the white space before their text along
  std::vector<token_id> strips_right;     ///< tokens that take the white space after their text along
  token_id bos = token_none;              ///< begins a text
  token_id eos = token_none;              ///< ends a text
  token_id unk = token_none;              ///< stands for what cannot be encoded
  token_id pad = token_none;              ///< fills batches; unused here
  std::vector<token_id> eog;              ///< every id that ends generation; `eos` counts whether listed or not
  bool add_bos = true;                    ///< encode begins with `bos` unless told otherwise
  bool add_eos = false;                   ///< encode ends with `eos` unless told otherwise
  bool add_space_prefix = true;           ///< a text is encoded as if a space stood before it

  std::size_t size() const noexcept { return texts.size(); }

  /// Append a token; its id is the size() before.
  void add(std::string_view text, float score = 0.0f, token_kind kind = token_kind::normal) {
    texts.add(text);
    scores.push_back(score);
    kinds.push_back(kind);
  }

  /// Check everything the tokenizer relies on. `source` is the path or name that the message carries.
  /// Errors: load_error bad_vocabulary naming the list or key at fault.
  void validate(const std::string& source) const {
    const auto fail = [&](std::string subject, std::string expected, std::string got) {
      throw load_error(errc::bad_vocabulary, source, std::move(subject), std::move(expected), std::move(got));
    };
    const std::size_t n = size();
    const std::string count = std::to_string(n);
    constexpr auto most = static_cast<std::size_t>((std::numeric_limits<token_id>::max)());
    if (n == 0) fail("tokenizer.ggml.tokens", "at least one token", "none");
    if (n > most) fail("tokenizer.ggml.tokens", "at most " + std::to_string(most) + " tokens", count);
    if (scores.size() != n) fail("tokenizer.ggml.scores", count + " scores", std::to_string(scores.size()));
    if (kinds.size() != n) fail("tokenizer.ggml.token_type", count + " types", std::to_string(kinds.size()));
    for (std::size_t i = 0; i < n; ++i) {
      const std::string_view text = texts[i];
      const auto entry = [&](const char* list) { return std::string(list) + "[" + std::to_string(i) + "]"; };
      if (scores[i] != scores[i]) fail(entry("tokenizer.ggml.scores"), "a number", "NaN");
      if (kinds[i] < token_kind::normal || kinds[i] > token_kind::byte) {
        fail(entry("tokenizer.ggml.token_type"), "1 to 6", std::to_string(static_cast<int>(kinds[i])));
      }
      if (kinds[i] == token_kind::byte && byte_token_value(text) < 0) {
        fail(entry("tokenizer.ggml.tokens"), "<0xHH>, as its type is byte", repair_utf8(text.substr(0, 40)));
      }
    }
    const auto check_id = [&](const char* key, token_id id) {
      if (id == token_none || (id >= 0 && static_cast<std::size_t>(id) < n)) return;
      fail(key, "an id below " + count, std::to_string(id));
    };
    for (std::size_t i = 0; i < merges.size(); ++i) {
      for (const token_id id : {merges[i].left, merges[i].right, merges[i].result}) {
        if (id >= 0 && static_cast<std::size_t>(id) < n) continue;
        fail("tokenizer.ggml.merges[" + std::to_string(i) + "]", "ids below " + count, std::to_string(id));
      }
    }
    check_id("tokenizer.ggml.bos_token_id", bos);
    check_id("tokenizer.ggml.eos_token_id", eos);
    check_id("tokenizer.ggml.unknown_token_id", unk);
    check_id("tokenizer.ggml.padding_token_id", pad);
    for (const token_id id : eog) check_id("tokenizer.ggml.eot_token_id", id);
    for (const auto* list : {&strips_left, &strips_right}) {
      for (const token_id id : *list) check_id("added_tokens", id);
    }
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
