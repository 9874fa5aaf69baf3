// A string as a template argument: names trace points at compile time.
// The type carries the characters, so that a point that is switched off leaves no string behind.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

template <std::size_t N>
struct fixed_string {
  char text[N]{};

  constexpr fixed_string(const char (&literal)[N]) noexcept {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const noexcept { return {text, N - 1}; }
  constexpr bool operator==(const fixed_string&) const = default;
};

}  // namespace llambda::inline LLAMBDA_ABI
