// The pool: each item done once, phases in order, many short jobs, more threads than CPUs, one floating-point mode, and
// no CPU time while idle.
#include <llambda/core/thread_pool.hpp>

#include <ctime>
#include <vector>

#include "../catch.hpp"

using namespace llambda;

TEST_CASE("thread_pool: shares cover each item once, for any number of threads") {
  for (unsigned threads = 1; threads <= 5; ++threads) {
    thread_pool pool(threads);
    CHECK(pool.size() == threads);
    for (std::size_t items : {0u, 1u, 2u, 7u, 64u, 1001u}) {
      std::vector<std::atomic<int>> seen(items);
      pool.run([&](const worker& w) noexcept {
        const range mine = w.share(items);
        for (std::size_t i = mine.begin; i < mine.end; ++i) ++seen[i];
      });
      std::size_t wrong = 0;
      for (const auto& s : seen) wrong += s != 1;
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("thread_pool: a barrier divides phases, and what was written before is seen after") {
  thread_pool pool(3);
  std::vector<std::size_t> cells(3, 0);
  std::atomic<std::size_t> wrong{0};
  for (int job = 0; job < 2000; ++job) {
    pool.run([&](const worker& w) noexcept {
      for (std::size_t phase = 1; phase <= 4; ++phase) {
        cells[w.index()] = phase;
        w.barrier();
        for (std::size_t c : cells) wrong += c != phase;
        w.barrier();
      }
    });
  }
  CHECK(wrong == 0);
}

TEST_CASE("thread_pool: made and destroyed many times, and with far more threads than CPUs") {
  std::atomic<std::size_t> ran{0};
  for (int i = 0; i < 300; ++i) {
    thread_pool pool(4);
    if (i % 2) pool.run([&](const worker&) noexcept { ++ran; });
  }
  CHECK(ran == 150 * 4);
  thread_pool crowd(16 * (std::max)(1u, std::thread::hardware_concurrency()));
  for (int i = 0; i < 50; ++i) {
    crowd.run([&](const worker& w) noexcept {
      for (int phase = 0; phase < 4; ++phase) w.barrier();
    });
  }
  CHECK_THROWS_AS(thread_pool(100000), error);
}

TEST_CASE("thread_pool: two callers of one pool take turns") {
  thread_pool pool(2);
  std::atomic<int> inside{0};
  std::atomic<std::size_t> overlaps{0}, ran{0};
  const auto caller = [&] {
    for (int i = 0; i < 500; ++i) {
      pool.run([&](const worker& w) noexcept {
        if (w.index() == 0) overlaps += inside.fetch_add(1) != 0;
        w.barrier();
        ++ran;
        w.barrier();
        if (w.index() == 0) --inside;
      });
    }
  };
  std::thread other(caller);
  caller();
  other.join();
  CHECK(overlaps == 0);
  CHECK(ran == 2 * 2 * 500);
}

#if defined(__x86_64__)
TEST_CASE("thread_pool: every thread computes in one mode, and the caller's mode is untouched") {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~0x6000u) | 0x2000u);  // the caller rounds down
  const unsigned mine = _mm_getcsr();
  thread_pool pool(3);
  std::vector<unsigned> modes(3);
  pool.run([&](const worker& w) noexcept { modes[w.index()] = _mm_getcsr() & ~0x3fu; });
  CHECK(_mm_getcsr() == mine);
  _mm_setcsr(before);
  for (unsigned m : modes) CHECK(m == (0x1f80u | 0x8000u | 0x40u));  // masked, subnormals flushed, round to nearest
  thread_pool serial(1);
  serial.run([&](const worker&) noexcept { modes[0] = _mm_getcsr(); });
  CHECK((modes[0] & 0x8040u) == 0x8040u);
  CHECK(_mm_getcsr() == before);
}
#endif

TEST_CASE("thread_pool: idle threads sleep") {
  thread_pool pool(4);
  pool.run([](const worker&) noexcept {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t start = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  CHECK(seconds < 0.02);  // spinning would have cost 1.6 s
}
