// How fast each product is by itself, beside what the machine can do:
//   kernels --benchmark_filter='gem[mv]/Q8_0'     every format, shape and instruction set this file is compiled for
//   gemv  one token, weights from memory: GB/s of weights, to be held against bandwidth (bench/bandwidth.cpp)
//   gemm  512 tokens: GFLOP/s (2 a weight and token), to be held against peak/fma and peak/dot
#include "kernels.hpp"

namespace {

using namespace bench;

/// Independent fused multiply-adds, as many as hide the latency.
template <Arch A> void peak_fma(benchmark::State& state) {
  constexpr std::size_t chains = 24 / f32x16<A>::parts;
  f32x16<A> acc[chains], w = f32x16<A>::broadcast(0.5f), x = f32x16<A>::broadcast(0.25f);
  benchmark::DoNotOptimize(w);
  benchmark::DoNotOptimize(x);
  for (f32x16<A>& a : acc) a = f32x16<A>::zero();
  constexpr std::size_t rounds = 1000;
  for (auto _ : state) {
    for (std::size_t i = 0; i < rounds; ++i) {
      unroll<chains>([&](auto c) LLAMBDA_LAMBDA { acc[c] = fma<A>(w, x, acc[c]); });
    }
    benchmark::DoNotOptimize(acc);
  }
  state.counters["GFLOP/s"] = per_second(2.0 * lanes * chains * rounds, 1e9);
}

/// The integer dot product of 4-bit codes, weights and sums in registers, activations broadcast from the first-level
/// cache as the kernels do.
template <Arch A> void peak_dot(benchmark::State& state) {
  using dot = dot_i8<A, code_range{false, 15}>;
  constexpr std::size_t groups = 8, tokens = 8 / f32x16<A>::parts, rounds = 1000;
  alignas(64) std::int8_t x[tokens * 64] = {};
  alignas(64) std::byte codes[code_bytes<A>] = {};
  typename dot::codes w = dot::codes::load(codes);
  typename dot::sums sum[1][tokens];
  const std::int32_t start = 0;
  for (auto& s : sum[0]) s = dot::template begin<0>(&start);
  benchmark::DoNotOptimize(w);
  for (auto _ : state) {
    for (std::size_t i = 0; i < rounds; ++i) {
      benchmark::DoNotOptimize(x);
      dot::template add<groups, 64>(sum, [&](std::size_t, std::size_t) LLAMBDA_LAMBDA { return w; }, x);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.counters["GFLOP/s"] = per_second(2.0 * code_bytes<A> * groups * tokens * rounds, 1e9);
}

}  // namespace

int main(int argc, char** argv) {
  for_each_arch([]<Arch A>() {
    const std::string name(A::name);
    benchmark::RegisterBenchmark(("peak/fma/" + name).c_str(), peak_fma<A>);
    benchmark::RegisterBenchmark(("peak/dot/" + name).c_str(), peak_dot<A>);
  });
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
