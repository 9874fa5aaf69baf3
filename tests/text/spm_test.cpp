// The SentencePiece encoder: order of merges, byte fallback, long runs on a small stack, and agreement with a plain
// quadratic version of the same rule on random vocabularies and texts.
#include "../catch.hpp"
#include "small_stack.hpp"
#include "tiny_vocab.hpp"

#include <llambda/text/spm.hpp>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

using llambda::token_id;
using llambda::token_kind;
using test::bar;
using test::byte_id;
using ids = std::vector<token_id>;

namespace {

constexpr token_id first = 259;  // of the entries after 3 specials and 256 bytes

ids encode(const llambda::vocab& v, std::string_view text, bool prefix = false) {
  ids out;
  llambda::spm_encoder(v).encode(text, prefix, out);
  return out;
}

std::string decode(const llambda::spm_encoder& e, const ids& tokens) {
  std::string out;
  for (const token_id id : tokens) out += e.pieces()[static_cast<std::size_t>(id)];
  return out;
}

// The rule as it is told: look at all pairs, merge the best, leftmost on ties, begin again.
ids plain_rule(const llambda::vocab& v, std::string text) {
  std::map<std::string, token_id> known;
  std::map<int, token_id> bytes;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const auto id = static_cast<token_id>(i);
    if (v.kinds[i] == token_kind::byte) bytes.emplace(llambda::byte_token_value(v.texts[i]), id);
    if (v.kinds[i] == token_kind::normal && !v.texts[i].empty()) known.emplace(std::string(v.texts[i]), id);
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t n = llambda::decode_utf8(text, i).length;
    if (llambda::decode_utf8(text, i).status != llambda::utf8_status::valid) n = 1;
    const std::string one = text.substr(i, n);
    parts.push_back(one == " " ? bar : one);
    i += n;
  }
  for (;;) {
    std::size_t best = parts.size();
    float best_score = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto hit = known.find(parts[i] + parts[i + 1]);
      if (hit == known.end()) continue;
      const float score = v.scores[static_cast<std::size_t>(hit->second)];
      if (best == parts.size() || score > best_score) {
        best = i;
        best_score = score;
      }
    }
    if (best == parts.size()) break;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  ids out;
  for (std::string part : parts) {
    if (known.count(part) != 0) {
      out.push_back(known[part]);
      continue;
    }
    ids fallback;
    if (part == bar) part = " ";  // the byte token of what is meant
    for (const char c : part) {
      const auto hit = bytes.find(static_cast<unsigned char>(c));
      if (hit != bytes.end()) fallback.push_back(hit->second);
    }
    if (fallback.size() != part.size()) fallback = {v.unk};
    out.insert(out.end(), fallback.begin(), fallback.end());
  }
  return out;
}

}  // namespace

TEST_CASE("the best score merges first, not the leftmost pair", "[spm]") {
  const auto v = test::tiny_vocab({{"a"}, {"b"}, {"c"}, {"bc", -1}, {"ab", -2}});
  CHECK(encode(v, "abc") == ids{first, first + 3});
}

TEST_CASE("equal scores merge from the left", "[spm]") {
  const auto v = test::tiny_vocab({{"a"}, {"b"}, {"c"}, {"bc", -1}, {"ab", -1}, {"aa", -3}});
  CHECK(encode(v, "abc") == ids{first + 4, first + 2});
  CHECK(encode(v, "aaa") == ids{first + 5, first});
  CHECK(encode(v, "aaaaa") == ids{first + 5, first + 5, first});
}

TEST_CASE("merges build on merges", "[spm]") {
  const auto v = test::tiny_vocab({{"a"}, {"b"}, {"ab", -1}, {"abab", -2}, {"ababab", 5}, {"ba", -0.5f}});
  CHECK(encode(v, "ab") == ids{first + 2});
  CHECK(encode(v, "abab") == plain_rule(v, "abab"));
  CHECK(encode(v, "abababab") == plain_rule(v, "abababab"));
}

TEST_CASE("spaces, prefix and U+2581", "[spm]") {
  const auto v = test::tiny_vocab({{bar}, {"a"}, {bar + "a", 1}, {bar + bar, 2}});
  CHECK(encode(v, "a", true) == ids{first + 2});
  CHECK(encode(v, "a", false) == ids{first + 1});
  CHECK(encode(v, " a", true) == ids{first + 3, first + 1});
  CHECK(encode(v, " a", false) == ids{first + 2});
  CHECK(encode(v, bar + "a") == ids{first + 2});
  CHECK(encode(v, "", true).empty());
}

TEST_CASE("characters without a token", "[spm]") {
  SECTION("become byte tokens") {
    const auto v = test::tiny_vocab({{"a"}, {"<0x62>", 0, token_kind::byte}});
    CHECK(encode(v, "b") == ids{byte_id('b')});  // the first of two byte tokens
    CHECK(encode(v, "\xF0\x9F\x98\x80") == ids{byte_id(0xF0), byte_id(0x9F), byte_id(0x98), byte_id(0x80)});
    CHECK(encode(v, std::string(1, '\0')) == ids{byte_id(0)});
  }
  SECTION("ill-formed bytes too, one by one") {
    const auto v = test::tiny_vocab({{"a"}});
    CHECK(encode(v, "\xE6\xAD") == ids{byte_id(0xE6), byte_id(0xAD)});
    CHECK(encode(v,
                 "\xC3"
                 "a") == ids{byte_id(0xC3), first});
    CHECK(encode(v, "\xFF\x80") == ids{byte_id(0xFF), byte_id(0x80)});
  }
  SECTION("become one unknown token each without byte tokens") {
    const auto v = test::tiny_vocab({{"a"}}, false);
    CHECK(encode(v,
                 "\xE4\xB8\xAD"
                 "a\xE4\xB8\xAD") == ids{0, 3, 0});
  }
  SECTION("are an error without an unknown token") {
    auto v = test::tiny_vocab({{"a"}}, false);
    v.unk = llambda::token_none;
    CHECK(encode(v, "a") == ids{3});
    CHECK(test::code_of([&] { encode(v, "b"); }) == "bad_vocabulary");
  }
}

TEST_CASE("text never merges into control, byte, unknown, unused or empty tokens", "[spm]") {
  const auto v = test::tiny_vocab({{"<"},
                                   {"s"},
                                   {">"},
                                   {"<s", 1},
                                   {"s>", 1},
                                   {"<0", 1},
                                   {"0x", 1},
                                   {"<0x", 1},
                                   {"41", 1},
                                   {"<0x41", 1},
                                   {"", 9},
                                   {"zz", 9, token_kind::unused},
                                   {"", 9}});
  for (const char* text : {"<s>", "</s>", "<unk>", "<0x41>", "zz"}) {
    for (const token_id id : encode(v, text)) {
      const bool byte = id >= 3 && id < 259;
      CHECK((id >= 259 || byte));
      CHECK(id != byte_id(0x41));
      CHECK(v.kinds[static_cast<std::size_t>(id)] != token_kind::unused);
      CHECK_FALSE(v.texts[static_cast<std::size_t>(id)].empty());
    }
    CHECK(decode(llambda::spm_encoder(v), encode(v, text)) == text);
  }
}

TEST_CASE("agreement with the plain rule", "[spm]") {
  std::mt19937 random(11);
  const std::vector<std::string> alphabet = {"a", "b", "c", " ", " ", "\xC3\xA9", "\xE4\xB8\xAD", bar, "\xFF", "\xE6"};
  int differ = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto word = [&](std::size_t longest) {
      std::string out;
      for (std::size_t n = random() % (longest + 1); n-- > 0;) out += alphabet[random() % alphabet.size()];
      return out;
    };
    std::vector<test::entry> entries;
    const bool space_inside = round % 2 == 0;
    for (std::size_t n = random() % 40; n-- > 0;) {
      std::string text;
      for (const char c : word(4)) text += c == ' ' ? bar : std::string(1, c);
      if (!space_inside && text.find(bar, 1) != text.npos) continue;
      const auto score = static_cast<float>(static_cast<int>(random() % 6) - 3);
      entries.push_back({text, score, random() % 9 == 0 ? token_kind::control : token_kind::normal});
    }
    const auto v = test::tiny_vocab(entries, round % 3 != 0);
    const std::string text = word(30);
    differ += encode(v, text) != plain_rule(v, text);
    differ += encode(v, text, true) != (text.empty() ? ids{} : plain_rule(v, " " + text));
  }
  CHECK(differ == 0);
}

TEST_CASE("runs of a million characters on a small stack (B29)", "[spm]") {
  std::vector<test::entry> entries = {{"\n"}, {"1"}, {"\xE4\xB8\xAD"}, {"A"}, {bar}, {"."}};
  for (int length = 2; length <= 64; length *= 2) {  // "AA", "AAAA", ... as real vocabularies have
    for (const std::string& one : {std::string("A"), bar, std::string("."), std::string("\xE4\xB8\xAD")}) {
      std::string text;
      for (int i = 0; i < length; ++i) text += one;
      entries.push_back({text, static_cast<float>(-length)});
    }
  }
  const auto v = test::tiny_vocab(entries);
  const llambda::spm_encoder encoder(v);
  for (const char* unit : {"A", " ", ".", "\n", "\xE4\xB8\xAD", "1", "'", "\xCC\x81"}) {
    std::string text;
    for (int i = 0; i < test::long_run; ++i) text += unit;
    ids out;
    test::on_small_stack([&] { encoder.encode(text, false, out); });
    CHECK(decode(encoder, out) == text);
    if (*unit == 'A') CHECK(out.size() == static_cast<std::size_t>(test::long_run + 63) / 64);
  }
}
