// Reads tests/golden/bpe_pieces.golden: texts with their ids in bpe_tiny.gguf, and the lengths of their pieces by every
// pre-tokenizer.
#pragma once

#include "../catch.hpp"

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace test {

struct golden_text {
  std::string text;
  std::vector<int> ids;
};

struct golden_pieces {
  std::string pre;
  std::size_t text;
  std::vector<std::size_t> lengths;
};

struct golden_file {
  std::vector<golden_text> texts;
  std::vector<golden_pieces> pieces;
};

inline std::string from_hex(std::string_view hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    out += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return out;
}

template <class T> std::vector<T> numbers_of(std::istream& in) {
  std::vector<T> out;
  for (T n; in >> n;) out.push_back(n);
  return out;
}

inline golden_file read_golden_pieces() {
  golden_file out;
  std::istringstream lines(read_file(source_path("tests/golden/bpe_pieces.golden")));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second, colon;
    words >> first >> second >> colon;
    if (first == "text")
      out.texts.push_back({from_hex(second), numbers_of<int>(words)});
    else if (first != "#")
      out.pieces.push_back({first, std::stoul(second), numbers_of<std::size_t>(words)});
  }
  return out;
}

}  // namespace test
