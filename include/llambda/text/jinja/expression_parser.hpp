// Tokens to expressions, by precedence: if-else, or, and, not, comparisons, + and -, ~, * / // %, **, signs, then what
// follows a value: attributes, subscripts, calls, filters and tests.
#pragma once

#include <llambda/text/jinja/parser_base.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

class expression_parser : protected parser_base {
 protected:
  using parser_base::parser_base;

  /// An expression, or several with commas between them as a tuple. `stop` is a name that ends it.
  node_id tuple(bool with_condition, std::string_view stop = {}, bool may_be_empty = false) {
    const std::uint32_t line = current().line;
    std::vector<node_id> items;
    bool is_tuple = false;
    while (!at_tuple_end(stop)) {
      items.push_back(with_condition ? expression() : logical(op::logical_or));
      if (!current().is(",")) break;
      take();
      is_tuple = true;
    }
    if (!is_tuple && items.size() == 1) return items.front();
    if (items.empty() && !may_be_empty) fail_expected("an expression");
    return add(op::tuple, line, std::move(items));
  }

  bool at_tuple_end(std::string_view stop) const noexcept {
    const token& t = current();
    return t.type == token_type::print_end || t.type == token_type::block_end || t.is(")") ||
           (!stop.empty() && t.is_name(stop));
  }

  node_id expression() {
    const level nested(*this);
    node_id result = logical(op::logical_or);
    while (current().is_name("if")) {
      const std::uint32_t line = take().line;
      const node_id condition = logical(op::logical_or);
      const node_id other = skip_name("else") ? expression() : 0;
      result = add(op::conditional, line, {condition, result, other});
    }
    return result;
  }

  node_id logical(op kind) {
    const bool is_or = kind == op::logical_or;
    std::vector<node_id> kids{is_or ? logical(op::logical_and) : negation()};
    const std::uint32_t line = current().line;
    while (skip_name(is_or ? "or" : "and")) kids.push_back(is_or ? logical(op::logical_and) : negation());
    return kids.size() == 1 ? kids.front() : add(kind, line, std::move(kids));
  }

  node_id negation() {
    if (!current().is_name("not")) return comparison();
    const level nested(*this);
    const std::uint32_t line = take().line;
    return add(op::logical_not, line, {negation()});
  }

  node_id comparison() {
    return chain(
        op::compare, [this] { return sum(); },
        [this](operation& o) {
          if (skip_name("in")) return o = operation::in, true;
          if (current().is_name("not") && ahead().is_name("in")) return take(), take(), o = operation::not_in, true;
          return skip_operator(o, {{"==", operation::eq},
                                   {"!=", operation::ne},
                                   {"<", operation::lt},
                                   {"<=", operation::le},
                                   {">", operation::gt},
                                   {">=", operation::ge}});
        });
  }
  node_id sum() {
    return chain(
        op::arithmetic, [this] { return concatenation(); },
        [this](operation& o) {
          return skip_operator(o, {{"+", operation::add}, {"-", operation::sub}});
        });
  }
  node_id concatenation() {
    std::vector<node_id> kids{product()};
    const std::uint32_t line = current().line;
    while (skip_mark("~")) kids.push_back(product());
    return kids.size() == 1 ? kids.front() : add(op::concat, line, std::move(kids));
  }
  node_id product() {
    return chain(
        op::arithmetic, [this] { return power(); },
        [this](operation& o) {
          return skip_operator(
              o, {{"*", operation::mul}, {"/", operation::div}, {"//", operation::floor_div}, {"%", operation::mod}});
        });
  }
  node_id power() {
    return chain(
        op::arithmetic, [this] { return signed_value(true); },
        [this](operation& o) {
          return skip_operator(o, {{"**", operation::pow}});
        });
  }

  using operator_name = std::pair<std::string_view, operation>;
  bool skip_operator(operation& found, std::initializer_list<operator_name> names) {
    for (const auto& [mark, o] : names) {
      if (skip_mark(mark)) return found = o, true;
    }
    return false;
  }

  /// Operands with operators between them, from left to right.
  template <class Operand, class Operator> node_id chain(op kind, Operand&& operand, Operator&& next) {
    const std::uint32_t line = current().line;
    const node_id first = operand();
    std::vector<std::pair<std::uint32_t, node_id>> pairs;
    for (operation o{}; next(o);) pairs.emplace_back(static_cast<std::uint32_t>(o), operand());
    if (pairs.empty()) return first;
    const node_id id = add(kind, line, {first});
    at(id).pairs = std::move(pairs);
    return id;
  }

  node_id signed_value(bool with_filter) {
    const std::uint32_t line = current().line;
    node_id result = 0;
    if (current().is("-") || current().is("+")) {
      const level nested(*this);
      const op kind = take().text == "-" ? op::minus : op::plus;
      const node_id operand = signed_value(false);
      result = add(kind, line, {operand});
    } else {
      result = primary();
    }
    result = postfix(result);
    while (with_filter) {
      if (current().is("|")) {
        result = filters(result);
      } else if (current().is_name("is")) {
        result = test(result);
      } else if (current().is("(")) {
        result = call(result);
      } else {
        break;
      }
    }
    return result;
  }

  node_id primary() {
    const std::uint32_t line = current().line;
    switch (current().type) {
      case token_type::name:
        return name(take().text, line);
      case token_type::string: {
        std::string text;
        while (current().type == token_type::string) text += take().text;
        return add_constant(value::trusted(text), line);
      }
      case token_type::integer:
        return add_constant(integer(take().text), line);
      case token_type::real:
        return add_constant(std::strtod(take().text.c_str(), nullptr), line);
      default:
        break;
    }
    const level nested(*this);
    if (skip_mark("(")) {
      const node_id inner = tuple(true, {}, true);
      expect_mark(")");
      return inner;
    }
    if (skip_mark("[")) return add(op::list, line, items("]", false));
    if (skip_mark("{")) return add(op::dict, line, items("}", true));
    fail_expected("an expression");
  }

  node_id name(const std::string& text, std::uint32_t line) {
    if (text == "true" || text == "True") return add_constant(true, line);
    if (text == "false" || text == "False") return add_constant(false, line);
    if (text == "none" || text == "None") return add_constant(value(), line);
    const name_id id = intern(text);
    if (text == "caller") ++uses_caller_;
    if (text == "varargs") ++uses_varargs_;
    if (text == "kwargs") ++uses_kwargs_;
    return add(op::name, line, {}, id);
  }

  std::int64_t integer(const std::string& text) {
    const char second = text.size() > 2 ? static_cast<char>(text[1] | 0x20) : '\0';
    const int base = second == 'x' ? 16 : second == 'o' ? 8 : second == 'b' ? 2 : 10;
    const char* begin = text.c_str() + (base == 10 ? 0 : 2);
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(begin, text.c_str() + text.size(), number, base);
    if (problem != std::errc() || *end != '\0') fail("expected an integer of 64 bits, found " + in_quotes(text));
    return number;
  }

  /// What stands between brackets, up to and with `close`; keys and values alternate if `is_dict`.
  std::vector<node_id> items(std::string_view close, bool is_dict) {
    std::vector<node_id> kids;
    while (!current().is(close)) {
      kids.push_back(expression());
      if (is_dict) {
        expect_mark(":");
        kids.push_back(expression());
      }
      if (!current().is(close)) expect_mark(",");
    }
    take();
    return kids;
  }

  node_id postfix(node_id subject) {
    for (;;) {
      const std::uint32_t line = current().line;
      if (skip_mark(".")) {
        if (current().type == token_type::integer) {
          const node_id index = add_constant(integer(take().text), line);
          subject = add(op::item, line, {subject, index});
        } else {
          const name_id attribute = expect_identifier("an attribute");
          subject = add(op::attribute, line, {subject}, attribute);
        }
      } else if (skip_mark("[")) {
        const node_id index = subscript();
        expect_mark("]");
        subject = add(op::item, line, {subject, index});
      } else if (current().is("(")) {
        subject = call(subject);
      } else {
        return subject;
      }
    }
  }

  node_id subscript() {
    const level nested(*this);
    const std::uint32_t line = current().line;
    const auto bound = [&] { return current().is(":") || current().is("]") ? node_id{0} : expression(); };
    const node_id begin = bound();
    if (!skip_mark(":")) {
      if (begin == 0) fail_expected("a subscript");
      return begin;
    }
    const node_id end = bound();
    const node_id step = skip_mark(":") ? bound() : 0;
    return add(op::slice, line, {begin, end, step});
  }

  node_id call(node_id subject) {
    const node_id id = add(op::call, current().line, {subject});
    call_arguments(id);
    return id;
  }

  /// "(a, b=c, *d, **e)" onto the node.
  void call_arguments(node_id id) {
    const level nested(*this);
    expect_mark("(");
    while (!current().is(")")) {
      const std::uint32_t line = current().line;
      if (skip_mark("*")) {
        const node_id operand = expression();
        const node_id spread = add(op::spread, line, {operand});
        at(id).kids.push_back(spread);
      } else if (skip_mark("**")) {
        const node_id operand = expression();
        const node_id spread = add(op::spread_named, line, {operand});
        at(id).kids.push_back(spread);
      } else if (current().type == token_type::name && ahead().is("=")) {
        const name_id key = intern(take().text);
        take();
        const node_id argument = expression();
        at(id).pairs.emplace_back(key, argument);
      } else {
        if (!at(id).pairs.empty()) fail("a positional argument after a named one");
        const node_id argument = expression();
        at(id).kids.push_back(argument);
      }
      if (!current().is(")")) expect_mark(",");
    }
    take();
  }

  /// "name(arguments)" of one filter applied to `subject`; the bar is behind us.
  node_id filter(node_id subject) {
    const std::uint32_t line = current().line;
    const name_id name = expect_identifier("the name of a filter");
    const node_id id = add(op::filter, line, {subject}, name);
    if (current().is("(")) call_arguments(id);
    return id;
  }
  node_id filters(node_id subject) {
    while (skip_mark("|")) subject = filter(subject);
    return subject;
  }

  node_id test(node_id subject) {
    const std::uint32_t line = take().line;
    const bool negated = skip_name("not");
    const name_id name = expect_identifier("the name of a test");
    const node_id id = add(op::test, line, {subject}, name);
    const token& next = current();
    if (next.is("(")) {
      call_arguments(id);
    } else if (next.is_name("is")) {
      fail("expected 'and' or 'or' between two tests");
    } else if ((next.type == token_type::name && !next.is_name("else") && !next.is_name("or") &&
                !next.is_name("and")) ||
               next.type == token_type::string || next.type == token_type::integer || next.type == token_type::real ||
               next.is("[") || next.is("{")) {
      const node_id argument = postfix(primary());
      at(id).kids.push_back(argument);
    }
    return negated ? add(op::logical_not, line, {id}) : id;
  }

  std::size_t uses_caller_ = 0, uses_varargs_ = 0, uses_kwargs_ = 0;  // names met so far
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
