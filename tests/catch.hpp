// Catch2 v2 (Debian 12) or v3 (upstream) behind one include, plus what every test needs.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace test {

/// Directory of real weights and tokenizers that are not part of the repository: $LLAMBDA_TEST_DATA, or empty.
inline std::string data_dir() {
  const char* dir = std::getenv("LLAMBDA_TEST_DATA");
  return dir ? dir : "";
}

/// Path of an optional data file, or an empty path; says on stderr that the check is skipped.
inline std::filesystem::path optional_data(const std::string& relative) {
  const std::filesystem::path path = std::filesystem::path(data_dir()) / relative;
  if (!data_dir().empty() && std::filesystem::exists(path)) return path;
  std::cerr << "skipped: no " << relative << " (set LLAMBDA_TEST_DATA to a directory that holds it)\n";
  return {};
}

/// Path of a file in the source tree.
inline std::filesystem::path source_path(const std::string& relative) {
  return std::filesystem::path(LLAMBDA_SOURCE_DIR) / relative;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace test
