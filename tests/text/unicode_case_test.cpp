// Upper and lower case of every character, against Python's str (Unicode 14): a hash over all of them, and examples.
//   h = 0xCBF29CE484222325
//   for c in every character: low = chr(c).lower(), kept where it is one character; likewise up
//     h = (h ^ low) * 0x100000001B3 mod 2^64, then the same with up
#include "../catch.hpp"

#include <llambda/text/unicode_case.hpp>

#include <cstdint>

using llambda::lower_case;
using llambda::upper_case;

TEST_CASE("case of every character is Python's", "[unicode]") {
  std::uint64_t h = 0xCBF29CE484222325;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    h = (h ^ lower_case(c)) * 0x100000001B3;
    h = (h ^ upper_case(c)) * 0x100000001B3;
  }
  CHECK(h == 0x9F3C3705C9F9720C);
  CHECK(upper_case(U'é') == U'É');
  CHECK(lower_case(U'Ж') == U'ж');
  CHECK(upper_case(U'ÿ') == U'Ÿ');
  CHECK(lower_case(U'Σ') == U'σ');
  CHECK(upper_case(U'ς') == U'Σ');
  CHECK(upper_case(U'ß') == U'ß');  // two characters: the caller's affair
  CHECK(upper_case(U'日') == U'日');
}
