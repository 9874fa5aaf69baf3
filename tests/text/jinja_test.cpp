// The template language, snippet by snippet, against what jinja2 renders (jinja_snippets.jsonl, whose expected outputs
// jinja_reference.py writes), and what its errors say.
#include "../catch.hpp"
#include "chat_render.hpp"
#include "json_value.hpp"

#include <sstream>

using llambda::chat_template;
namespace jinja = llambda::jinja;

namespace {

/// What `source` renders with these variables and no messages.
test::outcome render(std::string_view source, const jinja::value& variables = jinja::value::dict({})) {
  return test::outcome_of([&] {
    llambda::chat_options options{.clock = test::reference_time};
    for (const auto& [key, v] : variables.entries().entries) options.variables.emplace_back(key.text().str(), v);
    return chat_template::parse(source).render(jinja::value::list({}), options);
  });
}

}  // namespace

TEST_CASE("snippets of the template language render as jinja2 renders them", "[jinja]") {
  std::istringstream lines(test::read_file(test::source_path("tests/text/jinja_snippets.jsonl")));
  std::string line;
  std::getline(lines, line);
  const jinja::value variables = *test::from_json(line).entries().find(std::string_view("variables"));
  std::size_t count = 0;
  while (std::getline(lines, line)) {
    const jinja::value snippet = test::from_json(line);
    const auto& [verdict, expected] = snippet.entries().entries.at(1);
    const test::outcome got = render(snippet.entries().entries.at(0).second.view(), variables);
    INFO(line << "\n" << got.verdict << ": " << got.text);
    if (verdict.view() == "failed") {
      CHECK((got.verdict == "failed" || got.verdict == "bad"));
    } else {
      CHECK(got.verdict == verdict.view());
      CHECK(got.text == expected.view());
    }
    ++count;
  }
  CHECK(count > 250);
}
