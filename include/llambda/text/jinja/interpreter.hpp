// Runs a program: one interpreter a render. Statements write marked text; expressions are evaluator.hpp's.
// Scopes are Jinja's: a loop's body, a macro and a block assignment have scopes of their own and see those around them;
// what they assign stays within, except through a namespace.
#pragma once

#include <llambda/text/jinja/evaluator.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

/// `loop` within a loop.
class loop_object final : public object, public std::enable_shared_from_this<loop_object> {
 public:
  explicit loop_object(std::shared_ptr<const std::vector<value>> items) : items_(std::move(items)) {}
  std::string_view type_name() const noexcept override { return "LoopContext"; }
  value attribute(runtime& rt, std::string_view name) override {
    const auto size = static_cast<std::int64_t>(items_->size());
    const auto at = static_cast<std::int64_t>(index);
    if (name == "index") return at + 1;
    if (name == "index0") return at;
    if (name == "first") return at == 0;
    if (name == "last") return at + 1 == size;
    if (name == "length") return size;
    if (name == "revindex") return size - at;
    if (name == "revindex0") return size - at - 1;
    if (name == "depth") return 1;  // more only in recursive loops
    if (name == "depth0") return 0;
    if (name == "previtem") return index > 0 ? (*items_)[index - 1] : value::undefined("there is no previous item");
    if (name == "nextitem") return at + 1 < size ? (*items_)[index + 1] : value::undefined("there is no next item");
    if (name == "cycle") return std::make_shared<native_object>(value(shared_from_this()), cycle);
    return object::attribute(rt, name);
  }

  std::size_t index = 0;

 private:
  static value cycle(runtime& rt, const value& self, const arguments& args) {
    if (args.positional.empty()) rt.fail("cycle: expected items");
    return args.positional[self.as<loop_object>()->index % args.positional.size()];
  }
  std::shared_ptr<const std::vector<value>> items_;
};

class interpreter : evaluator {
 public:
  using evaluator::evaluator;
  using evaluator::variable;

  /// Errors: template_failed, template_raised, template_limit.
  marked_text run() {
    marked_text out;
    out_ = &out;
    most_ = rt_.bounds().output_bytes;
    try {
      execute(program_.root);
    } catch (const template_error&) {
      throw;
    } catch (const error&) {  // values know neither line nor render
      rt_.exceed("levels of lists and dicts that hold each other", max_value_depth);
    }
    return out;
  }

 private:
  enum class flow : std::uint8_t { next, break_loop, continue_loop };

  class macro_object final : public object {
   public:
    macro_object(interpreter& in, node_id id, std::shared_ptr<scope> around)
        : interpreter_(in), id_(id), around_(std::move(around)) {}
    std::string_view type_name() const noexcept override { return "Macro"; }
    bool callable() const noexcept override { return true; }
    value call(runtime&, const arguments& args) override {
      return interpreter_.call_macro(interpreter_.program_.nodes[id_], around_, args);
    }
    value attribute(runtime& rt, std::string_view name) override {
      if (name != "name") return object::attribute(rt, name);
      return value::trusted(interpreter_.program_.names[interpreter_.program_.nodes[id_].name]);
    }

   private:
    interpreter& interpreter_;
    node_id id_;
    std::shared_ptr<scope> around_;
  };

  flow execute(node_id id) {
    const node& n = at(id);
    const level deeper(*this, n);
    switch (n.kind) {
      case op::body:
        for (const node_id kid : n.kids) {
          if (const flow f = execute(kid); f != flow::next) return f;
        }
        return flow::next;
      case op::print:
        return print(evaluate(n.kids[0])), flow::next;
      case op::branch:
        return branch(n);
      case op::loop:
        return loop(n);
      case op::scope:
        return in_scope(n);
      case op::with:
        return with(n);
      case op::set:
        return assign(at(n.kids[0]), evaluate(n.kids[1])), flow::next;
      case op::set_block:
        return set_block(n), flow::next;
      case op::filter_block:
        return print(filtered(n.kids[1], n.kids[0])), flow::next;
      case op::macro:
        return define_macro(id, n), flow::next;
      case op::call_block:
        return call_block(id, n), flow::next;
      case op::break_loop:
        return flow::break_loop;
      default:
        return flow::continue_loop;
    }
  }

  LLAMBDA_NOINLINE void print(const value& v) {
    if (v.is_undefined()) return;
    const marked_text made = v.is_string() ? marked_text() : to_text(rt_, v);
    const marked_text& text = v.is_string() ? v.text() : made;
    rt_.charge(text.size());
    if (out_->size() + text.size() > most_) rt_.exceed("bytes of text", most_);
    out_->append(text);
  }

  /// What `body` writes, as a string.
  LLAMBDA_NOINLINE value capture(node_id body) {
    marked_text text;
    marked_text* const before = std::exchange(out_, &text);
    const std::size_t most_before = std::exchange(most_, rt_.bounds().value_bytes);
    execute(body);
    out_ = before;
    most_ = most_before;
    return text;
  }
  LLAMBDA_NOINLINE value filtered(node_id body, node_id chain) {
    const nested_scope inner(*this);
    value text = capture(body);
    if (chain == 0) return text;
    const value before = std::exchange(piped_, std::move(text));
    value result = evaluate(chain);
    piped_ = before;
    return result;
  }

  LLAMBDA_NOINLINE flow branch(const node& n) {
    for (std::size_t i = 0; i + 1 < n.kids.size(); i += 2) {
      if (evaluate(n.kids[i]).truthy()) return execute(n.kids[i + 1]);
    }
    return n.kids.size() % 2 != 0 ? execute(n.kids.back()) : flow::next;
  }

  LLAMBDA_NOINLINE flow in_scope(const node& n) {
    const nested_scope inner(*this);
    return execute(n.kids[0]);
  }

  LLAMBDA_NOINLINE flow with(const node& n) {
    std::vector<value> values;
    for (std::size_t i = 1; i < n.kids.size(); i += 2) values.push_back(evaluate(n.kids[i]));
    const nested_scope inner(*this);
    for (std::size_t i = 0; i < values.size(); ++i) assign(at(n.kids[2 * i]), values[i]);
    return execute(n.kids.back());
  }

  LLAMBDA_NOINLINE void set_block(const node& n) { assign(at(n.kids[0]), filtered(n.kids[1], n.kids[2])); }

  LLAMBDA_NOINLINE void assign(const node& target, const value& v) {
    if (target.kind == op::name) return scope_->set(target.name, v);
    if (target.kind == op::namespace_attribute) {
      const value ns = look_up(target.name);
      auto* const object = ns.as<namespace_object>();
      if (!object)
        rt_.fail("cannot assign to an attribute of a " + std::string(ns.type_name()) + ", only of a namespace");
      return detail::dict_put(rt_, object->attributes, target.constant, v);
    }
    const std::vector<value> parts = walk(rt_, v);
    if (parts.size() != target.kids.size()) {
      rt_.fail("expected " + std::to_string(target.kids.size()) + " values to assign, got " +
               std::to_string(parts.size()));
    }
    for (std::size_t i = 0; i < parts.size(); ++i) assign(at(target.kids[i]), parts[i]);
  }

  /// The items that the loop's own condition lets through.
  LLAMBDA_NOINLINE std::shared_ptr<std::vector<value>> loop_items(const node& n) {
    auto items = std::make_shared<std::vector<value>>(walk(rt_, evaluate(n.kids[1])));
    if (n.kids[2] == 0) return items;
    std::vector<value> kept;
    const nested_scope inner(*this);
    for (value& item : *items) {
      assign(at(n.kids[0]), item);
      if (evaluate(n.kids[2]).truthy()) kept.push_back(std::move(item));
    }
    *items = std::move(kept);
    return items;
  }

  LLAMBDA_NOINLINE flow loop(const node& n) {
    const auto items = loop_items(n);
    bool completed = false;  // some iteration reached its end: 'else' is for loops of which none did
    const auto state = std::make_shared<loop_object>(items);
    const value loop_value = state;
    for (; state->index < items->size(); ++state->index) {
      rt_.spend(1);
      const nested_scope inner(*this);
      scope_->variables.emplace_back(loop_name(), loop_value);
      assign(at(n.kids[0]), (*items)[state->index]);
      const flow f = execute(n.kids[3]);
      completed = completed || f == flow::next;
      if (f == flow::break_loop) break;
    }
    if (completed || n.kids[4] == 0) return flow::next;
    const nested_scope inner(*this);
    return execute(n.kids[4]);
  }
  /// The id of "loop"; one past all names if the template never says it.
  name_id loop_name() {
    if (loop_id_ > program_.names.size()) {
      loop_id_ = static_cast<name_id>(std::find(program_.names.begin(), program_.names.end(), "loop") -
                                      program_.names.begin());
    }
    return loop_id_;
  }

  /// A macro holds the scope that it stands in, and may be held by it.
  value make_macro(node_id id) {
    if (!scope_->adopted) rt_.adopt([kept = scope_] { kept->variables.clear(); });
    scope_->adopted = true;
    return std::make_shared<macro_object>(*this, id, scope_);
  }
  LLAMBDA_NOINLINE void define_macro(node_id id, const node& n) { scope_->set(n.name, make_macro(id)); }

  LLAMBDA_NOINLINE void call_block(node_id id, const node& n) {
    const node& called = at(n.kids[0]);
    const value callee = evaluate(called.kids[0]);
    arguments args = call_arguments(called);
    args.named.emplace_back("caller", make_macro(id));
    rt_.line = n.line;
    print(call_value(callee, args));
  }

  LLAMBDA_NOINLINE value call_macro(const node& n, const std::shared_ptr<scope>& around, const arguments& args) {
    const level deeper(*this, n);
    const nested_scope inner(*this, around);
    bind_parameters(n, args);
    return capture(n.kids.back());
  }

  LLAMBDA_NOINLINE void bind_parameters(const node& n, const arguments& args) {
    auto rest = std::make_shared<dict>();
    value caller = value::undefined("there is no caller");
    for (const auto& [name, v] : args.named) {
      const auto is_named = [&](const auto& parameter) { return name_of(parameter.first) == name; };
      if (name == "caller" && n.uses_caller)
        caller = v;
      else if (std::none_of(n.pairs.begin(), n.pairs.end(), is_named)) {
        if (!n.uses_kwargs) rt_.fail("macro '" + name_of(n.name) + "' has no parameter '" + std::string(name) + "'");
        detail::dict_put(rt_, *rest, value::trusted(name), v);
      }
    }
    for (std::size_t i = 0; i < n.pairs.size(); ++i) {
      const auto& [name, otherwise] = n.pairs[i];
      const value* given = i < args.positional.size() ? &args.positional[i] : nullptr;
      for (const auto& [key, v] : args.named) {
        if (key != name_of(name)) continue;
        if (given) rt_.fail("macro '" + name_of(n.name) + "' got parameter '" + std::string(key) + "' twice");
        given = &v;
      }
      scope_->set(name, given            ? *given
                        : otherwise != 0 ? evaluate(otherwise)
                                         : value::undefined("parameter '" + name_of(name) + "' was not given"));
    }
    std::vector<value> more;
    for (std::size_t i = n.pairs.size(); i < args.positional.size(); ++i) more.push_back(args.positional[i]);
    if (!more.empty() && !n.uses_varargs) {
      rt_.fail("macro '" + name_of(n.name) + "' takes at most " + std::to_string(n.pairs.size()) + " arguments");
    }
    if (n.uses_caller) set_special("caller", caller);
    if (n.uses_varargs) set_special("varargs", rt_.make_list(std::move(more), flavour::tuple));
    if (n.uses_kwargs) set_special("kwargs", rest);
  }
  void set_special(std::string_view name, value v) {
    const auto found = std::find(program_.names.begin(), program_.names.end(), name);
    scope_->set(static_cast<name_id>(found - program_.names.begin()), std::move(v));
  }

  marked_text* out_ = nullptr;
  std::size_t most_ = 0;  // bytes that *out_ may hold
  name_id loop_id_ = static_cast<name_id>(-1);
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
