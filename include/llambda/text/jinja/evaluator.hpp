// Expressions of a program to values, within scopes.
// Evaluation recurses as deep as the template nests, counted against limits::call_depth; each kind of node has a
// function of its own, so that a level takes little stack.
#pragma once

#include <llambda/text/jinja/filters.hpp>
#include <llambda/text/jinja/functions.hpp>
#include <llambda/text/jinja/syntax.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

/// Names and their values within one block.
struct scope {
  std::shared_ptr<scope> around;
  std::vector<std::pair<name_id, value>> variables;
  bool adopted = false;

  void set(name_id name, value v) {
    for (auto& [id, old] : variables) {
      if (id == name) return void(old = std::move(v));
    }
    variables.emplace_back(name, std::move(v));
  }
};

class evaluator {
 public:
  using variable = std::pair<std::string_view, value>;

  /// All arguments must outlive the interpreter. Of variables with equal names the last counts.
  evaluator(const program& p, const limits& bounds, std::function<std::tm()> clock, std::span<const variable> variables)
      : program_(p), rt_(bounds, std::move(clock)), scope_(std::make_shared<scope>()) {
    for (name_id id = 0; id < p.names.size(); ++id) {
      if (const native f = find_native(global_functions, p.names[id])) {
        scope_->set(id, std::make_shared<native_object>(value(), f));
      }
      for (const auto& [name, v] : variables) {
        if (name == p.names[id]) scope_->set(id, v);
      }
    }
  }

 protected:
  /// One level of evaluation, as long as it lives.
  class level {
   public:
    level(evaluator& in, const node& n) : in_(in) {
      in.rt_.line = n.line;
      in.rt_.spend(1);
      if (++in.depth_ > in.rt_.bounds().call_depth) in.rt_.exceed("levels of evaluation", in.rt_.bounds().call_depth);
    }
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    ~level() { --in_.depth_; }

   private:
    evaluator& in_;
  };

  /// A scope inside `around`, current as long as this lives.
  class nested_scope {
   public:
    nested_scope(evaluator& in, std::shared_ptr<scope> around) : in_(in), before_(in.scope_) {
      in.scope_ = std::make_shared<scope>();
      in.scope_->around = std::move(around);
    }
    explicit nested_scope(evaluator& in) : nested_scope(in, in.scope_) {}
    nested_scope(const nested_scope&) = delete;
    nested_scope& operator=(const nested_scope&) = delete;
    ~nested_scope() { in_.scope_ = std::move(before_); }

   private:
    evaluator& in_;
    std::shared_ptr<scope> before_;
  };

  const node& at(node_id id) const noexcept { return program_.nodes[id]; }
  const std::string& name_of(name_id id) const noexcept { return program_.names[id]; }

  value evaluate(node_id id) {
    const node& n = at(id);
    const level deeper(*this, n);
    switch (n.kind) {
      case op::constant:
        return n.constant;
      case op::name:
        return look_up(n.name);
      case op::piped:
        return piped_;
      case op::list:
        return make_items(n, flavour::list);
      case op::tuple:
        return make_items(n, flavour::tuple);
      case op::dict:
        return make_dict(n);
      case op::attribute:
        return get_attribute(rt_, evaluate(n.kids[0]), name_of(n.name));
      case op::item:
        return item(n);
      case op::call:
        return call(n);
      case op::filter:
        return apply(n, find_filter(rt_, name_of(n.name)));
      case op::test:
        return apply(n, find_test(rt_, name_of(n.name)));
      case op::logical_not:
        return !evaluate(n.kids[0]).truthy();
      case op::minus:
        return signed_value(n, -1);
      case op::plus:
        return signed_value(n, 1);
      case op::logical_and:
        return logical(n, false);
      case op::logical_or:
        return logical(n, true);
      case op::concat:
        return concat(n);
      case op::arithmetic:
        return calculate(n);
      case op::compare:
        return compare(n);
      default:
        return conditional(n);
    }
  }

  LLAMBDA_NOINLINE value look_up(name_id name) {
    for (const scope* s = scope_.get(); s; s = s->around.get()) {
      for (const auto& [id, v] : s->variables) {
        if (id == name) return v;
      }
    }
    return value::undefined("'" + name_of(name) + "' is undefined");
  }

  LLAMBDA_NOINLINE value make_items(const node& n, flavour shape) {
    std::vector<value> items;
    for (const node_id kid : n.kids) items.push_back(evaluate(kid));
    return rt_.make_list(std::move(items), shape);
  }

  LLAMBDA_NOINLINE value make_dict(const node& n) {
    auto d = std::make_shared<dict>();
    for (std::size_t i = 0; i + 1 < n.kids.size(); i += 2) {
      const value key = evaluate(n.kids[i]);
      detail::dict_put(rt_, *d, key, evaluate(n.kids[i + 1]));
    }
    return d;
  }

  LLAMBDA_NOINLINE value item(const node& n) {
    const value v = evaluate(n.kids[0]);
    const node& index = at(n.kids[1]);
    if (index.kind != op::slice) {
      const value key = evaluate(n.kids[1]);
      rt_.line = n.line;
      return get_item(rt_, v, key);
    }
    const auto bound = [&](std::size_t i) { return index.kids[i] ? evaluate(index.kids[i]) : value(); };
    const value begin = bound(0), end = bound(1), step = bound(2);
    return slice(rt_, v, begin, end, step);
  }

  LLAMBDA_NOINLINE arguments call_arguments(const node& n) {
    arguments args;
    for (std::size_t i = 1; i < n.kids.size(); ++i) {
      const node& kid = at(n.kids[i]);
      if (kid.kind != op::spread && kid.kind != op::spread_named) {
        args.positional.push_back(evaluate(n.kids[i]));
        continue;
      }
      const value many = evaluate(kid.kids[0]);
      if (kid.kind == op::spread) {
        for (value& v : walk(rt_, many)) args.positional.push_back(std::move(v));
      } else if (many.is(kind::dict)) {
        for (const auto& [key, v] : many.entries().entries) {
          args.named.emplace_back(keep(to_string(rt_, key, "**")), v);
        }
      } else {
        rt_.fail("expected a dict after '**'");
      }
    }
    for (const auto& [name, id] : n.pairs) args.named.emplace_back(name_of(name), evaluate(id));
    return args;
  }
  /// A view of `text` that lives as long as the render.
  std::string_view keep(const marked_text& text) {
    rt_.check_string(text.size());
    return *kept_.emplace_back(std::make_unique<std::string>(text.str()));
  }

  LLAMBDA_NOINLINE value call(const node& n) {
    const node& callee = at(n.kids[0]);
    if (callee.kind == op::attribute) {  // a method: called without an object for it
      const value self = evaluate(callee.kids[0]);
      if (const native method = find_method(self, name_of(callee.name))) {
        const arguments args = call_arguments(n);
        rt_.line = n.line;
        return method(rt_, self, args);
      }
      const value found = get_attribute(rt_, self, name_of(callee.name));
      return call_value(found, call_arguments(n));
    }
    const value found = evaluate(n.kids[0]);
    const arguments args = call_arguments(n);
    rt_.line = n.line;
    return call_value(found, args);
  }
  value call_value(const value& callee, const arguments& args) {
    need_defined(rt_, callee);
    if (!callee.is(kind::object)) rt_.fail("a " + std::string(callee.type_name()) + " cannot be called");
    return callee.object_pointer()->call(rt_, args);
  }

  LLAMBDA_NOINLINE value apply(const node& n, native function) {
    const value self = evaluate(n.kids[0]);
    const arguments args = call_arguments(n);
    rt_.line = n.line;
    return function(rt_, self, args);
  }

  LLAMBDA_NOINLINE value signed_value(const node& n, int sign) {
    const value v = evaluate(n.kids[0]);
    need_defined(rt_, v);
    if (!v.is_number()) rt_.fail("expected a number after a sign, got a " + std::string(v.type_name()));
    return arithmetic(rt_, operation::mul, v, sign);
  }

  LLAMBDA_NOINLINE value logical(const node& n, bool stop_at) {
    value v;
    for (const node_id kid : n.kids) {
      v = evaluate(kid);
      if (v.truthy() == stop_at) break;
    }
    return v;
  }

  LLAMBDA_NOINLINE value concat(const node& n) {
    marked_text text;
    for (const node_id kid : n.kids) {
      const marked_text part = to_text(rt_, evaluate(kid));
      rt_.grow_string(text.size(), part.size());
      text.append(part);
    }
    return text;
  }

  LLAMBDA_NOINLINE value calculate(const node& n) {
    value v = evaluate(n.kids[0]);
    for (const auto& [o, id] : n.pairs) {
      const value operand = evaluate(id);
      rt_.line = n.line;
      v = arithmetic(rt_, static_cast<operation>(o), v, operand);
    }
    return v;
  }

  LLAMBDA_NOINLINE value compare(const node& n) {
    value left = evaluate(n.kids[0]);
    for (const auto& [o, id] : n.pairs) {
      value right = evaluate(id);
      rt_.line = n.line;
      if (!compares(rt_, static_cast<operation>(o), left, right)) return false;
      left = std::move(right);
    }
    return true;
  }

  LLAMBDA_NOINLINE value conditional(const node& n) {
    if (evaluate(n.kids[0]).truthy()) return evaluate(n.kids[1]);
    return n.kids[2] ? evaluate(n.kids[2]) : value::undefined("the condition is false and there is no 'else'");
  }

  const program& program_;
  runtime rt_;
  std::shared_ptr<scope> scope_;
  value piped_;  // what a filter block filters
  std::size_t depth_ = 0;
  std::vector<std::unique_ptr<std::string>> kept_;
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
