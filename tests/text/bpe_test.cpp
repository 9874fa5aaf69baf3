// The BPE encoder: order of merges, agreement with the rule as it is told, bytes without a token, long runs on a small
// stack, and ids of independent references.
#include "../catch.hpp"
#include "golden_pieces.hpp"
#include "small_stack.hpp"
#include "tiny_vocab.hpp"

#include <llambda/text/tokenizer.hpp>
#include <llambda/text/vocab_gguf.hpp>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using llambda::pretokenizer;
using llambda::token_id;
using llambda::token_kind;
using llambda::tokenizer;
using ids = std::vector<token_id>;

namespace {

// A byte-level vocabulary of the ASCII letters in `letters` and the tokens that `merges` make, in order.
llambda::vocab letters_vocab(const std::string& letters,
                             const std::vector<std::pair<std::string, std::string>>& merges) {
  llambda::vocab v;
  v.model = llambda::vocab_model::byte_bpe;
  v.add_bos = v.add_space_prefix = false;
  std::map<std::string, token_id> known;
  const auto id_of = [&](const std::string& text) {
    const auto [at, added] = known.emplace(text, static_cast<token_id>(v.size()));
    if (added) v.add(text);
    return at->second;
  };
  for (const char c : letters) id_of(std::string(1, c));
  for (const auto& [left, right] : merges) v.merges.push_back({id_of(left), id_of(right), id_of(left + right)});
  return v;
}

ids encode(const llambda::vocab& v, std::string_view text) {
  ids out;
  llambda::bpe_encoder(v).encode(text, false, out);
  return out;
}

// Look at all pairs, merge the lowest rank, leftmost on ties, begin again.
ids plain_rule(const llambda::vocab& v, const std::string& text) {
  std::map<std::string, token_id> known;
  for (std::size_t i = v.size(); i-- > 0;) known[std::string(v.texts[i])] = static_cast<token_id>(i);
  ids parts;
  for (const char c : text) parts.push_back(known.at(std::string(1, c)));
  for (;;) {
    std::size_t best = parts.size();
    std::size_t best_rank = v.merges.size();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      for (std::size_t rank = 0; rank < best_rank; ++rank) {
        if (v.merges[rank].left != parts[i] || v.merges[rank].right != parts[i + 1]) continue;
        best = i;
        best_rank = rank;
      }
    }
    if (best == parts.size()) return parts;
    parts[best] = v.merges[best_rank].result;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

tokenizer open(const std::filesystem::path& path) {
  return tokenizer(llambda::load_vocab(llambda::gguf_file::open(path.string())));
}

tokenizer tiny() { return open(test::source_path("tests/golden/bpe_tiny.gguf")); }

}  // namespace

TEST_CASE("the lowest rank merges first, not the leftmost pair (B26)", "[bpe]") {
  const auto v = letters_vocab("abc", {{"b", "c"}, {"a", "b"}});
  CHECK(encode(v, "abc") == ids{0, 3});
  CHECK(encode(v, "ab") == ids{4});
  CHECK(encode(v, "aab") == ids{0, 4});
}

TEST_CASE("equal ranks merge from the left", "[bpe]") {
  const auto v = letters_vocab("a", {{"a", "a"}, {"aa", "aa"}});
  CHECK(encode(v, "aaa") == ids{1, 0});
  CHECK(encode(v, "aaaaa") == ids{2, 0});
  CHECK(encode(v, "aaaaaaa") == ids{2, 1, 0});
}

TEST_CASE("agreement with the plain rule, in short pieces and in long ones", "[bpe]") {
  std::mt19937 random(4);
  int differ = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::pair<std::string, std::string>> merges;
    std::vector<std::string> texts = {"a", "b", "c"};
    for (std::size_t n = random() % 25; n-- > 0;) {  // in any order: a merge may come before those of its parts
      const std::string& left = texts[random() % texts.size()];
      const std::string& right = texts[random() % texts.size()];
      if (left.size() + right.size() > 9) continue;
      merges.emplace_back(left, right);
      texts.push_back(left + right);
    }
    std::shuffle(merges.begin(), merges.end(), random);
    const auto v = letters_vocab("abc", merges);
    std::string text;
    for (std::size_t n = random() % (round % 2 == 0 ? 30 : 130); n-- > 0;)
      text += static_cast<char>("aabc"[random() % 4]);
    differ += encode(v, text) != plain_rule(v, text);
  }
  CHECK(differ == 0);
}

TEST_CASE("a piece that is a token needs no merges where the vocabulary says so", "[bpe]") {
  auto v = letters_vocab("abc", {{"b", "c"}});
  v.add("abc");
  CHECK(encode(v, "abc") == ids{0, 3});
  v.whole_pieces = true;
  CHECK(encode(v, "abc") == ids{4});
  CHECK(encode(v, "abcabc").size() == 4);
}

TEST_CASE("text never merges into a control token (B33)", "[bpe]") {
  auto v = letters_vocab("end", {{"e", "n"}, {"en", "d"}});
  v.kinds[4] = token_kind::control;
  CHECK(encode(v, "end") == ids{3, 2});
  v.whole_pieces = true;
  CHECK(encode(v, "end") == ids{3, 2});
}

TEST_CASE("bytes without a token", "[bpe]") {
  auto v = letters_vocab("ab", {{"a", "b"}});
  CHECK(test::code_of([&] { encode(v, "abc"); }) == "bad_vocabulary");
  CHECK(test::code_of([&] { encode(v, std::string(100, 'c')); }) == "bad_vocabulary");
  v.add("\xC3\xAF\xC2\xBF\xC2\xBD");  // U+FFFD in GPT-2's alphabet: one token of three bytes does not help
  CHECK(test::code_of([&] { encode(v, "abc"); }) == "bad_vocabulary");
  for (const char* byte : {"\xC3\xAF", "\xC2\xBF", "\xC2\xBD"}) v.add(byte);
  CHECK(encode(v, "ab\xFF") == ids{2, 4, 5, 6});
  v.add("?", 0, token_kind::unknown);
  v.unk = 7;
  CHECK(encode(v, "ab\xFF") == ids{2, 4, 5, 6});  // an unknown token is often the end token, too
  v.kinds[6] = token_kind::unused;
  CHECK(encode(v, "abc\xFF") == ids{2, 7, 7});
}

TEST_CASE("on characters: U+2581 is a space, byte tokens stand in, words are cut where no token reaches across",
          "[bpe]") {
  llambda::vocab v = test::tiny_vocab(
      {{test::bar}, {"a"}, {"b"}, {"\xC3\xA9"}, {test::bar + "a"}, {"\n"}, {"\n\n"}, {">"}, {">" + test::bar}});
  v.model = llambda::vocab_model::char_bpe;
  v.pre = pretokenizer::blocks;
  v.merges = {{259, 260, 263}, {266, 259, 267}};
  CHECK(encode(v, " ab a") == ids{263, 261, 263});
  CHECK(encode(v, test::bar + "a") == ids{263});
  CHECK(encode(v, "\xC3\xA9\xC3\xA8") == ids{262, test::byte_id(0xC3), test::byte_id(0xA8)});
  CHECK(encode(v, "\n\n") == ids{265});
  CHECK(encode(v, "> a") == ids{266, 263});
  CHECK(encode(v, "> b") == ids{267, 261});  // a merge across the cut
  CHECK(tokenizer(v).decode(ids{263, 261, 267}, {.at_start = false}) == " ab> ");
}

TEST_CASE("golden ids of a tiny vocabulary", "[bpe]") {
  const tokenizer t = tiny();
  const test::golden_file golden = test::read_golden_pieces();
  REQUIRE(golden.texts.size() == 150);
  for (const test::golden_text& g : golden.texts) {
    INFO(g.text);
    const ids got = t.encode(g.text, {.add_bos = false, .parse_special = true});
    CHECK(got == g.ids);
    CHECK(t.decode_bytes(got, {.show_special = true}) == g.text);
    CHECK(t.decode_bytes(t.encode(g.text)) == g.text);
  }
}

TEST_CASE("text that repeats itself is encoded as if it did not", "[bpe]") {
  const tokenizer t = tiny();
  std::mt19937 random(6);
  std::string text;
  ids want;
  for (int i = 0; i < 4000; ++i) {
    std::string word = " ";
    for (std::size_t n = 1 + random() % 3; n-- > 0;) word += static_cast<char>('a' + random() % 16);
    text += word;
    const ids one = t.encode(word, {.add_bos = false});
    want.insert(want.end(), one.begin(), one.end());
  }
  CHECK(t.encode(text, {.add_bos = false}) == want);
}

TEST_CASE("runs of a million characters on a small stack, in seconds (B29)", "[bpe]") {
  const tokenizer t = tiny();
  auto v = letters_vocab("a", {{"a", "a"}, {"aa", "aa"}, {"aaaa", "aaaa"}});
  const tokenizer merging(v);
  std::string as(static_cast<std::size_t>(test::long_run), 'a');
  ids out;
  test::on_small_stack([&] { out = merging.encode(as); });
  CHECK(out.size() == as.size() / 8);
  for (const char* unit : {"A", " ", ".", "\n", "\xE4\xB8\xAD", "1", "'", "\xCC\x81", "the"}) {
    std::string text;
    while (text.size() < static_cast<std::size_t>(test::long_run)) text += unit;
    test::on_small_stack([&] { out = t.encode(text); });
    CHECK(t.decode_bytes(out) == text);
  }
}

// Files made by tests/golden/bpe_reference.py and hf_reference.mjs: NAME.tsv beside NAME.gguf, or NAME.py.tsv for a
// vocabulary of llama.cpp.
TEST_CASE("ids of independent references", "[bpe][data]") {
  const auto directory = test::optional_data("tokenizers/reference");
  if (directory.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".tsv") continue;
    auto vocabulary = entry.path();
    vocabulary.replace_extension(".gguf");
    if (!std::filesystem::exists(vocabulary)) {
      const std::string name = entry.path().filename().string();
      vocabulary = directory.parent_path() / "llama.cpp" / ("ggml-vocab-" + name.substr(0, name.find('.')) + ".gguf");
    }
    const tokenizer t = open(vocabulary);
    std::istringstream lines(test::read_file(entry.path()));
    int differ = 0, kept = 0, count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const std::string text = test::from_hex(line.substr(0, line.find('\t')));
      std::istringstream numbers(line.substr(line.find('\t') + 1));
      const ids want = test::numbers_of<int>(numbers);
      const ids got = t.encode(text, {.add_bos = false, .parse_special = true});
      if (got != want && ++differ <= 5) {
        INFO(entry.path().filename().string() << ": " << text);
        CHECK(got == want);
      }
      kept += t.decode_bytes(got, {.show_special = true}) == text;
    }
    INFO(entry.path().filename().string());
    CHECK(differ == 0);
    std::cerr << "note: " << entry.path().filename().string() << ": " << count << " texts, " << kept
              << " come back byte for byte\n";
  }
}
