// Global functions of templates: range, dict, namespace, cycler and joiner of Jinja, strftime_now and raise_exception
// of chat templates.
// Nothing here reaches files, the environment or the host's objects; the clock is the caller's.
#pragma once

#include <llambda/text/jinja/methods.hpp>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

/// namespace(a=1): the one thing that blocks and loops may assign to across their scopes.
class namespace_object final : public object {
 public:
  std::string_view type_name() const noexcept override { return "Namespace"; }
  value attribute(runtime& rt, std::string_view name) override {
    const value* found = attributes.find(name);
    return found ? *found : object::attribute(rt, name);
  }
  dict attributes;
};

/// cycler(a, b): next() gives the items in turn.
class cycler_object final : public object, public std::enable_shared_from_this<cycler_object> {
 public:
  explicit cycler_object(std::vector<value> items) : items_(std::move(items)) {}
  std::string_view type_name() const noexcept override { return "Cycler"; }
  value attribute(runtime& rt, std::string_view name) override {
    if (name == "current") return items_[at_];
    if (name != "next" && name != "reset") return object::attribute(rt, name);
    return std::make_shared<native_object>(value(shared_from_this()), name == "next" ? next : reset);
  }

 private:
  static value next(runtime& rt, const value& self, const arguments& args) {
    args.none(rt, "next");
    auto& c = *self.as<cycler_object>();
    return c.items_[std::exchange(c.at_, (c.at_ + 1) % c.items_.size())];
  }
  static value reset(runtime& rt, const value& self, const arguments& args) {
    args.none(rt, "reset");
    self.as<cycler_object>()->at_ = 0;
    return {};
  }
  std::vector<value> items_;
  std::size_t at_ = 0;
};

/// joiner(", "): nothing when called first, the separator from then on.
class joiner_object final : public object {
 public:
  explicit joiner_object(value separator) : separator_(std::move(separator)) {}
  std::string_view type_name() const noexcept override { return "Joiner"; }
  bool callable() const noexcept override { return true; }
  value call(runtime& rt, const arguments& args) override {
    args.none(rt, "joiner");
    return std::exchange(used_, true) ? separator_ : value(marked_text());
  }

 private:
  value separator_;
  bool used_ = false;
};

namespace detail {

inline value range_function(runtime& rt, const value&, const arguments& args) {
  const auto [a, b, c] = args.bind(rt, "range", {"start", "stop", "step"});
  if (!a) rt.fail("range: expected where to stop");
  const std::int64_t begin = b ? to_integer(rt, *a, "range") : 0;
  const std::int64_t end = to_integer(rt, b ? *b : *a, "range");
  const std::int64_t step = c ? to_integer(rt, *c, "range") : 1;
  if (step == 0) rt.fail("range: a step of zero");
  std::vector<value> items;
  for (std::int64_t i = begin; step > 0 ? i < end : i > end;) {
    if (items.size() >= rt.bounds().list_items) rt.exceed("items in one list", rt.bounds().list_items);
    items.push_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return rt.make_list(std::move(items));
}

inline value dict_function(runtime& rt, const value&, const arguments& args) {
  if (args.positional.size() > 1) rt.fail("dict: expected one dict or list of pairs");
  auto d = std::make_shared<dict>();
  dict_merge(rt, *d, args.positional.empty() ? nullptr : &args.positional[0], args);
  return d;
}

inline value namespace_function(runtime& rt, const value&, const arguments& args) {
  if (args.positional.size() > 1) rt.fail("namespace: expected one dict");
  auto ns = std::make_shared<namespace_object>();
  dict_merge(rt, ns->attributes, args.positional.empty() ? nullptr : &args.positional[0], args);
  rt.adopt([ns] { ns->attributes.entries.clear(); });
  return ns;
}

inline value cycler_function(runtime& rt, const value&, const arguments& args) {
  if (args.positional.empty() || !args.named.empty()) rt.fail("cycler: expected items");
  return std::make_shared<cycler_object>(args.positional);
}

inline value joiner_function(runtime& rt, const value&, const arguments& args) {
  const auto [separator] = args.bind(rt, "joiner", {"sep"});
  return std::make_shared<joiner_object>(separator ? *separator : value::trusted(", "));
}

inline value strftime_function(runtime& rt, const value&, const arguments& args) {
  const auto [format] = args.bind(rt, "strftime_now", {"format"});
  if (!format) rt.fail("strftime_now: expected a format");
  const std::string pattern = to_string(rt, *format, "strftime_now").str() + " ";  // so that 0 always means too long
  if (pattern.size() > 256) rt.fail("strftime_now: a format of more than 255 bytes", errc::template_limit);
  const std::tm now = rt.now();
  char text[4096];
  const std::size_t length = std::strftime(text, sizeof text, pattern.c_str(), &now);
  if (length == 0) rt.fail("strftime_now: a text of more than 4096 bytes", errc::template_limit);
  return rt.make_literal({text, length - 1});
}

inline value raise_function(runtime& rt, const value&, const arguments& args) {
  const auto [message] = args.bind(rt, "raise_exception", {"message"});
  rt.fail(message ? to_text(rt, *message).str() : "raise_exception", errc::template_raised);
}

}  // namespace detail

inline constexpr named_native global_functions[] = {
    {"cycler", detail::cycler_function},         {"dict", detail::dict_function},
    {"joiner", detail::joiner_function},         {"namespace", detail::namespace_function},
    {"raise_exception", detail::raise_function}, {"range", detail::range_function},
    {"strftime_now", detail::strftime_function},
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
