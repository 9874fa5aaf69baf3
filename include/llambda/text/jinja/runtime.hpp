// What a render in progress offers to filters, tests, methods and functions: failing with the line, the budget, the
// clock; and the arguments of a call.
// A template comes with a model file and is hostile until it has rendered: every step and every byte it makes is
// counted, so that no template runs long or takes much memory, whatever it nests or doubles.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/text/jinja/value.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

/// Bounds on one parse and one render. Past any of them: template_error with errc::template_limit.
struct limits {
  std::size_t source_bytes = std::size_t{1} << 20;    ///< length of the template
  std::size_t parse_depth = 100;                      ///< nesting of blocks and parentheses
  std::size_t call_depth = 200;                       ///< nesting of evaluation, macros included
  std::uint64_t steps = 3'000'000;                    ///< nodes evaluated and items visited
  std::uint64_t work_bytes = std::uint64_t{1} << 28;  ///< bytes of all strings read and made on the way
  std::size_t value_bytes = std::size_t{1} << 24;     ///< one string
  std::size_t list_items = std::size_t{1} << 20;      ///< one list; range() included
  std::size_t output_bytes = std::size_t{1} << 25;    ///< the prompt
};

/// A template that cannot be read (bad_template), that failed (template_failed), that refused the messages with
/// raise_exception (template_raised) or that exceeded a limit (template_limit).
class template_error : public error {
 public:
  template_error(errc code, std::size_t line, const std::string& detail)
      : error(code, "llambda: chat template: line " + std::to_string(line) + ": " + detail),
        line_(line),
        detail_(detail) {}
  std::size_t line() const noexcept { return line_; }
  /// The message without its head; for template_raised the template's own words.
  const std::string& detail() const noexcept { return detail_; }

 private:
  std::size_t line_;
  std::string detail_;
};

class runtime {
 public:
  runtime(const jinja::limits& bounds, std::function<std::tm()> clock) : bounds_(bounds), clock_(std::move(clock)) {}
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;
  ~runtime() {  // what could hold itself is emptied, so that nothing leaks and no chain is freed by recursion
    for (const auto& empty : adopted_) empty();
  }

  [[noreturn]] LLAMBDA_NOINLINE void fail(const std::string& detail, errc code = errc::template_failed) const {
    throw template_error(code, line, detail);
  }
  [[noreturn]] LLAMBDA_NOINLINE void exceed(const char* what, std::uint64_t most) const {
    fail("more than " + std::to_string(most) + " " + what, errc::template_limit);
  }

  void spend(std::uint64_t steps) {
    if ((steps_ += steps) > bounds_.steps) exceed("steps", bounds_.steps);
  }
  /// `bytes` are about to be read or made.
  void charge(std::uint64_t bytes) {
    if ((bytes_ += bytes) > bounds_.work_bytes) exceed("bytes of strings made on the way", bounds_.work_bytes);
  }
  /// A string of `bytes` is about to be made.
  void check_string(std::uint64_t bytes) { grow_string(0, bytes); }
  /// A string of `bytes` is about to grow by `more`.
  void grow_string(std::uint64_t bytes, std::uint64_t more) {
    if (bytes + more > bounds_.value_bytes) exceed("bytes in one string", bounds_.value_bytes);
    charge(more);
  }
  void check_items(std::uint64_t items) {
    if (items > bounds_.list_items) exceed("items in one list", bounds_.list_items);
    charge(items * sizeof(value));
    spend(items);
  }

  value make_list(std::vector<value> items, flavour shape = flavour::list) {
    check_items(items.size());
    return std::make_shared<list>(std::move(items), shape);
  }
  value make_string(marked_text text) {
    check_string(text.size());
    return text;
  }
  /// Text of the template's own making.
  value make_literal(std::string_view text) { return make_string({std::string(text), text_origin::from_template}); }

  /// `empty` empties a container that may come to hold itself; called when the render ends.
  void adopt(std::function<void()> empty) { adopted_.push_back(std::move(empty)); }

  std::tm now() const { return clock_(); }
  const jinja::limits& bounds() const noexcept { return bounds_; }

  std::size_t line = 1;  ///< of the node being evaluated

 private:
  const jinja::limits& bounds_;
  std::function<std::tm()> clock_;
  std::uint64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<std::function<void()>> adopted_;
};

/// The arguments of one call.
struct arguments {
  std::vector<value> positional;
  std::vector<std::pair<std::string_view, value>> named;

  /// A pointer a parameter, null for those that were not given. Fails for arguments that fit none.
  template <std::size_t N>
  std::array<const value*, N> bind(const runtime& rt, std::string_view callee,
                                   const std::string_view (&names)[N]) const {
    std::array<const value*, N> bound{};
    if (positional.size() > N) {
      rt.fail(std::string(callee) + ": expected at most " + std::to_string(N) + " arguments, got " +
              std::to_string(positional.size()));
    }
    for (std::size_t i = 0; i < positional.size(); ++i) bound[i] = &positional[i];
    for (const auto& [name, v] : named) {
      const auto at = static_cast<std::size_t>(std::find(names, names + N, name) - names);
      if (at == N || bound[at]) {
        rt.fail(std::string(callee) + ": argument '" + std::string(name) + "' is " +
                (at == N ? "not known" : "given twice"));
      }
      bound[at] = &v;
    }
    return bound;
  }
  /// Fails if there are any.
  void none(const runtime& rt, std::string_view callee) const {
    if (!positional.empty() || !named.empty()) rt.fail(std::string(callee) + ": expected no arguments");
  }
  /// The arguments after the first `count` positional ones.
  arguments after(std::size_t count) const {
    arguments rest = *this;
    rest.positional.erase(rest.positional.begin(),
                          rest.positional.begin() + static_cast<std::ptrdiff_t>((std::min)(count, positional.size())));
    return rest;
  }
};

/// A filter, test, method or function: `self` is what is piped in, tested or before the dot.
using native = value (*)(runtime&, const value& self, const arguments&);
struct named_native {
  std::string_view name;
  native call;
};

inline value object::call(runtime& rt, const arguments&) {
  rt.fail("'" + std::string(type_name()) + "' cannot be called");
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
