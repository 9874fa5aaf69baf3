// Matrix times activations for one token or many: y[t][row] = sum over k of w[row][k] * x[t][k].
// What gemv.hpp (one token, bound by memory) and gemm.hpp (several tokens, bound by arithmetic) share. Both add the
// columns of a row in the same order, so a token's result does not depend on how many others are computed with it.
#pragma once

#include <llambda/core/thread_pool.hpp>
#include <llambda/quant/activation.hpp>
#include <llambda/quant/format.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Bytes from token to token of the operand of a product: floats, or a quantised row. Both sides know it when they are
/// compiled, so that one register addresses all tokens of a kernel.
template <quant Q, std::size_t Cols>
inline constexpr std::size_t operand_stride = Format<Q>::activation == activation_kind::f32
                                                  ? row_stride(Cols) * sizeof(float)
                                                  : q8_row_bytes(Cols);

/// A batch of float rows: row t starts `stride` floats after row t - 1.
struct rows_out {
  float* base;
  std::size_t stride;
  LLAMBDA_INLINE float* operator[](std::size_t t) const noexcept { return base + t * stride; }
};

/// What happens with a finished vector of 16 results.
struct store_result {
  template <Arch A> static LLAMBDA_INLINE void apply(float* y, const f32x16<A>& sum) noexcept { sum.store(y); }
};
/// Residual connection: y += result.
struct add_result {
  template <Arch A> static LLAMBDA_INLINE void apply(float* y, const f32x16<A>& sum) noexcept {
    (f32x16<A>::load(y) + sum).store(y);
  }
};

/// Register and cache blocking of the products, by format and instruction set. Specialise it to override.
template <quant Q, Arch A> struct blocking {
  static constexpr bool floats = Format<Q>::activation == activation_kind::f32;
  static constexpr bool wide = f32x16<A>::parts == 1;  // 32 registers of 16 floats, or 16 of 8
  /// gemv: tiles side by side. Sums of floats wait for each other, and need several; integer sums of a block do not,
  /// but two streams come faster from memory than one.
  static constexpr std::size_t gemv_tiles = floats ? 4 : 2;
  /// gemm: tokens and tiles side by side; their sums fill the registers.
  static constexpr std::size_t tokens = floats ? (wide ? 12 : 6) : (wide ? 6 : 4);
  static constexpr std::size_t tiles = wide ? 2 : 1;
  /// gemm: columns of opened weights that stay in the first-level cache while all tokens pass over them.
  static constexpr std::size_t columns = floats ? 256 / tiles : 256;
  /// gemm: tokens whose sums wait in memory between two blocks of columns.
  static constexpr std::size_t batch = 96;
};

}  // namespace llambda::inline LLAMBDA_ABI
