// Token by token to text that can be shown at once: each chunk is whole UTF-8.
// A character may be spread over several tokens, so up to three bytes wait for their rest. All chunks together are what
// tokenizer::decode gives for all ids at once. Nothing is allocated after construction.
#pragma once

#include <llambda/text/tokenizer.hpp>
#include <llambda/text/unicode.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

class stream_decoder {
 public:
  /// Keeps a reference: `t` must live longer. Set options.at_start to false when the ids continue a prompt that was
  /// shown already, so that their first space is kept.
  explicit stream_decoder(const tokenizer& t, decode_options options = {})
      : tokenizer_(&t), options_(options), at_start_(options.at_start) {
    const std::size_t most = max_held + t.longest_piece();
    bytes_.resize(most);
    chunk_.resize(replacement_utf8.size() * most);  // each byte ill-formed
  }

  /// Text that became whole with this token, perhaps none. The view is good until the next call.
  /// Errors: bad_token_id, with the state unchanged.
  std::string_view push(token_id id) {
    const std::string_view piece = tokenizer_->next_piece(id, options_.show_special, at_start_);
    std::copy(piece.begin(), piece.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(held_));
    const std::string_view bytes(bytes_.data(), held_ + piece.size());
    std::size_t written = 0;
    std::size_t at = 0;
    while (at < bytes.size()) {
      const utf8_step step = decode_utf8(bytes, at);
      if (step.status == utf8_status::truncated) break;
      const bool valid = step.status == utf8_status::valid;
      append(valid ? bytes.substr(at, step.length) : replacement_utf8, written);
      at += step.length;
    }
    held_ = bytes.size() - at;
    if (at != 0) std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), bytes_.begin());
    return {chunk_.data(), written};
  }

  /// The end of the stream: bytes that still wait become one U+FFFD. Ready for another text afterwards.
  std::string_view finish() noexcept {
    const bool tail = held_ != 0;
    held_ = 0;
    at_start_ = options_.at_start;
    return tail ? replacement_utf8 : std::string_view();
  }

  /// Bytes that wait for the rest of their character, 0 ... 3.
  std::size_t held() const noexcept { return held_; }

  /// Bytes of the longest text that push can return.
  std::size_t longest_chunk() const noexcept { return chunk_.size(); }

 private:
  static constexpr std::size_t max_held = 3;

  void append(std::string_view text, std::size_t& written) noexcept {
    std::copy(text.begin(), text.end(), chunk_.begin() + static_cast<std::ptrdiff_t>(written));
    written += text.size();
  }

  const tokenizer* tokenizer_;
  decode_options options_;
  bool at_start_;
  std::size_t held_ = 0;
  std::vector<char> bytes_;  // (max_held + longest piece): what waits, then the new piece
  std::vector<char> chunk_;  // (3 x that): the text handed out
};

}  // namespace llambda::inline LLAMBDA_ABI
