// Two instruction sets in one program: same sizes of all public types, same bits of the logits.
// A symbol shared between them would run one flavour's code with the other's types.
#include "flavour.hpp"

#include <cstdio>
#include <cstring>

int main() {
  const flavour_report scalar = flavour_scalar(), avx2 = flavour_avx2();
  int faults = 0;
  for (std::size_t i = 0; i < scalar.sizes.size(); ++i) {
    if (scalar.sizes[i] == avx2.sizes[i]) continue;
    std::fprintf(stderr, "size %zu: %zu scalar, %zu avx2\n", i, scalar.sizes[i], avx2.sizes[i]);
    ++faults;
  }
  for (std::size_t i = 0; i < scalar.logits.size(); ++i) {
    const float a = scalar.logits[i], b = avx2.logits[i];
    if (std::memcmp(&a, &b, sizeof a) == 0 && a - a == 0.0f && a != 0.0f) continue;
    std::fprintf(stderr, "logit %zu: %a scalar, %a avx2\n", i, static_cast<double>(a), static_cast<double>(b));
    ++faults;
  }
  return faults;
}
