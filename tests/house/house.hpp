// The rules of the house as functions on text, so that each can be shown to fail (house_test.cpp applies them).
// A checker returns one sentence a breach; none means the text keeps the rule.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace house {

using breaches = std::vector<std::string>;

/// Layers from the bottom up: a header includes its own layer and those before it.
inline constexpr std::array<std::string_view, 13> layers = {
    "core", "config", "simd", "quant", "tensor", "kernels", "runtime", "model", "arch", "io", "text", "sample",
    "generate"};

/// Position of a layer, or layers.size() for a name that is none.
inline std::size_t layer_index(std::string_view name) {
  return static_cast<std::size_t>(std::find(layers.begin(), layers.end(), name) - layers.begin());
}

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// The first directory of a path, or an empty view for a file that is in none.
inline std::string_view first_directory(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

/// What the #include lines name, with the brackets or quotes: "<vector>".
inline std::vector<std::string_view> includes_of(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::string_view line : lines_of(text)) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || line[hash] != '#') continue;
    const std::size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string_view::npos || line.substr(word, 7) != "include") continue;
    const std::size_t begin = line.find_first_of("<\"", word);
    if (begin == std::string_view::npos) continue;
    const std::size_t end = line.find_first_of(">\"", begin + 1);
    found.push_back(line.substr(begin, end == std::string_view::npos ? end : end + 1 - begin));
  }
  return found;
}

/// Is it an intrinsics header of the compiler: <immintrin.h>, <xmmintrin.h>, <x86intrin.h>?
inline bool is_intrinsics(std::string_view include) { return include.ends_with("intrin.h>"); }

/// Includes of one header. `path` is relative to include/llambda: "quant/q8_0.hpp".
inline breaches check_includes(std::string_view path, std::string_view text) {
  breaches found;
  const std::string_view layer = first_directory(path);
  const std::size_t own = layer_index(layer);
  const bool umbrella = path == "llambda.hpp";
  const auto report = [&](std::string_view what, std::string_view rule) {
    found.push_back(std::string(path) + ": includes " + std::string(what) + ": " + std::string(rule));
  };
  if (!umbrella && own == layers.size()) found.push_back(std::string(path) + ": not in a layer's directory");
  for (std::string_view include : includes_of(text)) {
    if (include.front() == '"') report(include, "headers are included as <llambda/...>");
    constexpr std::string_view ours = "<llambda/";
    if (include.starts_with(ours)) {
      const std::string_view target = include.substr(ours.size(), include.size() - ours.size() - 1);
      const std::size_t other = layer_index(first_directory(target));
      if (target == "llambda.hpp") report(include, "the umbrella is for users");
      else if (other == layers.size()) report(include, "no such layer");
      else if (!umbrella && other > own) report(include, "a header includes its own layer or earlier ones");
    }
    if (include.find("boost/hana") != std::string_view::npos && path != "core/hana.hpp") {
      report(include, "Hana comes through core/hana.hpp");
    }
    if (include.find("xsimd/") != std::string_view::npos && layer != "simd") report(include, "xsimd belongs to simd/");
    if (is_intrinsics(include) && layer != "simd" && path != "core/barrier.hpp" && path != "core/fp_env.hpp") {
      report(include, "intrinsics belong to simd/");
    }
  }
  return found;
}

/// A header begins with a comment of 2 lines or more and is guarded by #pragma once.
inline breaches check_head(std::string_view path, std::string_view text) {
  breaches found;
  std::size_t comment = 0;
  bool guarded = false;
  bool at_head = true;
  for (std::string_view line : lines_of(text)) {
    at_head = at_head && line.starts_with("//");
    comment += at_head;
    guarded = guarded || line == "#pragma once";
  }
  if (comment < 2) found.push_back(std::string(path) + ": begins with a comment of at least 2 lines: what is here and why");
  if (!guarded) found.push_back(std::string(path) + ": has no #pragma once");
  return found;
}

inline constexpr std::size_t most_lines = 400;    // a breach
inline constexpr std::size_t target_lines = 250;  // worth a word

inline breaches check_length(std::string_view path, std::string_view text, std::size_t most = most_lines) {
  const std::size_t lines = lines_of(text).size();
  if (lines <= most) return {};
  return {std::string(path) + ": " + std::to_string(lines) + " lines, at most " + std::to_string(most)};
}

/// Kernels are the same text for every instruction set: what differs is an atom in simd/.
inline breaches check_no_isa(std::string_view path, std::string_view text) {
  breaches found;
  for (std::string_view line : lines_of(text)) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string_view::npos || line[hash] != '#') continue;
    for (std::string_view word : {"__AVX", "__SSE", "__FMA__", "__F16C__", "__ARM_NEON", "LLAMBDA_HAS_AVX"}) {
      if (line.find(word) != std::string_view::npos) {
        found.push_back(std::string(path) + ": " + std::string(line) + ": instruction sets differ in simd/ only");
        break;
      }
    }
  }
  return found;
}

/// The top level holds these, dot files and build directories.
inline breaches check_top_level(std::string_view name) {
  constexpr std::array<std::string_view, 11> allowed = {
      "CMakeLists.txt", "include", "tests", "examples", "bench", "configs", "LICENSE", "README.md", "CHANGELOG.md",
      "HACKING.md", "CMakePresets.json"};
  if (name.starts_with(".") || name.starts_with("build")) return {};
  if (name == "compile_commands.json" || name == "CMakeUserPresets.json") return {};  // never committed
  if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) return {};
  return {std::string(name) + ": not an entry of the top level"};
}

/// The header a test file speaks of: "quant/q8_0_test.cpp" -> "quant/q8_0.hpp"; empty for other files.
inline std::string header_of_test(std::string_view path) {
  constexpr std::string_view suffix = "_test.cpp";
  if (!path.ends_with(suffix) || layer_index(first_directory(path)) == layers.size()) return {};
  return std::string(path.substr(0, path.size() - suffix.size())) + ".hpp";
}

}  // namespace house
