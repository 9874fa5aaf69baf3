// Python's two ways to fill in a pattern: "%s and %5.2f" % values, and "{} and {:>5}".format(values).
// Fields name positions and keyword arguments only: a field that reaches into a value ({0.x}, {0[x]}) is refused.
#pragma once

#include <llambda/text/jinja/printing.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

/// How a field is written: what stands after % or after the colon.
struct field_style {
  marked_text fill{" ", text_origin::from_template};
  char align = '\0';  // < > ^ or =
  char sign = '-';    // + - or blank
  bool alternate = false;
  bool zero = false;
  bool commas = false;
  std::size_t width = 0;
  int precision = -1;
  char type = '\0';
};

class formatter {
 public:
  explicit formatter(runtime& rt) : rt_(rt) {}

  /// pattern % operand, where a tuple gives several values and a dict named ones.
  marked_text percent(const marked_text& pattern, const value& operand) {
    const bool several = operand.is(kind::list) && operand.items().shape == flavour::tuple;
    std::size_t next = 0;
    const auto next_value = [&]() -> value {
      if (!several && next++ == 0) return operand;
      if (!several || next >= operand.items().items.size()) rt_.fail("format: expected more values for the pattern");
      return operand.items().items[next++];
    };
    const std::string_view text = pattern.view();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t sign = (std::min)(text.find('%', at), text.size());
      out_.append(pattern, at, sign - at);
      if (sign == text.size()) break;
      at = sign + 1;
      if (at < text.size() && text[at] == '%') {
        out_.append(pattern, at++, 1);
        continue;
      }
      value named;
      bool has_name = false;
      if (at < text.size() && text[at] == '(') {
        const std::size_t end = text.find(')', at);
        if (end == std::string_view::npos || !operand.is(kind::dict)) rt_.fail("format: expected a dict of values");
        const value* found = operand.entries().find(text.substr(at + 1, end - at - 1));
        if (!found) rt_.fail("format: no value named " + in_quotes(text.substr(at + 1, end - at - 1)));
        named = *found;
        has_name = true;
        at = end + 1;
      }
      field_style style = percent_style(text, at, next_value);
      style.type = at < text.size() ? text[at++] : '\0';
      field(has_name ? named : next_value(), style, true);
    }
    if (several ? next < operand.items().items.size() : next == 0 && !operand.is(kind::dict)) {
      rt_.fail("format: more values than the pattern takes");
    }
    return std::move(out_);
  }

  /// pattern.format(...)
  marked_text braces(const marked_text& pattern, const arguments& args) {
    const std::string_view text = pattern.view();
    std::size_t next = 0;
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (c != '{' && c != '}') {
        const std::size_t end = (std::min)(text.find_first_of("{}", at), text.size());
        out_.append(pattern, at, end - at);
        at = end;
      } else if (at + 1 < text.size() && text[at + 1] == c) {
        out_.append(pattern, at, 1);
        at += 2;
      } else {
        const std::size_t end = text.find('}', at);
        if (c == '}' || end == std::string_view::npos) rt_.fail("format: a single '" + std::string(1, c) + "'");
        brace_field(pattern.substr(at + 1, end - at - 1), args, next);
        at = end + 1;
      }
    }
    return std::move(out_);
  }

 private:
  template <class Next> field_style percent_style(std::string_view text, std::size_t& at, Next&& next_value) {
    field_style style;
    style.align = '>';
    for (; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '-')
        style.align = '<';
      else if (c == '+')
        style.sign = '+';
      else if (c == ' ')
        style.sign = style.sign == '+' ? '+' : ' ';
      else if (c == '#')
        style.alternate = true;
      else if (c == '0')
        style.zero = true;
      else
        break;
    }
    if (at < text.size() && text[at] == '*') {
      ++at;
      const std::int64_t width = to_integer(rt_, next_value(), "format");
      if (width < 0) style.align = '<';
      style.width = bounded(width < 0 ? 0 - static_cast<std::uint64_t>(width) : static_cast<std::uint64_t>(width));
    } else {
      style.width = number(text, at);
    }
    if (at < text.size() && text[at] == '.') style.precision = static_cast<int>(number(text, ++at));
    if (style.align == '<') style.zero = false;
    return style;
  }

  std::size_t bounded(std::uint64_t n) {
    rt_.check_string(n);
    return static_cast<std::size_t>(n);
  }
  std::size_t number(std::string_view text, std::size_t& at) {
    std::uint64_t n = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      n = n * 10 + static_cast<std::uint64_t>(text[at] - '0');
      if (n > 100000) rt_.fail("format: a width past 100000", errc::template_limit);
    }
    return static_cast<std::size_t>(n);
  }

  void brace_field(const marked_text& field_text, const arguments& args, std::size_t& next) {
    const std::string_view text = field_text.view();
    const std::size_t colon = (std::min)(text.find(':'), text.size());
    std::string_view name = text.substr(0, colon);
    char conversion = '\0';
    if (const std::size_t mark = name.find('!'); mark != std::string_view::npos) {
      conversion = mark + 1 < name.size() ? name[mark + 1] : '?';
      name = name.substr(0, mark);
    }
    const value* found = nullptr;
    if (name.find_first_not_of("0123456789") == std::string_view::npos) {
      std::size_t at = 0;
      const std::size_t index = name.empty() ? next++ : number(name, at);
      if (index < args.positional.size()) found = &args.positional[index];
    } else {
      for (const auto& [key, v] : args.named) {
        if (key == name) found = &v;
      }
    }
    if (!found) rt_.fail("format: no value for the field " + in_quotes("{" + std::string(text) + "}"));
    const value shown = conversion == 'r' ? value(to_repr(rt_, *found))
                        : conversion      ? value(to_text(rt_, *found))
                                          : *found;
    field(shown, brace_style(field_text, (std::min)(colon + 1, text.size())), false);
  }

  field_style brace_style(const marked_text& field_text, std::size_t at) {
    const std::string_view text = field_text.view();
    field_style style;
    const auto is_align = [&](std::size_t i) {
      return i < text.size() && std::string_view("<>^=").find(text[i]) != std::string_view::npos;
    };
    if (const std::size_t n = decode_utf8(text, at).length; n != 0 && is_align(at + n)) {
      style.fill = field_text.substr(at, n);
      style.align = text[at + n];
      at += n + 1;
    } else if (is_align(at)) {
      style.align = text[at++];
    }
    const auto skip = [&](char c) { return at < text.size() && text[at] == c && (++at, true); };
    if (at < text.size() && (text[at] == '+' || text[at] == '-' || text[at] == ' ')) style.sign = text[at++];
    style.alternate = skip('#');
    style.zero = skip('0') && style.align == '\0';
    style.width = number(text, at);
    style.commas = skip(',');
    if (skip('.')) style.precision = static_cast<int>(number(text, at));
    if (at < text.size()) style.type = text[at++];
    if (at < text.size()) rt_.fail("format: " + in_quotes(text) + " is no field");
    return style;
  }

  void field(const value& v, field_style style, bool percent) {
    if (v.is_undefined() && style.type != 's' && style.type != '\0') rt_.fail(v.undefined_reason_text());
    const bool as_text = style.type == 's' || style.type == 'r' || (style.type == '\0' && !v.is_number()) ||
                         (style.type == '\0' && v.is(kind::boolean));
    if (as_text) {
      if (!percent && style.type == 's' && !v.is_string()) rt_.fail("format: 's' is for strings");
      marked_text text = style.type == 'r' ? to_repr(rt_, v) : to_text(rt_, v);
      if (style.precision >= 0) {
        const auto offsets = character_offsets(text.view());
        if (static_cast<std::size_t>(style.precision) < offsets.size()) {
          text = text.substr(0, offsets[static_cast<std::size_t>(style.precision)]);
        }
      }
      return pad(text, {}, style, style.align ? style.align : '<');
    }
    if (style.type == 'c' && percent) {  // a number chosen by data could spell anything
      std::string text = v.is_string() ? v.text().str() : std::string();
      if (!v.is_string()) append_utf8(text, static_cast<char32_t>(to_integer(rt_, v, "format: 'c'")));
      return pad({text, text_origin::data}, {}, style, style.align);
    }
    if (!v.is_number())
      rt_.fail(std::string("format: '") + style.type + "' needs a number, got a " + std::string(v.type_name()));
    const std::string digits = number_text(v, style, percent);
    const bool negative = digits.starts_with('-');
    const std::string sign = negative ? "-" : style.sign == '-' ? "" : std::string(1, style.sign);
    pad({digits.substr(negative), text_origin::from_template}, sign, style, style.align ? style.align : '>');
  }

  std::string number_text(const value& v, const field_style& style, bool percent) {
    const char type = style.type;
    if (std::string_view("diuxXob").find(type) != std::string_view::npos || (type == '\0' && v.is_integral())) {
      if (v.is(kind::real) && (!percent || !(std::abs(v.real()) < 9e18))) rt_.fail("format: expected an integer");
      const std::int64_t i = v.is(kind::real) ? static_cast<std::int64_t>(v.real()) : v.integer();
      const std::uint64_t magnitude = i < 0 ? 0 - static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
      const int base = type == 'x' || type == 'X' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
      char buffer[72];
      std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr);
      if (type == 'X')
        std::transform(text.begin(), text.end(), text.begin(),
                       [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
      while (percent && static_cast<int>(text.size()) < style.precision) text.insert(text.begin(), '0');
      if (style.commas) {
        for (std::size_t k = text.size(); k > 3; k -= 3) text.insert(k - 3, ",");
      }
      if (style.alternate && base != 10) text.insert(0, std::string{'0', base == 8 ? 'o' : base == 2 ? 'b' : type});
      return (i < 0 ? "-" : "") + text;
    }
    if (std::string_view("fFeEgG%").find(type) == std::string_view::npos && type != '\0') {
      rt_.fail(std::string("format: '") + type + "' is not known");
    }
    if (type == '\0' && style.precision < 0) return float_text(v.real());
    const char how = type == '%' ? 'f' : type == '\0' ? 'g' : type;
    const std::string pattern = std::string(style.alternate ? "%#.*" : "%.*") + how;
    const double x = type == '%' ? v.real() * 100 : v.real();
    const int precision = style.precision < 0 ? 6 : (std::min)(style.precision, 1000);
    std::string text(1400, '\0');
    text.resize(static_cast<std::size_t>(std::snprintf(text.data(), text.size(), pattern.c_str(), precision, x)));
    if (style.commas) {
      const std::size_t whole = (std::min)(text.find('.'), text.size());
      for (std::size_t k = whole; k > 3 + (text[0] == '-'); k -= 3) text.insert(k - 3, ",");
    }
    return type == '%' ? text + "%" : text;
  }

  void pad(const marked_text& text, const std::string& sign, const field_style& style, char align) {
    const std::size_t length = utf8_length(text.view()) + sign.size();
    const std::size_t missing = style.width > length ? style.width - length : 0;
    rt_.grow_string(out_.size(), text.size() + missing * style.fill.size());
    const bool zeros = style.zero && (style.type != 's' && style.type != 'r');
    const bool after_sign = align == '=' || zeros;
    const std::size_t before = after_sign || align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    const marked_text fill = zeros ? marked_text("0", text_origin::from_template) : style.fill;
    for (std::size_t i = 0; i < before; ++i) out_.append(fill);
    out_.append(sign, text_origin::from_template);
    for (std::size_t i = 0; after_sign && i < missing; ++i) out_.append(fill);
    out_.append(text);
    for (std::size_t i = before; !after_sign && i < missing; ++i) out_.append(fill);
  }

  runtime& rt_;
  marked_text out_;
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
