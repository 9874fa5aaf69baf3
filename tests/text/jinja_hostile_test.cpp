// Templates that mean harm, or were cut or damaged: a typed error or a result, soon, and on a small stack.
#include "../catch.hpp"
#include "chat_render.hpp"

#include <pthread.h>
#include <chrono>
#include <random>

using llambda::chat_message;
using llambda::chat_template;
using llambda::errc;
namespace jinja = llambda::jinja;

namespace {

const std::vector<chat_message> talk = {
    {"system", "Be kind."}, {"user", "Hi {{ there }}"}, {"assistant", "Yes?"}, {"user", "é😀"}};

test::outcome render(std::string_view source, const jinja::limits& bounds = {}) {
  return test::outcome_of([&] { return chat_template::parse(source, bounds).render(talk, {.bos_token = "<s>"}); });
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

// Sanitizers and builds without optimisation take more stack and time than what is promised.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr std::size_t small_stack = std::size_t{4} << 20;
constexpr double soon = 60;
#else
constexpr std::size_t small_stack = std::size_t{256} << 10;
constexpr double soon = 1;
#endif

/// Seconds that `f` takes.
template <class F> double seconds(F&& f) {
  const auto begin = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs `f` on a thread with a stack of `bytes`.
template <class F> void on_small_stack(std::size_t bytes, F f) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<F*>(argument))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &f) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

/// Two templates with most of the language in them: what is cut and damaged below.
constexpr std::string_view victims[] = {
    R"({%- macro part(m, n=1) -%}{%- if m.role == 'user' -%}[{{ m.content | trim }}]{%- else -%}{{ m['content'][::-1] ~ n }}{%- endif -%}
{%- endmacro -%}{% set ns = namespace(k=0) %}{{ bos_token }}{% for m in messages if m.content is defined %}
{# a comment #}{% set ns.k = ns.k + loop.index0 * 2 ** 3 %}{{ part(m, n=ns.k) }}{{ ', ' if not loop.last else '' }}
{% else %}none{% endfor %}{% raw %}{{ raw }}{% endraw %}{{ messages | map(attribute='role') | unique | sort | join('-') }})",
    R"({% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ raise_exception("No\n\u00e9\x41") }}
{% elif 'a' in message.content or not (message.role in ['x', "y"]) %}{{'<|' + message['role'] + '|>\n' + message['content'] | e }}
{%- set x %}{{ {'a': [1, 2.5e3, none, (true,)], 'b': {}} | tojson(indent=2) }}{% endset %}{{ x | replace('\n', ' ') }}{% endif %}
{% with y = "%s-%05.1f" % ('q', 3.14159) %}{% filter upper %}{{ y }}{{ '{:>6}'.format(loop.index) }}{% endfilter %}{% endwith %}
{% if loop.index > 2 %}{% break %}{% endif %}{% endfor %}{% macro w() %}({{ caller() }}){% endmacro %}{% call w() %}in{% endcall %})",
};

}  // namespace

TEST_CASE("hostile templates end soon with a typed error", "[jinja][hostile]") {
  const std::pair<std::string, std::string> cases[] = {
      {"limit", "{% for i in range(10**9) %}x{% endfor %}"},
      {"limit", "{% for i in range(1000000) %}{% for j in range(1000000) %}{% endfor %}{% endfor %}"},
      {"limit", "{% for i in range(0, 10**18) %}x{% endfor %}"},
      {"limit", "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"},
      {"limit", "{% set ns = namespace(x='x') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"},
      {"limit", "{% set ns = namespace(x=[0]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"},
      {"limit",
       "{% set ns = namespace(x='ab') %}{% for i in range(99) %}{% set ns.x = ns.x | replace('a', ns.x) %}{% endfor "
       "%}"},
      {"limit",
       "{% set ns = namespace(x=['a', 'b']) %}{% for i in range(99) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x "
       "}}"},
      {"limit",
       "{% set ns = namespace(x=['a']) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}"},
      {"limit",
       "{% set ns = namespace(x=['a']) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | "
       "tojson }}"},
      {"limit",
       "{% set a = namespace(x=['a'], y=['a']) %}{% for i in range(40) %}{% set a.x = [a.x, a.x] %}{% set a.y = [a.y, "
       "a.y] %}{% endfor %}{{ a.x == a.y }}"},
      {"limit", "{{ 'x' * 10**12 }}"},
      {"limit", "{{ [1] * 10**12 }}"},
      {"limit", "{{ 'x' | center(10**12) }}"},
      {"limit", "{{ '%999999999s' % 'x' }}"},
      {"limit", "{{ '%*s' % (10**12, 'x') }}"},
      {"limit", "{{ '{:999999999}'.format('x') }}"},
      {"limit", "{{ 'x' | indent(10**12, true) }}"},
      {"limit", "{{ [1] | tojson(indent=10**12) }}"},
      {"limit", "{{ [1] | batch(10**12, 0) | list }}"},
      {"limit", "{{ [1] | slice(10**12) | list }}"},
      {"limit", "{{ 'x'.zfill(10**15) }}"},
      {"limit", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"},
      {"limit", "{% macro m() %}{% call m() %}{% endcall %}{{ caller }}{% endmacro %}{% call m() %}{% endcall %}"},
      {"limit", "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}"},
      {"limit", "{% set l = [] %}{% set _ = l.append(l) %}{{ l == [l] }}{{ l < l }}{{ l | tojson }}"},
      {"limit", "{% set ns = namespace(l=[]) %}{% for i in range(100000) %}{% set ns.l = [ns.l] %}{% endfor %}"},
      {"limit", "{% set ns = namespace(s='a' * 10**6) %}{% for i in range(10**6) %}{{ 'b' in ns.s }}{% endfor %}"},
      {"limit",
       "{% set ns = namespace(s='a' * 10**6) %}{% for i in range(10**6) %}{% set x = ns.s.split('b') %}{% endfor %}"},
      {"limit", "{% set ns = namespace(s='a' * 10**6) %}{% for i in range(10**6) %}{% set x = ns.s[7] %}{% endfor %}"},
      {"limit",
       "{% set ns = namespace(s='a' * 10**6) %}{% for i in range(10**6) %}{% set x = ns.s.count('aa') %}{% endfor %}"},
      {"limit",
       "{% set ns = namespace(s='a' * 10**6) %}{% for i in range(10**6) %}{% set x = ns.s | wordcount %}{% endfor %}"},
      {"limit", "{{ range(10**6) | unique | list }}"},
      {"limit", "{{ range(10**6) | sort | list }}"},
      {"limit", "{% for i in range(10**6) %}{{ 'x' * 1000 }}{% endfor %}"},
      {"limit", "{% set l = [] %}{% for i in range(10**6) %}{% set _ = l.insert(0, i) %}{% endfor %}"},
      {"limit", "{{ strftime_now('%A' * 1000) }}"},
      {"limit", repeated("{% if true %}", 5000)},
      {"limit", "{{ " + repeated("(", 5000) + "1" + repeated(")", 5000) + " }}"},
      {"limit", "{{ " + repeated("[", 5000)},
      {"limit", "{{ " + repeated("not ", 5000) + "1 }}"},
      {"limit", "{{ " + repeated("-", 5000) + "1 }}"},
      {"limit", "{{ " + repeated("1 if 1 else ", 5000) + "1 }}"},
      {"limit", "{% set " + repeated("(", 5000) + "x" + repeated(")", 5000) + " = 1 %}"},
      {"limit", "{{ x" + repeated(".a", 5000) + " }}"},
      {"limit", "{{ 'a'" + repeated("|upper", 5000) + " }}"},
      {"limit", repeated("x", std::size_t{1} << 21)},
      {"text", "{{ 1" + repeated(" + 1", 5000) + " }}"},
      {"text", "{{ 1" + repeated(" and 1", 5000) + " }}"},
      {"text", "{% if 0 %}" + repeated("{% elif 0 %}", 5000) + "{% endif %}"},
      {"text",
       "{% set l = [] %}{% set m = [l] %}{% set _ = l.append(m) %}{% macro f() %}{% endmacro %}{% set ns = namespace() "
       "%}{% set ns.f = f %}{% set ns.ns = ns %}"},
      {"text",
       "{% set ns = namespace(p=[]) %}{% for i in range(20000) %}{% set q = [] %}{% set _ = ns.p.append(q) %}{% set "
       "ns.p = q %}{% endfor %}"},
      {"text", "{{ messages.__class__ }}{{ ''.__init__ }}{{ namespace.__globals__ }}{{ messages[0]['__class__'] }}"},
      {"failed", "{{ ''.__class__.__mro__ }}"},
      {"failed", "{{ '{0.__class__}'.format(1) }}"},
      {"failed", "{{ messages.append(1) }}"},
      {"failed", "{{ messages[0].pop('role') }}"},
      {"failed", "{% set _ = messages[0].update(role='x') %}"},
      {"failed", "{{ 9223372036854775807 + 1 }}"},
      {"failed", "{{ 10 ** 40 }}"},
      {"failed", "{{ (-9223372036854775807 - 1) // -1 }}"},
      {"failed", "{{ -(-9223372036854775807 - 1) }}"},
      {"failed", "{{ (-9223372036854775807 - 1) | abs }}"},
      {"failed", "{{ '99999999999999999999' | int }}"},
      {"text",
       "{{ (-9223372036854775807 - 1) % -1 }}{{ 'abc'[-9223372036854775807:9223372036854775807] }}{{ "
       "'abc'[::9223372036854775807] }}{{ 'abc'[::-9223372036854775807] }}"},
      {"bad", "{% extends 'x' %}"},
      {"bad", "{% include '/etc/passwd' %}"},
      {"bad", "{% import 'os' as os %}"},
      {"bad", "{{ 99999999999999999999 }}"},
      {"bad", "{{ '\\ud83"},
      {"bad", "{{ \"\\U00110000\" }}"},
  };
  for (const auto& [verdict, source] : cases) {
    test::outcome got;
    const double time = seconds([&] { got = render(source); });
    INFO(source.substr(0, 200) << "\n" << got.text.substr(0, 200));
    CHECK(got.verdict == verdict);
    CHECK(time < soon);
  }
}

TEST_CASE("the deepest templates fit a stack of 256 KiB", "[jinja][hostile]") {
  const jinja::limits bounds;
  std::string deepest_parse;
  for (const auto& [open, close] :
       {std::pair{"(", ")"}, {"[", "]"}, {"f(", ")"}, {"{1: ", "}"}, {"-[", "]"}, {"not (", ")"}, {"x[", "]"}, {"x|f(", ")"}, {"x is f(", ")"}}) {
    for (std::size_t depth = 1; depth <= bounds.parse_depth; ++depth) {
      deepest_parse += "{{ " + repeated(open, depth) + "1" + repeated(close, depth) + " }}";
    }
  }
  const std::string sources[] = {
      "{% macro f(x) %}{{ x }}{% endmacro %}",
      "{% macro m() %}{{ [1] | map('string') | map('upper') | list + [m() | trim] }}{% endmacro %}{{ m() }}",
      "{% macro m() %}{% for x in [1] if x %}{% if x %}{% set y %}{{ m() }}{% endset %}{% endif %}{% endfor %}{% "
      "endmacro %}{{ m() }}",
      "{% macro m() %}{% filter upper %}{% with a = 1 %}{{ (1 if m() else 2) + 1 - 1 }}{% endwith %}{% endfilter %}{% "
      "endmacro %}{{ m() }}",
      "{% macro w() %}{% call w() %}{{ caller() }}{% endcall %}{% endmacro %}{{ w() }}",
      "{% macro m(a=m2()) %}{% endmacro %}{% macro m2() %}{{ m(**{'b': 1} if 0 else m3(*[1])) }}{% endmacro %}{% macro "
      "m3() %}{{ varargs }}{{ [m()] }}{% endmacro %}{{ m() }}",
      "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
      "{% set l = [] %}{% set _ = l.append(l) %}{{ l == [l] }}",
      "{% set l = [] %}{% set _ = l.append(l) %}{{ l | tojson }}",
      "{% set ns = namespace(p=[], d={}) %}{% for i in range(20000) %}{% set q = [] %}{% set _ = ns.p.append(q) %}{% "
      "set ns.p = q %}{% endfor %}",
      "{% set ns = namespace(p=1) %}{% for i in range(20000) %}{% set n = namespace(p=ns.p) %}{% set ns.p = n %}{% "
      "endfor %}",
  };
  std::vector<std::string> bad;
  on_small_stack(small_stack, [&] {
    for (const std::string& source : sources) bad.push_back(render(source).verdict);
    for (std::size_t at = 0; at < deepest_parse.size();) {
      const std::size_t end = deepest_parse.find(" }}", at) + 3;
      render(deepest_parse.substr(at, end - at));
      at = end;
    }
  });
  CHECK(bad == std::vector<std::string>{"text", "limit", "limit", "limit", "limit", "limit", "limit", "limit", "limit",
                                        "text", "text"});
}

TEST_CASE("cut and damaged templates give an error or a text", "[jinja][hostile]") {
  std::mt19937 random(1);
  std::size_t texts = 0;
  for (const std::string_view victim : victims) {
    INFO(render(victim).text);
    CHECK(render(victim).verdict == "text");
    double slowest = 0;
    for (std::size_t length = 0; length < victim.size(); ++length) {
      slowest = (std::max)(slowest, seconds([&] { texts += render(victim.substr(0, length)).verdict == "text"; }));
    }
    for (std::size_t i = 0; i < 4000; ++i) {
      std::string damaged(victim);
      for (std::size_t flips = 1 + random() % 3; flips > 0; --flips) {
        char& byte = damaged[random() % damaged.size()];
        byte = random() % 2 ? static_cast<char>(random()) : victim[random() % victim.size()];
      }
      slowest = (std::max)(slowest, seconds([&] { texts += render(damaged).verdict == "text"; }));
    }
    CHECK(slowest < soon);
  }
  CHECK(texts > 500);
}

TEST_CASE("bytes that are no UTF-8 pass through", "[jinja][hostile]") {
  const std::string bad = "a\xFF\xC3 \xE2\x82 b\x80";
  CHECK(render(bad).text == bad);
  CHECK(render("{{ '" + bad + "' }}").text == bad);
  CHECK(render("{{ '" + bad + "' | upper }}").text == "A\xFF\xC3 \xE2\x82 B\x80");
  CHECK(render("{{ '" + bad + "' | tojson }}").text == "\"" + bad + "\"");
  CHECK(render("{{ '\xFF' | length }}{{ '\xFFz'[1] }}{{ '\xFF' | list | length }}").text == "1z1");
  for (const char* use :
       {"[::-1]", "| title", "| trim", "| e", "| string", "| wordcount", ".split()", ".rsplit()", ".center(20)",
        ".isalpha()", "| list", "| sort", ".splitlines()", ".strip('\x80')", "| indent", "[1:3]", ".find('b')"}) {
    INFO(use);
    CHECK(render("{{ '" + bad + "'" + use + " }}").verdict == "text");
  }
}

TEST_CASE("limits are the caller's", "[jinja][hostile]") {
  const std::string loop = "{% for i in range(100) %}{{ i }}{% endfor %}";
  CHECK(render(loop).verdict == "text");
  CHECK(render(loop, {.steps = 100}).verdict == "limit");
  CHECK(render(loop, {.work_bytes = 1000}).verdict == "limit");
  CHECK(render(loop, {.list_items = 99}).verdict == "limit");
  CHECK(render(loop, {.output_bytes = 100}).verdict == "limit");
  CHECK(render(loop, {.call_depth = 2}).verdict == "limit");
  CHECK(render(loop, {.parse_depth = 1}).verdict == "limit");
  CHECK(render(loop, {.source_bytes = 10}).verdict == "limit");
  CHECK(render("{{ 'abc' ~ 'def' }}", {.value_bytes = 5}).verdict == "limit");
  CHECK(render("{% set x %}abcdef{% endset %}", {.value_bytes = 5}).verdict == "limit");
}
