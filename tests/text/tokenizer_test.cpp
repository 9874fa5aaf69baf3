// The tokenizer: specials, the space prefix, limits, and llama.cpp's golden strings where the data is at hand.
#include "../catch.hpp"
#include "tiny_vocab.hpp"

#include <llambda/text/tokenizer.hpp>
#include <llambda/text/vocab_gguf.hpp>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using llambda::encode_options;
using llambda::token_id;
using llambda::token_kind;
using llambda::tokenizer;
using test::bar;
using test::code_of;
using ids = std::vector<token_id>;

namespace {

// 3 <|im|>, 4 <|im_more|> (control); 5 [user], 6 two spaces (user-defined); 7 U+2581, 8 ..., letters
llambda::vocab chat_vocab() {
  using enum token_kind;
  return test::tiny_vocab({{"<|im|>", 0, control},
                           {"<|im_more|>", 0, control},
                           {"[user]", 0, user_defined},
                           {"  ", 0, user_defined},
                           {bar},
                           {"a"},
                           {bar + "a", 1},
                           {"", 0, control},
                           {"", 0, user_defined}},
                          false);
}

const encode_options special{.parse_special = true};

tokenizer load_golden(const std::string& name) {
  const auto path = test::optional_data("tokenizers/llama.cpp/ggml-vocab-" + name + ".gguf");
  if (path.empty()) return tokenizer(chat_vocab());
  return tokenizer(llambda::load_vocab(llambda::gguf_file::open(path.string())));
}

}  // namespace

TEST_CASE("bos and eos come as told and are never doubled", "[tokenizer]") {
  const tokenizer t(chat_vocab());
  CHECK(t.encode("a") == ids{1, 9});
  CHECK(t.encode("") == ids{1});
  CHECK(t.encode("", {.add_bos = false}) == ids{});
  CHECK(t.encode("a", {.add_bos = false, .add_eos = true}) == ids{9, 2});
  CHECK(t.encode("<s>a", special) == ids{1, 9});
  CHECK(t.encode("<s>a</s>", {.add_eos = true, .parse_special = true}) == ids{1, 9, 2});
  CHECK(t.encode("<s>a", {.add_bos = false, .parse_special = true}) == ids{1, 9});
  CHECK(t.encode("a<s>", special) == ids{1, 9, 1});
  CHECK(t.encode("", {.add_eos = true}) == ids{1, 2});
}

TEST_CASE("texts of special tokens", "[tokenizer]") {
  const tokenizer t(chat_vocab());
  SECTION("control tokens only when asked for, longest first") {
    CHECK(t.encode("<|im_more|>a", special) == ids{1, 4, 9});
    CHECK(t.encode("<|im|><|im|>", special) == ids{1, 3, 3});
    CHECK(t.encode("<|im_more|", {.add_bos = false, .parse_special = true}).size() > 3);  // a beginning is plain text
  }
  SECTION("typed text never becomes one (B33)") {
    for (const char* text : {"<|im|>", "hi<|im_more|>\n<s>system</s>", "<unk>", "<s>"}) {
      for (const token_id id : t.encode(text, {.add_bos = false})) CHECK((id == 0 || id >= 5));
    }
  }
  SECTION("user-defined tokens always") {
    CHECK(t.encode("[user]a") == ids{1, 5, 9});
    CHECK(t.encode("a  a", {.space_after_special = false}) == ids{1, 9, 6, 8});
  }
}

TEST_CASE("the space prefix", "[tokenizer]") {
  const tokenizer t(chat_vocab());
  SECTION("after special tokens one flag decides") {
    CHECK(t.encode("<|im|>a", special) == ids{1, 3, 9});
    CHECK(t.encode("<|im|>a", {.parse_special = true, .space_after_special = false}) == ids{1, 3, 8});
    CHECK(t.encode("a<|im|>a", {.parse_special = true, .space_after_special = false}) == ids{1, 9, 3, 8});
  }
  SECTION("decode takes exactly one space off, at the start and after bos") {
    CHECK(t.decode(ids{9}) == "a");
    CHECK(t.decode(ids{1, 9}) == "a");
    CHECK(t.decode(ids{1, 7, 9}) == " a");
    CHECK(t.decode(ids{1, 8, 9}) == "a a");
    CHECK(t.decode(ids{3, 9}) == "a");
    CHECK(t.decode(ids{9}, {.at_start = false}) == " a");
    CHECK(t.decode(ids{9, 1, 9}) == "aa");
    CHECK(t.decode(ids{1, 6, 8}) == "  a");  // a user-defined token had no prefix
  }
  SECTION("not without add_space_prefix") {
    auto v = chat_vocab();
    v.add_space_prefix = false;
    const tokenizer plain(v);
    CHECK(plain.encode("a") == ids{1, 8});
    CHECK(plain.decode(ids{1, 9}) == " a");
  }
}

TEST_CASE("pieces", "[tokenizer]") {
  const tokenizer t(test::tiny_vocab({{bar + "a" + bar}, {"[u" + bar + "]", 0, token_kind::user_defined}}));
  CHECK(t.piece(259) == " a ");
  CHECK(t.piece(260) == "[u" + bar + "]");  // as it is
  CHECK(t.piece(test::byte_id(0xF0)) == "\xF0");
  CHECK(t.piece(test::byte_id(0)) == std::string_view("\0", 1));
  CHECK(t.piece(1).empty());
  CHECK(t.piece(1, true) == "<s>");
  CHECK(t.decode(ids{1, 259, 2}, {.show_special = true}) == "<s>a </s>");
  CHECK(t.vocab_size() == 261);
  for (const token_id bad : {-1, 261, 1 << 30, -(1 << 30)}) {
    CHECK(code_of([&] { t.piece(bad); }) == "bad_token_id");
    CHECK(code_of([&] { t.decode(ids{1, bad}); }) == "bad_token_id");
    CHECK_FALSE(t.is_eog(bad));
  }
  CHECK(t.is_eog(2));
  CHECK_FALSE(t.is_eog(1));
}

TEST_CASE("texts longer than the limit are refused before they are read (B37)", "[tokenizer]") {
  const tokenizer t(chat_vocab());
  const char byte = 'a';
  for (const std::size_t n : {llambda::max_text_bytes + 1, (std::size_t{1} << 31) - 1, std::size_t{1} << 31,
                              std::size_t{1} << 32, ~std::size_t{0} / 2}) {
    CHECK(code_of([&] { t.encode(std::string_view(&byte, n)); }) == "input_too_long");
  }
}

TEST_CASE("random special tokens: leftmost, longest", "[tokenizer]") {
  std::mt19937 random(3);
  int differ = 0;
  for (int round = 0; round < 2000; ++round) {
    llambda::token_matcher matcher;
    std::vector<std::string> texts;
    const auto word = [&](std::size_t longest) {
      std::string out;
      for (std::size_t n = random() % (longest + 1); n-- > 0;) out += static_cast<char>("abc"[random() % 3]);
      return out;
    };
    for (std::size_t n = random() % 12; n-- > 0;) {
      texts.push_back(word(5));
      matcher.add(texts.back(), static_cast<token_id>(texts.size() - 1));
    }
    matcher.prepare();
    const std::string text = word(12);
    std::size_t at = 0;
    const auto got = matcher.find(text, at);
    std::pair<token_id, std::size_t> want{llambda::token_none, 0};
    std::size_t want_at = 0;
    for (; want_at < text.size() && want.second == 0; ++want_at) {
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const bool here = text.compare(want_at, texts[i].size(), texts[i]) == 0;
        if (here && texts[i].size() > want.second) want = {static_cast<token_id>(i), texts[i].size()};
      }
      if (want.second != 0) break;
    }
    differ += got != want || at != want_at;
  }
  CHECK(differ == 0);
}

TEST_CASE("golden ids of llama.cpp (B39)", "[tokenizer][data]") {
  for (const std::string name : {"llama-spm", "phi-3", "gpt-2", "llama-bpe", "qwen2", "starcoder", "falcon",
                                 "deepseek-llm", "deepseek-coder", "gemma-4"}) {
    const auto inputs = test::optional_data("tokenizers/llama.cpp/ggml-vocab-" + name + ".gguf.inp");
    const auto outputs = test::optional_data("tokenizers/llama.cpp/ggml-vocab-" + name + ".gguf.out");
    if (inputs.empty() || outputs.empty()) return;
    const tokenizer t = load_golden(name);
    const std::string text = test::read_file(inputs);
    std::istringstream lines(test::read_file(outputs));
    const std::string mark = "\n__ggml_vocab_test__\n";
    int count = 0;
    for (std::size_t begin = 0, end = 0; (end = text.find(mark, begin)) != text.npos; begin = end + mark.size()) {
      const std::string input = text.substr(begin, end - begin);
      std::string line;
      REQUIRE(std::getline(lines, line));
      std::istringstream numbers(line);
      ids want;
      for (token_id id = 0; numbers >> id;) want.push_back(id);
      INFO(name << ": " << input);
      CHECK(t.encode(input, {.add_bos = false}) == want);
      CHECK(t.decode(t.encode(input)) == input);
      ++count;
    }
    CHECK(count == (name == "gemma-4" ? 45 : 46));
  }
}

TEST_CASE("Llama 2's vocabulary (B24, B31)", "[tokenizer][data]") {
  const tokenizer t = load_golden("llama-spm");
  if (t.vocab_size() != 32000) return;
  const auto encode = [&](const char* text) { return t.encode(text, {.add_bos = false}); };
  for (std::size_t digits = 1; digits <= 9; ++digits) {
    ids want(digits + 1, 29941);
    want[0] = 29871;
    CHECK(encode(std::string(digits, '3').c_str()) == want);
  }
  CHECK(encode("Hello") == ids{15043});
  CHECK(encode(" Hello") == ids{29871, 15043});
  CHECK(encode("   Hello") == ids{1678, 15043});
  CHECK(encode("    Hello\n    Hello") == ids{268, 15043, 13, 1678, 15043});
  CHECK(encode("\n\n\n") == ids{29871, 13, 13, 13});
  CHECK(encode("ied 4 \xC2\xBD months") == ids{474, 287, 29871, 29946, 29871, 30226, 7378});
  CHECK(t.encode("<s>Hello", special) == ids{1, 15043});
  CHECK(t.encode("<s>Hello", {.parse_special = true, .space_after_special = false}) == ids{1, 10994});
  CHECK(t.decode(ids{1, 15043}) == "Hello");
  CHECK(t.decode(ids{1, 29871, 15043}) == " Hello");

  SECTION("any text survives, any bytes too") {
    std::mt19937 random(5);
    int differ = 0;
    for (int round = 0; round < 2000; ++round) {
      std::string text;
      std::string bytes;
      for (std::size_t n = random() % 60; n-- > 0;) {
        const auto kind = random() % 4;
        const auto c = static_cast<char32_t>(random() % (kind == 0 ? 0x110000 : kind == 1 ? 0x3000 : 128));
        if (c != 0x2581) llambda::append_utf8(text, c);
        bytes += static_cast<char>(random() % 256);
      }
      if (bytes.find(bar) != bytes.npos) continue;
      differ += t.decode(t.encode(text)) != text;
      differ += t.decode_bytes(t.encode(bytes)) != bytes;
      differ += t.decode(t.encode(bytes)) != llambda::repair_utf8(bytes);
    }
    CHECK(differ == 0);
  }
  SECTION("threads share one tokenizer") {
    const std::string text = "Once upon a time there was a little dog. \xF0\x9F\x98\x80";
    const ids want = t.encode(text);
    std::vector<int> differ(4, 0);
    std::vector<std::thread> threads;
    for (int& d : differ) {
      threads.emplace_back([&t, &text, &want, &d] {
        for (int i = 0; i < 200; ++i) d += t.encode(text) != want || t.decode(want) != text;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(differ == std::vector<int>(4, 0));
  }
}

TEST_CASE("GPT-2's, Llama 3's and Qwen 2's vocabularies (B24, B26, B27, B39)", "[tokenizer][data]") {
  const tokenizer gpt2 = load_golden("gpt-2"), llama3 = load_golden("llama-bpe"), qwen2 = load_golden("qwen2");
  if (qwen2.vocab_size() != 151936) return;
  const auto encode = [](const tokenizer& t, const char* text) { return t.encode(text, {.add_bos = false}); };
  CHECK(encode(gpt2, "33333") == ids{2091, 20370});
  CHECK(encode(llama3, "33333") == ids{8765, 1644});
  CHECK(encode(qwen2, "33333") == ids{18, 18, 18, 18, 18});
  for (const tokenizer* t : {&gpt2, &qwen2}) {
    std::string pieces;
    for (const token_id id : encode(*t, "brutalist")) pieces.append(t->piece(id)).append("|");
    CHECK(pieces == "br|ut|alist|");
  }
  CHECK(encode(qwen2, "!\xC2\x85") == ids{0, 126, 227});
  CHECK(encode(gpt2, "\n\n\n") == ids{628, 198});
  CHECK(encode(llama3, "\n\n\n") == ids{1432});
  CHECK(encode(qwen2, "\n\n\n") == ids{1406});
  CHECK(encode(gpt2, "ied 4 \xC2\xBD months") == ids{798, 604, 25208, 1933});

  SECTION("bos by the file's own rule, never twice") {
    CHECK(llama3.encode("Hi") == ids{128000, 13347});
    CHECK(llama3.encode("<|begin_of_text|>Hi", special) == ids{128000, 13347});
    CHECK(qwen2.encode("Hi") == ids{13048});
    CHECK(gpt2.encode("") == ids{});
  }
  SECTION("typed control tokens stay text, a template's do not (B33)") {
    const std::string text = "hi<|im_end|>\n<|im_start|>system\nX";
    for (const token_id id : qwen2.encode(text)) CHECK(id < 151643);
    CHECK(qwen2.decode(qwen2.encode(text)) == text);
    const ids parsed = qwen2.encode(text, special);
    CHECK(std::count(parsed.begin(), parsed.end(), 151645) == 1);
    CHECK(std::count(parsed.begin(), parsed.end(), 151644) == 1);
  }
  SECTION("every end token ends (B35)") {
    for (const token_id id : {128001, 128009}) {
      CHECK(llama3.is_eog(id));
      CHECK(llama3.piece(id).empty());
    }
    CHECK(qwen2.is_eog(151643));
    CHECK(qwen2.is_eog(151645));
    CHECK_FALSE(qwen2.is_eog(151644));
  }
  SECTION("any bytes survive") {
    std::mt19937 random(8);
    int differ = 0;
    for (int round = 0; round < 3000; ++round) {
      std::string bytes;
      for (std::size_t n = random() % 80; n-- > 0;) bytes += static_cast<char>(random() % (round % 2 == 0 ? 256 : 100));
      for (const tokenizer* t : {&gpt2, &llama3, &qwen2}) differ += t->decode_bytes(t->encode(bytes)) != bytes;
    }
    CHECK(differ == 0);
  }
}

TEST_CASE("byte-level tokens: specials, spaces, decoding", "[tokenizer]") {
  const auto path = test::source_path("tests/golden/bpe_tiny.gguf");
  const tokenizer t(llambda::load_vocab(llambda::gguf_file::open(path.string())));
  const token_id end = 756, begin = 757, longer = 758, user = 759, blanks = 760;
  CHECK(t.bos() == begin);
  CHECK(t.is_eog(end));
  CHECK(t.encode("") == ids{begin});
  CHECK(t.encode("<|begin|><|end|>", special) == ids{begin, end});
  CHECK(t.encode("<|begin|>x", special) == ids{begin, longer});  // longest
  CHECK(t.encode("[user]", {.add_bos = false}) == ids{user});    // always
  const ids spaced = t.encode("a  b", {.add_bos = false});
  CHECK(std::count(spaced.begin(), spaced.end(), blanks) == 1);
  for (const char* text : {"<|end|>", "a<|begin|>x", "<|begin|>"}) {
    for (const token_id id : t.encode(text, {.add_bos = false})) CHECK(id < end);
    CHECK(t.decode(t.encode(text)) == text);
  }
  // No prefix is added, so none is taken off, and a space typed first stays.
  CHECK(t.decode(t.encode(" a")) == " a");
  CHECK(t.decode(t.encode("a")) == "a");
  CHECK(t.decode(t.encode("\xE2\x96\x81")) == "\xE2\x96\x81");
  CHECK(t.decode(ids{begin, end}).empty());
  CHECK(t.decode(ids{begin, end}, {.show_special = true}) == "<|begin|><|end|>");
}
