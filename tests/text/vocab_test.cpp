// Vocabularies: the table, the index, what validate refuses, and reading one from a GGUF file, sound or hostile.
#include "../catch.hpp"
#include "../io/gguf_builder.hpp"
#include "tiny_vocab.hpp"

#include <llambda/text/tokenizer.hpp>
#include <llambda/text/vocab_gguf.hpp>

#include <limits>
#include <string>
#include <vector>

using llambda::token_kind;
using test::code_of;

namespace {

llambda::vocab load(const test::gguf_builder& builder) {
  const std::string bytes = builder.build();
  const auto file = llambda::gguf_file::parse(
      llambda::mapped_file::view(std::as_bytes(std::span(bytes.data(), bytes.size())), "memory.gguf"));
  return llambda::load_vocab(file);
}

// The subject of the load_error that `f` throws.
template <class F> std::string subject_of(F&& f) {
  try {
    f();
  } catch (const llambda::load_error& e) {
    return e.subject();
  }
  return "none";
}

test::gguf_builder tokens(const std::vector<std::string>& texts, const std::vector<std::int32_t>& kinds = {}) {
  test::gguf_builder b;
  b.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", texts);
  b.numbers<float>("tokenizer.ggml.scores", test::f32, std::vector<float>(texts.size(), 0.0f));
  if (!kinds.empty()) b.numbers<std::int32_t>("tokenizer.ggml.token_type", test::i32, kinds);
  return b;
}

test::gguf_builder byte_level(const std::vector<std::string>& merges) {
  test::gguf_builder b;
  b.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a", "b", "ab", "<|end|>", "<|return|>"});
  b.numbers<std::int32_t>("tokenizer.ggml.token_type", test::i32, {1, 1, 1, 3, 3})
      .strings("tokenizer.ggml.merges", merges);
  return b;
}

test::gguf_builder three() { return tokens({"<unk>", "<s>", "</s>", "a"}, {2, 3, 3, 1}); }

}  // namespace

TEST_CASE("string_table and token_index", "[vocab]") {
  llambda::string_table table;
  for (const char* text : {"one", "", "three", "one"}) table.add(text);
  CHECK(table.size() == 4);
  CHECK(table[0] == "one");
  CHECK(table[1] == "");
  CHECK(table[2] == "three");
  CHECK(table.longest() == 5);

  llambda::token_index index(table.size());
  for (const llambda::token_id id : {0, 2, 3}) index.insert(table, id);
  CHECK(index.find(table, "one") == 0);  // the first of equal texts
  CHECK(index.find(table, "three") == 2);
  CHECK(index.find(table, "") == llambda::token_none);
  CHECK(index.find(table, "on") == llambda::token_none);

  llambda::string_table many;
  llambda::token_index big(5000);
  for (int i = 0; i < 5000; ++i) {
    many.add("token number " + std::to_string(i));
    big.insert(many, i);
  }
  bool good = true;
  for (int i = 0; i < 5000; ++i) good = good && big.find(many, "token number " + std::to_string(i)) == i;
  CHECK(good);
  CHECK(big.find(many, "token number 5000") == llambda::token_none);
}

TEST_CASE("only <0xHH> is a byte token", "[vocab]") {
  CHECK(llambda::byte_token_value("<0x00>") == 0);
  CHECK(llambda::byte_token_value("<0xFF>") == 255);
  CHECK(llambda::byte_token_value("<0xa9>") == 0xA9);
  for (const char* text : {"<0x-1>", "<0xZZ>", "<0x+1>", "<0x 1>", "<0x1>", "<0x001>", "<0X11>", "0x11", "", "<0x11"}) {
    CHECK(llambda::byte_token_value(text) == -1);
  }
}

TEST_CASE("validate names what is wrong", "[vocab]") {
  const auto subject = [](auto&& change) {
    llambda::vocab v = test::tiny_vocab({{"a"}, {"b"}});
    change(v);
    return subject_of([&] { v.validate("here"); });
  };
  CHECK(subject([](auto&) {}) == "none");
  CHECK(subject([](auto& v) { v = {}; }) == "tokenizer.ggml.tokens");
  CHECK(subject([](auto& v) { v.scores.pop_back(); }) == "tokenizer.ggml.scores");
  CHECK(subject([](auto& v) { v.kinds.push_back(token_kind::normal); }) == "tokenizer.ggml.token_type");
  CHECK(subject([](auto& v) { v.scores[5] = std::numeric_limits<float>::quiet_NaN(); }) == "tokenizer.ggml.scores[5]");
  CHECK(subject([](auto& v) { v.kinds[5] = static_cast<token_kind>(7); }) == "tokenizer.ggml.token_type[5]");
  CHECK(subject([](auto& v) { v.kinds[5] = static_cast<token_kind>(0); }) == "tokenizer.ggml.token_type[5]");
  CHECK(subject([](auto& v) { v.kinds[259] = token_kind::byte; }) == "tokenizer.ggml.tokens[259]");
  CHECK(subject([](auto& v) { v.bos = 261; }) == "tokenizer.ggml.bos_token_id");
  CHECK(subject([](auto& v) { v.eos = -2; }) == "tokenizer.ggml.eos_token_id");
  CHECK(subject([](auto& v) { v.unk = 1 << 30; }) == "tokenizer.ggml.unknown_token_id");
  CHECK(subject([](auto& v) { v.pad = 261; }) == "tokenizer.ggml.padding_token_id");
  CHECK(subject([](auto& v) { v.eog = {2, 261}; }) == "tokenizer.ggml.eot_token_id");
  CHECK(subject([](auto& v) { v.bos = v.eos = v.unk = v.pad = llambda::token_none; }) == "none");
}

TEST_CASE("a vocabulary from GGUF", "[vocab][gguf]") {
  const llambda::vocab v = load(three());
  CHECK(v.size() == 4);
  CHECK(v.texts[3] == "a");
  CHECK(v.kinds[0] == token_kind::unknown);
  CHECK(v.bos == 1);  // the usual ids, as these tokens are of that kind
  CHECK(v.eos == 2);
  CHECK(v.unk == 0);
  CHECK(v.pad == llambda::token_none);
  CHECK(v.eog == std::vector<llambda::token_id>{2});
  CHECK(v.add_bos);
  CHECK_FALSE(v.add_eos);
  CHECK(v.add_space_prefix);

  const llambda::vocab flags = load(three()
                                        .scalar<std::uint8_t>("tokenizer.ggml.add_bos_token", test::boolean, 0)
                                        .scalar<std::uint8_t>("tokenizer.ggml.add_eos_token", test::boolean, 1)
                                        .scalar<std::uint8_t>("tokenizer.ggml.add_space_prefix", test::boolean, 0));
  CHECK_FALSE(flags.add_bos);
  CHECK(flags.add_eos);
  CHECK_FALSE(flags.add_space_prefix);
}

TEST_CASE("several ends of generation (B35)", "[vocab][gguf]") {
  const std::vector<std::string> texts = {"<unk>", "<s>", "</s>", "a", "<|eot_id|>", "<|end|>", "b"};
  const std::vector<std::int32_t> kinds = {2, 3, 3, 1, 3, 4, 1};
  const auto ends = [](const llambda::vocab& v) {
    const llambda::tokenizer t(v);
    std::string out;
    for (llambda::token_id id = -1; id < 9; ++id) out += t.is_eog(id) ? std::to_string(id) : "";
    return out;
  };
  CHECK(ends(load(tokens(texts, kinds))) == "245");  // eos and the well-known texts
  CHECK(ends(load(tokens(texts, kinds).scalar<std::uint32_t>("tokenizer.ggml.eot_token_id", test::u32, 3))) == "2345");
  const auto list = load(tokens(texts, kinds).numbers<std::int32_t>("tokenizer.ggml.eos_token_id", test::i32, {6, 2}));
  CHECK(list.eos == 6);
  CHECK(ends(list) == "2456");
  // An end token never prints and no user text becomes one.
  const llambda::tokenizer t(list);
  CHECK(t.piece(5).empty());
  CHECK(t.piece(6).empty());
  const auto ids = t.encode("<|end|>");
  CHECK(std::find(ids.begin(), ids.end(), 5) == ids.end());
}

TEST_CASE("special ids outside the vocabulary (B15)", "[vocab][gguf]") {
  for (const char* key :
       {"tokenizer.ggml.bos_token_id", "tokenizer.ggml.eos_token_id", "tokenizer.ggml.unknown_token_id",
        "tokenizer.ggml.padding_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    for (const std::uint32_t id : {4u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFEu}) {
      const auto bad = [&] { load(three().scalar<std::uint32_t>(key, test::u32, id)); };
      CHECK(code_of(bad) == "bad_vocabulary");
      CHECK(subject_of(bad) == key);
    }
    CHECK(code_of([&] { load(three().string(key, "2")); }) == "wrong_type");
  }
  // 2^32 - 1 is how writers say "none".
  const auto none = three()
                        .scalar<std::uint32_t>("tokenizer.ggml.padding_token_id", test::u32, 0xFFFFFFFFu)
                        .scalar<std::int32_t>("tokenizer.ggml.eos_token_id", test::i32, -1);
  CHECK(load(none).pad == llambda::token_none);
  CHECK(load(none).eos == llambda::token_none);
  CHECK(load(none).eog.empty());
}

TEST_CASE("absent ids and a small vocabulary (B15)", "[vocab][gguf]") {
  const llambda::vocab one = load(tokens({"a"}, {1}));
  CHECK(one.bos == llambda::token_none);
  CHECK(one.eos == llambda::token_none);
  CHECK(one.unk == llambda::token_none);
  const llambda::tokenizer t(one);
  CHECK(t.bos() == llambda::token_none);
  CHECK(t.encode("") == std::vector<llambda::token_id>{});
  CHECK(code_of([&] { t.encode("b"); }) == "bad_vocabulary");
  // Three ordinary letters: nothing makes one of them end generation.
  CHECK(load(tokens({"a", "b", "c"}, {1, 1, 1})).eos == llambda::token_none);
  CHECK(load(tokens({"a", "b", "c"})).eos == llambda::token_none);
}

TEST_CASE("token types are guessed when the file has none", "[vocab][gguf]") {
  const llambda::vocab v = load(tokens({"<unk>", "<s>", "</s>", "<0x41>", "<0xZZ>", "a"}));
  CHECK(v.bos == 1);
  CHECK(v.eos == 2);
  CHECK(v.unk == 0);
  CHECK(v.kinds[3] == token_kind::byte);
  CHECK(v.kinds[4] == token_kind::normal);
}

TEST_CASE("broken vocabularies are typed errors", "[vocab][gguf]") {
  CHECK(code_of([] { load(tokens({"a", "<0x-1>"}, {1, 6})); }) == "bad_vocabulary");
  CHECK(code_of([] { load(tokens({"a", "<0xZZ>"}, {1, 6})); }) == "bad_vocabulary");
  CHECK(subject_of([] { load(tokens({"a", "b"}, {1})); }) == "tokenizer.ggml.token_type");
  CHECK(subject_of([] { load(tokens({"a", "b"}, {1, 7})); }) == "tokenizer.ggml.token_type[1]");
  CHECK(subject_of([] { load(tokens({"a", "b"}, {-1, 1})); }) == "tokenizer.ggml.token_type[0]");
  CHECK(code_of([] { load(tokens({})); }) == "bad_vocabulary");

  test::gguf_builder scores;
  scores.string("tokenizer.ggml.model", "llama").strings("tokenizer.ggml.tokens", {"a", "b"});
  CHECK(code_of([&] { load(scores); }) == "missing_key");
  scores.numbers<float>("tokenizer.ggml.scores", test::f32, {0.0f, 0.0f, 0.0f});
  CHECK(code_of([&] { load(scores); }) == "bad_vocabulary");

  test::gguf_builder model;
  CHECK(code_of([&] { load(model); }) == "missing_key");
  model.string("tokenizer.ggml.model", "t5");
  CHECK(code_of([&] { load(model); }) == "unsupported");

  test::gguf_builder numbers;
  numbers.string("tokenizer.ggml.model", "llama").numbers<float>("tokenizer.ggml.tokens", test::f32, {1.0f});
  CHECK(code_of([&] { load(numbers); }) == "wrong_type");
}

TEST_CASE("a byte-level vocabulary from GGUF", "[vocab][gguf]") {
  const llambda::vocab v = load(byte_level({"a b"}).string("tokenizer.ggml.pre", "qwen2"));
  CHECK(v.model == llambda::vocab_model::byte_bpe);
  CHECK(v.pre == llambda::pretokenizer::qwen2);
  REQUIRE(v.merges.size() == 1);
  CHECK(v.merges[0].result == 2);
  CHECK_FALSE(v.add_bos);
  CHECK_FALSE(v.add_space_prefix);
  CHECK(v.scores.size() == 5);
  CHECK(v.bos == llambda::token_none);
  CHECK(load(byte_level({"a b"})).pre == llambda::pretokenizer::undefined);
  CHECK(load(byte_level({"a b"}).string("tokenizer.ggml.pre", "llama-bpe")).whole_pieces);

  // GPT-OSS: <|end|> ends a part of the turn only.
  const llambda::tokenizer t(v);
  CHECK(t.is_eog(4));
  CHECK_FALSE(t.is_eog(3));
  CHECK(t.piece(3).empty());
}

TEST_CASE("broken merges and unknown pre-tokenizers are typed errors", "[vocab][gguf]") {
  for (const char* merge : {"", "a", "ab", " a", "a ", "a b c", "a c", "b a", " "}) {
    INFO(merge);
    const auto bad = [&] { load(byte_level({"a b", merge})); };
    CHECK(code_of(bad) == "bad_vocabulary");
    CHECK(subject_of(bad) == "tokenizer.ggml.merges[1]");
  }
  const auto unknown = [] { load(byte_level({}).string("tokenizer.ggml.pre", "no-such")); };
  CHECK(code_of(unknown) == "unsupported");
  CHECK(subject_of(unknown) == "tokenizer.ggml.pre");
  try {
    unknown();
  } catch (const llambda::load_error& e) {
    CHECK(e.got() == "\"no-such\"");
    CHECK(e.expected().find("llama-bpe") != std::string::npos);
  }
  test::gguf_builder without;
  without.string("tokenizer.ggml.model", "gpt2").strings("tokenizer.ggml.tokens", {"a"});
  CHECK(subject_of([&] { load(without); }) == "tokenizer.ggml.merges");
  CHECK(code_of([&] { load(without); }) == "missing_key");
  llambda::vocab v = test::tiny_vocab({{"a"}});
  v.merges.push_back({0, 1, 260});
  CHECK(subject_of([&] { v.validate("here"); }) == "tokenizer.ggml.merges[0]");
}
