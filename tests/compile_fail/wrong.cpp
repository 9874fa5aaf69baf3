// Cases that check.cmake must complain about: it is tested with them.
#ifndef BROKEN
#define BROKEN 0
#endif

// case 1: llambda: this sentence
static_assert(BROKEN != 1, "llambda: another sentence");
// case 2: llambda: nothing here fails
// case 3: no prefix
static_assert(BROKEN != 3, "no prefix");
