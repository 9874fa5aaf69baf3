// Filters on strings, numbers and single values. Most take any value as its text first, as Jinja does.
// tojson is the one chat templates know (transformers'): json.dumps without HTML escapes, non-ASCII characters kept.
#pragma once

#include <llambda/text/jinja/methods.hpp>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {
namespace detail {

inline value text_value(runtime& rt, const value& v) { return v.is_string() ? v : rt.make_string(to_text(rt, v)); }

/// A method of strings as a filter: the subject is taken as text first.
template <native Method> value as_text(runtime& rt, const value& self, const arguments& args) {
  return Method(rt, text_value(rt, self), args);
}

inline value string_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "string");
  return text_value(rt, self);
}

inline value title_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "title");
  const value text = text_value(rt, self);
  rt.charge(text.text().size());
  marked_text out;
  bool inside = false;
  for_each_character(text.text(), [&](char32_t c, std::string_view bytes, text_origin origin) {
    const bool between =
        is_space(c) || (c < 0x80 && std::string_view("-({[<").find(static_cast<char>(c)) != std::string_view::npos);
    out.append(change_case({std::string(bytes), origin}, inside ? case_change::lower : case_change::upper));
    inside = !between;
  });
  return out;
}

inline value trim_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [set] = args.bind(rt, "trim", {"chars"});
  return strip_characters(rt, text_value(rt, self), set, true, true);
}

inline value replace_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [from, to, count] = args.bind(rt, "replace", {"old", "new", "count"});
  if (!from || !to) rt.fail("replace: expected the old and the new text");
  return replace_in(rt, text_value(rt, self), text_value(rt, *from), text_value(rt, *to), count);
}

inline value center_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [width] = args.bind(rt, "center", {"width"});
  return justify(rt, text_value(rt, self).text(), width ? to_integer(rt, *width, "center") : 80,
                 {" ", text_origin::from_template}, side::both);
}

inline value indent_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [width, first, blank] = args.bind(rt, "indent", {"width", "first", "blank"});
  const marked_text& text = to_string(rt, self, "indent");
  const value indentation = width && width->is_string()
                                ? *width
                                : repeat(rt, value::trusted(" "), width ? to_integer(rt, *width, "indent") : 4);
  marked_text with_end = text;
  with_end.append("\n", text_origin::from_template);
  const value lines = splitlines_method(rt, with_end, {});
  marked_text out;
  bool begins = true;
  for (const value& line : lines.items().items) {
    const bool indented = begins ? first && first->truthy() : !line.text().empty() || (blank && blank->truthy());
    rt.grow_string(out.size(), line.text().size() + indentation.text().size() + 1);
    if (!std::exchange(begins, false)) out.append("\n", text_origin::from_template);
    if (indented) out.append(indentation.text());
    out.append(line.text());
  }
  return out;
}

inline value safe_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "safe");
  return value::markup(text_value(rt, self).text());
}

inline value escape_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "escape");
  return value::markup(escaped(rt, text_value(rt, self)));
}

inline value format_filter(runtime& rt, const value& self, const arguments& args) {
  const value pattern = text_value(rt, self);
  if (args.named.empty()) {
    return rt.make_string(formatter(rt).percent(pattern.text(), rt.make_list(args.positional, flavour::tuple)));
  }
  auto named = std::make_shared<dict>();
  dict_merge(rt, *named, nullptr, args);
  return rt.make_string(formatter(rt).percent(pattern.text(), named));
}

inline value wordcount_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "wordcount");
  const value text = text_value(rt, self);
  rt.charge(text.text().size());
  std::int64_t words = 0;
  bool inside = false;
  for_each_character(text.text(), [&](char32_t c, std::string_view, text_origin) {
    const bool letter = is_alnum(c) || c == '_';
    words += letter && !std::exchange(inside, letter);
    inside = letter;
  });
  return words;
}

inline value tojson_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [ascii, indent, separators, sort] =
      args.bind(rt, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  json_style style;
  style.ascii = ascii && ascii->truthy();
  style.sort_keys = sort && sort->truthy();
  style.lines = indent && !indent->is_none();
  if (style.lines) {
    style.indent = indent->is_string()
                       ? indent->text().str()
                       : repeat(rt, value::trusted(" "), to_integer(rt, *indent, "tojson")).text().str();
  }
  style.item_separator = {style.lines ? "," : ", ", text_origin::from_template};
  style.key_separator = {": ", text_origin::from_template};
  if (separators && !separators->is_none()) {
    const std::vector<value> two = walk(rt, *separators);
    if (two.size() != 2) rt.fail("tojson: expected two separators");
    style.item_separator = to_string(rt, two[0], "tojson");
    style.key_separator = to_string(rt, two[1], "tojson");
  }
  return rt.make_string(to_json(rt, self, style));
}

/// Digits in `base`, with a sign, blanks around and underscores between; nothing for other text.
inline const char* parse_integer(std::string_view text, int base, std::int64_t& number) {
  std::string digits(strip(text, true, true));
  std::erase(digits, '_');
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.erase(0, 1);
  const char letter = digits.size() > 2 && digits[0] == '0' ? static_cast<char>(digits[1] | 0x20) : '\0';
  if ((base == 16 && letter == 'x') || (base == 8 && letter == 'o') || (base == 2 && letter == 'b')) digits.erase(0, 2);
  if (digits.empty() || digits.front() == '-') return "no number";
  if (negative) digits.insert(0, "-");
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (problem == std::errc::result_out_of_range) return "too large";
  return problem == std::errc() && end == digits.data() + digits.size() ? nullptr : "no number";
}

inline bool parse_real(std::string_view text, double& number) {
  std::string digits(strip(text, true, true));
  std::erase(digits, '_');
  if (digits.starts_with('+')) digits.erase(0, 1);
  if (digits.empty() || digits.starts_with("-+") || digits.find('(') != std::string::npos) return false;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return problem == std::errc() && end == digits.data() + digits.size();
}

inline value truncated(const runtime& rt, double x, const value& otherwise) {
  if (!std::isfinite(x)) return otherwise;
  if (std::abs(x) >= 9.2e18) too_large(rt);
  return static_cast<std::int64_t>(x);
}

inline value int_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [fallback, base] = args.bind(rt, "int", {"default", "base"});
  need_defined(rt, self);
  const value otherwise = fallback ? *fallback : value(0);
  if (self.is_integral()) return self.integer();
  if (self.is(kind::real)) return truncated(rt, self.real(), otherwise);
  if (!self.is_string()) return otherwise;
  const std::int64_t radix = base ? to_integer(rt, *base, "int") : 10;
  if (radix < 2 || radix > 36) rt.fail("int: expected a base from 2 to 36");
  std::int64_t number = 0;
  const char* problem = parse_integer(self.view(), static_cast<int>(radix), number);
  if (!problem) return number;
  if (std::string_view(problem) == "too large") too_large(rt);
  double real = 0;
  return parse_real(self.view(), real) ? truncated(rt, real, otherwise) : otherwise;
}

inline value float_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [fallback] = args.bind(rt, "float", {"default"});
  need_defined(rt, self);
  if (self.is_number()) return self.real();
  double number = 0;
  if (self.is_string() && parse_real(self.view(), number)) return number;
  return fallback ? *fallback : value(0.0);
}

inline value abs_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "abs");
  need_defined(rt, self);
  if (self.is_integral()) return self.integer() < 0 ? integer_arithmetic(rt, operation::sub, 0, self.integer()) : self;
  if (!self.is_number()) rt.fail("abs: expected a number, got a " + std::string(self.type_name()));
  return std::abs(self.real());
}

inline value round_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [precision, method] = args.bind(rt, "round", {"precision", "method"});
  need_defined(rt, self);
  const std::int64_t digits = precision ? to_integer(rt, *precision, "round") : 0;
  const std::string how = method ? to_string(rt, *method, "round").str() : "common";
  if (!self.is_number()) rt.fail("round: expected a number, got a " + std::string(self.type_name()));
  if (digits < -300 || digits > 300) rt.fail("round: expected a precision from -300 to 300");
  const double scale = std::pow(10.0, static_cast<double>(digits));
  if (how == "ceil") return std::ceil(self.real() * scale) / scale;
  if (how == "floor") return std::floor(self.real() * scale) / scale;
  if (how != "common") rt.fail("round: the method must be common, ceil or floor");
  if (self.is_integral() && digits >= 0) return self.integer();
  if (digits < 0) {
    const double rounded = std::nearbyint(self.real() * scale) / scale;
    return self.is_integral() ? value(static_cast<std::int64_t>(rounded)) : value(rounded);
  }
  if (!std::isfinite(self.real())) return self;
  std::string text(700, '\0');  // the nearest decimal of the exact value, ties to even: what Python does
  text.resize(
      static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.*f", static_cast<int>(digits), self.real())));
  return std::strtod(text.c_str(), nullptr);
}

inline value default_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [fallback, also_false] = args.bind(rt, "default", {"default_value", "boolean"});
  const bool missing = self.is_undefined() || (also_false && also_false->truthy() && !self.truthy());
  return !missing ? self : fallback ? *fallback : value(marked_text());
}

inline value attr_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [name] = args.bind(rt, "attr", {"name"});
  if (!name) rt.fail("attr: expected a name");
  const std::string_view attribute = to_string(rt, *name, "attr").view();
  need_defined(rt, self);
  if (self.is(kind::dict) && !find_method(self, attribute)) return no_attribute(self, attribute);  // items are none
  return get_attribute(rt, self, attribute);
}

inline value length_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "length");
  return length(rt, self);
}

}  // namespace detail
}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
