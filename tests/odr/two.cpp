// Includes everything a second time, after other headers and in another unit.
#include <vector>

#include "everything.hpp"

std::array<address, 8> addresses_in_two() { return addresses(); }
