// Values as text: Python's str and repr, and JSON as json.dumps writes it (what `tojson` means in chat templates).
// Strings keep their marks through quotes and escapes; brackets, numbers and names of constants are the template's.
#pragma once

#include <llambda/text/jinja/runtime.hpp>
#include <llambda/text/jinja/strings.hpp>

#include <algorithm>
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

/// Python's repr of a float: the shortest digits that read back as the same number.
inline std::string float_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, x, std::chars_format::scientific).ptr;
  std::string text(digits, end);
  const std::size_t e = text.find('e');
  const int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16) return text;  // "1e-05", "1.5e+16"
  std::string fixed(std::to_chars(digits, digits + sizeof digits, x, std::chars_format::fixed).ptr - digits, '\0');
  std::copy_n(digits, fixed.size(), fixed.begin());
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

/// Characters that repr shows by number: controls, separators, surrogates, private use.
constexpr bool is_printable(char32_t c) noexcept {
  if (c < 0x20 || (c >= 0x7F && c <= 0xA0) || c == 0xAD) return false;
  if (is_space(c) && c != ' ') return false;
  return !((c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
           (c >= 0xD800 && c <= 0xF8FF) || c == 0xFEFF || (c >= 0xFFF0 && c <= 0xFFFB) || c >= 0xE0000);
}

struct json_style {
  std::string indent;          ///< of one level; used if `lines`
  bool lines = false;          ///< one item a line
  marked_text item_separator;  ///< ", " or, with lines, ","
  marked_text key_separator;   ///< ": "
  bool ascii = false;
  bool sort_keys = false;
};

class printer {
 public:
  explicit printer(runtime& rt) : rt_(rt) {}
  marked_text take() { return std::move(out_); }

  void repr(const value& v, std::size_t depth = 0) {
    enter(depth);
    switch (v.kind()) {
      case kind::string:
        return repr_string(v.text());
      case kind::list: {
        const list& l = v.items();
        const bool tuple = l.shape == flavour::tuple;
        put(tuple ? "(" : "[");
        for (std::size_t i = 0; i < l.items.size(); ++i) {
          if (i != 0) put(", ");
          repr(l.items[i], depth + 1);
        }
        if (tuple && l.items.size() == 1) put(",");
        return put(tuple ? ")" : "]");
      }
      case kind::dict: {
        put("{");
        for (const auto& entry : v.entries().entries) {
          if (&entry != &v.entries().entries.front()) put(", ");
          repr(entry.first, depth + 1);
          put(": ");
          repr(entry.second, depth + 1);
        }
        return put("}");
      }
      case kind::undefined:
        return put("Undefined");
      case kind::object:
        return put("<" + std::string(v.type_name()) + ">");
      default:
        return put(scalar(v));
    }
  }

  void json(const value& v, const json_style& style, std::size_t depth = 0) {
    enter(depth);
    switch (v.kind()) {
      case kind::none:
        return put("null");
      case kind::boolean:
        return put(v.boolean() ? "true" : "false");
      case kind::real:
        if (!std::isfinite(v.real()))
          return put(std::isnan(v.real()) ? "NaN" : v.real() < 0 ? "-Infinity" : "Infinity");
        [[fallthrough]];
      case kind::integer:
        return put(scalar(v));
      case kind::string:
        return json_string(v.text(), style.ascii);
      case kind::list:
        if (v.items().shape > flavour::tuple) break;
        return json_items(v.items().items.size(), "[]", style, depth,
                          [&](std::size_t i) { json(v.items().items[i], style, depth + 1); });
      case kind::dict: {
        std::vector<const std::pair<value, value>*> entries;
        for (const auto& entry : v.entries().entries) entries.push_back(&entry);
        if (style.sort_keys) {
          std::stable_sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) {
            return a->first.is_string() && b->first.is_string() && a->first.view() < b->first.view();
          });
        }
        return json_items(entries.size(), "{}", style, depth, [&](std::size_t i) {
          json_key(entries[i]->first, style);
          put(style.key_separator);
          json(entries[i]->second, style, depth + 1);
        });
      }
      default:
        break;
    }
    if (v.is_undefined()) rt_.fail(v.undefined_reason_text() + "; tojson needs a value");
    rt_.fail("tojson: a " + std::string(v.type_name()) + " has no JSON form");
  }

 private:
  /// None, True, 1, 1.5.
  static std::string scalar(const value& v) {
    if (v.is_none()) return "None";
    if (v.is(kind::boolean)) return v.boolean() ? "True" : "False";
    return v.is(kind::real) ? float_text(v.real()) : std::to_string(v.integer());
  }

  void enter(std::size_t depth) {
    rt_.spend(1);
    if (depth > max_value_depth) rt_.exceed("levels of lists and dicts in a value to print", max_value_depth);
  }
  void put(std::string_view text, text_origin origin = text_origin::from_template) {
    rt_.grow_string(out_.size(), text.size());
    out_.append(text, origin);
  }
  void put(const marked_text& text) {
    text.for_each_run([this](std::string_view run, text_origin origin) { put(run, origin); });
  }

  static std::string hex(char32_t c, char lead, std::size_t width) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text{'\\', lead};
    for (std::size_t i = width; i-- > 0;) text += digits[(c >> (4 * i)) & 15];
    return text;
  }

  void repr_string(const marked_text& text) {
    const bool single = text.str().find('\'') == std::string::npos || text.str().find('"') != std::string::npos;
    put(single ? "'" : "\"");
    for_each_character(text, [&](char32_t c, std::string_view bytes, text_origin origin) {
      if (c == '\\' || (single && c == '\'')) return put("\\" + std::string(bytes), origin);
      if (c == '\n') return put("\\n", origin);
      if (c == '\r') return put("\\r", origin);
      if (c == '\t') return put("\\t", origin);
      if (c == 0xFFFFFFFF || is_printable(c)) return put(bytes, origin);
      put(c < 0x100 ? hex(c, 'x', 2) : c < 0x10000 ? hex(c, 'u', 4) : hex(c, 'U', 8), origin);
    });
    put(single ? "'" : "\"");
  }

  void json_string(const marked_text& text, bool ascii) {
    put("\"");
    for_each_character(text, [&](char32_t c, std::string_view bytes, text_origin origin) {
      constexpr std::string_view special = "\"\\\n\r\t\f\b";
      constexpr std::string_view letters = "\"\\nrtfb";
      const std::size_t at = c < 0x80 ? special.find(static_cast<char>(c)) : std::string_view::npos;
      if (at != std::string_view::npos) return put(std::string{'\\', letters[at]}, origin);
      if (c < 0x20) return put(hex(c, 'u', 4), origin);
      if (!ascii || c < 0x7F || c == 0xFFFFFFFF) return put(bytes, origin);
      if (c < 0x10000) return put(hex(c, 'u', 4), origin);
      put(hex(0xD800 + ((c - 0x10000) >> 10), 'u', 4) + hex(0xDC00 + ((c - 0x10000) & 0x3FF), 'u', 4), origin);
    });
    put("\"");
  }

  void json_key(const value& key, const json_style& style) {
    if (key.is_string()) return json_string(key.text(), style.ascii);
    if (!key.is_number() && !key.is_none()) rt_.fail("tojson: a key is a " + std::string(key.type_name()));
    put("\"");
    json(key, style);
    put("\"");
  }

  template <class Item>
  void json_items(std::size_t count, std::string_view brackets, const json_style& style, std::size_t depth,
                  Item&& item) {
    if (count == 0) return put(brackets);
    put(brackets.substr(0, 1));
    for (std::size_t i = 0; i < count; ++i) {
      if (i != 0) put(style.item_separator);
      new_line(style, depth + 1);
      item(i);
    }
    new_line(style, depth);
    put(brackets.substr(1));
  }
  void new_line(const json_style& style, std::size_t depth) {
    if (!style.lines) return;
    put("\n");
    for (std::size_t i = 0; i < depth; ++i) put(style.indent);
  }

  runtime& rt_;
  marked_text out_;
};

/// Python's str.
inline marked_text to_text(runtime& rt, const value& v) {
  if (v.is_string()) return v.text();
  if (v.is_undefined()) return {};
  printer p(rt);
  p.repr(v);
  return p.take();
}

inline marked_text to_repr(runtime& rt, const value& v) {
  printer p(rt);
  p.repr(v);
  return p.take();
}

inline marked_text to_json(runtime& rt, const value& v, const json_style& style) {
  printer p(rt);
  p.json(v, style);
  return p.take();
}

/// `v` as an integer argument.
inline std::int64_t to_integer(const runtime& rt, const value& v, std::string_view what) {
  if (v.is_undefined()) rt.fail(v.undefined_reason_text());
  if (!v.is_integral()) rt.fail(std::string(what) + ": expected an integer, got a " + std::string(v.type_name()));
  return v.integer();
}

/// `v` as a string argument.
inline const marked_text& to_string(const runtime& rt, const value& v, std::string_view what) {
  if (v.is_undefined()) rt.fail(v.undefined_reason_text());
  if (!v.is_string()) rt.fail(std::string(what) + ": expected a string, got a " + std::string(v.type_name()));
  return v.text();
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
