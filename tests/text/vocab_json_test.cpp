// Vocabularies from tokenizer.json: both forms of merges, added tokens and their flags, what is refused, hostile files,
// and the same ids as other programs where files of real models are at hand.
#include "../catch.hpp"
#include "golden_pieces.hpp"
#include "tiny_vocab.hpp"

#include <llambda/text/tokenizer.hpp>
#include <llambda/text/vocab_json.hpp>

#include <string>
#include <vector>

using llambda::token_id;
using llambda::token_kind;
using llambda::tokenizer;
using ids = std::vector<token_id>;

namespace {

const std::string byte_level = R"("pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false})";
const std::string model = R"("model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2,"Ġ":3},"merges":["a b"]})";

llambda::vocab parse(const std::string& members, const llambda::tokenizer_json_options& options = {}) {
  return llambda::parse_vocab_json("{" + members + "}", "memory.json", options);
}

// "code: subject" of the load_error.
std::string refusal(const std::string& members) {
  try {
    parse(members);
  } catch (const llambda::load_error& e) {
    return std::string(llambda::errc_name(e.code())) + ": " + e.subject();
  }
  return "none";
}

std::string with_added(const std::string& entries) {
  return model + "," + byte_level + R"(,"added_tokens":[)" + entries + "]";
}

}  // namespace

TEST_CASE("both forms of merges give one vocabulary", "[json]") {
  for (const char* merges : {R"(["a b"])", R"([["a","b"]])"}) {
    const auto v =
        parse(R"("model":{"vocab":{"a":0,"b":1,"ab":2},"merges":)" + std::string(merges) + "}," + byte_level);
    CHECK(v.model == llambda::vocab_model::byte_bpe);
    CHECK(tokenizer(v).encode("abba") == ids{2, 1, 0});
    CHECK_FALSE(v.add_bos);
  }
}

TEST_CASE("added tokens and their flags", "[json]") {
  const auto v = parse(with_added(R"({"id":4,"content":"<s>","special":true,"rstrip":true},
                                     {"id":5,"content":"[u]","lstrip":true},{"id":7,"content":"<|im_end|>","special":true})"));
  const tokenizer t(v);
  CHECK(t.vocab_size() == 8);
  CHECK(v.kinds[6] == token_kind::unused);  // an id that was left out
  CHECK(t.encode("a  [u] b") == ids{0, 5, 3, 1});
  CHECK(t.encode(" \n[u]") == ids{5});
  CHECK(t.encode("<s> \n a", {.parse_special = true}) == ids{4, 0});
  CHECK(t.is_eog(7));
  CHECK(t.piece(4).empty());
}

TEST_CASE("what a template puts around a text", "[json]") {
  const auto v =
      parse(with_added(R"({"id":4,"content":"<s>","special":true},{"id":5,"content":"</s>","special":true})") +
            R"(,"post_processor":{"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"TemplateProcessing",
                          "single":[{"SpecialToken":{"id":"<s>"}},{"Sequence":{"id":"A"}},{"SpecialToken":{"id":"</s>"}}]}]})");
  CHECK(tokenizer(v).encode("a") == ids{4, 0, 5});
}

TEST_CASE("what is not known is refused by name", "[json]") {
  const std::string all = model + "," + byte_level;
  CHECK(refusal(all) == "none");
  CHECK(refusal(R"("model":{"type":"Unigram"})") == "unsupported: model.type");
  CHECK(refusal(R"("model":{"type":"BPE","dropout":0.5})") == "unsupported: model.dropout");
  CHECK(refusal(R"("model":{"type":"BPE","end_of_word_suffix":"</w>"})") == "unsupported: model.end_of_word_suffix");
  CHECK(refusal(all + R"(,"normalizer":{"type":"Lowercase"})") == "unsupported: normalizer");
  CHECK(refusal(all + R"(,"normalizer":{"type":"NFC"})") == "unsupported: normalizer");
  CHECK_NOTHROW(parse(all + R"(,"normalizer":{"type":"NFC"})", {.skip_normalization = true}));
  CHECK(refusal(model) == "unsupported: pre_tokenizer");
  for (const char* step : {R"({"type":"Whitespace"})", R"({"type":"ByteLevel","add_prefix_space":true})", R"("x")",
                           R"({"type":"Split","pattern":{"Regex":"\\w+"},"behavior":"Removed"})",
                           R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel"}]})",
                           R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\w+"},
                              "behavior":"Isolated"},{"type":"ByteLevel","use_regex":false}]})"}) {
    CHECK(refusal(model + R"(,"pre_tokenizer":)" + step) == "unsupported: pre_tokenizer");
  }
  CHECK(refusal(with_added(R"({"id":4,"content":"w","single_word":true})")) == "unsupported: added_tokens: \"w\"");
}

TEST_CASE("broken and hostile files are typed errors (B22)", "[json]") {
  CHECK(refusal("1") == "bad_vocabulary: file");
  CHECK(refusal(byte_level) == "bad_vocabulary: model.vocab");
  CHECK(refusal(R"("model":{"vocab":{"\ud800":0},"merges":[]},)" + byte_level) == "bad_vocabulary: file");
  for (const char* id : {"-1", "4294967295", "18446744073709551615", "1.5", "\"0\"", "null", "1e300"}) {
    CHECK(refusal(R"("model":{"vocab":{"a":)" + std::string(id) + R"(},"merges":[]},)" + byte_level) ==
          "bad_vocabulary: model.vocab");
    CHECK(refusal(with_added(R"({"content":"x","id":)" + std::string(id) + "}")) ==
          "bad_vocabulary: added_tokens: \"x\"");
  }
  CHECK(refusal(R"("model":{"vocab":{"a":0,"b":0},"merges":[]},)" + byte_level) == "bad_vocabulary: model.vocab");
  for (const char* merge :
       {R"("a b c")", R"("a")", R"("")", R"("a c")", R"(["a"])", R"(["a","b","c"])", R"([0,1])", "7"}) {
    CHECK(refusal(R"("model":{"vocab":{"a":0,"b":1,"ab":2},"merges":["a b",)" + std::string(merge) + "]}," +
                  byte_level) == "bad_vocabulary: model.merges[1]");
  }
  CHECK(refusal(with_added(R"({"id":4,"content":""})")) == "bad_vocabulary: added_tokens");
  CHECK(refusal(with_added(R"({"id":0,"content":"<s>"})")) == "bad_vocabulary: added_tokens: \"<s>\"");
  CHECK(refusal(with_added(R"({"id":0,"content":"a"})")) == "none");
  CHECK(refusal(std::string(100000, '[')) == "bad_vocabulary: file");

  if (const char* seeds = std::getenv("LLAMBDA_TEST_SEEDS")) {
    for (const auto& entry : std::filesystem::directory_iterator(seeds)) {
      if (entry.path().filename().string().rfind("B22_", 0) != 0) continue;
      INFO(entry.path().filename().string());
      CHECK_THROWS_AS(llambda::load_vocab_json(entry.path().string()), llambda::load_error);
    }
  }
  CHECK(test::code_of([] { llambda::load_vocab_json("no/such/file.json"); }) == "io_error");
}

TEST_CASE("Phi 3's tokenizer.json gives llama.cpp's golden ids", "[json][data]") {
  const auto path = test::optional_data("tokenizers/phi3/tokenizer.json");
  const auto inputs = test::optional_data("tokenizers/llama.cpp/ggml-vocab-phi-3.gguf.inp");
  const auto outputs = test::optional_data("tokenizers/llama.cpp/ggml-vocab-phi-3.gguf.out");
  if (path.empty() || inputs.empty() || outputs.empty()) return;
  const tokenizer t(llambda::load_vocab_json(path.string()));
  CHECK(t.bos() == 1);
  const std::string text = test::read_file(inputs);
  const std::string mark = "\n__ggml_vocab_test__\n";
  std::istringstream lines(test::read_file(outputs));
  std::string line;
  for (std::size_t begin = 0, end = 0; (end = text.find(mark, begin)) != text.npos; begin = end + mark.size()) {
    REQUIRE(std::getline(lines, line));
    std::istringstream numbers(line);
    const std::string input = text.substr(begin, end - begin);
    INFO(input);
    CHECK(t.encode(input, {.add_bos = false}) == test::numbers_of<int>(numbers));
    CHECK(t.decode(t.encode(input)) == input);
  }
}

// NAME.json beside NAME.tsv that tests/golden/hf_reference.mjs made from it.
TEST_CASE("ids of Hugging Face's tokenizers", "[json][data]") {
  const auto directory = test::optional_data("tokenizers/reference");
  if (directory.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".json") continue;
    auto reference = entry.path();
    reference.replace_extension(".tsv");
    const tokenizer t(llambda::load_vocab_json(entry.path().string(), {.skip_normalization = true}));
    std::istringstream lines(test::read_file(reference));
    int differ = 0, count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      const std::string text = test::from_hex(line.substr(0, line.find('\t')));
      std::istringstream numbers(line.substr(line.find('\t') + 1));
      differ += t.encode(text, {.add_bos = false, .parse_special = true}) != test::numbers_of<int>(numbers);
    }
    INFO(entry.path().filename().string() << ": " << count << " texts");
    CHECK(differ == 0);
  }
}
