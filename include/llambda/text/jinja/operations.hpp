// What operators mean: equality, order, membership, arithmetic, subscripts, slices, walking a value. Python's rules;
// integers have 64 bits, and one that would need more is an error.
#pragma once

#include <llambda/text/jinja/formatting.hpp>
#include <llambda/text/jinja/syntax.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

inline void need_defined(const runtime& rt, const value& v) {
  if (v.is_undefined()) rt.fail(v.undefined_reason_text());
}

inline bool equal(runtime& rt, const value& a, const value& b, std::size_t depth = 0) {
  rt.spend(1);
  if (depth > max_value_depth) rt.exceed("levels of lists and dicts in values to compare", max_value_depth);
  if (a.is_integral() && b.is_integral()) return a.integer() == b.integer();
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  if (a.kind() != b.kind()) return false;
  if (a.is_string()) {
    if (a.text().size() != b.text().size()) return false;
    rt.charge(a.text().size());
    return a.view() == b.view();
  }
  if (a.is(kind::list)) {
    const list &x = a.items(), &y = b.items();
    if (x.shape != y.shape || x.items.size() != y.items.size()) return false;
    for (std::size_t i = 0; i < x.items.size(); ++i) {
      if (!equal(rt, x.items[i], y.items[i], depth + 1)) return false;
    }
    return true;
  }
  if (a.is(kind::dict)) {
    const dict &x = a.entries(), &y = b.entries();
    if (x.entries.size() != y.entries.size()) return false;
    for (const auto& [key, v] : x.entries) {
      const value* other = y.find(key);
      if (!other || !equal(rt, v, *other, depth + 1)) return false;
    }
    return true;
  }
  return a.same_as(b);
}

/// a < b. Fails for values that have no order.
inline bool less(runtime& rt, const value& a, const value& b, std::size_t depth = 0) {
  rt.spend(1);
  need_defined(rt, a);
  need_defined(rt, b);
  if (depth > max_value_depth) rt.exceed("levels of lists in values to compare", max_value_depth);
  if (a.is_integral() && b.is_integral()) return a.integer() < b.integer();
  if (a.is_number() && b.is_number()) return a.real() < b.real();
  if (a.is_string() && b.is_string()) {
    rt.charge((std::min)(a.text().size(), b.text().size()));
    return a.view() < b.view();  // the order of UTF-8 is that of code points
  }
  if (a.is(kind::list) && b.is(kind::list) && a.items().shape == b.items().shape) {
    const auto &x = a.items().items, &y = b.items().items;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (!equal(rt, x[i], y[i], depth + 1)) return less(rt, x[i], y[i], depth + 1);
    }
    return x.size() < y.size();
  }
  rt.fail("a " + std::string(a.type_name()) + " and a " + std::string(b.type_name()) + " have no order");
}

/// The items that a loop over `v` visits. Fails for what cannot be walked.
inline std::vector<value> walk(runtime& rt, const value& v) {
  std::vector<value> items;
  switch (v.kind()) {
    case kind::undefined:
      break;
    case kind::list:
      rt.check_items(v.items().items.size());
      if (v.items().shape == flavour::generator) return std::exchange(v.items().items, {});
      return v.items().items;
    case kind::dict:
      rt.check_items(v.entries().entries.size());
      for (const auto& entry : v.entries().entries) items.push_back(entry.first);
      break;
    case kind::string: {
      const auto offsets = character_offsets(v.view());
      rt.check_items(offsets.size());
      for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        items.push_back(v.text().substr(offsets[i], offsets[i + 1] - offsets[i]));
      }
      break;
    }
    default:
      rt.fail("a " + std::string(v.type_name()) + " cannot be walked");
  }
  return items;
}

inline std::int64_t length(runtime& rt, const value& v) {
  switch (v.kind()) {
    case kind::undefined:
      return 0;
    case kind::string:
      rt.charge(v.text().size());
      return static_cast<std::int64_t>(utf8_length(v.view()));
    case kind::dict:
      return static_cast<std::int64_t>(v.entries().entries.size());
    case kind::list:
      if (v.items().shape != flavour::generator) return static_cast<std::int64_t>(v.items().items.size());
      [[fallthrough]];
    default:
      rt.fail("a " + std::string(v.type_name()) + " has no length");
  }
}

/// part in whole
inline bool contains(runtime& rt, const value& whole, const value& part) {
  switch (whole.kind()) {
    case kind::undefined:
      return false;
    case kind::string:
      rt.charge(whole.text().size());
      return whole.view().find(to_string(rt, part, "in").view()) != std::string_view::npos;
    case kind::dict:
      if (part.is(kind::list) || part.is(kind::dict)) rt.fail("a " + std::string(part.type_name()) + " is no key");
      rt.spend(1);
      return whole.entries().find(part) != nullptr;
    case kind::list:
      for (const value& item : whole.items().items) {
        if (equal(rt, item, part)) return true;
      }
      return false;
    default:
      rt.fail("a " + std::string(whole.type_name()) + " holds nothing to look for");
  }
}

inline bool compares(runtime& rt, operation o, const value& a, const value& b) {
  switch (o) {
    case operation::eq:
      return equal(rt, a, b);
    case operation::ne:
      return !equal(rt, a, b);
    case operation::lt:
      return less(rt, a, b);
    case operation::gt:
      return less(rt, b, a);
    case operation::le:
      return less(rt, a, b) || equal(rt, a, b);
    case operation::ge:
      return less(rt, b, a) || equal(rt, a, b);
    case operation::in:
      return contains(rt, b, a);
    default:
      return !contains(rt, b, a);
  }
}

/// The text of `v` as HTML: unchanged if it is markup already.
inline marked_text escaped(runtime& rt, const value& v) {
  const marked_text text = to_text(rt, v);
  if (v.is_markup()) return text;
  rt.check_string(5 * text.size());
  marked_text out;
  for_each_character(text, [&](char32_t c, std::string_view bytes, text_origin origin) {
    out.append(c == '&'    ? "&amp;"
               : c == '<'  ? "&lt;"
               : c == '>'  ? "&gt;"
               : c == '"'  ? "&#34;"
               : c == '\'' ? "&#39;"
                           : bytes,
               origin);
  });
  return out;
}

/// a + b of strings. If one of them is markup, the other is escaped: so does Python's markupsafe.
inline value join_strings(runtime& rt, const value& a, const value& b) {
  rt.check_string(a.text().size() + b.text().size());
  const bool markup = a.is_markup() || b.is_markup();
  marked_text out = markup ? escaped(rt, a) : a.text();
  out.append(markup ? escaped(rt, b) : b.text());
  return markup ? value::markup(std::move(out)) : value(std::move(out));
}

namespace detail {

[[noreturn]] inline void too_large(const runtime& rt) { rt.fail("an integer does not fit in 64 bits"); }

inline value integer_power(const runtime& rt, std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  if (exponent > 63) too_large(rt);
  for (std::int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) too_large(rt);
  }
  return result;
}

inline value integer_arithmetic(const runtime& rt, operation o, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (o) {
    case operation::add:
      if (__builtin_add_overflow(a, b, &result)) too_large(rt);
      return result;
    case operation::sub:
      if (__builtin_sub_overflow(a, b, &result)) too_large(rt);
      return result;
    case operation::mul:
      if (__builtin_mul_overflow(a, b, &result)) too_large(rt);
      return result;
    default:
      break;
  }
  if (b == 0) rt.fail("division by zero");
  if (o == operation::div) return static_cast<double>(a) / static_cast<double>(b);
  if (b == -1) {  // the one quotient that overflows
    if (o == operation::mod) return 0;
    if (__builtin_sub_overflow(std::int64_t{0}, a, &result)) too_large(rt);
    return result;
  }
  const bool floors = a % b != 0 && (a < 0) != (b < 0);  // C++ rounds to zero, Python down
  return o == operation::mod ? a % b + (floors ? b : 0) : a / b - (floors ? 1 : 0);
}

inline value real_arithmetic(const runtime& rt, operation o, double a, double b) {
  switch (o) {
    case operation::add:
      return a + b;
    case operation::sub:
      return a - b;
    case operation::mul:
      return a * b;
    case operation::pow:
      if ((a == 0 && b < 0) || (a < 0 && b != std::floor(b))) rt.fail("a power that is no real number");
      return std::pow(a, b);
    default:
      break;
  }
  if (b == 0) rt.fail("division by zero");
  if (o == operation::div) return a / b;
  const double rest = std::fmod(a, b);
  const double down = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  return o == operation::mod ? down : std::floor((a - down) / b + 0.5);
}

inline value repeat(runtime& rt, const value& v, std::int64_t count) {
  const std::uint64_t times = count < 0 ? 0 : static_cast<std::uint64_t>(count);
  const std::uint64_t size = v.is_string() ? v.text().size() : v.items().items.size();
  const std::uint64_t most = v.is_string() ? rt.bounds().value_bytes : rt.bounds().list_items;
  if (size != 0 && times > most / size) rt.exceed(v.is_string() ? "bytes in one string" : "items in one list", most);
  if (v.is_string()) {
    rt.check_string(size * times);
    marked_text out;
    for (std::uint64_t i = 0; size != 0 && i < times; ++i) out.append(v.text());
    return out;
  }
  std::vector<value> items;
  for (std::uint64_t i = 0; size != 0 && i < times; ++i) {
    items.insert(items.end(), v.items().items.begin(), v.items().items.end());
  }
  return rt.make_list(std::move(items), v.items().shape);
}

inline bool is_sequence(const value& v) {
  return v.is_string() || (v.is(kind::list) && v.items().shape <= flavour::tuple);
}

}  // namespace detail

inline value arithmetic(runtime& rt, operation o, const value& a, const value& b) {
  need_defined(rt, a);
  if (o == operation::mod && a.is_string()) return rt.make_string(formatter(rt).percent(a.text(), b));
  need_defined(rt, b);
  if (a.is_integral() && b.is_integral()) {
    if (o != operation::pow) return detail::integer_arithmetic(rt, o, a.integer(), b.integer());
    if (b.integer() >= 0) return detail::integer_power(rt, a.integer(), b.integer());
  }
  if (a.is_number() && b.is_number()) return detail::real_arithmetic(rt, o, a.real(), b.real());
  if (o == operation::mul && detail::is_sequence(a) && b.is_integral()) return detail::repeat(rt, a, b.integer());
  if (o == operation::mul && detail::is_sequence(b) && a.is_integral()) return detail::repeat(rt, b, a.integer());
  if (o == operation::add && a.is_string() && b.is_string()) return join_strings(rt, a, b);
  if (o == operation::add && detail::is_sequence(a) && a.kind() == b.kind() && a.items().shape == b.items().shape) {
    std::vector<value> items = a.items().items;
    items.insert(items.end(), b.items().items.begin(), b.items().items.end());
    return rt.make_list(std::move(items), a.items().shape);
  }
  constexpr std::string_view signs[] = {"+", "-", "*", "/", "//", "%", "**"};
  rt.fail("'" + std::string(signs[static_cast<std::size_t>(o)]) + "' is not for a " + std::string(a.type_name()) +
          " and a " + std::string(b.type_name()));
}

/// The place that `index` counts to in `size` items, from the end if negative; `size` or more if there is none.
inline std::size_t place(std::int64_t index, std::size_t size) noexcept {
  if (index >= 0) return static_cast<std::uint64_t>(index) < size ? static_cast<std::size_t>(index) : size;
  const std::uint64_t back = 0 - static_cast<std::uint64_t>(index);
  return back <= size ? size - static_cast<std::size_t>(back) : size;
}

/// v[begin:end:step]; none stands for an end left out.
inline value slice(runtime& rt, const value& v, const value& begin, const value& end, const value& step) {
  if (!detail::is_sequence(v)) {
    need_defined(rt, v);
    return value::undefined("a " + std::string(v.type_name()) + " cannot be sliced");
  }
  const std::vector<std::size_t> offsets = v.is_string() ? character_offsets(v.view()) : std::vector<std::size_t>();
  if (v.is_string()) rt.charge(v.text().size());
  const auto size = static_cast<std::int64_t>(v.is_string() ? offsets.size() - 1 : v.items().items.size());
  const std::int64_t by = step.is_none() ? 1 : to_integer(rt, step, "slice");
  if (by == 0) rt.fail("slice: a step of zero");
  const auto bound = [&](const value& given, std::int64_t absent) {
    if (given.is_none()) return absent;
    std::int64_t i = to_integer(rt, given, "slice");
    if (i < 0) i = (std::max)(i, -size - 1) + size;
    return by > 0 ? (std::min)((std::max)(i, std::int64_t{0}), size)
                  : (std::min)((std::max)(i, std::int64_t{-1}), size - 1);
  };
  const std::int64_t from = bound(begin, by > 0 ? 0 : size - 1);
  const std::int64_t to = bound(end, by > 0 ? size : -1);
  if (v.is_string() && by == 1) {
    if (from >= to) return marked_text();
    const std::size_t first = offsets[static_cast<std::size_t>(from)];
    return rt.make_string(v.text().substr(first, offsets[static_cast<std::size_t>(to)] - first));
  }
  marked_text text;
  std::vector<value> items;
  for (std::int64_t i = from; by > 0 ? i < to : i > to;) {
    const auto at = static_cast<std::size_t>(i);
    if (v.is_string()) {
      text.append(v.text(), offsets[at], offsets[at + 1] - offsets[at]);
    } else {
      items.push_back(v.items().items[at]);
    }
    if (__builtin_add_overflow(i, by, &i)) break;
  }
  return v.is_string() ? rt.make_string(std::move(text)) : rt.make_list(std::move(items), v.items().shape);
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
