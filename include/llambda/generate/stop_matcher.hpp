// Stop strings in a stream of text, wherever its pieces begin and end: nothing of a stop string is shown, and no more
// text waits than what can still become one.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/text/unicode.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// The text stops before the stop string that is complete first; of several that are complete with the same byte, the
/// longest counts. So the result does not depend on how the text is cut into pieces.
/// Pieces are whole UTF-8 and so are stop strings, and with them everything shown. Cost a piece: its length and what
/// waits, times the number of stop strings.
class stop_matcher {
 public:
  /// `longest_piece` bytes are the most that push is given: nothing is allocated as long as that holds.
  /// Errors: bad_argument for a stop string that is empty or not UTF-8.
  explicit stop_matcher(std::vector<std::string> stops, std::size_t longest_piece = 0) : stops_(std::move(stops)) {
    std::size_t longest = 0;
    for (const std::string& stop : stops_) {
      if (stop.empty() || !is_utf8(stop)) {
        throw error(errc::bad_argument, stop.empty() ? "llambda: generate: a stop string is empty"
                                                     : "llambda: generate: a stop string is not UTF-8");
      }
      longest = (std::max)(longest, stop.size());
    }
    text_.reserve(longest + longest_piece);
  }

  /// Text that can be shown now that `piece` has come, perhaps none; all that can be if matched() is true then. The
  /// view is good until the next call.
  std::string_view push(std::string_view piece) {
    if (stops_.empty()) return piece;
    text_.erase(0, shown_);
    shown_ = 0;
    if (matched_) return {};
    std::size_t end = text_.size();  // what waited has no stop string in it
    text_ += piece;
    while (!matched_ && end < text_.size()) {
      ++end;
      for (const std::string& stop : stops_) {
        if (!std::string_view(text_).substr(0, end).ends_with(stop)) continue;
        shown_ = matched_ ? (std::min)(shown_, end - stop.size()) : end - stop.size();
        matched_ = true;
      }
    }
    if (!matched_) shown_ = text_.size() - held();
    return std::string_view(text_).substr(0, shown_);
  }

  /// The end of the stream: the text that waited, unless a stop string has come. Ready for another stream afterwards.
  std::string_view finish() {
    text_.erase(0, shown_);
    if (matched_) text_.clear();
    matched_ = false;
    shown_ = text_.size();
    return text_;
  }

  bool matched() const noexcept { return matched_; }

 private:
  /// Length of the longest end of the text that a stop string begins with.
  std::size_t held() const {
    std::size_t most = 0;
    for (const std::string& stop : stops_) {
      for (std::size_t n = (std::min)(stop.size() - 1, text_.size()); n > most; --n) {
        if (std::string_view(text_).ends_with(std::string_view(stop).substr(0, n))) most = n;
      }
    }
    return most;
  }

  std::vector<std::string> stops_;
  std::string text_;       // what was shown by the last call, then what waits
  std::size_t shown_ = 0;  // how much of it was shown
  bool matched_ = false;
};

}  // namespace llambda::inline LLAMBDA_ABI
