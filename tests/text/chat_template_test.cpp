// Chat templates of real models against what jinja2 renders for them (goldens by jinja_reference.py), the interface,
// who wrote which byte, and templates from model files.
#include "../catch.hpp"
#include "../io/gguf_builder.hpp"
#include "chat_render.hpp"
#include "json_value.hpp"

#include <map>
#include <set>
#include <sstream>
#include <thread>

using llambda::chat_message;
using llambda::chat_template;
using llambda::errc;
namespace jinja = llambda::jinja;

namespace {

std::string text_file(const std::string& name) { return test::read_file(test::source_path("tests/text/" + name)); }

/// Messages and options of one case of chat_cases.json.
std::string render_case(const chat_template& t, const jinja::value& c) {
  llambda::chat_options options{.bos_token = "<s>", .eos_token = "</s>", .clock = test::reference_time};
  jinja::value messages;
  for (const auto& [key, v] : c.entries().entries) {
    if (key.view() == "messages")
      messages = v;
    else if (key.view() == "add_generation_prompt")
      options.add_generation_prompt = v.boolean();
    else if (key.view() == "tools")
      options.tools = v;
    else if (key.view() == "documents")
      options.documents = v;
    else if (key.view() != "name")
      options.variables.emplace_back(key.text().str(), v);
  }
  return t.render(messages, options);
}

}  // namespace

TEST_CASE("chat templates of real models render as jinja2 renders them", "[chat_template]") {
  const std::filesystem::path directory = test::optional_data("tokenizers/templates");
  if (directory.empty()) return;
  std::map<std::string, jinja::value> cases;
  const jinja::value list = test::from_json(text_file("chat_cases.json"));
  for (const jinja::value& c : list.items().items) {
    cases[c.entries().find(std::string_view("name"))->text().str()] = c;
  }
  std::istringstream golden(text_file("chat_templates.golden"));
  std::map<std::string, chat_template> templates;
  std::size_t compared = 0;
  std::string name, case_name, verdict;
  while (golden >> name >> case_name >> verdict) {
    std::size_t length = 0;
    std::uint64_t hash = 0;
    if (verdict != "failed") golden >> length >> std::hex >> hash >> std::dec;
    if (!std::filesystem::exists(directory / name)) continue;
    if (!templates.count(name)) templates.emplace(name, chat_template::parse(test::read_file(directory / name)));
    const test::outcome got = test::outcome_of([&] { return render_case(templates.at(name), cases.at(case_name)); });
    INFO(name << " " << case_name << ": " << got.text);
    CHECK((got.verdict == "limit" ? "failed" : got.verdict) == verdict);
    if (verdict != "failed") {
      CHECK(got.text.size() == length);
      CHECK(test::fnv1a(got.text) == hash);
    }
    ++compared;
  }
  CHECK(compared >= 1000);
  std::cerr << "compared " << compared << " renders of " << templates.size() << " templates\n";
}
