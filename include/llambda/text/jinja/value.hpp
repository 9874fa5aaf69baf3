// The values of the template language: Python's none, bool, int, float, str, list, tuple and dict, the undefined value,
// and objects (macros, namespaces, loops, methods). Copies share their content.
// Strings carry marks of who wrote them (marked_text.hpp): a std::string given by the host is data. Lists and dicts of
// the host are frozen, so that threads may share them. Attributes are a closed list: no name reaches the host.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/text/marked_text.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

class value;
class runtime;
struct arguments;

/// In the order of value's alternatives; the last one of those, markup, is a string too.
enum class kind : std::uint8_t { none, undefined, boolean, integer, real, string, list, dict, object };

/// How deep lists and dicts may hold each other. Keeps recursive walks, destruction among them, off the stack's end.
inline constexpr std::uint8_t max_value_depth = 60;

/// What a list is in Python: the flavours print, compare and count differently.
enum class flavour : std::uint8_t {
  list,
  tuple,
  view,       ///< of a dict: has no subscripts
  generator,  ///< what map, select and so on give: always true, has no length, can be walked once
};

struct list;
struct dict;

/// Anything with behaviour. Objects live within one render.
class object {
 public:
  object() = default;
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  virtual ~object() = default;
  virtual std::string_view type_name() const noexcept = 0;
  virtual value attribute(runtime&, std::string_view name);
  virtual bool callable() const noexcept { return false; }
  virtual value call(runtime&, const arguments&);
};

class value {
 public:
  value() = default;  ///< none
  template <std::same_as<bool> B> value(B b) : data_(b) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) value(I i) : data_(static_cast<std::int64_t>(i)) {}
  template <std::floating_point F> value(F f) : data_(static_cast<double>(f)) {}
  value(marked_text text) : data_(std::make_shared<const marked_text>(std::move(text))) {}
  value(std::string text) : value(marked_text(std::move(text), text_origin::data)) {}
  value(std::string_view text) : value(std::string(text)) {}
  value(const char* text) : value(std::string(text)) {}
  value(std::shared_ptr<jinja::list> l) : data_(std::move(l)) {}
  value(std::shared_ptr<jinja::dict> d) : data_(std::move(d)) {}
  template <std::derived_from<jinja::object> O>
  value(std::shared_ptr<O> o) : data_(std::shared_ptr<jinja::object>(std::move(o))) {}

  /// Text that counts as the template's own: what is known to be no user's.
  static value trusted(std::string_view text) { return marked_text(std::string(text), text_origin::from_template); }
  /// Text marked as HTML by `safe` or `escape`: what is added to it gets escaped.
  static value markup(marked_text text) {
    value v;
    v.data_ = markup_text{std::make_shared<const marked_text>(std::move(text))};
    return v;
  }
  /// A list or dict of the host. Errors: template_limit past max_value_depth.
  static value list(std::vector<value> items);
  static value dict(std::vector<std::pair<std::string, value>> entries);
  /// `why` goes into the message when somebody needs the value.
  static value undefined(std::string why) {
    value v;
    v.data_ = undefined_reason{std::make_shared<const std::string>(std::move(why))};
    return v;
  }

  jinja::kind kind() const noexcept { return is_markup() ? kind::string : static_cast<jinja::kind>(data_.index()); }
  bool is(jinja::kind k) const noexcept { return kind() == k; }
  bool is_none() const noexcept { return is(kind::none); }
  bool is_undefined() const noexcept { return is(kind::undefined); }
  bool is_string() const noexcept { return is(kind::string); }
  bool is_markup() const noexcept { return std::holds_alternative<markup_text>(data_); }
  bool is_integral() const noexcept { return is(kind::integer) || is(kind::boolean); }  // as Python sees it
  bool is_number() const noexcept { return is_integral() || is(kind::real); }

  /// The content; the kind must be right.
  bool boolean() const { return std::get<bool>(data_); }
  std::int64_t integer() const { return is(kind::boolean) ? boolean() : std::get<std::int64_t>(data_); }
  double real() const { return is(kind::real) ? std::get<double>(data_) : static_cast<double>(integer()); }
  const marked_text& text() const {
    return is_markup() ? *std::get<markup_text>(data_).text : *std::get<text_ptr>(data_);
  }
  std::string_view view() const { return text().view(); }
  jinja::list& items() const { return *std::get<std::shared_ptr<jinja::list>>(data_); }
  jinja::dict& entries() const { return *std::get<std::shared_ptr<jinja::dict>>(data_); }
  const std::shared_ptr<jinja::list>& list_pointer() const { return std::get<std::shared_ptr<jinja::list>>(data_); }
  const std::shared_ptr<jinja::dict>& dict_pointer() const { return std::get<std::shared_ptr<jinja::dict>>(data_); }
  const std::shared_ptr<jinja::object>& object_pointer() const {
    return std::get<std::shared_ptr<jinja::object>>(data_);
  }
  /// The object as a T, or nullptr.
  template <class T> T* as() const noexcept {
    return is(kind::object) ? dynamic_cast<T*>(std::get<std::shared_ptr<jinja::object>>(data_).get()) : nullptr;
  }
  const std::string& undefined_reason_text() const { return *std::get<undefined_reason>(data_).why; }

  /// Levels of lists and dicts in it, 0 for other values.
  std::uint8_t depth() const noexcept;
  bool truthy() const noexcept;
  /// Python's name of the type.
  std::string_view type_name() const noexcept;
  /// The same thing, not only an equal one: `is sameas`.
  bool same_as(const value& other) const noexcept;

 private:
  using text_ptr = std::shared_ptr<const marked_text>;
  struct undefined_reason {
    std::shared_ptr<const std::string> why;
    bool operator==(const undefined_reason&) const noexcept { return true; }
  };
  struct markup_text {
    text_ptr text;
    bool operator==(const markup_text&) const noexcept = default;
  };
  std::variant<std::monostate, undefined_reason, bool, std::int64_t, double, text_ptr, std::shared_ptr<jinja::list>,
               std::shared_ptr<jinja::dict>, std::shared_ptr<jinja::object>, markup_text>
      data_;
};

/// Depth of a container that gets `part`. Errors: template_limit.
inline std::uint8_t depth_with(std::uint8_t depth, const value& part) {
  const std::uint8_t below = part.depth();
  if (below >= max_value_depth) {
    throw error(errc::template_limit, "llambda: chat template: lists and dicts hold each other more than " +
                                          std::to_string(max_value_depth) + " levels deep");
  }
  return (std::max)(depth, static_cast<std::uint8_t>(below + 1));
}

struct list {
  explicit list(std::vector<value> v = {}, flavour f = flavour::list) : items(std::move(v)), shape(f) {
    for (const value& item : items) depth = depth_with(depth, item);
  }
  std::vector<value> items;
  flavour shape;
  bool frozen = false;   ///< belongs to the host
  bool adopted = false;  ///< the render empties it at its end: it may hold itself
  std::uint8_t depth = 1;
};

/// Keys in the order they came: strings, numbers and none. Found by hash.
struct dict {
  static bool takes_key(const value& key) noexcept { return key.is_string() || key.is_number() || key.is_none(); }

  const value* find(std::string_view key) const { return at(find_in(by_name, std::string(key))); }
  const value* find(const value& key) const { return at(place(key)); }
  /// `takes_key(key)` must hold. Errors: template_limit past max_value_depth.
  void set(value key, value v) {
    depth = depth_with(depth, v);
    if (const std::size_t i = place(key); i != npos) {
      entries[i].second = std::move(v);
    } else {
      entries.emplace_back(std::move(key), std::move(v));
      remember(entries.size() - 1);
    }
  }
  /// Linear in the number of keys.
  void erase(const value& key) {
    const std::size_t i = place(key);
    if (i == npos) return;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    by_name.clear();
    by_number.clear();
    none_at = npos;
    for (std::size_t k = 0; k < entries.size(); ++k) remember(k);
  }

  std::vector<std::pair<value, value>> entries;
  bool frozen = false;
  bool adopted = false;
  std::uint8_t depth = 1;

 private:
  static constexpr std::size_t npos = std::string::npos;

  template <class Map, class Key> static std::size_t find_in(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? npos : found->second;
  }
  std::size_t place(const value& key) const {
    if (key.is_string()) return find_in(by_name, key.text().str());
    if (key.is_number()) return find_in(by_number, key.real());
    return key.is_none() ? none_at : npos;
  }
  const value* at(std::size_t i) const { return i == npos ? nullptr : &entries[i].second; }
  void remember(std::size_t i) {
    const value& key = entries[i].first;
    if (key.is_string()) {
      by_name.emplace(key.text().str(), i);
    } else if (key.is_number()) {
      by_number.emplace(key.real(), i);
    } else {
      none_at = i;
    }
  }

  std::unordered_map<std::string, std::size_t> by_name;
  std::unordered_map<double, std::size_t> by_number;
  std::size_t none_at = npos;
};

inline value value::list(std::vector<value> items) {
  auto l = std::make_shared<jinja::list>(std::move(items));
  l->frozen = true;
  return l;
}

inline value value::dict(std::vector<std::pair<std::string, value>> entries) {
  auto d = std::make_shared<jinja::dict>();
  for (auto& [key, v] : entries) d->set(value(std::move(key)), std::move(v));
  d->frozen = true;
  return d;
}

inline std::uint8_t value::depth() const noexcept {
  return is(kind::list) ? items().depth : is(kind::dict) ? entries().depth : std::uint8_t{0};
}

inline bool value::truthy() const noexcept {
  switch (kind()) {
    case kind::none:
    case kind::undefined:
      return false;
    case kind::boolean:
    case kind::integer:
      return integer() != 0;
    case kind::real:
      return real() != 0;
    case kind::string:
      return !text().empty();
    case kind::list:
      return items().shape == flavour::generator || !items().items.empty();
    case kind::dict:
      return !entries().entries.empty();
    case kind::object:
      return true;
  }
  return false;
}

inline std::string_view value::type_name() const noexcept {
  constexpr std::string_view names[] = {"NoneType", "Undefined", "bool", "int", "float", "str", "list", "dict"};
  constexpr std::string_view shapes[] = {"list", "tuple", "dict view", "generator"};
  if (is(kind::object)) return std::get<std::shared_ptr<jinja::object>>(data_)->type_name();
  return is(kind::list) ? shapes[static_cast<std::size_t>(items().shape)] : names[static_cast<std::size_t>(kind())];
}

inline bool value::same_as(const value& other) const noexcept { return data_ == other.data_; }

inline value object::attribute(runtime&, std::string_view name) {
  return value::undefined("'" + std::string(type_name()) + "' has no attribute '" + std::string(name) + "'");
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
