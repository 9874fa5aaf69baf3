// What may follow "is": the tests of Jinja, and the names under which operators serve as tests for select and reject.
// All of them answer true or false; unknown names fail when they are reached.
#pragma once

#include <llambda/text/jinja/methods.hpp>

#include <string_view>

namespace llambda::inline LLAMBDA_ABI {
namespace jinja {

namespace detail {

template <kind K> value is_kind(runtime& rt, const value& v, const arguments& args) {
  args.none(rt, "test");
  return v.is(K);
}

template <bool (*Check)(const value&)> value simple_test(runtime& rt, const value& v, const arguments& args) {
  args.none(rt, "test");
  return Check(v);
}
inline bool is_defined(const value& v) { return !v.is_undefined(); }
inline bool is_number(const value& v) { return v.is_number(); }
inline bool is_true(const value& v) { return v.is(kind::boolean) && v.boolean(); }
inline bool is_false(const value& v) { return v.is(kind::boolean) && !v.boolean(); }
inline bool is_callable(const value& v) { return v.is(kind::object) && v.object_pointer()->callable(); }
inline bool is_iterable(const value& v) {
  return v.is_undefined() || v.is_string() || v.is(kind::list) || v.is(kind::dict);
}
inline bool is_sequence_test(const value& v) { return v.is_undefined() || v.is(kind::dict) || is_sequence(v); }

template <operation O> value operator_test(runtime& rt, const value& v, const arguments& args) {
  const auto [other] = args.bind(rt, "test", {"other"});
  if (!other) rt.fail("expected a value to compare with");
  return compares(rt, O, v, *other);
}

inline value same_test(runtime& rt, const value& v, const arguments& args) {
  const auto [other] = args.bind(rt, "sameas", {"other"});
  if (!other) rt.fail("sameas: expected a value");
  return v.same_as(*other);
}

inline value divisible_test(runtime& rt, const value& v, const arguments& args) {
  const auto [number] = args.bind(rt, "divisibleby", {"num"});
  if (!number) rt.fail("divisibleby: expected a number");
  return equal(rt, arithmetic(rt, operation::mod, v, *number), 0);
}

template <int Rest> value parity_test(runtime& rt, const value& v, const arguments& args) {
  args.none(rt, "test");
  return equal(rt, arithmetic(rt, operation::mod, v, 2), Rest);
}

}  // namespace detail

inline constexpr named_native tests[] = {
    {"!=", detail::operator_test<operation::ne>},
    {"<", detail::operator_test<operation::lt>},
    {"<=", detail::operator_test<operation::le>},
    {"==", detail::operator_test<operation::eq>},
    {">", detail::operator_test<operation::gt>},
    {">=", detail::operator_test<operation::ge>},
    {"boolean", detail::is_kind<kind::boolean>},
    {"callable", detail::simple_test<detail::is_callable>},
    {"defined", detail::simple_test<detail::is_defined>},
    {"divisibleby", detail::divisible_test},
    {"eq", detail::operator_test<operation::eq>},
    {"equalto", detail::operator_test<operation::eq>},
    {"even", detail::parity_test<0>},
    {"false", detail::simple_test<detail::is_false>},
    {"float", detail::is_kind<kind::real>},
    {"ge", detail::operator_test<operation::ge>},
    {"greaterthan", detail::operator_test<operation::gt>},
    {"gt", detail::operator_test<operation::gt>},
    {"in", detail::operator_test<operation::in>},
    {"integer", detail::is_kind<kind::integer>},
    {"iterable", detail::simple_test<detail::is_iterable>},
    {"le", detail::operator_test<operation::le>},
    {"lessthan", detail::operator_test<operation::lt>},
    {"lower", detail::case_test<true>},
    {"lt", detail::operator_test<operation::lt>},
    {"mapping", detail::is_kind<kind::dict>},
    {"ne", detail::operator_test<operation::ne>},
    {"none", detail::is_kind<kind::none>},
    {"number", detail::simple_test<detail::is_number>},
    {"odd", detail::parity_test<1>},
    {"sameas", detail::same_test},
    {"sequence", detail::simple_test<detail::is_sequence_test>},
    {"string", detail::is_kind<kind::string>},
    {"true", detail::simple_test<detail::is_true>},
    {"undefined", detail::is_kind<kind::undefined>},
    {"upper", detail::case_test<false>},
};

inline native find_test(const runtime& rt, std::string_view name) {
  const native test = find_native(tests, name);
  if (!test) rt.fail("no test named " + in_quotes(name));
  return test;
}

}  // namespace jinja
}  // namespace llambda::inline LLAMBDA_ABI
