// The kernels compiled for AVX-512, on any machine: they must compile, and a test looks for 512-bit registers and for
// fused multiply-adds in the object. They run in the other tests where LLAMBDA_ARCH is avx512 and the CPU has it.
#include <llambda/kernels/attention.hpp>
#include <llambda/kernels/gemm.hpp>
#include <llambda/kernels/rmsnorm.hpp>
#include <llambda/kernels/softmax.hpp>
#include <llambda/kernels/vec.hpp>
#include <llambda/quant/all.hpp>

namespace llambda::inline LLAMBDA_ABI {

using A = arch::avx512;
static_assert(std::is_same_v<default_arch, A> && f32x16<A>::parts == 1);

template void gemm<quant::f32, 96, A, store_result>(const std::byte*, range, const std::byte*, std::size_t,
                                                    rows_out) noexcept;
template void gemm<quant::f16, 96, A, store_result>(const std::byte*, range, const std::byte*, std::size_t,
                                                    rows_out) noexcept;
template void gemm<quant::bf16, 96, A, add_result>(const std::byte*, range, const std::byte*, std::size_t,
                                                   rows_out) noexcept;
template void gemm<quant::q8_0, 96, A, store_result>(const std::byte*, range, const std::byte*, std::size_t,
                                                     rows_out) noexcept;
template void gemv<quant::f32, 96, A, store_result>(const std::byte*, range, const std::byte*, float*) noexcept;
template void gemv<quant::q8_0, 96, A, add_result>(const std::byte*, range, const std::byte*, float*) noexcept;
template void quantise_q8<96, A>(const float*, std::byte*) noexcept;
template void rmsnorm<40, A>(const float*, const float*, float, float*) noexcept;
template void softmax<A>(float*, std::size_t) noexcept;
template void silu_mul<A>(const float*, const float*, std::size_t, std::size_t, float*) noexcept;
template struct attention<quant::f16, 64, 3, A>;
template struct attention<quant::q8_0, 64, 3, A>;

}  // namespace llambda::inline LLAMBDA_ABI
