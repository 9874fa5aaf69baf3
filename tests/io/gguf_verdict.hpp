// What becomes of a possibly hostile GGUF file, as one word, for the tests that build such files.
#pragma once

#include <llambda/io/gguf.hpp>

#include <cstddef>
#include <span>
#include <string>

#include "../catch.hpp"
#include "alloc_count.hpp"
#include "gguf_builder.hpp"
#include "gguf_touch.hpp"

namespace test {

inline llambda::gguf_file parse(const std::string& content) {
  return llambda::gguf_file::parse(
      llambda::mapped_file::view(std::as_bytes(std::span(content.data(), content.size())), "bad.gguf"));
}

/// Name of the error code that a file ends in, "sound" when it opens and everything in it can be touched. Anything but
/// a load_error goes through. Memory asked for stays in proportion to the file.
inline std::string verdict(const std::string& content, std::string* subject = nullptr) {
  const std::size_t before = bytes_asked();
  std::string result = "sound";
  try {
    const llambda::gguf_file file = parse(content);
    CHECK(bytes_asked() - before <= 4 * content.size() + (1u << 20));
    touch(file);
    return result;
  } catch (const llambda::load_error& e) {
    result = llambda::errc_name(e.code());
    if (subject) *subject = e.subject();
    if (e.path() != "bad.gguf" || e.expected().empty() || e.got().empty()) result += " with a poor message";
  }
  CHECK(bytes_asked() - before <= 4 * content.size() + (1u << 20));
  return result;
}

}  // namespace test
