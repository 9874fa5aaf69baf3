// A kernel without a model: 40 rows of 64 columns in Q8_0, packed so that a SIMD lane is an output row, times a vector.
// The same kernel instantiated for plain scalars gives the same bits: the order of the sums is part of the format.
#include <llambda/kernels/gemv.hpp>
#include <llambda/quant/all.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace llambda;
constexpr std::size_t rows = 40, cols = 64;
using format = Format<quant::q8_0>;

int main() {
  // A file's bytes: blocks of an fp16 scale and 32 codes.
  std::vector<std::byte> file(rows * row_bytes(quant::q8_0, cols));
  for (std::size_t b = 0; b < rows * cols / 32; ++b) {
    const std::uint16_t d = float_to_half(0.01f);
    std::memcpy(&file[b * 34], &d, 2);
    for (std::size_t i = 0; i < 32; ++i) file[b * 34 + 2 + i] = static_cast<std::byte>((b * 37 + i * 11) % 255);
  }
  // Tiles of 16 rows.
  std::vector<std::byte> packed(tile_count(rows) * tile_bytes<quant::q8_0>(cols));
  for (std::size_t tile = 0; tile < tile_count(rows); ++tile) {
    const std::byte* in[lanes];
    for (std::size_t r = 0; r < lanes; ++r) {
      const std::size_t row = tile * lanes + r;
      in[r] = row < rows ? &file[row * row_bytes(quant::q8_0, cols)] : nullptr;
    }
    format::pack(in, cols, &packed[tile * tile_bytes<quant::q8_0>(cols)]);
  }
  // The activations, quantised once for all rows.
  float x[cols];
  for (std::size_t k = 0; k < cols; ++k) x[k] = std::sin(static_cast<float>(k));
  alignas(64) std::byte operand[q8_row<cols>::bytes];
  quantise_q8<cols, default_arch>(x, operand);

  float fast[padded(rows)], plain[padded(rows)];
  gemv<quant::q8_0, cols, default_arch, store_result>(packed.data(), {0, tile_count(rows)}, operand, fast);
  gemv<quant::q8_0, cols, arch::scalar, store_result>(packed.data(), {0, tile_count(rows)}, operand, plain);
  std::printf("%s and scalar: %s\n", std::string(default_arch::name).c_str(),
              std::memcmp(fast, plain, rows * sizeof(float)) == 0 ? "same bits" : "DIFFERENT");

  double worst = 0;  // against the formula in F64, with the activations not rounded to int8
  for (std::size_t r = 0; r < rows; ++r) {
    float weights[cols];
    format::decode(&file[r * row_bytes(quant::q8_0, cols)], cols, weights);
    double sum = 0;
    for (std::size_t k = 0; k < cols; ++k) sum += static_cast<double>(weights[k]) * static_cast<double>(x[k]);
    worst = std::fmax(worst, std::fabs(sum - static_cast<double>(fast[r])));
  }
  std::printf("largest error of rounding x to int8: %.3f\n", worst);
}
