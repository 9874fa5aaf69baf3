// Pre-tokenizers: pieces as the regular expressions of their tokenizer.json files cut them (tests/golden), names, and
// long runs on a small stack.
#include "../catch.hpp"
#include "golden_pieces.hpp"
#include "small_stack.hpp"

#include <llambda/text/pretokenizers.hpp>

#include <chrono>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using llambda::pretokenizer;

namespace {

std::vector<std::size_t> lengths(pretokenizer kind, std::string_view text) {
  std::vector<std::size_t> out;
  llambda::pretokenize::text(kind, text, [&](std::string_view piece) { out.push_back(piece.size()); });
  return out;
}

}  // namespace

TEST_CASE("pieces as the regular expressions cut them", "[pretokenize]") {
  const test::golden_file golden = test::read_golden_pieces();
  REQUIRE(golden.texts.size() == 150);
  std::set<pretokenizer> seen;
  for (const test::golden_pieces& g : golden.pieces) {
    const auto* known = llambda::find_pretokenizer(g.pre);
    REQUIRE(known != nullptr);
    seen.insert(known->kind);
    INFO(g.pre << ": " << golden.texts[g.text].text);
    CHECK(lengths(known->kind, golden.texts[g.text].text) == g.lengths);
  }
  for (const auto& known : llambda::known_pretokenizers) CHECK(seen.count(known.kind) == 1);  // each kind has goldens
}

TEST_CASE("digits are grouped by each pattern's own rule (B24)", "[pretokenize]") {
  using sizes = std::vector<std::size_t>;
  CHECK(lengths(pretokenizer::gpt2, "33333") == sizes{5});
  CHECK(lengths(pretokenizer::llama3, "33333") == sizes{3, 2});
  CHECK(lengths(pretokenizer::gpt4o, "33333") == sizes{3, 2});
  CHECK(lengths(pretokenizer::qwen2, "33333") == sizes{1, 1, 1, 1, 1});
  CHECK(lengths(pretokenizer::falcon, "33333") == sizes{3, 2});
}

TEST_CASE("names", "[pretokenize]") {
  std::set<std::string> names;
  std::istringstream words(llambda::pretokenizer_names().substr(6));
  for (std::string name; words >> name;) {
    INFO(name);
    CHECK(names.insert(name).second);
    REQUIRE(llambda::find_pretokenizer(name) != nullptr);
  }
  CHECK(names.size() > 50);
  CHECK(llambda::find_pretokenizer("llama-bpe")->whole_pieces);
  CHECK(llambda::find_pretokenizer("deepseek-r1-qwen")->kind == pretokenizer::qwen2);
  CHECK(llambda::find_pretokenizer("qwen2 qwen3") == nullptr);
  CHECK(llambda::find_pretokenizer("") == nullptr);
}

TEST_CASE("long runs and awkward alternations take linear time on a small stack (B29)", "[pretokenize]") {
  std::set<pretokenizer> kinds;
  for (const auto& known : llambda::known_pretokenizers) kinds.insert(known.kind);
  for (const char* unit : {"A",
                           "a",
                           " ",
                           ".",
                           "\n",
                           " \n",
                           "\xE4\xB8\xAD",
                           "1",
                           "'",
                           "\xCC\x81",
                           "\xCC\x81"
                           "A",
                           "\x01",
                           "\x01 ",
                           "\xE4\xB8\xAD"
                           "A",
                           "aA",
                           "\xFF",
                           "\t ",
                           "!\n/",
                           "(",
                           "\xE2\x80\x8D"}) {
    std::string text;
    while (text.size() < static_cast<std::size_t>(test::long_run / 5)) text += unit;
    for (const std::string& whole : {text, "x" + text + "x"}) {
      for (const pretokenizer kind : kinds) {
        std::size_t total = 0;
        const auto start = std::chrono::steady_clock::now();
        test::on_small_stack(
            [&] { llambda::pretokenize::text(kind, whole, [&](std::string_view piece) { total += piece.size(); }); });
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        INFO(unit << " by kind " << static_cast<int>(kind));
        CHECK(total == whole.size());
        CHECK(took.count() < 5);  // a few milliseconds; quadratic would be a minute
      }
    }
  }
}
