// The stream decoder: whole characters only, the same text as decode, and no allocation.
#include "../catch.hpp"
#include "../io/alloc_count.hpp"
#include "tiny_vocab.hpp"

#include <llambda/text/stream.hpp>
#include <llambda/text/vocab_gguf.hpp>

#include <random>
#include <string>
#include <vector>

using llambda::stream_decoder;
using llambda::token_id;
using llambda::tokenizer;
using test::bar;
using test::byte_id;
using ids = std::vector<token_id>;

namespace {

const std::string broken(llambda::replacement_utf8);

tokenizer make() {
  return tokenizer(test::tiny_vocab({{bar}, {"a"}, {bar + "a"}, {"\xE6\xAD\xA3"}, {"a longer piece of text"}}));
}

}  // namespace

TEST_CASE("a character spread over tokens comes as one chunk (B34)", "[stream]") {
  const tokenizer t = make();
  stream_decoder s(t);
  CHECK(s.push(byte_id(0xF0)).empty());
  CHECK(s.push(byte_id(0x9F)).empty());
  CHECK(s.push(byte_id(0x98)).empty());
  CHECK(s.held() == 3);
  CHECK(s.push(byte_id(0x80)) == "\xF0\x9F\x98\x80");
  CHECK(s.held() == 0);

  CHECK(s.push(byte_id(0xF0)).empty());
  CHECK(s.push(byte_id('a')) == broken + "a");

  CHECK(s.push(byte_id(0xE6)).empty());
  CHECK(s.push(byte_id(0xAD)).empty());
  CHECK(s.finish() == broken);
  CHECK(s.finish().empty());
  CHECK(s.held() == 0);
}

TEST_CASE("bytes that can never become a character do not wait", "[stream]") {
  const tokenizer t = make();
  stream_decoder s(t);
  CHECK(s.push(byte_id(0xFF)) == broken);
  CHECK(s.push(byte_id(0x80)) == broken);
  CHECK(s.push(byte_id(0xE6)).empty());
  CHECK(s.push(byte_id(0xE6)) == broken);
  CHECK(s.held() == 1);
  CHECK(s.push(262) == broken + "\xE6\xAD\xA3");
}

TEST_CASE("the first space and the control tokens", "[stream]") {
  const tokenizer t = make();
  stream_decoder s(t);
  CHECK(s.push(1).empty());
  CHECK(s.push(261) == "a");
  CHECK(s.push(261) == " a");
  CHECK(s.push(2).empty());
  CHECK(s.finish().empty());
  CHECK(s.push(261) == "a");  // another text
  stream_decoder later(t, {.at_start = false});
  CHECK(later.push(261) == " a");
  stream_decoder shown(t, {.show_special = true});
  CHECK(shown.push(1) == "<s>");
  CHECK(shown.push(261) == "a");
}

TEST_CASE("a bad id changes nothing", "[stream]") {
  const tokenizer t = make();
  stream_decoder s(t);
  CHECK(s.push(byte_id(0xE6)).empty());
  CHECK(test::code_of([&] { s.push(264); }) == "bad_token_id");
  CHECK(test::code_of([&] { s.push(-1); }) == "bad_token_id");
  CHECK(s.push(byte_id(0xAD)).empty());
  CHECK(s.push(byte_id(0xA3)) == "\xE6\xAD\xA3");
}

TEST_CASE("all chunks together are what decode gives", "[stream]") {
  const tokenizer t = make();
  std::mt19937 random(9);
  int faults = 0;
  std::string all;
  all.reserve(4096);
  const bool counting = test::counts_allocations();
  for (int round = 0; round < 3000; ++round) {
    ids tokens;
    for (std::size_t n = random() % 24; n-- > 0;) {
      const auto kind = random() % 3;
      tokens.push_back(static_cast<token_id>(kind == 0   ? random() % t.vocab_size()
                                             : kind == 1 ? 3 + 0x80 + random() % 128
                                                         : 259 + random() % 5));
    }
    const llambda::decode_options options{.show_special = round % 2 == 0, .at_start = round % 3 != 0};
    stream_decoder s(t, options);
    all.clear();
    const std::size_t before = test::bytes_asked();
    for (const token_id id : tokens) {
      const std::string_view chunk = s.push(id);
      faults += !llambda::is_utf8(chunk) || s.held() > 3;
      all += chunk;
    }
    all += s.finish();
    if (counting) faults += test::bytes_asked() != before;
    faults += all != t.decode(tokens, options);
  }
  CHECK(faults == 0);
}

TEST_CASE("byte-level tokens stream as whole characters too (B34)", "[stream]") {
  const auto path = test::source_path("tests/golden/bpe_tiny.gguf");
  const tokenizer t(llambda::load_vocab(llambda::gguf_file::open(path.string())));
  const std::string text = " \xF0\x9F\x98\x80\xE6\xAD\xA3 \xC3\xA9t\xC3\xA9 \xE2\x82\xAC";
  const ids tokens = t.encode(text, {.add_bos = false});
  CHECK(tokens.size() > 8);  // characters are spread over tokens
  stream_decoder s(t);
  std::string all;
  for (const token_id id : tokens) {
    const std::string_view chunk = s.push(id);
    CHECK(llambda::is_utf8(chunk));
    all += chunk;
  }
  all += s.finish();
  CHECK(all == text);
}
