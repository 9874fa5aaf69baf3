// Mapped, read and viewed bytes; what is refused; interrupted and short reads.
#include <llambda/io/mmap.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#if !defined(_WIN32)
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "../catch.hpp"
#include "temp_dir.hpp"

namespace {

using llambda::mapped_file;

std::string text_of(const mapped_file& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

llambda::load_error refusal(mapped_file (*how)(const std::string&), const std::string& path) {
  try {
    how(path);
  } catch (const llambda::load_error& e) {
    return e;
  }
  FAIL(path << " was not refused");
  throw 0;
}

}  // namespace

TEST_CASE("a file is mapped or read", "[io]") {
  const test::temp_dir dir;
  std::string content(100000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7);
  const std::string path = dir.write("file", content);
  for (auto* how : {&mapped_file::map, &mapped_file::read}) {
    const mapped_file file = how(path);
    CHECK(file.path() == path);
    CHECK(text_of(file) == content);
    file.will_need();
    file.dont_need(0, content.size());
    file.dont_need(5000, 20000);
    file.dont_need(99999, 1000000);
    file.dont_need(1000000, 1);
    file.dont_need(1, (std::numeric_limits<std::size_t>::max)());
    CHECK(text_of(file) == content);  // hints never change what is read
  }
  CHECK(reinterpret_cast<std::uintptr_t>(mapped_file::read(path).bytes().data()) % 64 == 0);
}

TEST_CASE("an empty file has no bytes", "[io]") {
  const test::temp_dir dir;
  const std::string path = dir.write("empty", "");
  CHECK(mapped_file::map(path).bytes().empty());
  CHECK(mapped_file::read(path).bytes().empty());
  mapped_file::map(path).will_need();
  mapped_file::map(path).dont_need(0, 1);
}

TEST_CASE("bytes elsewhere are viewed, not copied", "[io]") {
  const std::vector<std::byte> weights(100, std::byte{3});
  const mapped_file file = mapped_file::view(weights, "embedded");
  CHECK(file.bytes().data() == weights.data());
  CHECK(file.bytes().size() == 100);
  CHECK(file.path() == "embedded");
  file.dont_need(0, 100);
  CHECK(weights[50] == std::byte{3});
}

TEST_CASE("moves keep the address of the bytes", "[io]") {
  const test::temp_dir dir;
  const std::string path = dir.write("file", "hello"), other = dir.write("other", "world!");
  for (auto* how : {&mapped_file::map, &mapped_file::read}) {
    mapped_file a = how(path);
    const std::byte* at = a.bytes().data();
    mapped_file b(std::move(a));
    CHECK(b.bytes().data() == at);
    CHECK(b.path() == path);
    mapped_file c = how(other);
    c = std::move(b);
    CHECK(c.bytes().data() == at);
    CHECK(text_of(c) == "hello");
    mapped_file& self = c;
    c = std::move(self);
    CHECK(text_of(c) == "hello");
    c = mapped_file();
    CHECK(c.bytes().empty());
  }
}

TEST_CASE("only regular files that can be read are taken", "[io]") {
  const test::temp_dir dir;
  for (auto* how : {&mapped_file::map, &mapped_file::read}) {
    const auto missing = refusal(how, dir.path("missing"));
    CHECK(missing.code() == llambda::errc::io_error);
    CHECK(missing.path() == dir.path("missing"));
    CHECK(refusal(how, dir.path("")).code() == llambda::errc::io_error);
    CHECK(refusal(how, "").code() == llambda::errc::io_error);
#if !defined(LLAMBDA_NO_MMAP)
    CHECK(missing.got() == std::generic_category().message(ENOENT));
    CHECK(refusal(how, dir.path("")).got() == std::generic_category().message(EISDIR));
    CHECK(refusal(how, std::string("/dev/null\0x", 11)).code() == llambda::errc::io_error);
    const std::string fifo = dir.path("fifo");
    if (::access(fifo.c_str(), F_OK) != 0) REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(refusal(how, fifo).code() == llambda::errc::io_error);  // and does not wait for a writer
    CHECK(refusal(how, "/dev/null").code() == llambda::errc::io_error);
    if (::geteuid() != 0) {  // root reads everything
      const std::string closed = dir.write("closed", "x");
      ::chmod(closed.c_str(), 0);
      CHECK(refusal(how, closed).got() == std::generic_category().message(EACCES));
    }
#endif
  }
}

#if !defined(LLAMBDA_NO_MMAP)
TEST_CASE("refusals and loads leave no descriptor open", "[io]") {
  const test::temp_dir dir;
  const std::string path = dir.write("file", "hello");
  const int before = ::dup(0);
  ::close(before);
  for (int i = 0; i < 20; ++i) {
    for (auto* how : {&mapped_file::map, &mapped_file::read}) {
      (void)how(path);
      (void)refusal(how, dir.path(""));
      (void)refusal(how, "/dev/null");
    }
  }
  const int after = ::dup(0);
  ::close(after);
  CHECK(after == before);
}

TEST_CASE("what was read is immune to the file being shortened", "[io]") {
  const test::temp_dir dir;
  const std::string content(50000, 'w'), path = dir.write("file", content);
  const mapped_file file = mapped_file::read(path);
  REQUIRE(::truncate(path.c_str(), 0) == 0);
  CHECK(text_of(file) == content);
}
#endif

TEST_CASE("interrupted and short reads are continued", "[io]") {
  const std::string content = "the quick brown fox";
  std::string out(content.size(), '\0');
  std::size_t at = 0;
  int calls = 0, failure = -1;
  const auto stutter = [&](std::byte* to, std::size_t wanted) -> std::ptrdiff_t {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    const std::size_t size = (std::min)({std::size_t{3}, wanted, content.size() - at});
    std::memcpy(to, content.data() + at, size);
    at += size;
    return static_cast<std::ptrdiff_t>(size);
  };
  auto* to = reinterpret_cast<std::byte*>(out.data());
  CHECK(llambda::detail::read_fully(stutter, to, out.size(), failure) == out.size());
  CHECK(failure == 0);
  CHECK(out == content);
  CHECK(calls == 14);

  SECTION("the end of the file is no failure but is told") {
    at = content.size() - 5;
    CHECK(llambda::detail::read_fully(stutter, to, out.size(), failure) == 5);
    CHECK(failure == 0);
  }
  SECTION("other errors end it") {
    int left = 2;
    const auto broken = [&](std::byte*, std::size_t) -> std::ptrdiff_t {
      if (left-- > 0) return 1;
      errno = EIO;
      return -1;
    };
    CHECK(llambda::detail::read_fully(broken, to, out.size(), failure) == 2);
    CHECK(failure == EIO);
  }
}
