// What all of the parser stands on: the current token and what is expected of it, the program under construction, and
// the count of nesting that keeps a hostile template off the stack's end.
#pragma once

#include <llambda/text/jinja/lexer.hpp>
#include <llambda/text/jinja/syntax.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

class parser_base {
 protected:
  parser_base(std::vector<token> tokens, const limits& bounds) : tokens_(std::move(tokens)), bounds_(bounds) {}

  const token& current() const noexcept { return tokens_[at_]; }
  const token& ahead() const noexcept { return tokens_[(std::min)(at_ + 1, tokens_.size() - 1)]; }
  /// The current token; moves on, but never past the end.
  const token& take() noexcept { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool skip_mark(std::string_view mark) { return current().is(mark) && (take(), true); }
  bool skip_name(std::string_view name) { return current().is_name(name) && (take(), true); }

  [[noreturn]] LLAMBDA_NOINLINE void fail(const std::string& detail) const {
    throw template_error(errc::bad_template, current().line, detail);
  }
  [[noreturn]] LLAMBDA_NOINLINE void fail_expected(std::string_view what) const {
    fail("expected " + std::string(what) + ", found " + current().describe());
  }
  void expect_mark(std::string_view mark) {
    if (!skip_mark(mark)) fail_expected("'" + std::string(mark) + "'");
  }
  void expect(token_type type, std::string_view what) {
    if (current().type != type) fail_expected(what);
    take();
  }
  name_id expect_identifier(std::string_view what) {
    if (current().type != token_type::name) fail_expected(what);
    return intern(take().text);
  }

  name_id intern(const std::string& name) {
    const auto [at, fresh] = ids_.try_emplace(name, static_cast<name_id>(program_.names.size()));
    if (fresh) program_.names.push_back(name);
    return at->second;
  }
  node_id add(op kind, std::uint32_t line, std::vector<node_id> kids = {}, name_id name = 0) {
    node n;
    n.kind = kind;
    n.line = line;
    n.kids = std::move(kids);
    n.name = name;
    program_.nodes.push_back(std::move(n));
    return static_cast<node_id>(program_.nodes.size() - 1);
  }
  node_id add_constant(value v, std::uint32_t line) {
    const node_id id = add(op::constant, line);
    program_.nodes[id].constant = std::move(v);
    return id;
  }
  node& at(node_id id) noexcept { return program_.nodes[id]; }

  /// One level of nesting, as long as it lives.
  class level {
   public:
    explicit level(parser_base& p) : parser_(p) {
      if (++p.depth_ > p.bounds_.parse_depth) {
        throw template_error(errc::template_limit, p.current().line,
                             "nested more than " + std::to_string(p.bounds_.parse_depth) + " levels deep");
      }
    }
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    ~level() { --parser_.depth_; }

   private:
    parser_base& parser_;
  };

  std::vector<token> tokens_;
  std::size_t at_ = 0;
  const limits& bounds_;
  std::size_t depth_ = 0;
  program program_;
  std::unordered_map<std::string, name_id> ids_;
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
