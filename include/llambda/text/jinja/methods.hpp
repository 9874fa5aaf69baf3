// Methods of lists and dicts, and the look-up of attributes and items: which names a value answers to.
// A list or dict that the template made may be changed by it (some templates queue tool calls so, although the sandbox
// of transformers forbids it); what the host gave is frozen. Names with two underscores at both ends are never there.
#pragma once

#include <llambda/text/jinja/string_methods.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

namespace detail {

/// The list of `self`, about to change. It may come to hold itself, and so is emptied when the render ends.
inline list& open_list(runtime& rt, const value& self) {
  list& l = self.items();
  if (l.frozen || l.shape != flavour::list)
    rt.fail("a " + std::string(self.type_name()) + " of the caller cannot change");
  rt.spend(l.items.size() / 16 + 1);
  if (!l.adopted) rt.adopt([kept = self.list_pointer()] { kept->items.clear(); });
  l.adopted = true;
  return l;
}

/// Likewise a dict.
inline dict& open_dict(runtime& rt, const value& self) {
  dict& d = self.entries();
  if (d.frozen) rt.fail("a dict of the caller cannot change");
  if (!d.adopted) rt.adopt([kept = self.dict_pointer()] { kept->entries.clear(); });
  d.adopted = true;
  return d;
}

inline void grow(runtime& rt, list& l, std::size_t at, const value& item) {
  l.depth = depth_with(l.depth, item);
  rt.charge(sizeof(value));
  if (l.items.size() >= rt.bounds().list_items) rt.exceed("items in one list", rt.bounds().list_items);
  l.items.insert(l.items.begin() + static_cast<std::ptrdiff_t>(at), item);
}

inline value list_append(runtime& rt, const value& self, const arguments& args) {
  const auto [item] = args.bind(rt, "append", {"object"});
  if (!item) rt.fail("append: expected an item");
  list& l = open_list(rt, self);
  grow(rt, l, l.items.size(), *item);
  return {};
}

inline value list_extend(runtime& rt, const value& self, const arguments& args) {
  const auto [items] = args.bind(rt, "extend", {"iterable"});
  if (!items) rt.fail("extend: expected items");
  list& l = open_list(rt, self);
  for (const value& item : walk(rt, *items)) grow(rt, l, l.items.size(), item);
  return {};
}

inline value list_insert(runtime& rt, const value& self, const arguments& args) {
  const auto [index, item] = args.bind(rt, "insert", {"index", "object"});
  if (!index || !item) rt.fail("insert: expected an index and an item");
  list& l = open_list(rt, self);
  const std::int64_t i = to_integer(rt, *index, "insert");
  const std::size_t at = place(i, l.items.size());
  grow(rt, l, at == l.items.size() && i < 0 ? 0 : at, *item);
  return {};
}

inline value list_pop(runtime& rt, const value& self, const arguments& args) {
  const auto [index] = args.bind(rt, "pop", {"index"});
  list& l = open_list(rt, self);
  const std::size_t at = place(index ? to_integer(rt, *index, "pop") : -1, l.items.size());
  if (at == l.items.size()) rt.fail("pop: there is no such item");
  value item = std::move(l.items[at]);
  l.items.erase(l.items.begin() + static_cast<std::ptrdiff_t>(at));
  return item;
}

inline value list_reverse(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "reverse");
  list& l = open_list(rt, self);
  std::reverse(l.items.begin(), l.items.end());
  return {};
}

inline value list_clear(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "clear");
  open_list(rt, self).items.clear();
  return {};
}

inline value list_index(runtime& rt, const value& self, const arguments& args) {
  const auto [item] = args.bind(rt, "index", {"value"});
  if (!item) rt.fail("index: expected an item");
  for (std::size_t i = 0; i < self.items().items.size(); ++i) {
    if (equal(rt, self.items().items[i], *item)) return i;
  }
  rt.fail("index: the item is not in the list");
}

inline value list_count(runtime& rt, const value& self, const arguments& args) {
  const auto [item] = args.bind(rt, "count", {"value"});
  if (!item) rt.fail("count: expected an item");
  std::int64_t count = 0;
  for (const value& other : self.items().items) count += equal(rt, other, *item);
  return count;
}

inline value list_copy(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "copy");
  return rt.make_list(self.items().items);
}

enum class dict_part : std::uint8_t { keys, values, items };

/// What d.keys(), d.values() and d.items() give.
template <dict_part Part> value dict_view(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "view of a dict");
  std::vector<value> parts;
  rt.check_items(self.entries().entries.size());
  for (const auto& [key, v] : self.entries().entries) {
    if (Part == dict_part::items)
      parts.push_back(rt.make_list({key, v}, flavour::tuple));
    else
      parts.push_back(Part == dict_part::keys ? key : v);
  }
  return rt.make_list(std::move(parts), flavour::view);
}

inline const value& checked_key(const runtime& rt, const value* key, std::string_view what) {
  if (!key) rt.fail(std::string(what) + ": expected a key");
  if (!dict::takes_key(*key)) rt.fail(std::string(what) + ": a " + std::string(key->type_name()) + " is no key");
  return *key;
}

inline value dict_get(runtime& rt, const value& self, const arguments& args) {
  const auto [key, otherwise] = args.bind(rt, "get", {"key", "default"});
  if (key && key->is_undefined()) return otherwise ? *otherwise : value();
  const value* found = self.entries().find(checked_key(rt, key, "get"));
  return found ? *found : otherwise ? *otherwise : value();
}

inline value dict_pop(runtime& rt, const value& self, const arguments& args) {
  const auto [key, otherwise] = args.bind(rt, "pop", {"key", "default"});
  dict& d = open_dict(rt, self);
  const value* found = d.find(checked_key(rt, key, "pop"));
  if (!found && !otherwise) rt.fail("pop: there is no such key");
  if (!found) return *otherwise;
  value v = *found;
  rt.spend(d.entries.size());
  d.erase(*key);
  return v;
}

inline void dict_put(runtime& rt, dict& d, const value& key, const value& v) {
  rt.charge(2 * sizeof(value));
  if (d.entries.size() >= rt.bounds().list_items) rt.exceed("keys in one dict", rt.bounds().list_items);
  d.set(checked_key(rt, &key, "dict"), v);
}

/// The entries of `other`, a dict or a list of pairs, and the named arguments into `d`.
inline void dict_merge(runtime& rt, dict& d, const value* other, const arguments& args) {
  if (other && other->is(kind::dict)) {
    const auto entries = other->entries().entries;  // a copy: it may be `d`
    rt.check_items(entries.size());
    for (const auto& [key, v] : entries) dict_put(rt, d, key, v);
  } else if (other) {
    for (const value& pair : walk(rt, *other)) {
      const std::vector<value> parts = walk(rt, pair);
      if (parts.size() != 2) rt.fail("dict: expected pairs of key and value");
      dict_put(rt, d, parts[0], parts[1]);
    }
  }
  for (const auto& [name, v] : args.named) dict_put(rt, d, value::trusted(name), v);
}

inline value dict_update(runtime& rt, const value& self, const arguments& args) {
  if (args.positional.size() > 1) rt.fail("update: expected one dict");
  dict_merge(rt, open_dict(rt, self), args.positional.empty() ? nullptr : &args.positional[0], args);
  return {};
}

inline value dict_setdefault(runtime& rt, const value& self, const arguments& args) {
  const auto [key, otherwise] = args.bind(rt, "setdefault", {"key", "default"});
  if (const value* found = self.entries().find(checked_key(rt, key, "setdefault"))) return *found;
  dict_put(rt, open_dict(rt, self), *key, otherwise ? *otherwise : value());
  return otherwise ? *otherwise : value();
}

inline value dict_copy(runtime& rt, const value& self, const arguments& args) {
  args.none(rt, "copy");
  rt.check_items(self.entries().entries.size());
  auto copy = std::make_shared<dict>(self.entries());
  copy->frozen = copy->adopted = false;
  return copy;
}

}  // namespace detail

inline constexpr named_native list_methods[] = {
    {"append", detail::list_append}, {"clear", detail::list_clear},   {"copy", detail::list_copy},
    {"count", detail::list_count},   {"extend", detail::list_extend}, {"index", detail::list_index},
    {"insert", detail::list_insert}, {"pop", detail::list_pop},       {"reverse", detail::list_reverse},
};
inline constexpr named_native tuple_methods[] = {{"count", detail::list_count}, {"index", detail::list_index}};
inline constexpr named_native dict_methods[] = {
    {"copy", detail::dict_copy},
    {"get", detail::dict_get},
    {"items", detail::dict_view<detail::dict_part::items>},
    {"keys", detail::dict_view<detail::dict_part::keys>},
    {"pop", detail::dict_pop},
    {"setdefault", detail::dict_setdefault},
    {"update", detail::dict_update},
    {"values", detail::dict_view<detail::dict_part::values>},
};

/// The entry called `name`, or nullptr.
template <std::size_t N> native find_native(const named_native (&table)[N], std::string_view name) noexcept {
  for (const named_native& entry : table) {
    if (entry.name == name) return entry.call;
  }
  return nullptr;
}

inline native find_method(const value& v, std::string_view name) noexcept {
  if (v.is_string()) return find_native(string_methods, name);
  if (v.is(kind::dict)) return find_native(dict_methods, name);
  if (!v.is(kind::list)) return nullptr;
  if (v.items().shape == flavour::list) return find_native(list_methods, name);
  return v.items().shape == flavour::tuple ? find_native(tuple_methods, name) : nullptr;
}

/// A method with its value, or a global function: what can be called.
class native_object final : public object {
 public:
  native_object(value self, native function) : self_(std::move(self)), function_(function) {}
  std::string_view type_name() const noexcept override { return "method"; }
  bool callable() const noexcept override { return true; }
  value call(runtime& rt, const arguments& args) override { return function_(rt, self_, args); }

 private:
  value self_;
  native function_;
};

inline bool is_forbidden(std::string_view name) noexcept { return name.starts_with("__") && name.ends_with("__"); }

inline value no_attribute(const value& v, std::string_view name) {
  const std::string why = is_forbidden(name) ? "is not accessible" : "does not exist";
  return value::undefined("attribute " + in_quotes(name) + " of a " + std::string(v.type_name()) + " " + why);
}

/// v.name: an attribute, or else an item.
inline value get_attribute(runtime& rt, const value& v, std::string_view name) {
  need_defined(rt, v);
  if (is_forbidden(name)) return no_attribute(v, name);
  if (v.is(kind::object)) return v.object_pointer()->attribute(rt, name);
  if (const native method = find_method(v, name)) return std::make_shared<native_object>(v, method);
  const value* found = v.is(kind::dict) ? v.entries().find(name) : nullptr;
  return found ? *found : no_attribute(v, name);
}

/// v[key]: an item, or else an attribute.
inline value get_item(runtime& rt, const value& v, const value& key) {
  need_defined(rt, v);
  if (v.is(kind::dict)) {
    if (const value* found = v.entries().find(key)) return *found;
  } else if (key.is_integral() && detail::is_sequence(v)) {
    if (!v.is_string()) {
      const std::size_t at = place(key.integer(), v.items().items.size());
      if (at < v.items().items.size()) return v.items().items[at];
    } else {
      rt.charge(v.text().size());
      const auto offsets = character_offsets(v.view());
      const std::size_t at = place(key.integer(), offsets.size() - 1);
      if (at + 1 < offsets.size()) return v.text().substr(offsets[at], offsets[at + 1] - offsets[at]);
    }
    return value::undefined("a " + std::string(v.type_name()) + " has no item " + std::to_string(key.integer()));
  }
  if (key.is_string()) return get_attribute(rt, v, key.view());
  return value::undefined("a " + std::string(v.type_name()) + " has no such item");
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
