// The rules of the house, applied to the source tree: order of the layers, who includes what, length and head of
// files, entries of the top level. The first cases show that every checker can fail.
#include "house.hpp"

#include <filesystem>
#include <set>

#include "../catch.hpp"

namespace fs = std::filesystem;

namespace {

/// Every file under `directory` of the source tree that is text of ours, as path relative to `directory`.
std::vector<std::string> files_in(const std::string& directory) {
  static const std::set<std::string> endings = {".hpp", ".h", ".cpp", ".cmake", ".in", ".py", ".sh", ".txt"};
  std::vector<std::string> found;
  const fs::path root = test::source_path(directory);
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (!entry.is_regular_file() || !endings.count(entry.path().extension().string())) continue;
    found.push_back(fs::relative(entry.path(), root).generic_string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// One message for all breaches.
void expect_none(const house::breaches& found) {
  std::string all;
  for (const std::string& breach : found) all += breach + "\n";
  INFO(all);
  CHECK(found.empty());
}

template <class Checker>
house::breaches over_headers(Checker check) {
  house::breaches all;
  for (const std::string& path : files_in("include/llambda")) {
    const std::string text = test::read_file(test::source_path("include/llambda/" + path));
    for (std::string& breach : check(path, text)) all.push_back(std::move(breach));
  }
  return all;
}

}  // namespace

TEST_CASE("house: the include checker finds each kind of breach") {
  using house::check_includes;
  CHECK(check_includes("quant/x.hpp", "#include <llambda/simd/arch.hpp>\n#include <vector>\n").empty());
  CHECK(check_includes("quant/x.hpp", "#include <llambda/quant/y.hpp>\n").empty());
  CHECK(check_includes("simd/x.hpp", "#include <llambda/quant/y.hpp>\n").size() == 1);   // a later layer
  CHECK(check_includes("simd/x.hpp", "  #  include <llambda/quant/y.hpp> // why\n").size() == 1);
  CHECK(check_includes("core/x.hpp", "#include <llambda/llambda.hpp>\n").size() == 1);   // the umbrella
  CHECK(check_includes("core/x.hpp", "#include <llambda/nowhere/y.hpp>\n").size() == 1);
  CHECK(check_includes("core/x.hpp", "#include \"y.hpp\"\n").size() == 1);
  CHECK(check_includes("elsewhere/x.hpp", "").size() == 1);
  CHECK(check_includes("llambda.hpp", "#include <llambda/generate/y.hpp>\n").empty());
  CHECK(check_includes("core/hana.hpp", "#include <boost/hana/tuple.hpp>\n").empty());
  CHECK(check_includes("tensor/x.hpp", "#include <boost/hana.hpp>\n").size() == 1);
  CHECK(check_includes("simd/x.hpp", "#include <xsimd/xsimd.hpp>\n#include <immintrin.h>\n").empty());
  CHECK(check_includes("kernels/x.hpp", "#include <xsimd/xsimd.hpp>\n#include <immintrin.h>\n").size() == 2);
  CHECK(check_includes("core/barrier.hpp", "#include <immintrin.h>\n").empty());
  CHECK(check_includes("core/x.hpp", "#include <xmmintrin.h>\n").size() == 1);
}

TEST_CASE("house: the other checkers find each kind of breach") {
  CHECK(house::check_head("x.hpp", "// What.\n// Why.\n#pragma once\n").empty());
  CHECK(house::check_head("x.hpp", "// What.\n#pragma once\n// later\n").size() == 1);
  CHECK(house::check_head("x.hpp", "// What.\n// Why.\n").size() == 1);
  CHECK(house::check_head("x.hpp", "\n// What.\n// Why.\n#pragma once\n").size() == 1);
  CHECK(house::check_length("x", "1\n2\n3\n", 3).empty());
  CHECK(house::check_length("x", "1\n2\n3\n4", 3).size() == 1);
  CHECK(house::check_length("x", std::string(400, '\n')).empty());
  CHECK(house::check_length("x", std::string(401, '\n')).size() == 1);
  CHECK(house::check_no_isa("x", "// __AVX2__\nint i;\n#ifdef FOO\n").empty());
  CHECK(house::check_no_isa("x", "#ifdef __AVX2__\n").size() == 1);
  CHECK(house::check_no_isa("x", " #  if defined(__AVX512F__) && 1\n").size() == 1);
  CHECK(house::check_no_isa("x", "#if LLAMBDA_HAS_AVX512\n").size() == 1);
  CHECK(house::check_top_level("include").empty());
  CHECK(house::check_top_level(".github").empty());
  CHECK(house::check_top_level("build-asan").empty());
  CHECK(house::check_top_level("src").size() == 1);
  CHECK(house::check_top_level("notes.md").size() == 1);
  CHECK(house::header_of_test("quant/q8_0_test.cpp") == "quant/q8_0.hpp");
  CHECK(house::header_of_test("house/house_test.cpp").empty());
  CHECK(house::header_of_test("quant/helper.hpp").empty());
}

TEST_CASE("house: headers include their own layer or earlier ones") {
  CHECK(files_in("include/llambda").size() > 50);  // the walk sees the tree
  expect_none(over_headers(house::check_includes));
}

TEST_CASE("house: headers begin with what they are and are guarded") { expect_none(over_headers(house::check_head)); }

TEST_CASE("house: files are short") {
  house::breaches all;
  for (const std::string directory : {"include", "tests", "examples", "bench", "configs"}) {
    if (!fs::exists(test::source_path(directory))) continue;
    for (const std::string& path : files_in(directory)) {
      const std::string name = directory + "/" + path;
      const std::string text = test::read_file(test::source_path(name));
      for (std::string& breach : house::check_length(name, text)) all.push_back(std::move(breach));
      for (const std::string& word : house::check_length(name, text, house::target_lines)) {
        std::cerr << "note: " << word << '\n';
      }
    }
  }
  expect_none(all);
}

TEST_CASE("house: no instruction set is named outside simd/ and core/") {
  expect_none(over_headers([](std::string_view path, std::string_view text) -> house::breaches {
    const std::string_view layer = house::first_directory(path);
    return layer == "simd" || layer == "core" ? house::breaches{} : house::check_no_isa(path, text);
  }));
}

TEST_CASE("house: the top level has its fixed entries") {
  house::breaches all;
  for (const auto& entry : fs::directory_iterator(test::source_path("."))) {
    for (std::string& breach : house::check_top_level(entry.path().filename().string())) all.push_back(std::move(breach));
  }
  expect_none(all);
}

TEST_CASE("house: tests mirror headers") {  // a report: a test may speak of several headers
  for (const std::string& path : files_in("tests")) {
    const std::string header = house::header_of_test(path);
    if (!header.empty() && !fs::exists(test::source_path("include/llambda/" + header))) {
      std::cerr << "note: tests/" << path << ": there is no include/llambda/" << header << '\n';
    }
  }
}
