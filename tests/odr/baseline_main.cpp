// The baseline flavour alone: its code and what it instantiates of the standard library must run on any x86-64.
// Run under an emulated CPU without AVX where an emulator is installed.
#include "flavour.hpp"

int main() { return flavour_scalar().logits[0] == 0.0f; }
