// Filters on lists and dicts, and the table of all filters. What Jinja computes lazily (map, select, batch ...) is
// computed at once here and remembers that it can be walked only once.
#pragma once

#include <llambda/text/jinja/scalar_filters.hpp>
#include <llambda/text/jinja/tests.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

native find_filter(const runtime& rt, std::string_view name);

namespace detail {

/// item.a.b for "a.b"; numbers are subscripts. `otherwise` stands for what is missing.
inline value path_of(runtime& rt, value item, std::string_view path, const value* otherwise = nullptr) {
  for (;;) {
    const std::string_view part = path.substr(0, path.find('.'));
    std::int64_t index = 0;
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos &&
                        !parse_integer(part, 10, index);
    item = get_item(rt, item, number ? value(index) : value::trusted(part));
    if (item.is_undefined() && otherwise) item = *otherwise;
    if (part.size() == path.size()) return item;
    path.remove_prefix(part.size() + 1);
  }
}

inline value attribute_of(runtime& rt, const value& item, const value* attribute, const value* otherwise = nullptr) {
  if (!attribute || attribute->is_none()) return item;
  if (attribute->is_integral()) return get_item(rt, item, *attribute);
  return path_of(rt, item, to_string(rt, *attribute, "attribute").view(), otherwise);
}

/// What items are compared by: their attribute, strings without case unless asked.
inline value sort_key(runtime& rt, const value& item, const value* attribute, const value* case_sensitive) {
  const value key = attribute_of(rt, item, attribute);
  if (!key.is_string() || (case_sensitive && case_sensitive->truthy())) return key;
  rt.charge(key.text().size());
  return change_case(key.text(), case_change::lower);
}

inline value sort_by_keys(runtime& rt, const std::vector<value>& items, const std::vector<value>& keys, bool reverse) {
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return reverse ? less(rt, keys[b], keys[a]) : less(rt, keys[a], keys[b]);
  });
  std::vector<value> sorted;
  for (const std::size_t i : order) sorted.push_back(items[i]);
  return rt.make_list(std::move(sorted));
}

inline value sort_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [reverse, case_sensitive, attribute] = args.bind(rt, "sort", {"reverse", "case_sensitive", "attribute"});
  const std::vector<value> items = walk(rt, self);
  std::vector<value> keys;
  for (const value& item : items) {
    if (!attribute || !attribute->is_string() || attribute->view().find(',') == std::string_view::npos) {
      keys.push_back(sort_key(rt, item, attribute, case_sensitive));
      continue;
    }
    std::vector<value> parts;
    for (std::string_view rest = attribute->view();;) {
      const std::string_view path = rest.substr(0, rest.find(','));
      const value name = value::trusted(path);
      parts.push_back(sort_key(rt, item, &name, case_sensitive));
      if (path.size() == rest.size()) break;
      rest.remove_prefix(path.size() + 1);
    }
    keys.push_back(rt.make_list(std::move(parts)));
  }
  return sort_by_keys(rt, items, keys, reverse && reverse->truthy());
}

inline value dictsort_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [case_sensitive, by, reverse] = args.bind(rt, "dictsort", {"case_sensitive", "by", "reverse"});
  need_defined(rt, self);
  if (!self.is(kind::dict)) rt.fail("dictsort: expected a dict, got a " + std::string(self.type_name()));
  const std::string part = by ? to_string(rt, *by, "dictsort").str() : "key";
  if (part != "key" && part != "value") rt.fail("dictsort: 'by' must be 'key' or 'value'");
  const value index = part == "key" ? 0 : 1;
  const std::vector<value> items = walk(rt, dict_view<dict_part::items>(rt, self, {}));
  std::vector<value> keys;
  for (const value& item : items) keys.push_back(sort_key(rt, item, &index, case_sensitive));
  return sort_by_keys(rt, items, keys, reverse && reverse->truthy());
}

inline value unique_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [case_sensitive, attribute] = args.bind(rt, "unique", {"case_sensitive", "attribute"});
  std::vector<value> items;
  std::vector<value> seen;
  for (const value& item : walk(rt, self)) {
    const value key = sort_key(rt, item, attribute, case_sensitive);
    if (std::any_of(seen.begin(), seen.end(), [&](const value& other) { return equal(rt, other, key); })) continue;
    seen.push_back(key);
    items.push_back(item);
  }
  return rt.make_list(std::move(items), flavour::generator);
}

template <bool Greatest> value extreme_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [case_sensitive, attribute] = args.bind(rt, "min", {"case_sensitive", "attribute"});
  const std::vector<value> items = walk(rt, self);
  if (items.empty()) return value::undefined("there is no item in an empty sequence");
  std::size_t best = 0;
  value best_key = sort_key(rt, items[0], attribute, case_sensitive);
  for (std::size_t i = 1; i < items.size(); ++i) {
    const value key = sort_key(rt, items[i], attribute, case_sensitive);
    if (!(Greatest ? less(rt, best_key, key) : less(rt, key, best_key))) continue;
    best = i;
    best_key = key;
  }
  return items[best];
}

inline value sum_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [attribute, start] = args.bind(rt, "sum", {"attribute", "start"});
  value total = start ? *start : value(0);
  for (const value& item : walk(rt, self)) {
    total = arithmetic(rt, operation::add, total, attribute_of(rt, item, attribute));
  }
  return total;
}

inline value groupby_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [attribute, otherwise, case_sensitive] =
      args.bind(rt, "groupby", {"attribute", "default", "case_sensitive"});
  if (!attribute) rt.fail("groupby: expected an attribute");
  const std::vector<value> items = walk(rt, self);
  std::vector<value> keys;
  for (const value& item : items) {
    const value key = attribute_of(rt, item, attribute, otherwise);
    keys.push_back(sort_key(rt, key, nullptr, case_sensitive));
  }
  std::vector<value> pairs;
  for (std::size_t i = 0; i < items.size(); ++i) pairs.push_back(rt.make_list({keys[i], items[i]}, flavour::tuple));
  std::vector<value> groups;
  std::vector<value> members;
  const value sorted = sort_by_keys(rt, pairs, keys, false);
  const auto& all = sorted.items().items;
  for (std::size_t i = 0; i < all.size(); ++i) {
    members.push_back(all[i].items().items[1]);
    if (i + 1 < all.size() && equal(rt, all[i].items().items[0], all[i + 1].items().items[0])) continue;
    const value name = attribute_of(rt, members.front(), attribute, otherwise);
    groups.push_back(rt.make_list({name, rt.make_list(std::exchange(members, {}))}, flavour::tuple));
  }
  return rt.make_list(std::move(groups));
}

inline value join_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [separator, attribute] = args.bind(rt, "join", {"d", "attribute"});
  const marked_text between = separator ? to_text(rt, *separator) : marked_text();
  marked_text out;
  bool first = true;
  for (const value& item : walk(rt, self)) {
    const marked_text text = to_text(rt, attribute_of(rt, item, attribute));
    rt.grow_string(out.size(), text.size() + between.size());
    if (!std::exchange(first, false)) out.append(between);
    out.append(text);
  }
  return out;
}

inline value list_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "list");
  return rt.make_list(walk(rt, self));
}

inline value items_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "items");
  if (self.is_undefined()) return rt.make_list({}, flavour::generator);
  if (!self.is(kind::dict)) rt.fail("items: expected a dict, got a " + std::string(self.type_name()));
  return rt.make_list(walk(rt, dict_view<dict_part::items>(rt, self, {})), flavour::generator);
}

inline value first_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "first");
  std::vector<value> items = walk(rt, self);
  return items.empty() ? value::undefined("there is no first item in an empty sequence") : items.front();
}

inline value last_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "last");
  if (self.is(kind::list) && self.items().shape == flavour::generator) rt.fail("last: a generator has no end");
  std::vector<value> items = walk(rt, self);
  return items.empty() ? value::undefined("there is no last item in an empty sequence") : items.back();
}

inline value reverse_filter(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "reverse");
  if (self.is_string()) return slice(rt, self, {}, {}, -1);
  std::vector<value> items = walk(rt, self);
  std::reverse(items.begin(), items.end());
  return rt.make_list(std::move(items), flavour::generator);
}

inline value batch_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [count, fill] = args.bind(rt, "batch", {"linecount", "fill_with"});
  if (!count) rt.fail("batch: expected a number");
  const std::int64_t size = to_integer(rt, *count, "batch");
  if (size < 1) rt.fail("batch: expected a number above 0");
  std::vector<value> rows;
  std::vector<value> row;
  for (const value& item : walk(rt, self)) {
    row.push_back(item);
    if (static_cast<std::int64_t>(row.size()) == size) rows.push_back(rt.make_list(std::exchange(row, {})));
  }
  if (!row.empty()) {
    if (fill && !fill->is_none()) {
      rt.check_items(static_cast<std::uint64_t>(size));
      row.resize(static_cast<std::size_t>(size), *fill);
    }
    rows.push_back(rt.make_list(std::move(row)));
  }
  return rt.make_list(std::move(rows), flavour::generator);
}

inline value slice_filter(runtime& rt, const value& self, const arguments& args) {
  const auto [count, fill] = args.bind(rt, "slice", {"slices", "fill_with"});
  if (!count) rt.fail("slice: expected a number");
  const std::int64_t slices = to_integer(rt, *count, "slice");
  if (slices < 1) rt.fail("slice: expected a number above 0");
  rt.check_items(static_cast<std::uint64_t>(slices));
  const std::vector<value> items = walk(rt, self);
  const auto columns = static_cast<std::size_t>(slices);
  std::vector<value> rows;
  std::size_t at = 0;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t size = items.size() / columns + (i < items.size() % columns);
    std::vector<value> row(items.begin() + static_cast<std::ptrdiff_t>(at),
                           items.begin() + static_cast<std::ptrdiff_t>(at + size));
    if (fill && !fill->is_none() && i >= items.size() % columns) row.push_back(*fill);
    at += size;
    rows.push_back(rt.make_list(std::move(row)));
  }
  return rt.make_list(std::move(rows), flavour::generator);
}

/// What map and select visit: they take none, 0 and so on for no items.
inline std::vector<value> walk_if_any(runtime& rt, const value& v) {
  return v.truthy() ? walk(rt, v) : std::vector<value>();
}

/// map('filter', ...) and map(attribute=..., default=...).
inline value map_filter(runtime& rt, const value& self, const arguments& args) {
  std::vector<value> items = walk_if_any(rt, self);
  if (args.positional.empty()) {
    const auto [attribute, otherwise] = args.bind(rt, "map", {"attribute", "default"});
    if (!attribute) rt.fail("map: expected a filter or an attribute");
    for (value& item : items) item = attribute_of(rt, item, attribute, otherwise);
  } else {
    const native filter = find_filter(rt, to_string(rt, args.positional[0], "map").view());
    const arguments rest = args.after(1);
    for (value& item : items) {
      rt.spend(1);
      item = filter(rt, item, rest);
    }
  }
  return rt.make_list(std::move(items), flavour::generator);
}

/// select, reject, selectattr, rejectattr: the items that pass a test, or that fail it.
template <bool Keep, bool OfAttribute> value select_filter(runtime& rt, const value& self, const arguments& args) {
  std::vector<value> kept;
  const std::size_t head = OfAttribute ? 1 : 0;
  if (args.positional.size() < head) rt.fail("selectattr: expected an attribute");
  const value* attribute = OfAttribute ? &args.positional[0] : nullptr;
  const native test =
      args.positional.size() > head ? find_test(rt, to_string(rt, args.positional[head], "select").view()) : nullptr;
  const arguments rest = args.after(head + 1);
  for (const value& item : walk_if_any(rt, self)) {
    rt.spend(1);
    const value tested = attribute_of(rt, item, attribute);
    if ((test ? test(rt, tested, rest) : tested).truthy() == Keep) kept.push_back(item);
  }
  return rt.make_list(std::move(kept), flavour::generator);
}

}  // namespace detail

inline constexpr named_native filters[] = {
    {"abs", detail::abs_filter},
    {"attr", detail::attr_filter},
    {"batch", detail::batch_filter},
    {"capitalize", detail::as_text<detail::case_method<case_change::capital>>},
    {"center", detail::center_filter},
    {"count", detail::length_filter},
    {"d", detail::default_filter},
    {"default", detail::default_filter},
    {"dictsort", detail::dictsort_filter},
    {"e", detail::escape_filter},
    {"escape", detail::escape_filter},
    {"first", detail::first_filter},
    {"float", detail::float_filter},
    {"format", detail::format_filter},
    {"groupby", detail::groupby_filter},
    {"indent", detail::indent_filter},
    {"int", detail::int_filter},
    {"items", detail::items_filter},
    {"join", detail::join_filter},
    {"last", detail::last_filter},
    {"length", detail::length_filter},
    {"list", detail::list_filter},
    {"lower", detail::as_text<detail::case_method<case_change::lower>>},
    {"map", detail::map_filter},
    {"max", detail::extreme_filter<true>},
    {"min", detail::extreme_filter<false>},
    {"reject", detail::select_filter<false, false>},
    {"rejectattr", detail::select_filter<false, true>},
    {"replace", detail::replace_filter},
    {"reverse", detail::reverse_filter},
    {"round", detail::round_filter},
    {"safe", detail::safe_filter},
    {"select", detail::select_filter<true, false>},
    {"selectattr", detail::select_filter<true, true>},
    {"slice", detail::slice_filter},
    {"sort", detail::sort_filter},
    {"string", detail::string_filter},
    {"sum", detail::sum_filter},
    {"title", detail::title_filter},
    {"tojson", detail::tojson_filter},
    {"trim", detail::trim_filter},
    {"unique", detail::unique_filter},
    {"upper", detail::as_text<detail::case_method<case_change::upper>>},
    {"wordcount", detail::wordcount_filter},
};

inline native find_filter(const runtime& rt, std::string_view name) {
  const native filter = find_native(filters, name);
  if (!filter) rt.fail("no filter named " + in_quotes(name));
  return filter;
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
