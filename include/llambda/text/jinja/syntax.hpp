// The parsed template: nodes in one flat array that name each other by number, so that a tree of any depth is built,
// kept, shared by threads and freed without recursion.
// Chains such as a + b + c are one node with many operands: evaluation nests as deep as parentheses and blocks do.
#pragma once

#include <llambda/text/jinja/value.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

using node_id = std::uint32_t;  ///< 0 stands for a part that is absent
using name_id = std::uint32_t;

enum class op : std::uint8_t {
  // expressions
  constant,      // constant
  name,          // name
  piped,         // what a filter block or block assignment filters
  list,          // kids
  tuple,         // kids
  dict,          // kids: key, value, key, value ...
  attribute,     // kids[0].name
  item,          // kids[0][kids[1]]
  slice,         // kids: begin, end, step, each may be 0; only under item
  call,          // kids[0](kids[1] ..., pairs)
  filter,        // kids[0] | name(kids[1] ..., pairs)
  test,          // kids[0] is name(kids[1] ..., pairs)
  spread,        // *kids[0] among arguments
  spread_named,  // **kids[0]
  logical_not,   // kids[0]
  minus,         // kids[0]
  plus,          // kids[0]
  logical_and,   // kids
  logical_or,    // kids
  concat,        // kids
  arithmetic,    // kids[0], then pairs of operator and operand, from left to right
  compare,       // likewise; true if every neighbouring pair compares so
  conditional,   // kids: condition, value, other value or 0
  // statements
  body,                 // kids
  scope,                // kids[0] in a scope of its own
  print,                // kids
  branch,               // kids: condition, body, condition, body ..., and perhaps the last else
  loop,                 // kids: target, iterable, filter or 0, body, else or 0
  set,                  // kids: target, value
  set_block,            // kids: target, body, filter or 0
  namespace_attribute,  // a target: name, constant = attribute
  macro,                // name, pairs of parameter and default or 0; kids[0]
  call_block,           // kids: call, body; pairs of parameter and default
  filter_block,         // kids: filter, body
  with,                 // kids: target, value ..., body
  break_loop,
  continue_loop,
};

/// Operators of arithmetic and compare nodes.
enum class operation : std::uint32_t { add, sub, mul, div, floor_div, mod, pow, eq, ne, lt, le, gt, ge, in, not_in };

struct node {
  op kind = op::constant;
  bool uses_caller = false;  // macros: what their bodies speak of
  bool uses_varargs = false;
  bool uses_kwargs = false;
  std::uint32_t line = 1;
  name_id name = 0;
  std::vector<node_id> kids;
  std::vector<std::pair<std::uint32_t, node_id>> pairs;  // named arguments, parameters, operations with operands
  value constant;
};

struct program {
  std::vector<node> nodes{1};
  std::vector<std::string> names;
  node_id root = 0;
};

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
