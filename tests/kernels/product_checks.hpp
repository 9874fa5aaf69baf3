// Products of packed matrices with activations, checked for one format, one row length and all arches at a time.
//   exact order  each result equals, bit for bit, the chain of operations the format promises, computed here (the plain
//                formats and Q8_0; the others share Q8_0's code but for their codes and scales)
//   F64          and lies within a derived bound of the sum in F64 of decoded weights
//   arches       every instruction set the test is compiled for gives the bits of the scalar meaning
//   gemv = gemm  for any number of tokens, any range of tiles, with and without the residual
// The kernels enter as pointers, so that a row length costs only the kernels' own instantiations.
#pragma once

#include <llambda/kernels/gemm.hpp>
#include <llambda/quant/all.hpp>

#include <string>

#include "../catch.hpp"
#include "../random.hpp"
#include "../truth.hpp"

namespace test {

using llambda::lanes, llambda::quant, llambda::range, llambda::rows_out;

/// The kernels of one format and row length on one arch.
struct kernels {
  void (*gemv)(const std::byte*, range, const std::byte*, float*) noexcept;
  void (*gemm)(const std::byte*, range, const std::byte*, std::size_t, rows_out) noexcept;
  void (*quantise)(const float*, std::byte*) noexcept;  // null when the format takes floats
};

template <quant Q, std::size_t Cols, class A, class Result = llambda::store_result> kernels kernels_of() {
  kernels k{llambda::gemv<Q, Cols, A, Result>, llambda::gemm<Q, Cols, A, Result>, nullptr};
  if constexpr (Cols % 32 == 0) {
    if (llambda::Format<Q>::activation == llambda::activation_kind::q8) k.quantise = llambda::quantise_q8<Cols, A>;
  }
  return k;
}

/// A random matrix in a format, packed, and the same as F64.
struct matrix {
  std::size_t rows, cols, tiles;
  std::vector<std::byte> stored, packed;
  std::vector<double> value;        // (rows, cols)
  std::vector<double> block_scale;  // (rows, cols / 32), Q8_0 only
  std::vector<std::byte> codes;     // (rows, cols), Q8_0 only
  std::vector<double> largest;      // (rows, cols / 32): of |value|, formats of blocks only
  bool exact = true;                // exact_order knows the format
};

/// Random blocks whose binary16 scales (and minima) are ordinary numbers.
template <quant Q> std::vector<std::byte> sane_blocks(std::size_t count, random_source& random) {
  using F = llambda::Format<Q>;
  std::vector<std::byte> all = random.bytes(count * F::block_bytes);
  for (std::size_t b = 0; b < count; ++b) {
    std::byte* block = all.data() + b * F::block_bytes;
    for (const auto& [offset, size, n] : F::scale_fields()) {
      for (std::size_t i = 0; i < n && size == 2; ++i) {
        const std::uint16_t d = half_code(0.002 * static_cast<double>(random.uniform()));
        std::memcpy(block + offset + 2 * i, &d, 2);
      }
    }
    if (Q == quant::mxfp4) block[0] = static_cast<std::byte>(118 + random.below(6));
  }
  return all;
}

template <quant Q> matrix make_matrix(std::size_t rows, std::size_t cols, random_source& random) {
  matrix m{rows, cols, llambda::tile_count(rows), {}, {}, {}, {}, {}, {}, true};
  const std::size_t stride = llambda::row_bytes(Q, cols);
  m.stored.resize(rows * stride);
  constexpr bool blocks = llambda::Format<Q>::activation == llambda::activation_kind::q8;
  if constexpr (blocks && Q != quant::q8_0) {
    m.exact = false;
    m.stored = sane_blocks<Q>(rows * cols / llambda::Format<Q>::block, random);
    std::vector<float> decoded(cols);
    for (std::size_t r = 0; r < rows; ++r) {
      llambda::Format<Q>::decode(m.stored.data() + r * stride, cols, decoded.data());
      m.value.insert(m.value.end(), decoded.begin(), decoded.end());
    }
  } else {
    for (std::size_t r = 0; r < rows; ++r) {
      std::byte* row = m.stored.data() + r * stride;
      for (std::size_t k = 0; k < cols; ++k) {
        const float w = random.uniform();
        if constexpr (Q == quant::f32) {
          std::memcpy(row + 4 * k, &w, 4);
          m.value.push_back(static_cast<double>(w));
        } else if constexpr (Q == quant::q8_0) {
          std::byte* block = row + k / 32 * 34;
          const std::uint16_t d = half_code(0.01 + 0.001 * static_cast<double>((r + k / 32) % 7));
          std::memcpy(block, &d, 2);
          block[2 + k % 32] = static_cast<std::byte>(random.below(256));
          m.value.push_back(q8_0_value(row, k));
          m.codes.push_back(block[2 + k % 32]);
          if (k % 32 == 0) m.block_scale.push_back(half_value(d));
        } else {
          const auto wide = static_cast<double>(w);
          const std::uint16_t code = Q == quant::f16 ? half_code(wide) : bf16_code(wide);
          std::memcpy(row + 2 * k, &code, 2);
          m.value.push_back(Q == quant::f16 ? half_value(code) : bf16_value(code));
        }
      }
    }
  }
  if constexpr (blocks) {
    for (std::size_t i = 0; i < m.value.size(); i += 32) {
      double top = 0;
      for (std::size_t k = i; k < i + 32; ++k) top = std::max(top, std::fabs(m.value[k]));
      m.largest.push_back(top);
    }
  }
  m.packed.resize(m.tiles * llambda::tile_bytes<Q>(cols));
  for (std::size_t t = 0; t < m.tiles; ++t) {
    const std::byte* pointers[lanes];
    for (std::size_t r = 0; r < lanes; ++r) {
      pointers[r] = t * lanes + r < rows ? m.stored.data() + (t * lanes + r) * stride : nullptr;
    }
    llambda::Format<Q>::pack(pointers, cols, m.packed.data() + t * llambda::tile_bytes<Q>(cols));
  }
  return m;
}

/// Token rows as floats and as the operand a format multiplies.
struct operand {
  std::size_t cols, stride;      // stride in bytes
  std::vector<float> values;     // (tokens, cols)
  std::vector<std::byte> bytes;  // (tokens, stride)
  bool q8;

  operand(std::size_t tokens, std::size_t cols_, void (*quantise)(const float*, std::byte*) noexcept,
          random_source& random)
      : cols(cols_),
        stride(quantise ? llambda::q8_row_bytes(cols_) : llambda::row_stride(cols_) * 4),
        values(random.uniform_floats(tokens * cols_)),
        bytes(tokens * stride),
        q8(quantise != nullptr) {
    for (std::size_t t = 0; t < tokens; ++t) {
      if (q8)
        quantise(&values[t * cols], bytes.data() + t * stride);
      else
        std::memcpy(bytes.data() + t * stride, &values[t * cols], cols * 4);
    }
  }
  const std::byte* row(std::size_t t = 0) const { return bytes.data() + t * stride; }
};

/// Scale of block b of a quantised row.
inline float scale_of(const std::byte* row, std::size_t cols, std::size_t b) {
  float d;
  std::memcpy(&d, row + llambda::aligned_bytes(cols) + b * 16, 4);
  return d;
}

/// The sum in F64 of row r for one token. `size` bounds what is added up on the way to it: of a weight that is a
/// difference, both parts may be as large as twice the largest weight of the block.
inline double far_sum(const matrix& m, std::size_t r, const operand& x, std::size_t t, double& size) {
  double sum = 0;
  size = 0;
  for (std::size_t k = 0; k < m.cols; ++k) {
    const double v = static_cast<double>(scale_of(x.row(t), m.cols, k / 32)) * static_cast<std::int8_t>(x.row(t)[k]);
    sum += m.value[r * m.cols + k] * v;
    size += 4 * m.largest[(r * m.cols + k) / 32] * std::fabs(v);
  }
  return sum;
}

/// The chain of operations of row r for one token; adds up in `sum` and `size` the same in F64 and in absolute values.
inline float exact_order(const matrix& m, std::size_t r, const operand& x, std::size_t t, double& sum, double& size) {
  float acc = 0;
  sum = size = 0;
  const std::byte* row = x.bytes.data() + t * x.stride;
  if (!x.q8) {
    for (std::size_t k = 0; k < m.cols; ++k) {
      const double w = m.value[r * m.cols + k], v = static_cast<double>(x.values[t * m.cols + k]);
      acc = std::fma(static_cast<float>(w), static_cast<float>(v), acc);
      sum += w * v;
      size += std::fabs(w * v);
    }
    return acc;
  }
  for (std::size_t b = 0; b < m.cols / 32; ++b) {
    const float dx = scale_of(row, m.cols, b);
    std::int64_t dot = 0;
    for (std::size_t k = b * 32; k < b * 32 + 32; ++k) {
      const auto w = static_cast<std::int8_t>(m.codes[r * m.cols + k]), v = static_cast<std::int8_t>(row[k]);
      dot += std::int64_t{w} * v;
    }
    const double dw = m.block_scale[r * (m.cols / 32) + b];
    acc = std::fma(rounded(static_cast<double>(dot) * dw), dx, acc);
    sum += static_cast<double>(dot) * dw * static_cast<double>(dx);
    size += std::fabs(static_cast<double>(dot) * dw * static_cast<double>(dx));
  }
  return acc;
}

/// All checks of one matrix; `fast` is the default arch, `others` are all others, `fast_add` adds to what is there.
inline void check_products(const matrix& m, const kernels& fast, const std::vector<kernels>& others,
                           const kernels* fast_add, random_source& random) {
  constexpr std::size_t tokens = 65;
  const std::size_t height = m.tiles * lanes, width = height + lanes;
  const operand x(tokens, m.cols, fast.quantise, random);
  INFO(m.rows << " rows of " << m.cols << " columns");
  // One token at a time: exact order, F64, rows past the end zero, nothing written behind them.
  std::vector<float> one(tokens * width, 7.0f);
  std::size_t wrong = 0, far = 0, different = 0;
  for (std::size_t t = 0; t < tokens; ++t) {
    float* y = &one[t * width];
    fast.gemv(m.packed.data(), {0, m.tiles}, x.row(t), y);
    for (std::size_t r = 0; r < height; ++r) {
      double sum = 0, size = 0;
      float expected = 0.0f;
      if (r < m.rows && m.exact) expected = exact_order(m, r, x, t, sum, size);
      if (r < m.rows && !m.exact) sum = far_sum(m, r, x, t, size);
      if (r >= m.rows || m.exact) wrong += !same_bits(&y[r], &expected, 1);
      // n roundings of partial sums, each below `size`: a column each, or at most 4 in a block, and 2 of a scale.
      const double n = static_cast<double>(x.q8 ? m.cols / 32 * 4 + 2 : m.cols);
      far += !(std::fabs(static_cast<double>(y[r]) - sum) <= n * unit / (1 - n * unit) * size);
    }
    for (std::size_t r = height; r < width; ++r) wrong += y[r] != 7.0f;
    for (const kernels& k : others) {
      std::vector<float> other(height);
      k.gemv(m.packed.data(), {0, m.tiles}, x.row(t), other.data());
      different += !same_bits(other.data(), y, height);
    }
  }
  CHECK(wrong == 0);
  CHECK(far == 0);
  CHECK(different == 0);
  // Any number of tokens, from any token on.
  for (std::size_t n : {1, 2, 3, 4, 5, 6, 7, 13, 24, 64, 65}) {
    INFO(n << " tokens");
    const std::size_t first = (tokens - n) / 2;
    std::vector<float> many(n * width, 7.0f);
    fast.gemm(m.packed.data(), {0, m.tiles}, x.row(first), n, {many.data(), width});
    CHECK(same_bits(many.data(), &one[first * width], n * width));
    for (const kernels& k : others) {
      std::vector<float> other(n * width, 7.0f);
      k.gemm(m.packed.data(), {0, m.tiles}, x.row(first), n, {other.data(), width});
      CHECK(same_bits(other, many));
    }
  }
  // Every range of tiles computes its rows and leaves the others alone.
  different = 0;
  for (std::size_t begin = 0; begin <= m.tiles; ++begin) {
    for (std::size_t end = begin; end <= m.tiles; ++end) {
      std::vector<float> part(width, 7.0f), parts(3 * width, 7.0f);
      fast.gemv(m.packed.data(), {begin, end}, x.row(), part.data());
      fast.gemm(m.packed.data(), {begin, end}, x.row(), 3, {parts.data(), width});
      for (std::size_t i = 0; i < 3 * width; ++i) {
        const bool inside = i % width >= begin * lanes && i % width < end * lanes;
        different += parts[i] != (inside ? one[i] : 7.0f);
        if (i < width) different += part[i] != (inside ? one[i] : 7.0f);
      }
    }
  }
  CHECK(different == 0);
  if (fast_add) {  // the residual is added to the finished sum
    std::vector<float> residual = random.uniform_floats(5 * width), expected = residual, gemv = residual;
    for (std::size_t i = 0; i < 5 * width; ++i) {
      if (i % width < height) expected[i] = rounded(static_cast<double>(residual[i]) + static_cast<double>(one[i]));
    }
    for (std::size_t t = 0; t < 5; ++t) fast_add->gemv(m.packed.data(), {0, m.tiles}, x.row(t), &gemv[t * width]);
    fast_add->gemm(m.packed.data(), {0, m.tiles}, x.row(), 5, {residual.data(), width});
    CHECK(same_bits(gemv, expected));
    CHECK(same_bits(residual, expected));
  }
}

/// Matrices of several heights with rows of Cols elements; with Add also the kernels that add.
template <quant Q, std::size_t Cols, bool Add = false> void check_format(std::uint64_t seed) {
  INFO(std::string(llambda::info(Q).name));
  random_source random(seed);
  const kernels fast = kernels_of<Q, Cols, llambda::default_arch>();
  std::vector<kernels> others;
#if LLAMBDA_HAS_AVX512VNNI && LLAMBDA_HAS_AVXVNNI  // every atom against AVX2, which other builds hold against scalar
  others.push_back(kernels_of<Q, Cols, llambda::arch::avx2>());
  if constexpr (Add) others.push_back(kernels_of<Q, Cols, llambda::arch::avxvnni>());
  if constexpr (Add) others.push_back(kernels_of<Q, Cols, llambda::arch::avx512>());
#else
  others.push_back(kernels_of<Q, Cols, llambda::arch::scalar>());
#endif
  kernels add{};
  if constexpr (Add) add = kernels_of<Q, Cols, llambda::default_arch, llambda::add_result>();
  for (std::size_t rows : {1, 15, 16, 17, 33, 64, 90}) {
    check_products(make_matrix<Q>(rows, Cols, random), fast, others, Add ? &add : nullptr, random);
  }
}

}  // namespace test
