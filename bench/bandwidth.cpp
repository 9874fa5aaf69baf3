// What memory can deliver on this machine: the roof every decode speed is measured against. Each thread sums its own
// share of 1 GiB with vector loads, as a product reads its weights; the best of ten passes counts.
//   bandwidth [THREADS...]
#include <llambda/core/arena.hpp>
#include <llambda/core/thread_pool.hpp>
#include <llambda/generate/stats.hpp>
#include <llambda/simd/f32x16.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace llambda;

namespace {

double gigabytes_per_second(unsigned threads) {
  constexpr std::size_t floats = std::size_t{1} << 28;
  using vec = f32x16<default_arch>;
  thread_pool pool(threads);
  arena memory(floats * sizeof(float));
  float* data = memory.take<float>(floats);
  std::vector<float> sums(threads);
  double best = 1e9;
  for (int pass = 0; pass < 11; ++pass) {
    const stopwatch clock;
    pool.run([&](const worker& w) noexcept {
      const range mine = w.share(floats / 64);
      vec acc[4] = {vec::zero(), vec::zero(), vec::zero(), vec::zero()};
      if (pass == 0) std::fill(data + mine.begin * 64, data + mine.end * 64, 1.0f);  // first touch
      for (const float *p = data + mine.begin * 64, *end = data + mine.end * 64; p < end; p += 64) {
        unroll<4>([&](auto i) LLAMBDA_LAMBDA { acc[i] = acc[i] + vec::load(p + i * lanes); });
      }
      sums[w.index()] = reduce_add<default_arch>((acc[0] + acc[1]) + (acc[2] + acc[3]));
    });
    if (pass > 0) best = std::min(best, clock.seconds());
  }
  if (!(sums[0] > 0)) std::abort();
  return static_cast<double>(floats * sizeof(float)) / best / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<unsigned> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(static_cast<unsigned>(std::max(1, std::atoi(argv[i]))));
  if (counts.empty()) counts = {1, 2};
  for (unsigned threads : counts) std::printf("%u threads: %.1f GB/s\n", threads, gigabytes_per_second(threads));
}
