// The tokenizer: text to ids and ids to text. Immutable after construction, so that any number of threads may share
// one. Texts of special tokens are cut out first (leftmost, longest), the rest goes through the encoder that the
// vocabulary asks for, spm.hpp or bpe.hpp. By default no text becomes a control token: text that a user typed stays
// text. `parse_special` is for templates.
#pragma once

#include <llambda/text/bpe.hpp>
#include <llambda/text/marked_text.hpp>
#include <llambda/text/spm.hpp>
#include <llambda/text/unicode.hpp>
#include <llambda/text/vocab.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// Longest text, in bytes, that one call of tokenizer::encode takes.
inline constexpr std::size_t max_text_bytes = std::size_t{1} << 30;

struct encode_options {
  std::optional<bool> add_bos = std::nullopt;  ///< begin with bos(); as the vocabulary says when absent
  std::optional<bool> add_eos = std::nullopt;  ///< end with eos(); as the vocabulary says when absent
  bool parse_special = false;                  ///< texts of control tokens become those tokens
  const marked_text* marks = nullptr;          ///< who wrote the text: data never becomes a control token
  /// The vocabulary's space prefix stands before the first text of a call and, with this flag, also before text that
  /// follows a control or user-defined token (as llama.cpp does). Without it "<s>a" holds no space that was not typed.
  bool space_after_special = true;
};

struct decode_options {
  bool show_special = false;  ///< control, unknown and unused tokens show their text instead of nothing
  bool at_start = true;       ///< the ids begin a text: its space prefix is taken off. False: they continue one
};

/// Finds the token that begins at a place of a text and is longest, among a fixed set. Cost: O(length x log tokens).
class token_matcher {
 public:
  /// Empty texts are left out; of equal texts the lower id counts.
  void add(std::string_view text, token_id id) {
    if (!text.empty()) entries_.push_back({std::string(text), id});
  }

  /// Call once, after the last add.
  void prepare() {
    std::sort(entries_.begin(), entries_.end());
    for (const entry& e : entries_) begins_[static_cast<unsigned char>(e.first.front())] = true;
  }

  /// Move `at` to the first match at or after it. Returns id and length; {token_none, 0} and `at` = end if none.
  std::pair<token_id, std::size_t> find(std::string_view text, std::size_t& at) const noexcept {
    for (; at < text.size(); ++at) {
      if (!begins_[static_cast<unsigned char>(text[at])]) continue;
      const auto match = longest_at(text.substr(at));
      if (match.second != 0) return match;
    }
    return {token_none, 0};
  }

 private:
  using entry = std::pair<std::string, token_id>;

  // Narrows the sorted range of entries that agree with the text byte by byte. The one that ends at this depth, if any,
  // is the first of the range.
  std::pair<token_id, std::size_t> longest_at(std::string_view text) const noexcept {
    std::pair<token_id, std::size_t> best{token_none, 0};
    auto low = entries_.begin();
    auto high = entries_.end();
    for (std::size_t depth = 0; depth < text.size(); ++depth) {
      const auto key = [depth](const entry& e) {
        return depth < e.first.size() ? static_cast<unsigned char>(e.first[depth]) : -1;
      };
      const int wanted = static_cast<unsigned char>(text[depth]);
      low = std::partition_point(low, high, [&](const entry& e) { return key(e) < wanted; });
      high = std::partition_point(low, high, [&](const entry& e) { return key(e) <= wanted; });
      if (low == high) break;
      if (low->first.size() == depth + 1) best = {low->second, depth + 1};
    }
    return best;
  }

  std::vector<entry> entries_;  // sorted by text, then id
  std::array<bool, 256> begins_{};
};

class tokenizer {
 public:
  /// Errors: load_error bad_vocabulary, see vocab::validate.
  explicit tokenizer(vocab v)
      : vocab_(checked(std::move(v))), encoder_(encoder_for(vocab_)), eog_(vocab_.size(), false) {
    for (std::size_t i = 0; i < vocab_.size(); ++i) {
      const auto id = static_cast<token_id>(i);
      const token_kind kind = vocab_.kinds[i];
      if (kind == token_kind::user_defined) always_.add(vocab_.texts[i], id);
      if (kind == token_kind::user_defined || kind == token_kind::control || kind == token_kind::unknown) {
        special_.add(vocab_.texts[i], id);
      }
    }
    always_.prepare();
    special_.prepare();
    if (vocab_.eos != token_none) eog_[static_cast<std::size_t>(vocab_.eos)] = true;
    for (const token_id id : vocab_.eog) {
      if (id != token_none) eog_[static_cast<std::size_t>(id)] = true;
    }
  }

  /// Ids of `text`, any bytes. User-defined tokens are always recognised. A bos or eos that stands there already is not
  /// doubled. Errors: input_too_long past max_text_bytes; bad_vocabulary if a character cannot be expressed.
  std::vector<token_id> encode(std::string_view text, encode_options options = {}) const {
    if (text.size() > max_text_bytes) {
      throw error(errc::input_too_long, "llambda: tokenizer: a text of " + std::to_string(text.size()) +
                                            " bytes; at most " + std::to_string(max_text_bytes) + " in one call");
    }
    const bool with_bos = options.add_bos.value_or(vocab_.add_bos) && vocab_.bos != token_none;
    const bool with_eos = options.add_eos.value_or(vocab_.add_eos) && vocab_.eos != token_none;
    std::vector<token_id> ids;
    ids.reserve(text.size() / 3 + 2);
    if (with_bos) ids.push_back(vocab_.bos);
    const std::size_t first = ids.size();

    bool prefix = vocab_.add_space_prefix;
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = begin;
      const auto [id, length] = next_special(text, end, options);
      std::string_view plain = text.substr(begin, end - begin);
      if (is_in(vocab_.strips_left, id)) plain = without_spaces_behind(plain);
      if (!plain.empty()) {
        encode_plain(plain, prefix, ids);
        prefix = false;
      }
      if (id != token_none) {
        const bool doubled = with_bos && id == vocab_.bos && ids.size() == 1;
        if (!doubled) ids.push_back(id);
        prefix = vocab_.add_space_prefix && options.space_after_special;
      }
      begin = end + length;
      if (is_in(vocab_.strips_right, id)) begin = chars::skip(text, begin, chars::space);
    }
    if (with_eos && (ids.size() == first || ids.back() != vocab_.eos)) ids.push_back(vocab_.eos);
    return ids;
  }

  /// Ids of a prompt (chat_template::render_marked): control tokens where the template wrote the whole of one, and none
  /// out of what came with the messages. The text is still encoded as one. Errors: as above.
  std::vector<token_id> encode(const marked_text& prompt, encode_options options = {}) const {
    options.parse_special = true;
    options.marks = &prompt;
    return encode(prompt.view(), options);
  }

  /// The bytes a token stands for, perhaps a part of a character; nothing for control, unknown and unused tokens unless
  /// `show_special`. The view lives as long as the tokenizer; nothing is allocated. Errors: bad_token_id.
  std::string_view piece(token_id id, bool show_special = false) const {
    const std::size_t i = index_of(id);
    const token_kind kind = vocab_.kinds[i];
    const bool hidden = kind == token_kind::control || kind == token_kind::unknown || kind == token_kind::unused;
    return hidden && show_special ? vocab_.texts[i] : pieces()[i];
  }

  /// The step that decode and stream_decoder share: piece(), minus the one space that the space prefix put at the start
  /// of a text. `at_start` is the state between calls; bos() sets it, the first token with a text clears it.
  std::string_view next_piece(token_id id, bool show_special, bool& at_start) const {
    std::string_view text = piece(id, show_special);
    const token_kind kind = vocab_.kinds[static_cast<std::size_t>(id)];
    if (kind == token_kind::control || kind == token_kind::unknown) {
      at_start |= id == vocab_.bos;
    } else if (!text.empty()) {
      const bool prefixed = at_start && vocab_.add_space_prefix && kind != token_kind::user_defined;
      if (prefixed && text.front() == ' ') text.remove_prefix(1);
      at_start = false;
    }
    return text;
  }

  /// Text of `ids` byte for byte; not always UTF-8, as a model may emit any bytes. Errors: bad_token_id.
  std::string decode_bytes(std::span<const token_id> ids, decode_options options = {}) const {
    std::string bytes;
    for (const token_id id : ids) bytes += next_piece(id, options.show_special, options.at_start);
    return bytes;
  }

  /// Text of `ids` as UTF-8: ill-formed bytes become U+FFFD. Errors: bad_token_id.
  std::string decode(std::span<const token_id> ids, decode_options options = {}) const {
    return repair_utf8(decode_bytes(ids, options));
  }

  token_id bos() const noexcept { return vocab_.bos; }  ///< token_none if there is none
  token_id eos() const noexcept { return vocab_.eos; }  ///< token_none if there is none

  /// True if generation ends with this token; false for ids outside the vocabulary.
  bool is_eog(token_id id) const noexcept {
    return id >= 0 && static_cast<std::size_t>(id) < eog_.size() && eog_[static_cast<std::size_t>(id)];
  }

  std::size_t vocab_size() const noexcept { return vocab_.size(); }

  /// Bytes of the longest text that piece() can return.
  std::size_t longest_piece() const noexcept { return (std::max)(pieces().longest(), vocab_.texts.longest()); }

  const vocab& vocabulary() const noexcept { return vocab_; }

 private:
  using encoder = std::variant<spm_encoder, bpe_encoder>;

  static encoder encoder_for(const vocab& v) {
    if (v.model == vocab_model::spm) return encoder(std::in_place_type<spm_encoder>, v);
    return encoder(std::in_place_type<bpe_encoder>, v);
  }

  const string_table& pieces() const noexcept {
    const auto* spm = std::get_if<spm_encoder>(&encoder_);
    return spm != nullptr ? spm->pieces() : std::get_if<bpe_encoder>(&encoder_)->pieces();
  }

  // Few vocabularies have such tokens, and those few of them.
  static bool is_in(const std::vector<token_id>& list, token_id id) noexcept {
    return !list.empty() && std::find(list.begin(), list.end(), id) != list.end();
  }

  static std::string_view without_spaces_behind(std::string_view text) noexcept {
    if (chars::skip(text, 0, chars::space) == text.size()) return {};
    return text.substr(0, pretokenize::trailing_spaces::first(text));
  }

  // `prefix`: a space stands before the text, where the vocabulary has it so.
  void encode_plain(std::string_view text, bool prefix, std::vector<token_id>& ids) const {
    if (const auto* spm = std::get_if<spm_encoder>(&encoder_))
      spm->encode(text, prefix, ids);
    else
      std::get_if<bpe_encoder>(&encoder_)->encode(text, prefix, ids);
  }

  static vocab checked(vocab v) {
    v.validate("vocabulary");
    return v;
  }

  /// Move `at` to the next text that becomes a special token; {token_none, 0} and the end if there is none.
  std::pair<token_id, std::size_t> next_special(std::string_view text, std::size_t& at,
                                                const encode_options& options) const {
    const token_matcher& matcher = options.parse_special ? special_ : always_;
    for (;; ++at) {
      const auto match = matcher.find(text, at);
      const bool always = match.first == token_none ||
                          vocab_.kinds[static_cast<std::size_t>(match.first)] == token_kind::user_defined;
      if (always || options.marks == nullptr || options.marks->is_template(at, at + match.second)) return match;
    }
  }

  std::size_t index_of(token_id id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= vocab_.size()) {
      throw error(errc::bad_token_id, "llambda: tokenizer: token id " + std::to_string(id) + " outside 0 ... " +
                                          std::to_string(vocab_.size() - 1));
    }
    return static_cast<std::size_t>(id);
  }

  vocab vocab_;
  encoder encoder_;
  token_matcher always_;   // user-defined tokens
  token_matcher special_;  // those, control and unknown tokens
  std::vector<bool> eog_;  // (tokens)
};

}  // namespace llambda::inline LLAMBDA_ABI
