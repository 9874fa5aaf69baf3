// Cutting a text into the pieces that BPE merges within: what the regular expressions of tokenizer.json files say, as
// loops over character classes. A rule gives the length of the first piece of a text; rules in sequence cut each
// other's pieces further, as a Sequence of Splits does. No rule looks at a character more than a few times, whatever
// the text is, and none needs a stack.
#pragma once

#include <llambda/text/char_class.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

namespace pretokenize {

/// A rule: first(text) is the length of the first piece of a text that is not empty, 1 ... text.size().
/// Cuts `text` by the first rule, each piece by the next one, and hands the last pieces to `emit` in order.
template <class Rule, class... Rules, class Emit> constexpr void split(std::string_view text, Emit&& emit) {
  while (!text.empty()) {
    const std::size_t length = Rule::first(text);
    const std::string_view piece = text.substr(0, length);
    if constexpr (sizeof...(Rules) == 0)
      emit(piece);
    else
      split<Rules...>(piece, emit);
    text.remove_prefix(length);
  }
}

/// 's 't 're 've 'm 'll 'd at the beginning of `text`: its length, or 0.
constexpr std::size_t contraction(std::string_view text, bool any_case) noexcept {
  if (text.size() < 2 || text[0] != '\'') return 0;
  const auto letter = [&](std::size_t i) {
    const char c = i < text.size() ? text[i] : '\0';
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  const char one = letter(1);
  const char two = letter(2);
  if (one == 's' || one == 't' || one == 'm' || one == 'd') return 2;
  return (one == 'r' && two == 'e') || (one == 'v' && two == 'e') || (one == 'l' && two == 'l') ? 3 : 0;
}

/// \s+(?!\S)|\s+ : white space, the last character of it left for the word that follows. Precondition: it is one.
constexpr std::size_t spaces(std::string_view text) noexcept {
  std::size_t last = 0;
  std::size_t end = 0;
  for (chars::step s = chars::at(text, 0); (s.classes & chars::space) != 0; s = chars::at(text, end)) {
    last = end;
    end += s.length;
  }
  return end == text.size() || last == 0 ? end : last;
}

/// \s*[\r\n]+ : white space up to its last line end; 0 if there is none.
constexpr std::size_t lines(std::string_view text) noexcept {
  std::size_t last = 0;
  std::size_t at = 0;
  for (chars::step s = chars::at(text, 0); (s.classes & chars::space) != 0; s = chars::at(text, at)) {
    at += s.length;
    if ((s.classes & chars::newline) != 0) last = at;
  }
  return last;
}

/// [\r\n]* (with_slash: [\r\n/]*) from `at` on.
constexpr std::size_t skip_line_ends(std::string_view text, std::size_t at, bool with_slash) noexcept {
  while (at < text.size() && (text[at] == '\r' || text[at] == '\n' || (with_slash && text[at] == '/'))) ++at;
  return at;
}

/// GPT-2: 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
struct gpt2_words {
  static constexpr std::size_t first(std::string_view text) noexcept {
    if (const std::size_t n = contraction(text, false)) return n;
    const std::size_t begin = text[0] == ' ' ? 1 : 0;
    const chars::set head = chars::at(text, begin).classes;
    constexpr chars::set other = chars::any & ~(chars::space | chars::letter | chars::number);
    for (const chars::set run : {chars::letter, chars::number, other}) {
      if ((head & run) != 0) return chars::skip(text, begin, run);
    }
    return spaces(text);
  }
};

/// How the successors of GPT-4's pattern differ.
struct word_style {
  bool contractions = true;            ///< (?i:'s|'t|'re|'ve|'m|'ll|'d); after the word if `by_case`
  chars::set letters = chars::letter;  ///< what words are made of
  bool by_case = false;                ///< a word is upper case, then lower case
  std::size_t digits = 1;              ///< most numbers in a piece
  bool slash = false;                  ///< punctuation takes slashes along with the line ends after it
  bool line_ends = true;               ///< punctuation takes the line ends after it
};

/// GPT-4 and what came of it (Llama 3, Qwen, GPT-4o, Tekken). With the style's letters for L and digits for k:
///   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?L+|\p{N}{1,k}| ?[^\sL\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
template <word_style Style> struct words {
  static constexpr std::size_t first(std::string_view text) noexcept {
    if constexpr (Style.contractions && !Style.by_case) {
      if (const std::size_t n = contraction(text, true)) return n;
    }
    const chars::step head = chars::at(text, 0);
    if (const std::size_t n = word(text, head)) return n;
    if ((head.classes & chars::number) != 0) return chars::skip(text, 0, chars::number, Style.digits);
    const std::size_t begin = text[0] == ' ' ? 1 : 0;
    constexpr chars::set other = chars::any & ~(chars::space | Style.letters | chars::number);
    const std::size_t end = chars::skip(text, begin, other);
    if (end > begin) return Style.line_ends ? skip_line_ends(text, end, Style.slash) : end;
    if (const std::size_t n = lines(text)) return n;
    return spaces(text);
  }

 private:
  // One character other than a line end, letter or number may stand before a word.
  static constexpr std::size_t word(std::string_view text, chars::step head) noexcept {
    const bool prefix = (head.classes & (chars::newline | chars::letter | chars::number)) == 0;
    if constexpr (Style.by_case) {
      std::size_t end = 0;
      if (prefix) end = lower_word(text, head.length);
      if (end == 0) end = lower_word(text, 0);
      if (end == 0 && prefix) end = upper_word(text, head.length);
      if (end == 0) end = upper_word(text, 0);
      return end == 0 || !Style.contractions ? end : end + contraction(text.substr(end), true);
    } else {
      if ((head.classes & Style.letters) != 0) return chars::skip(text, head.length, Style.letters);
      const std::size_t end = prefix ? chars::skip(text, head.length, Style.letters) : 0;
      return end > head.length ? end : 0;
    }
  }

  // Caseless letters and marks count as either case.
  static constexpr chars::set either = chars::caseless | chars::mark;
  static constexpr chars::set uppers = chars::upper | either;
  static constexpr chars::set lowers = chars::lower | either;

  // [upper]*[lower]+ : as many of upper as leave one for lower.
  static constexpr std::size_t lower_word(std::string_view text, std::size_t begin) noexcept {
    std::size_t at = begin;
    std::size_t after_either = 0;
    chars::step s = chars::at(text, at);
    for (; (s.classes & uppers) != 0; s = chars::at(text, at)) {
      at += s.length;
      if ((s.classes & either) != 0) after_either = at;
    }
    return (s.classes & chars::lower) != 0 ? chars::skip(text, at, lowers) : after_either;
  }

  // [upper]+[lower]* where lower_word found nothing: then no lower case follows.
  static constexpr std::size_t upper_word(std::string_view text, std::size_t begin) noexcept {
    const std::size_t end = chars::skip(text, begin, uppers);
    return end > begin ? end : 0;
  }
};

/// DeepSeek V3, last stage:
///   [ASCII punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
/// What none of these takes (controls, formats) stays in one piece.
struct deepseek3_words {
  static constexpr std::size_t first(std::string_view text) noexcept {
    std::size_t end = match(text);
    if (end != 0) return end;
    do end += chars::at(text, end).length;
    while (end < text.size() && match(text.substr(end)) == 0);
    return end;
  }

 private:
  static constexpr chars::set letters = chars::letter | chars::mark;
  static constexpr chars::set signs = chars::punctuation | chars::symbol;

  static constexpr bool is_ascii_letter(std::string_view text, std::size_t at) noexcept {
    return at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || (text[at] >= 'A' && text[at] <= 'Z'));
  }

  static constexpr std::size_t match(std::string_view text) noexcept {
    const chars::step head = chars::at(text, 0);
    if ((head.classes & signs) != 0 && static_cast<unsigned char>(text[0]) < 128 && is_ascii_letter(text, 1)) {
      std::size_t end = 2;
      while (is_ascii_letter(text, end)) ++end;
      return end;
    }
    if ((head.classes & letters) != 0) return chars::skip(text, head.length, letters);
    if ((head.classes & (chars::newline | signs)) == 0) {
      const std::size_t end = chars::skip(text, head.length, letters);
      if (end > head.length) return end;
    }
    const std::size_t begin = text[0] == ' ' ? 1 : 0;
    const std::size_t end = chars::skip(text, begin, signs);
    if (end > begin) return skip_line_ends(text, end, false);
    if ((head.classes & chars::space) == 0) return 0;
    if (const std::size_t n = lines(text)) return n;
    return spaces(text);
  }
};

/// What may begin a run besides its members: nothing, a blank ( ?), or any one white space (\s?).
enum class led_by : std::uint8_t { nothing, blank, space };

/// X{1,Most}, \x20?X{1,Most} or \s?X{1,Most}: the runs of what Member::test accepts, and all that lies between two of
/// them, each a piece.
template <class Member, led_by Lead = led_by::nothing, std::size_t Most = ~std::size_t{0}> struct isolate {
  static constexpr std::size_t first(std::string_view text) noexcept {
    std::size_t end = match(text, 0);
    if (end != 0) return end;
    do end += chars::at(text, end).length;
    while (end < text.size() && match(text, end) == 0);
    return end;
  }

 private:
  static constexpr bool member(std::string_view text, std::size_t at) noexcept {
    return at < text.size() && Member::test(text, at);
  }

  // The end of a match at `at`, or 0. Only whether there is one counts for a place after the first.
  static constexpr std::size_t match(std::string_view text, std::size_t at) noexcept {
    std::size_t begin = at;
    const chars::step head = chars::at(text, at);
    const bool lead = Lead == led_by::blank ? text[at] == ' ' : (head.classes & chars::space) != 0;
    if (Lead != led_by::nothing && lead && member(text, at + head.length)) begin = at + head.length;
    if (!member(text, begin)) return 0;
    if (at != 0) return begin;
    std::size_t end = begin;
    for (std::size_t n = 0; n < Most && member(text, end); ++n) end += chars::at(text, end).length;
    return end;
  }
};

/// Members of a set of classes.
template <chars::set Classes> struct in_classes {
  static constexpr bool test(std::string_view text, std::size_t at) noexcept {
    return (chars::at(text, at).classes & Classes) != 0;
  }
};

/// Members of `Ranges`: first and last code point in turn, ascending.
template <const auto& Ranges> struct in_ranges {
  static constexpr bool test(std::string_view text, std::size_t at) noexcept {
    const char32_t c = decode_utf8(text, at).code_point;
    std::size_t low = 0;
    std::size_t high = Ranges.size() / 2;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (c > Ranges[2 * middle + 1])
        low = middle + 1;
      else
        high = middle;
    }
    return low < Ranges.size() / 2 && c >= Ranges[2 * low];
  }
};

/// \s+$ : white space at the end of a piece is a piece of its own.
struct trailing_spaces {
  static constexpr std::size_t first(std::string_view text) noexcept {
    std::size_t end = 0;
    std::size_t tail = 0;
    for (chars::step s = chars::at(text, 0); s.length != 0; s = chars::at(text, end)) {
      end += s.length;
      if ((s.classes & chars::space) == 0) tail = end;
    }
    return tail == 0 ? end : tail;
  }
};

}  // namespace pretokenize

}  // namespace llambda::inline LLAMBDA_ABI
