// Tokens to a program: the statements of the template language. Blocks nest, and nesting is counted.
// extends, include and import would reach for files and recursive loops are unknown to chat templates: both are refused
// by name.
#pragma once

#include <llambda/text/jinja/expression_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

class parser : expression_parser {
 public:
  /// Errors: bad_template, template_limit.
  static program parse(std::string_view source, const limits& bounds) {
    if (source.size() > bounds.source_bytes) {
      throw template_error(errc::template_limit, 1, "more than " + std::to_string(bounds.source_bytes) + " bytes");
    }
    parser p(lexer(source).run(), bounds);
    p.program_.root = p.body({});
    return std::move(p.program_);
  }

 private:
  using end_names = std::initializer_list<std::string_view>;
  using expression_parser::expression_parser;

  /// Statements up to a block that begins with one of `ends`, whose name is then the current token; with no `ends`, up
  /// to the end of the template.
  node_id body(end_names ends) {
    const level nested(*this);
    const std::uint32_t line = current().line;
    std::vector<node_id> kids;
    for (;;) {
      const std::uint32_t here = current().line;
      switch (current().type) {
        case token_type::text: {
          const node_id text = add_constant(value::trusted(take().text), here);
          kids.push_back(add(op::print, here, {text}));
          break;
        }
        case token_type::print_begin: {
          take();
          const node_id printed = tuple(true);
          expect(token_type::print_end, "'}}'");
          kids.push_back(add(op::print, here, {printed}));
          break;
        }
        case token_type::block_begin:
          take();
          for (const std::string_view end : ends) {
            if (current().is_name(end)) return add(op::body, line, std::move(kids));
          }
          kids.push_back(statement(ends));
          expect(token_type::block_end, "'%}'");
          break;
        default:
          if (ends.size() != 0) fail_expected("'{% " + std::string(*(ends.end() - 1)) + " %}'");
          return add(op::body, line, std::move(kids));
      }
    }
  }

  /// The body of a block whose head has been read.
  node_id block(end_names ends) {
    skip_mark(":");
    expect(token_type::block_end, "'%}'");
    return body(ends);
  }
  /// The same when only one name can end it.
  node_id block_until(std::string_view end) {
    const node_id id = block({end});
    take();
    return id;
  }

  node_id statement(end_names ends) {
    if (current().type != token_type::name) fail_expected("the name of a statement");
    const std::uint32_t line = current().line;
    const std::string what = take().text;
    if (what == "if") return branch(line);
    if (what == "for") return loop(line);
    if (what == "set") return set(line);
    if (what == "macro") return macro(line);
    if (what == "call") return call_block(line);
    if (what == "filter") return filter_block(line);
    if (what == "with") return with(line);
    if (what == "break") return in_loop(op::break_loop, line);
    if (what == "continue") return in_loop(op::continue_loop, line);
    if (what == "generation") return add(op::scope, line, {block_until("endgeneration")});
    if (what == "block") return named_block(line);
    if (ends.size() == 0) fail("unknown statement " + in_quotes(what));
    fail("unknown statement " + in_quotes(what) + "; expected '{% " + std::string(*(ends.end() - 1)) + " %}'");
  }

  node_id branch(std::uint32_t line) {
    std::vector<node_id> kids;
    for (;;) {
      kids.push_back(tuple(false));
      kids.push_back(block({"elif", "else", "endif"}));
      const std::string end = take().text;
      if (end == "elif") continue;
      if (end == "else") kids.push_back(block_until("endif"));
      return add(op::branch, line, std::move(kids));
    }
  }

  node_id loop(std::uint32_t line) {
    const node_id target = assignment_target("in", false);
    if (!skip_name("in")) fail_expected("'in'");
    const node_id iterable = tuple(false, "recursive");
    const node_id filter = skip_name("if") ? expression() : 0;
    if (current().is_name("recursive")) fail("recursive loops are not supported");
    ++loops_;
    const node_id inner = block({"endfor", "else"});
    --loops_;
    const node_id otherwise = take().text == "else" ? block_until("endfor") : 0;
    return add(op::loop, line, {target, iterable, filter, inner, otherwise});
  }

  node_id in_loop(op kind, std::uint32_t line) {
    if (loops_ == 0) fail(std::string(kind == op::break_loop ? "'break'" : "'continue'") + " outside of a loop");
    return add(kind, line);
  }

  node_id set(std::uint32_t line) {
    const node_id target = assignment_target({}, true);
    if (skip_mark("=")) {
      const node_id assigned = tuple(true);
      return add(op::set, line, {target, assigned});
    }
    const node_id chain = current().is("|") ? filters(add(op::piped, line)) : 0;
    const node_id inner = block_until("endset");
    return add(op::set_block, line, {target, inner, chain});
  }

  /// A name, namespace.attribute where allowed, or a tuple of targets.
  node_id assignment_target(std::string_view stop, bool with_namespace) {
    const level nested(*this);
    const std::uint32_t line = current().line;
    std::vector<node_id> targets;
    bool is_tuple = false;
    while (!at_tuple_end(stop) && !current().is("=")) {
      targets.push_back(one_target(with_namespace));
      if (!skip_mark(",")) break;
      is_tuple = true;
    }
    if (targets.empty()) fail_expected("a name to assign to");
    return is_tuple ? add(op::tuple, line, std::move(targets)) : targets.front();
  }

  node_id one_target(bool with_namespace) {
    const std::uint32_t line = current().line;
    if (skip_mark("(")) {
      const node_id inner = assignment_target({}, with_namespace);
      expect_mark(")");
      return inner;
    }
    const name_id name = parameter_name();
    if (!with_namespace || !skip_mark(".")) return add(op::name, line, {}, name);
    const std::string attribute = current().text;
    expect(token_type::name, "an attribute");
    const node_id id = add(op::namespace_attribute, line, {}, name);
    at(id).constant = value::trusted(attribute);
    return id;
  }

  name_id parameter_name() {
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
      if (current().is_name(constant)) fail("cannot assign to " + in_quotes(constant));
    }
    return expect_identifier("a name");
  }

  /// "(a, b=default)" onto the node.
  void parameters(node_id id) {
    expect_mark("(");
    while (!current().is(")")) {
      const name_id name = parameter_name();
      const node_id otherwise = skip_mark("=") ? expression() : 0;
      if (otherwise == 0 && !at(id).pairs.empty() && at(id).pairs.back().second != 0) {
        fail("a parameter without default after one with a default");
      }
      at(id).pairs.emplace_back(name, otherwise);
      if (!current().is(")")) expect_mark(",");
    }
    take();
  }

  /// The body of a macro or call block onto the node; notes which special names it speaks of.
  void callable_body(node_id id, std::string_view end) {
    const std::size_t callers = uses_caller_, varargs = uses_varargs_, kwargs = uses_kwargs_;
    const std::size_t loops = std::exchange(loops_, 0);
    const node_id inner = block_until(end);
    loops_ = loops;
    node& n = at(id);
    n.kids.push_back(inner);
    n.uses_caller = uses_caller_ != callers;
    n.uses_varargs = uses_varargs_ != varargs;
    n.uses_kwargs = uses_kwargs_ != kwargs;
  }

  node_id macro(std::uint32_t line) {
    const node_id id = add(op::macro, line, {}, parameter_name());
    parameters(id);
    callable_body(id, "endmacro");
    return id;
  }

  node_id call_block(std::uint32_t line) {
    const node_id id = add(op::call_block, line, {}, intern("caller"));
    if (current().is("(")) parameters(id);
    const node_id callee = expression();
    if (at(callee).kind != op::call) fail("expected a call after 'call'");
    at(id).kids.push_back(callee);
    callable_body(id, "endcall");
    return id;
  }

  node_id filter_block(std::uint32_t line) {
    const node_id chain = filters(filter(add(op::piped, line)));
    const node_id inner = block_until("endfilter");
    return add(op::filter_block, line, {chain, inner});
  }

  node_id with(std::uint32_t line) {
    std::vector<node_id> kids;
    while (current().type != token_type::block_end) {
      kids.push_back(assignment_target({}, false));
      expect_mark("=");
      kids.push_back(expression());
      if (current().type != token_type::block_end) expect_mark(",");
    }
    kids.push_back(block_until("endwith"));
    return add(op::with, line, std::move(kids));
  }

  node_id named_block(std::uint32_t line) {
    const std::string name = current().text;
    expect(token_type::name, "the name of a block");
    skip_name("scoped");
    const node_id inner = block_until("endblock");
    skip_name(name);
    return add(op::scope, line, {inner});
  }

  std::size_t loops_ = 0;  // around the current statement, within its macro
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
