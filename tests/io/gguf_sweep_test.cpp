// A sound GGUF file damaged in every place: shortened to every length, every byte changed, memory refused at every
// allocation; and large or deep files, for which work, memory and stack must follow the bytes of the file, not the
// numbers in it.
#include <llambda/io/gguf.hpp>

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include "../catch.hpp"
#include "gguf_verdict.hpp"
#include "temp_dir.hpp"

namespace {

using llambda::errc;
using llambda::gguf_file;
using llambda::mapped_file;
using test::bytes;
using test::parse;
using test::verdict;

bytes entry(std::string_view name, std::uint32_t type) { return bytes().head(3, 0, 1).key(name, type); }

}  // namespace

TEST_CASE("a file that ends anywhere is an error, mapped, read or viewed", "[io][hostile]") {
  const test::temp_dir dir;
  const std::string whole = test::tiny_gguf();
  REQUIRE(verdict(whole) == "sound");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part = whole.substr(0, size);
    INFO("first " << size << " bytes");
    CHECK(verdict(part) != "sound");
    const std::string path = dir.write("part.gguf", part);
    CHECK_THROWS_AS(gguf_file::open(path), llambda::load_error);
    CHECK_THROWS_AS(gguf_file::parse(mapped_file::read(path)), llambda::load_error);
  }
}

TEST_CASE("a file damaged in any byte is an error or stays inside itself", "[io][hostile]") {
  const std::string whole = test::tiny_gguf();
  const gguf_file sound = parse(whole);
  const std::size_t index_end = static_cast<std::size_t>(sound.tensors()[0].offset);
  std::size_t refused = 0, accepted = 0;
  for (std::size_t at = 0; at < index_end; ++at) {
    const auto was = static_cast<unsigned char>(whole[at]);
    std::vector<int> values{0, 0xFF, was + 1, was - 1};
    for (int bit = 0; bit < 8; ++bit) values.push_back(was ^ 1 << bit);
    for (int value : values) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      INFO("byte " << at << " set to " << value);
      const std::string result = verdict(damaged);
      CHECK(result.find(' ') == std::string::npos);
      ++(result == "sound" ? accepted : refused);
    }
  }
  CHECK(refused > 3000);
  CHECK(accepted > 1000);
}

TEST_CASE("work and memory grow with the file, not with its numbers", "[io][hostile]") {
  bytes small_keys, empty_arrays, many_tensors;
  constexpr std::uint32_t n = 50000;
  small_keys.head(3, 0, n);
  for (std::uint32_t i = 0; i < n; ++i) small_keys.key(std::to_string(i), test::u8).num<std::uint8_t>(0);
  CHECK(verdict(small_keys) == "sound");
  empty_arrays.head(3, 0, 1).key("k", test::arr).num<std::uint32_t>(test::arr).num<std::uint64_t>(n);
  for (std::uint32_t i = 0; i < n; ++i) empty_arrays.num<std::uint32_t>(test::str).num<std::uint64_t>(0);
  CHECK(verdict(empty_arrays) == "sound");
  many_tensors.head(3, n, 0);
  for (std::uint32_t i = 0; i < n; ++i) many_tensors.tensor(std::to_string(i), {8}, 0, i * 32ull);
  CHECK(verdict(many_tensors.align(32).fill(n * 32)) == "sound");
  // Names that differ only at the end, twice the same at the very end, and garbage behind a large count.
  bytes long_keys;
  long_keys.head(3, 0, 2001);
  const std::string prefix(500, 'p');
  for (int i = 0; i < 2000; ++i) long_keys.key(prefix + std::to_string(i), test::u8).num<std::uint8_t>(0);
  CHECK(verdict(long_keys.key(prefix + "7", test::u8).num<std::uint8_t>(0)) == "duplicate_key");
  CHECK(verdict(bytes().head(3, 0, 1u << 18).fill(14u << 18)) == "bad_name");
  CHECK(verdict(bytes().head(3, 100000, 0).fill(3300000)) == "bad_name");
}

TEST_CASE("memory that runs out is an error, and the file can be opened again", "[io][hostile]") {
  const std::string whole = test::tiny_gguf();
  if (!test::counts_allocations()) return;
  int failures = 0;
  for (int nth = 1;; ++nth) {
    REQUIRE(nth < 1000);
    bool opened = false;
    errc code{};
    mapped_file file = mapped_file::view(std::as_bytes(std::span(whole.data(), whole.size())), "bad.gguf");
    test::fail_allocation(nth);
    try {
      const gguf_file parsed = gguf_file::parse(std::move(file));
      opened = true;
    } catch (const llambda::load_error& e) {
      code = e.code();
    }
    test::fail_allocation(0);
    if (opened) break;
    CHECK(code == errc::out_of_memory);
    ++failures;
  }
  CHECK(failures > 3);
  CHECK(verdict(whole) == "sound");
}

#if !defined(_WIN32)
TEST_CASE("a stack of 256 KiB is enough", "[io][hostile]") {
  std::vector<std::string> files{test::tiny_gguf()};
  bytes deep = entry("k", test::arr);
  for (int i = 0; i < 200000; ++i) deep.num<std::uint32_t>(test::arr).num<std::uint64_t>(1);
  files.push_back(deep);
  files.push_back(entry(std::string(65535, 'k'), 13));
  struct outcome {
    const std::vector<std::string>* files;
    std::size_t sound = 0, refused = 0;
  } result{&files};
  const auto run = [](void* argument) -> void* {
    auto& out = *static_cast<outcome*>(argument);
    for (const std::string& content : *out.files) {
      try {
        test::touch(parse(content));
        ++out.sound;
      } catch (const llambda::load_error&) {
        ++out.refused;
      }
    }
    return nullptr;
  };
  pthread_attr_t attributes;
  pthread_t thread;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  REQUIRE(pthread_create(&thread, &attributes, run, &result) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  CHECK(result.sound == 1);
  CHECK(result.refused == 2);
}
#endif
