// Which tokens stand for a sequence breaker, in a vocabulary made by hand.
#include <llambda/sample/sequence_breakers.hpp>

#include <string>
#include <vector>

#include "../catch.hpp"
#include "../text/tiny_vocab.hpp"

using llambda::sequence_breakers;
using llambda::token_id;
using sequences = std::vector<std::vector<token_id>>;

TEST_CASE("sequence breakers") {
  const token_id first = test::byte_id(256);
  const std::vector<std::string> texts = {"a:", "b", "x", "yx", ":y", test::bar, test::bar + ":"};
  std::vector<test::entry> entries;
  for (const std::string& t : texts) entries.push_back({t});
  const llambda::tokenizer tokens(test::tiny_vocab(entries));
  const auto of = [&](const std::vector<std::string>& t) { return sequence_breakers(tokens, t); };
  const token_id colon = test::byte_id(':');

  CHECK(of({":"}) == sequences{{colon}, {first}, {first + 4}, {first + 6}});
  CHECK(of({":", ":"}) == of({":"}));
  CHECK(of({"\n"}) == sequences{{test::byte_id('\n')}});
  CHECK(of({}).empty());
  // ":x" within no token: it begins at the end of "a:", " :" or ":", and goes on with x
  CHECK(of({":x"}) == sequences{{colon, first + 2}, {first, first + 2}, {first + 6, first + 2}});
  CHECK(test::code_of([&] { of({":", ""}); }) == "bad_argument");
}
