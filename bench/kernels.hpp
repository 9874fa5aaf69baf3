// What the files of the kernel benchmark share. Every format is a translation unit of its own.
#pragma once

#include <llambda/core/arena.hpp>
#include <llambda/core/fp_env.hpp>
#include <llambda/kernels/gemm.hpp>
#include <llambda/quant/all.hpp>

#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <string_view>

namespace bench {

using namespace llambda;

/// Calls f.template operator()<A>() for every instruction set this file is compiled for.
template <class F> void for_each_arch(F&& f) {
#if LLAMBDA_HAS_AVX2
  f.template operator()<arch::avx2>();
#endif
#if LLAMBDA_HAS_AVXVNNI
  f.template operator()<arch::avxvnni>();
#endif
#if LLAMBDA_HAS_AVX512
  f.template operator()<arch::avx512>();
#endif
#if LLAMBDA_HAS_AVX512VNNI
  f.template operator()<arch::avx512vnni>();
#endif
}

inline benchmark::Counter per_second(double amount, double unit) {
  return {amount / unit, benchmark::Counter::kIsIterationInvariantRate};
}

/// Memory whose every float, binary16, bfloat16 and code is an ordinary number, so that nothing is subnormal.
inline std::byte* ordinary_numbers(arena& memory, std::size_t bytes) {
  std::byte* p = memory.take<std::byte>(bytes);
  std::memset(p, 0x3c, bytes);
  return p;
}

/// One matrix times one token, weights from memory: matrices are walked over in turn, together larger than any cache.
template <quant Q, std::size_t Rows, std::size_t Cols, Arch A> void gemv_from_memory(benchmark::State& state) {
  constexpr std::size_t tiles = tile_count(Rows), bytes = tiles * tile_bytes<Q>(Cols);
  constexpr std::size_t copies = (std::size_t{256} << 20) / bytes + 1;
  arena memory(aligned_bytes(copies * bytes) + aligned_bytes(operand_stride<Q, Cols>) + Rows * sizeof(float) + 64);
  const std::byte* weights = ordinary_numbers(memory, copies * bytes);
  const std::byte* x = ordinary_numbers(memory, operand_stride<Q, Cols>);
  float* y = memory.take<float>(Rows);
  scoped_fp_env mode;
  std::size_t copy = 0;
  for (auto _ : state) {
    gemv<Q, Cols, A, store_result>(weights + copy * bytes, {0, tiles}, x, y);
    copy = copy + 1 == copies ? 0 : copy + 1;
  }
  state.counters["GB/s"] = per_second(static_cast<double>(bytes), 1e9);
}

/// One matrix times 512 tokens.
template <quant Q, std::size_t Rows, std::size_t Cols, Arch A> void gemm_512(benchmark::State& state) {
  constexpr std::size_t tokens = 512, tiles = tile_count(Rows), bytes = tiles * tile_bytes<Q>(Cols);
  arena memory(aligned_bytes(bytes) + aligned_bytes(tokens * operand_stride<Q, Cols>) + tokens * Rows * sizeof(float) +
               64);
  const std::byte* weights = ordinary_numbers(memory, bytes);
  const std::byte* x = ordinary_numbers(memory, tokens * operand_stride<Q, Cols>);
  float* y = memory.take<float>(tokens * Rows);
  scoped_fp_env mode;
  for (auto _ : state) gemm<Q, Cols, A, store_result>(weights, {0, tiles}, x, tokens, {y, Rows});
  state.counters["GFLOP/s"] = per_second(2.0 * Rows * Cols * tokens, 1e9);
}

template <quant Q, std::size_t Rows, std::size_t Cols> void register_shape() {
  for_each_arch([]<Arch A>() {
    const std::string name =
        std::string(info(Q).name) + "/" + std::to_string(Rows) + "x" + std::to_string(Cols) + "/" + std::string(A::name);
    benchmark::RegisterBenchmark(("gemv/" + name).c_str(), gemv_from_memory<Q, Rows, Cols, A>);
    benchmark::RegisterBenchmark(("gemm/" + name).c_str(), gemm_512<Q, Rows, Cols, A>);
  });
}

/// A product of a small model and one of a model of a billion parameters; both row lengths suit every format.
template <quant Q> bool register_format() {
  register_shape<Q, 576, 1536>();
  register_shape<Q, 2048, 8192>();
  return true;
}

}  // namespace bench
