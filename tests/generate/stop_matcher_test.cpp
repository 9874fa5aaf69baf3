// Stop strings over every cut of a text into pieces, against a search of the whole text.
#include <llambda/generate/stop_matcher.hpp>

#include <random>
#include <string>
#include <vector>

#include "../catch.hpp"
#include "../io/alloc_count.hpp"

using llambda::stop_matcher;
using strings = std::vector<std::string>;

namespace {

struct outcome {
  std::string shown;
  bool matched = false;
  std::vector<std::string> pieces{};  // what each push showed
};

outcome run(const strings& stops, const strings& pieces) {
  stop_matcher m(stops);
  outcome out;
  for (const std::string& piece : pieces) {
    out.pieces.emplace_back(m.push(piece));
    out.shown += out.pieces.back();
    if ((out.matched = m.matched())) break;
  }
  out.shown += m.finish();
  return out;
}

/// By definition: the first end of a stop string in the whole text, of those that end there the longest.
outcome search(const strings& stops, const std::string& text) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t longest = 0;
    for (const std::string& s : stops) {
      if (s.size() <= end && text.compare(end - s.size(), s.size(), s) == 0) longest = std::max(longest, s.size());
    }
    if (longest != 0) return {text.substr(0, end - longest), true};
  }
  return {text, false};
}

std::string code_of(const strings& stops) {
  try {
    stop_matcher m(stops);
  } catch (const llambda::error& e) {
    return std::string(llambda::errc_name(e.code()));
  }
  return "none";
}

}  // namespace

TEST_CASE("stop strings across pieces") {
  CHECK(run({"STOP"}, {"a S", "T", "OP b"}).shown == "a ");
  CHECK(run({"STOP"}, {"a S", "T", "OX b"}).shown == "a STOX b");
  CHECK(run({"STOP"}, {"STO", "STOP"}).shown == "STO");
  CHECK(run({"STOP"}, {"no"}).matched == false);
  CHECK(run({}, {"a", "b"}).shown == "ab");
  CHECK(run({"aab"}, {"a", "a", "a", "b"}).shown == "a");
  CHECK(run({"\n\n"}, {"x\n", "y\n", "\nz"}).shown == "x\ny");
  CHECK(run({"bc", "abc"}, {"xabc"}).shown == "x");      // complete with the same byte: the longest
  CHECK(run({"abcd", "bc"}, {"xab", "cd"}).shown == "xa");  // complete first
  CHECK(run({"é!"}, {"é", "é!"}).shown == "é");
}

TEST_CASE("only what can still become a stop string waits") {
  CHECK(run({"STOP"}, {"a S", "T", "x", "y"}).pieces == strings{"a ", "", "STx", "y"});
  CHECK(run({"aab"}, {"a", "a", "a", "c"}).pieces == strings{"", "", "a", "aac"});
  CHECK(run({"\nUser:"}, {"one\n", "two"}).pieces == strings{"one", "\ntwo"});
  stop_matcher m({"ab"});  // a second stream
  m.push("xab");
  CHECK(m.matched());
  CHECK(m.push("later").empty());
  CHECK(m.finish().empty());
  CHECK_FALSE(m.matched());
  CHECK(m.push("ya") == "y");
  CHECK(m.finish() == "a");
}

TEST_CASE("stop strings that are no text are refused") {
  CHECK(code_of({"fine", "é"}) == "none");
  CHECK(code_of({"fine", ""}) == "bad_argument");
  CHECK(code_of({"\xC3"}) == "bad_argument");
  CHECK(code_of({"\xA9"}) == "bad_argument");
}

TEST_CASE("random texts, stop strings and cuts against a search of the whole") {
  std::mt19937 random(4);
  int differ = 0, matched = 0;
  for (int round = 0; round < 20000; ++round) {
    const auto text_of = [&](std::size_t n) {
      std::string s;
      while (n-- > 0) s += std::vector<const char*>{"a", "b", "é", "😀"}[random() % (round % 2 == 0 ? 2 : 4)];
      return s;
    };
    strings stops(random() % 4);
    for (std::string& s : stops) s = text_of(1 + random() % 5);
    strings pieces(random() % 12);
    std::string whole;
    for (std::string& p : pieces) whole += p = text_of(random() % 5);
    const outcome got = run(stops, pieces), want = search(stops, whole);
    differ += got.shown != want.shown || got.matched != want.matched;
    matched += want.matched;
    std::size_t arrived = 0, shown = 0;
    for (std::size_t i = 0; i < got.pieces.size() && !(want.matched && i + 1 == got.pieces.size()); ++i) {
      arrived += pieces[i].size();
      shown += got.pieces[i].size();
      bool needed = arrived == shown;  // what waits is the beginning of a stop string
      for (const std::string& s : stops) needed |= s.starts_with(whole.substr(shown, arrived - shown));
      differ += !needed;
    }
  }
  CHECK(differ == 0);
  CHECK(matched > 5000);
}

TEST_CASE("push allocates nothing") {
  if (!test::counts_allocations()) return;
  stop_matcher m({"stop", "a long stop string"}, 40);
  const std::string piece = "some text and a long st";
  const std::size_t before = test::bytes_asked();
  for (int i = 0; i < 100; ++i) m.push(piece);
  m.finish();
  CHECK(test::bytes_asked() == before);
}
