// What one flavour of the library says of itself: compiled for an instruction set, callable from any unit.
#pragma once

#include <array>
#include <cstddef>

struct flavour_report {
  std::array<std::size_t, 16> sizes;  // of public types: they must not depend on flags
  std::array<float, 8> logits;        // of a tiny model: the same bits from every flavour
};

flavour_report flavour_scalar();
flavour_report flavour_avx2();
