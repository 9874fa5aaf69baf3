// JSON text to jinja::value, for tests: enough to read our own files, no more. Throws std::runtime_error on nonsense.
// Strings become data, as they would from a host.
#pragma once

#include <llambda/text/jinja/value.hpp>
#include <llambda/text/unicode.hpp>

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

class json_reader {
 public:
  using value = llambda::jinja::value;
  explicit json_reader(std::string_view text) : text_(text) {}

  value read() {
    space();
    const char c = peek();
    if (c == '{') return object();
    if (c == '[') return array();
    if (c == '"') return string();
    if (word("true")) return true;
    if (word("false")) return false;
    if (word("null")) return {};
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.eE0123456789").find(text_[at_]) != std::string_view::npos) ++at_;
    const std::string number(text_.substr(begin, at_ - begin));
    if (number.empty()) throw std::runtime_error("no JSON at byte " + std::to_string(at_));
    if (number.find_first_of(".eE") != std::string::npos) return std::strtod(number.c_str(), nullptr);
    return std::strtoll(number.c_str(), nullptr, 10);
  }
  bool at_end() {
    space();
    return at_ == text_.size();
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool word(std::string_view w) { return text_.substr(at_).starts_with(w) && (at_ += w.size(), true); }
  bool mark(char c) {
    space();
    return peek() == c && (++at_, true);
  }
  void need(char c) {
    if (!mark(c)) throw std::runtime_error(std::string("no '") + c + "' at byte " + std::to_string(at_));
  }

  value array() {
    std::vector<value> items;
    need('[');
    while (!mark(']')) {
      if (!items.empty()) need(',');
      items.push_back(read());
    }
    return value::list(std::move(items));
  }
  value object() {
    std::vector<std::pair<std::string, value>> entries;
    need('{');
    while (!mark('}')) {
      if (!entries.empty()) need(',');
      space();
      std::string key = string();
      need(':');
      entries.emplace_back(std::move(key), read());
    }
    return value::dict(std::move(entries));
  }
  std::string string() {
    std::string out;
    need('"');
    for (; peek() != '"'; ++at_) {
      if (at_ >= text_.size()) throw std::runtime_error("a string without end");
      if (peek() != '\\') {
        out += peek();
        continue;
      }
      const char c = text_.at(++at_);
      if (c == 'u') {
        char32_t code = hex();
        if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_ + 1).starts_with("\\u")) {
          at_ += 2;
          code = 0x10000 + ((code - 0xD800) << 10) + (hex() - 0xDC00);
        }
        llambda::append_utf8(out, code);
      } else {
        constexpr std::string_view letters = "bfnrt";
        const std::size_t i = letters.find(c);
        out += i == std::string_view::npos ? c : "\b\f\n\r\t"[i];
      }
    }
    ++at_;
    return out;
  }
  char32_t hex() {
    const std::string digits(text_.substr(at_ + 1, 4));
    at_ += 4;
    return static_cast<char32_t>(std::strtoul(digits.c_str(), nullptr, 16));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

inline llambda::jinja::value from_json(std::string_view text) { return json_reader(text).read(); }

}  // namespace test
