// Text that knows, byte by byte, who wrote it: the chat template or the data put into it.
// A control token in a prompt is real only where the template wrote all of it; the same characters in what a user typed
// are text. The marks are runs of alternating origin, so that text from one side costs one number. Whoever joins, cuts
// or changes marked texts keeps the marks of the bytes; what mixes both within a byte counts as data.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// Who wrote a byte.
enum class text_origin : bool {
  from_template,  ///< stands in the template, or was computed by it (numbers, punctuation of JSON)
  data,           ///< came with the messages, the tools or another variable
};

class marked_text {
 public:
  marked_text() = default;
  marked_text(std::string bytes, text_origin origin) : bytes_(std::move(bytes)), first_(origin) {
    if (!bytes_.empty()) ends_.push_back(bytes_.size());
  }

  const std::string& str() const noexcept { return bytes_; }
  std::string_view view() const noexcept { return bytes_; }
  std::size_t size() const noexcept { return bytes_.size(); }
  bool empty() const noexcept { return bytes_.empty(); }

  void append(std::string_view bytes, text_origin origin) {
    if (bytes.empty()) return;
    bytes_ += bytes;
    if (ends_.empty()) first_ = origin;
    if (!ends_.empty() && run_origin(ends_.size() - 1) == origin) {
      ends_.back() = bytes_.size();
    } else {
      ends_.push_back(bytes_.size());
    }
  }

  /// The `count` bytes of `other` from `begin`, with their marks.
  void append(const marked_text& other, std::size_t begin = 0, std::size_t count = std::string::npos) {
    other.for_each_run([this](std::string_view run, text_origin origin) { append(run, origin); }, begin, count);
  }

  marked_text substr(std::size_t begin, std::size_t count = std::string::npos) const {
    marked_text part;
    part.append(*this, begin, count);
    return part;
  }

  /// f(bytes, origin) for each run of equal origin within `count` bytes from `begin`, in order.
  template <class F> void for_each_run(F&& f, std::size_t begin = 0, std::size_t count = std::string::npos) const {
    begin = (std::min)(begin, size());
    const std::size_t end = begin + (std::min)(count, size() - begin);
    for (std::size_t run = run_of(begin); begin < end; ++run) {
      const std::size_t stop = (std::min)(end, ends_[run]);
      f(view().substr(begin, stop - begin), run_origin(run));
      begin = stop;
    }
  }

  /// True if the template wrote every byte of [begin, end). Logarithmic in the number of runs.
  bool is_template(std::size_t begin, std::size_t end) const noexcept {
    if (begin >= end) return true;
    const std::size_t run = run_of(begin);
    return run < ends_.size() && end <= ends_[run] && run_origin(run) == text_origin::from_template;
  }

  text_origin origin_at(std::size_t byte) const noexcept {
    return is_template(byte, byte + 1) ? text_origin::from_template : text_origin::data;
  }

 private:
  std::size_t run_of(std::size_t byte) const noexcept {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), byte) - ends_.begin());
  }
  text_origin run_origin(std::size_t run) const noexcept {
    return static_cast<text_origin>(static_cast<bool>(first_) != (run % 2 != 0));
  }

  std::string bytes_;
  std::vector<std::size_t> ends_;  // run i ends before this byte; origins alternate from first_
  text_origin first_ = text_origin::from_template;
};

}  // namespace llambda::inline LLAMBDA_ABI
