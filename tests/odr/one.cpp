// Includes everything and compares what it sees with two.cpp; no duplicate symbol when linked, one address each.
#include "everything.hpp"

#include <cstdio>

int main() {
  if (addresses() == addresses_in_two()) return 0;
  std::fputs("the two translation units disagree about an inline function\n", stderr);
  return 1;
}
