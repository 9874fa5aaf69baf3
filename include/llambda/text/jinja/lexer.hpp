// Template text to tokens, with the rules for white space that chat templates are written for: trim_blocks (a newline
// after a block or comment goes), lstrip_blocks (blanks between a line's start and a block go), "-" and "+" at a tag's
// ends, no newline at the end of the template. Newlines of any kind become \n.
#pragma once

#include <llambda/text/jinja/runtime.hpp>
#include <llambda/text/jinja/strings.hpp>
#include <llambda/text/unicode.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

enum class token_type : std::uint8_t {
  text,         ///< outside of tags
  block_begin,  ///< {%
  block_end,
  print_begin,  ///< {{
  print_end,
  name,
  string,
  integer,
  real,
  mark,  ///< operators and brackets
  end,   ///< of the template
};

struct token {
  token_type type = token_type::end;
  std::uint32_t line = 1;
  std::string text;

  bool is(std::string_view mark) const noexcept { return type == token_type::mark && text == mark; }
  bool is_name(std::string_view name) const noexcept { return type == token_type::name && text == name; }
  /// For messages.
  std::string describe() const {
    constexpr std::string_view names[] = {
        "text", "'{%'", "'%}'", "'{{'", "'}}'", "", "a string", "a number", "a number", "", "the end of the template"};
    const std::string_view name = names[static_cast<std::size_t>(type)];
    return name.empty() ? "'" + repair_utf8(text.substr(0, 40)) + "'" : std::string(name);
  }
};

class lexer {
 public:
  explicit lexer(std::string_view source) {
    source_.reserve(source.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
      const bool pair = source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n';
      if (!pair) source_ += source[i] == '\r' ? '\n' : source[i];
    }
    if (source_.ends_with('\n')) source_.pop_back();
  }

  /// All tokens; the last one is token_type::end. Errors: bad_template.
  std::vector<token> run() {
    while (at_ < source_.size()) {
      const std::size_t tag = find_tag(at_);
      if (tag == npos) {
        emit(token_type::text, source_.substr(at_));
        advance(source_.size());
        break;
      }
      const char what = source_[tag + 1];
      const char sign = sign_at(tag + 2);
      const std::size_t inside = tag + 2 + (sign != 0);
      emit_text(tag, sign, what != '{');
      if (what == '#') {
        skip_comment(tag, inside);
      } else if (const std::size_t body = what == '%' ? raw_body(inside) : npos; body != npos) {
        raw(body);
      } else {
        emit(what == '%' ? token_type::block_begin : token_type::print_begin, "");
        advance(inside);
        inside_tag(what);
      }
    }
    emit(token_type::end, "");
    return std::move(tokens_);
  }

 private:
  static constexpr std::size_t npos = std::string_view::npos;

  std::string_view rest(std::size_t from) const noexcept { return std::string_view(source_).substr(from); }
  char sign_at(std::size_t i) const noexcept {
    return i < source_.size() && (source_[i] == '-' || source_[i] == '+') ? source_[i] : '\0';
  }
  std::size_t skip_space(std::size_t i) const noexcept {
    while (const std::size_t n = space_length(source_, i)) i += n;
    return i;
  }
  void advance(std::size_t to) noexcept {
    line_ += static_cast<std::uint32_t>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                                   source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
    at_ = to;
  }
  void emit(token_type type, std::string text) { tokens_.push_back({type, line_, std::move(text)}); }
  [[noreturn]] void fail(const std::string& detail) const { throw template_error(errc::bad_template, line_, detail); }

  std::size_t find_tag(std::size_t from) const noexcept {
    for (std::size_t i = source_.find('{', from); i != npos && i + 1 < source_.size(); i = source_.find('{', i + 1)) {
      const char next = source_[i + 1];
      if (next == '{' || next == '%' || next == '#') return i;
    }
    return npos;
  }

  /// Text up to a tag that begins with `sign`; `strips` if blanks before it may go with the line's start.
  void emit_text(std::size_t end, char sign, bool strips) {
    std::string_view text = rest(at_).substr(0, end - at_);
    if (sign == '-') {
      text = strip(text, false, true);
    } else if (sign != '+' && strips) {
      const std::size_t line = text.rfind('\n') + 1;  // npos + 1 is 0
      const bool at_line_start = line > 0 || at_ == 0 || source_[at_ - 1] == '\n';
      if (at_line_start && strip(text.substr(line), false, true).empty()) text = text.substr(0, line);
    }
    if (!text.empty()) emit(token_type::text, std::string(text));
  }

  /// After the end of a block or comment, `sign` before it: how far white space goes with it.
  std::size_t after_tag(std::size_t end, char sign) const noexcept {
    if (sign == '-') return skip_space(end);
    return sign == 0 && end < source_.size() && source_[end] == '\n' ? end + 1 : end;
  }

  void skip_comment(std::size_t tag, std::size_t inside) {
    const std::size_t end = source_.find("#}", inside);
    advance(tag);
    if (end == npos) fail("expected '#}' after '{#', found the end of the template");
    advance(after_tag(end + 2, end > inside ? sign_at(end - 1) : '\0'));
  }

  /// The place after "raw %}", or npos if no such thing stands at `i`.
  std::size_t raw_body(std::size_t i) const noexcept {
    i = skip_space(i);
    if (!rest(i).starts_with("raw")) return npos;
    i = skip_space(i + 3);
    if (rest(i).starts_with("-%}")) return skip_space(i + 3);
    return rest(i).starts_with("%}") ? i + 2 : npos;
  }

  void raw(std::size_t body) {
    advance(body);
    for (std::size_t tag = source_.find("{%", body); tag != npos; tag = source_.find("{%", tag + 1)) {
      const char sign = sign_at(tag + 2);
      std::size_t i = skip_space(tag + 2 + (sign != 0));
      if (!rest(i).starts_with("endraw")) continue;
      i = skip_space(i + 6);
      const char end_sign = sign_at(i);
      i += end_sign != 0;
      if (!rest(i).starts_with("%}")) continue;
      emit_text(tag, sign, true);
      advance(after_tag(i + 2, end_sign));
      return;
    }
    fail("expected '{% endraw %}' after '{% raw %}', found the end of the template");
  }

  /// Tokens of a tag, up to and with its end, which counts only outside of brackets.
  void inside_tag(char what) {
    std::string open;  // brackets that wait for their other half
    const std::string_view close = what == '%' ? "%}" : "}}";
    for (;;) {
      advance(skip_space(at_));
      if (at_ >= source_.size()) return;  // the parser knows what is missing
      if (open.empty()) {
        const char sign = sign_at(at_);
        const bool signed_end = sign != 0 && !(sign == '+' && what == '{');
        const std::size_t end = at_ + signed_end;
        if (rest(end).starts_with(close)) {
          const bool keeps_newline = what == '{' && !signed_end;
          emit(what == '%' ? token_type::block_end : token_type::print_end, "");
          advance(keeps_newline ? end + 2 : after_tag(end + 2, signed_end ? sign : '\0'));
          return;
        }
      }
      const char c = source_[at_];
      if (is_digit(c)) {
        number();
      } else if (is_word(c)) {
        std::size_t end = at_;
        while (end < source_.size() && is_word(source_[end])) ++end;
        emit(token_type::name, source_.substr(at_, end - at_));
        advance(end);
      } else if (c == '\'' || c == '"') {
        string(c);
      } else {
        mark(open);
      }
    }
  }

  static bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
  static bool is_word(char c) noexcept {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           static_cast<unsigned char>(c) >= 0x80;
  }

  void mark(std::string& open) {
    constexpr std::string_view marks[] = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[",
                                          "]",  "(",  ")",  "{",  "}",  ">",  "<", "=", ".", ":", "|", ",", ";"};
    const auto* found =
        std::find_if(std::begin(marks), std::end(marks), [&](std::string_view m) { return rest(at_).starts_with(m); });
    if (found == std::end(marks)) fail("unexpected character " + in_quotes(rest(at_).substr(0, 1)));
    const char c = found->front();
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty()) fail(std::string("unexpected '") + c + "'");
      if (open.back() != c) fail(std::string("expected '") + open.back() + "', found '" + c + "'");
      open.pop_back();
    }
    emit(token_type::mark, std::string(*found));
    advance(at_ + found->size());
  }

  /// Digits from `i`, with single underscores between them.
  std::size_t digits(std::size_t i) const noexcept {
    while (i < source_.size() &&
           (is_digit(source_[i]) || (source_[i] == '_' && i + 1 < source_.size() && is_digit(source_[i + 1])))) {
      ++i;
    }
    return i;
  }

  void number() {
    const auto digit_at = [&](std::size_t i) { return i < source_.size() && is_digit(source_[i]); };
    std::size_t end = digits(at_);
    bool real = false;
    if (at_ == 0 || source_[at_ - 1] != '.') {  // in a.0.1 the numbers are subscripts
      if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
        real = true;
        end = digits(end + 1);
      }
      if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
        const std::size_t exponent = end + 1 + (sign_at(end + 1) != 0);
        if (digit_at(exponent)) {
          real = true;
          end = digits(exponent);
        }
      }
    }
    if (!real && source_[at_] == '0' && end == at_ + 1 && end < source_.size()) {
      const char base = static_cast<char>(source_[end] | 0x20);
      if (base == 'x' || base == 'o' || base == 'b') {
        while (++end < source_.size() && is_word(source_[end])) {
        }
      }
    }
    std::string text = source_.substr(at_, end - at_);
    std::erase(text, '_');
    emit(real ? token_type::real : token_type::integer, std::move(text));
    advance(end);
  }

  /// A literal with Python's escapes. Unknown escapes stay as they are.
  void string(char quote) {
    std::string out;
    std::size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\' || i + 1 >= source_.size()) {
        out += source_[i];
        continue;
      }
      const char c = source_[++i];
      constexpr std::string_view plain = "\\'\"abfnrtv";
      constexpr std::string_view means = "\\'\"\a\b\f\n\r\t\v";
      if (const std::size_t at = plain.find(c); at != npos) {
        out += means[at];
      } else if (c >= '0' && c <= '7') {
        std::size_t n = 1;
        while (n < 3 && i + n < source_.size() && source_[i + n] >= '0' && source_[i + n] <= '7') ++n;
        append_utf8(out, code_point(i, n, 8));
        i += n - 1;
      } else if (const std::size_t n = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0; n != 0) {
        append_utf8(out, code_point(i + 1, n, 16));
        i += n;
      } else if (c == 'N') {
        fail("character names (\\N{...}) are not known here");
      } else if (c != '\n') {
        (out += '\\') += c;
      }
    }
    if (i >= source_.size()) fail(std::string("expected ") + quote + " at the end of a string, found the end");
    emit(token_type::string, std::move(out));
    advance(i + 1);
  }

  char32_t code_point(std::size_t begin, std::size_t count, int base) const {
    std::uint32_t code = 0;
    const std::string_view text = rest((std::min)(begin, source_.size())).substr(0, count);
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), code, base);
    if (problem != std::errc() || text.size() != count || end != text.data() + count || code > 0x10FFFF) {
      fail("an escape in a string is not the number of a character");
    }
    return code;
  }

  std::string source_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::vector<token> tokens_;
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
