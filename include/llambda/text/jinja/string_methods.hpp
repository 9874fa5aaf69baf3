// The methods of strings, as in Python. Positions and lengths count characters; marks follow the bytes.
// isalpha and its kin know the letters that have cases and take the rest of Unicode by blocks: enough to tell words
// from punctuation.
#pragma once

#include <llambda/text/jinja/operations.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

namespace detail {

/// What to strip: white space, or the characters of `set` if it is a string.
inline value strip_characters(runtime& rt, const value& self, const value* set, bool left, bool right) {
  rt.charge(self.text().size());
  if (!set || set->is_none()) return part_of(self.text(), strip(self.view(), left, right));
  const std::string_view characters = to_string(rt, *set, "strip").view();
  return part_of(self.text(), strip_if(self.view(), left, right, [&](std::string_view c) {
                   rt.charge(characters.size());
                   return characters.find(c) != std::string_view::npos;
                 }));
}

template <bool Left, bool Right> value strip_method(runtime& rt, const value& self, const arguments& args) {
  const auto [set] = args.bind(rt, "strip", {"chars"});
  return strip_characters(rt, self, set, Left, Right);
}

template <case_change Change> value case_method(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "change of case");
  rt.charge(self.text().size());
  return rt.make_string(change_case(self.text(), Change));
}

inline std::vector<value> split_space(const marked_text& text, std::int64_t most) {
  std::vector<value> parts;
  std::string_view rest = strip(text.view(), true, false);
  while (!rest.empty()) {
    std::size_t end = 0;
    while (end < rest.size() && space_length(rest, end) == 0) end += decode_utf8(rest, end).length;
    if (most-- == 0) end = rest.size();
    parts.push_back(part_of(text, rest.substr(0, end)));
    rest = strip(rest.substr(end), true, false);
  }
  return parts;
}

inline std::vector<value> rsplit_space(const marked_text& text, std::int64_t most) {
  std::vector<value> parts;
  std::string_view rest = strip(text.view(), false, true);
  while (!rest.empty()) {
    std::size_t begin = rest.size();
    while (begin > 0 && space_length(rest, previous_character(rest, begin)) == 0)
      begin = previous_character(rest, begin);
    if (most-- == 0) begin = 0;
    parts.insert(parts.begin(), part_of(text, rest.substr(begin)));
    rest = strip(rest.substr(0, begin), false, true);
  }
  return parts;
}

template <bool FromRight> value split_method(runtime& rt, const value& self, const arguments& args) {
  const auto [separator, maximum] = args.bind(rt, "split", {"sep", "maxsplit"});
  std::int64_t most = maximum ? to_integer(rt, *maximum, "split") : -1;
  const marked_text& text = self.text();
  rt.charge(text.size());
  if (!separator || separator->is_none()) {
    return rt.make_list(FromRight ? rsplit_space(text, most) : split_space(text, most));
  }
  const std::string_view cut = to_string(rt, *separator, "split").view();
  if (cut.empty()) rt.fail("split: an empty separator");
  std::vector<value> parts;
  std::string_view rest = text.view();
  for (; most != 0; --most) {
    const std::size_t at = FromRight ? rest.rfind(cut) : rest.find(cut);
    if (at == std::string_view::npos) break;
    parts.push_back(part_of(text, FromRight ? rest.substr(at + cut.size()) : rest.substr(0, at)));
    rest = FromRight ? rest.substr(0, at) : rest.substr(at + cut.size());
    rt.spend(1);
  }
  parts.push_back(part_of(text, rest));
  if (FromRight) std::reverse(parts.begin(), parts.end());
  return rt.make_list(std::move(parts));
}

template <bool FromRight> value partition_method(runtime& rt, const value& self, const arguments& args) {
  const auto [separator] = args.bind(rt, "partition", {"sep"});
  if (!separator) rt.fail("partition: expected a separator");
  const marked_text& cut = to_string(rt, *separator, "partition");
  rt.charge(self.text().size());
  const std::size_t at = FromRight ? self.view().rfind(cut.view()) : self.view().find(cut.view());
  if (at == std::string_view::npos) {
    const value empty = marked_text();
    return rt.make_list(FromRight ? std::vector<value>{empty, empty, self} : std::vector<value>{self, empty, empty},
                        flavour::tuple);
  }
  return rt.make_list(
      {self.text().substr(0, at), self.text().substr(at, cut.size()), self.text().substr(at + cut.size())},
      flavour::tuple);
}

inline value splitlines_method(runtime& rt, const value& self, const arguments& args) {
  const auto [keep] = args.bind(rt, "splitlines", {"keepends"});
  const bool with_ends = keep && keep->truthy();
  const std::string_view text = self.view();
  rt.charge(text.size());
  std::vector<value> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    std::size_t ending = 0;
    while (end < text.size() && ending == 0) {
      const utf8_step step = decode_utf8(text, end);
      const char32_t c = step.code_point;
      const bool breaks = (c >= 10 && c <= 13) || (c >= 28 && c <= 30) || c == 0x85 || c == 0x2028 || c == 0x2029;
      if (breaks)
        ending = text.substr(end).starts_with("\r\n") ? 2 : step.length;
      else
        end += step.length;
    }
    lines.push_back(self.text().substr(at, end - at + (with_ends ? ending : 0)));
    at = end + ending;
  }
  return rt.make_list(std::move(lines));
}

/// Does the string begin (or end) with the argument, or with one of a tuple of them?
template <bool AtStart> value affix_method(runtime& rt, const value& self, const arguments& args) {
  const auto [affix, begin, end] = args.bind(rt, AtStart ? "startswith" : "endswith", {"prefix", "start", "end"});
  if (!affix) rt.fail("expected what the string may start or end with");
  const value cut = begin || end ? slice(rt, self, begin ? *begin : value(), end ? *end : value(), value()) : self;
  const auto matches = [&](const value& v) {
    const std::string_view part = to_string(rt, v, AtStart ? "startswith" : "endswith").view();
    rt.charge(part.size());
    return AtStart ? cut.view().starts_with(part) : cut.view().ends_with(part);
  };
  if (!affix->is(kind::list)) return matches(*affix);
  return std::any_of(affix->items().items.begin(), affix->items().items.end(), matches);
}

template <bool AtStart> value remove_affix(runtime& rt, const value& self, const arguments& args) {
  const auto [affix] = args.bind(rt, "remove", {"affix"});
  if (!affix) rt.fail("expected the text to remove");
  const std::string_view part = to_string(rt, *affix, "remove").view();
  const std::string_view text = self.view();
  if (part.empty() || !(AtStart ? text.starts_with(part) : text.ends_with(part))) return self;
  return AtStart ? self.text().substr(part.size()) : self.text().substr(0, text.size() - part.size());
}

/// Where the argument stands, in characters, or -1; `Must`: fails instead.
template <bool FromRight, bool Must> value find_method(runtime& rt, const value& self, const arguments& args) {
  const auto [part, begin, end] = args.bind(rt, "find", {"sub", "start", "end"});
  if (!part) rt.fail("find: expected the text to look for");
  const std::string_view wanted = to_string(rt, *part, "find").view();
  rt.charge(self.text().size());
  const auto characters = static_cast<std::int64_t>(utf8_length(self.view()));
  std::int64_t first = begin && !begin->is_none() ? to_integer(rt, *begin, "find") : 0;
  if (first < 0) first = (std::max)(first + characters, std::int64_t{0});
  const value cut = begin || end ? slice(rt, self, first, end ? *end : value(), value()) : self;
  const std::size_t at = FromRight ? cut.view().rfind(wanted) : cut.view().find(wanted);
  if (first <= characters && at != std::string_view::npos) {
    return first + static_cast<std::int64_t>(utf8_length(cut.view().substr(0, at)));
  }
  if (Must) rt.fail("index: " + in_quotes(wanted) + " is not there");
  return -1;
}

inline value count_method(runtime& rt, const value& self, const arguments& args) {
  const auto [part, begin, end] = args.bind(rt, "count", {"sub", "start", "end"});
  if (!part) rt.fail("count: expected the text to count");
  rt.charge(self.text().size());
  const value cut = begin || end ? slice(rt, self, begin ? *begin : value(), end ? *end : value(), value()) : self;
  return static_cast<std::int64_t>(occurrences(cut.view(), to_string(rt, *part, "count").view()));
}

inline value replace_in(runtime& rt, const value& self, const value& from, const value& to, const value* count) {
  const std::int64_t most = count && !count->is_none() ? to_integer(rt, *count, "replace") : -1;
  const marked_text& old = to_string(rt, from, "replace");
  const marked_text& fresh = to_string(rt, to, "replace");
  rt.charge(self.text().size());
  const std::size_t found = (std::min)(occurrences(self.view(), old.view()), static_cast<std::size_t>(most));
  rt.spend(found);
  rt.check_string(self.text().size() + found * fresh.size());
  return replace(self.text(), old.view(), fresh, found);
}

inline value replace_method(runtime& rt, const value& self, const arguments& args) {
  const auto [from, to, count] = args.bind(rt, "replace", {"old", "new", "count"});
  if (!from || !to) rt.fail("replace: expected the old and the new text");
  return replace_in(rt, self, *from, *to, count);
}

inline value join_method(runtime& rt, const value& self, const arguments& args) {
  const auto [parts] = args.bind(rt, "join", {"iterable"});
  if (!parts) rt.fail("join: expected the parts");
  marked_text out;
  bool first = true;
  for (const value& part : walk(rt, *parts)) {
    const marked_text& text = to_string(rt, part, "join");
    rt.grow_string(out.size(), text.size() + self.text().size());
    if (!std::exchange(first, false)) out.append(self.text());
    out.append(text);
  }
  return out;
}

inline value format_method(runtime& rt, const value& self, const arguments& args) {
  return rt.make_string(formatter(rt).braces(self.text(), args));
}

enum class side : std::uint8_t { left, right, both };

/// The text in a field of `width`, at `where`.
inline value justify(runtime& rt, const marked_text& text, std::int64_t width, const marked_text& fill, side where) {
  const auto length = static_cast<std::int64_t>(utf8_length(text.view()));
  const auto missing = static_cast<std::uint64_t>((std::max)(width - length, std::int64_t{0}));
  rt.check_string(text.size() + (std::min)(missing, std::uint64_t{1} << 40) * fill.size());
  const std::uint64_t before = where == side::left    ? 0
                               : where == side::right ? missing
                                                      : missing / 2 + (missing & static_cast<std::uint64_t>(width) & 1);
  marked_text out;
  for (std::uint64_t i = 0; i < before; ++i) out.append(fill);
  out.append(text);
  for (std::uint64_t i = before; i < missing; ++i) out.append(fill);
  return out;
}

template <side Where> value justify_method(runtime& rt, const value& self, const arguments& args) {
  const auto [width, fill] = args.bind(rt, "justify", {"width", "fillchar"});
  if (!width) rt.fail("expected a width");
  const marked_text blank(" ", text_origin::from_template);
  const marked_text& filler = fill ? to_string(rt, *fill, "justify") : blank;
  if (utf8_length(filler.view()) != 1) rt.fail("expected one character to fill with");
  return justify(rt, self.text(), to_integer(rt, *width, "width"), filler, Where);
}

inline value zfill_method(runtime& rt, const value& self, const arguments& args) {
  const auto [width] = args.bind(rt, "zfill", {"width"});
  if (!width) rt.fail("zfill: expected a width");
  const std::size_t sign = self.view().starts_with('-') || self.view().starts_with('+');
  const std::int64_t digits = to_integer(rt, *width, "zfill") - static_cast<std::int64_t>(sign);
  marked_text out = self.text().substr(0, sign);
  out.append(justify(rt, self.text().substr(sign), digits, {"0", text_origin::from_template}, side::right).text());
  return out;
}

constexpr bool is_digit(char32_t c) noexcept {
  constexpr char32_t zeros[] = {'0', 0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10};
  for (const char32_t zero : zeros) {
    if (c >= zero && c < zero + 10) return true;
  }
  return false;
}
inline bool is_alpha(char32_t c) noexcept {
  if (c < 0x80) return is_cased(c);
  if (is_cased(c) || c == 0xAA || c == 0xBA) return true;
  return c >= 0x370 && !is_digit(c) && !is_space(c) && !(c >= 0x2000 && c <= 0x2BFF) && !(c >= 0x3000 && c <= 0x3004) &&
         !(c >= 0x3008 && c <= 0x3020) && !(c >= 0xD800 && c <= 0xF8FF) && !(c >= 0xFE00 && c <= 0xFE6F) &&
         !(c >= 0xFF00 && c <= 0xFF20) && !(c >= 0x1F000 && c <= 0x1FAFF) && c <= 0x3FFFF;
}
inline bool is_alnum(char32_t c) noexcept { return is_alpha(c) || is_digit(c); }
inline bool is_blank(char32_t c) noexcept { return is_space(c); }
inline bool is_ascii(char32_t c) noexcept { return c < 0x80; }

/// True if all characters are so, and there is one (or `Empty`).
template <bool (*All)(char32_t) noexcept, bool Empty = false>
value every_method(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "test of characters");
  rt.charge(self.text().size());
  bool all = Empty || !self.text().empty();
  for_each_character(self.text(), [&](char32_t c, std::string_view, text_origin) { all = all && All(c); });
  return all;
}

/// True if no cased character has the other case, and there is one of this.
template <bool Lower> value case_test(runtime& rt, const value& self, const arguments&) {
  const marked_text text = to_text(rt, self);
  rt.charge(text.size());
  bool some = false;
  bool other = false;
  for_each_character(text, [&](char32_t c, std::string_view, text_origin) {
    some = some || (Lower ? is_lower_letter(c) : is_upper_letter(c));
    other = other || (Lower ? is_upper_letter(c) : is_lower_letter(c));
  });
  return some && !other;
}

inline value istitle_method(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "istitle");
  bool cased = false;
  for_each_character(self.text(), [&](char32_t c, std::string_view, text_origin) { cased = cased || is_cased(c); });
  return cased && change_case(self.text(), case_change::title).view() == self.view();
}

}  // namespace detail

/// Methods of str, in alphabetical order.
inline constexpr named_native string_methods[] = {
    {"capitalize", detail::case_method<case_change::capital>},
    {"casefold", detail::case_method<case_change::lower>},
    {"center", detail::justify_method<detail::side::both>},
    {"count", detail::count_method},
    {"endswith", detail::affix_method<false>},
    {"find", detail::find_method<false, false>},
    {"format", detail::format_method},
    {"index", detail::find_method<false, true>},
    {"isalnum", detail::every_method<detail::is_alnum>},
    {"isalpha", detail::every_method<detail::is_alpha>},
    {"isascii", detail::every_method<detail::is_ascii, true>},
    {"isdecimal", detail::every_method<detail::is_digit>},
    {"isdigit", detail::every_method<detail::is_digit>},
    {"islower", detail::case_test<true>},
    {"isnumeric", detail::every_method<detail::is_digit>},
    {"isspace", detail::every_method<detail::is_blank>},
    {"istitle", detail::istitle_method},
    {"isupper", detail::case_test<false>},
    {"join", detail::join_method},
    {"ljust", detail::justify_method<detail::side::left>},
    {"lower", detail::case_method<case_change::lower>},
    {"lstrip", detail::strip_method<true, false>},
    {"partition", detail::partition_method<false>},
    {"removeprefix", detail::remove_affix<true>},
    {"removesuffix", detail::remove_affix<false>},
    {"replace", detail::replace_method},
    {"rfind", detail::find_method<true, false>},
    {"rindex", detail::find_method<true, true>},
    {"rjust", detail::justify_method<detail::side::right>},
    {"rpartition", detail::partition_method<true>},
    {"rsplit", detail::split_method<true>},
    {"rstrip", detail::strip_method<false, true>},
    {"split", detail::split_method<false>},
    {"splitlines", detail::splitlines_method},
    {"startswith", detail::affix_method<true>},
    {"strip", detail::strip_method<true, true>},
    {"swapcase", detail::case_method<case_change::swap>},
    {"title", detail::case_method<case_change::title>},
    {"upper", detail::case_method<case_change::upper>},
    {"zfill", detail::zfill_method},
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
