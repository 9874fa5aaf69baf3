// The arena hands out aligned, zeroed memory up to its size and not a byte more.
#include <llambda/core/arena.hpp>

#include <cstdint>
#include <limits>

#include "../catch.hpp"

using namespace llambda;

TEST_CASE("arena: aligned, zeroed, counted") {
  arena memory(3 * 64 + 4096);
  const auto* a = memory.take<char>(1);
  const auto* b = memory.take<double>(9);
  CHECK(reinterpret_cast<std::uintptr_t>(a) % buffer_alignment == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(b) % buffer_alignment == 0);
  CHECK(memory.used() == 64 + 128);
  std::size_t not_zero = 0;
  const auto* rest = memory.take<unsigned char>(4096);
  for (std::size_t i = 0; i < 4096; ++i) not_zero += rest[i] != 0;
  CHECK(not_zero == 0);
  CHECK(memory.used() == memory.size());
  CHECK_THROWS_AS(memory.take<char>(1), error);
  CHECK(memory.used() == memory.size());
}

TEST_CASE("arena: moved, empty, and refused by the system") {
  arena one(128);
  char* p = one.take<char>(8);
  arena two(std::move(one));
  p[0] = 'x';
  CHECK(two.used() == 64);
  CHECK(one.size() == 0);
  arena nothing;
  CHECK_THROWS_AS(nothing.take<char>(1), error);
  try {
    arena huge((std::numeric_limits<std::size_t>::max)() / 4);
    FAIL("accepted");
  } catch (const error& e) {
    CHECK(e.code() == errc::out_of_memory);
  }
}

TEST_CASE("arena: large blocks begin at a huge page and give everything back") {
  constexpr std::size_t huge = std::size_t{2} << 20;
  for (const std::size_t bytes : {huge, huge + 64, 3 * huge - 4096, 3 * huge + 1}) {
    arena memory(bytes);
    const std::span<const std::byte> all = memory.bytes();
    CHECK(all.size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(all.data()) % huge == 0);
    memory.take<char>(huge)[huge - 1] = 1;
    CHECK(all[huge - 1] == std::byte{1});
  }
}

TEST_CASE("arena: over memory that is filled already") {
  alignas(64) std::byte filled[128] = {};
  filled[64] = std::byte{7};
  arena memory = arena::over(filled);
  CHECK_FALSE(memory.owned());
  memory.take<char>(1);
  CHECK(*memory.take<std::byte>(1) == std::byte{7});
  CHECK_THROWS_AS(memory.take<char>(1), error);
  const arena moved(std::move(memory));
  CHECK_FALSE(moved.owned());
}
