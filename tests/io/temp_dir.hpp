// A directory of its own for a test, removed with everything in it at the end.
#pragma once

#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

namespace test {

class temp_dir {
 public:
  temp_dir() {
    std::random_device seed;
    do {
      root_ = std::filesystem::temp_directory_path() / ("llambda-test-" + std::to_string(seed()));
    } while (!std::filesystem::create_directory(root_));
  }
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;
  ~temp_dir() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  /// Path of `name` inside; of the directory itself for an empty name.
  std::string path(std::string_view name) const { return name.empty() ? root_.string() : (root_ / name).string(); }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::filesystem::path root_;
};

}  // namespace test
