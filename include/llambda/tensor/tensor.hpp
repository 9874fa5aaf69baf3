// A weight with its storage format and shape in the type; the object is only where the bytes are.
//   Tensor<Q, Rows, Cols>      packed for the kernels, owned by the weights' arena
//   FileTensor<Q, Rows, Cols>  used where it lies in the mapped file: a lookup table, or a matrix of a model that packs
//                              a tile only while it multiplies it (Limits::in_place)
//   Vector<N>                  f32, padded with zeros to whole virtual vectors
//   Absent                     a tensor this model does not have; costs nothing
#pragma once

#include <llambda/quant/format.hpp>

namespace llambda::inline LLAMBDA_ABI {

template <quant Q, std::size_t Rows, std::size_t Cols>
struct Tensor {
  static constexpr quant format = Q;
  static constexpr std::size_t rows = Rows;
  static constexpr std::size_t cols = Cols;
  static constexpr std::size_t tiles = tile_count(Rows);
  static constexpr std::size_t arena_bytes = aligned_bytes(tiles * tile_bytes<Q>(Cols));
  static constexpr std::size_t file_bytes = Rows * row_bytes(Q, Cols);

  const std::byte* packed = nullptr;  // (tiles, cols / step, step_bytes)

  /// Row `row` as floats.
  void decode_row(std::size_t row, float* out) const noexcept {
    Format<Q>::unpack_row(packed + row / lanes * tile_bytes<Q>(Cols), row % lanes, Cols, out);
  }
};

template <quant Q, std::size_t Rows, std::size_t Cols>
struct FileTensor {
  static constexpr quant format = Q;
  static constexpr std::size_t rows = Rows;
  static constexpr std::size_t cols = Cols;
  static constexpr std::size_t arena_bytes = 0;
  static constexpr std::size_t file_bytes = Rows * row_bytes(Q, Cols);

  static constexpr std::size_t tiles = tile_count(Rows);

  const std::byte* data = nullptr;  // (rows, row_bytes) as in the file, any alignment

  /// Tile `tile` of the matrix as Tensor has it, into tile_bytes<Q>(Cols) bytes.
  void pack_tile(std::size_t tile, std::byte* out) const noexcept {
    const std::byte* rows_of_tile[lanes];
    for (std::size_t r = 0; r < lanes; ++r) {
      const std::size_t row = tile * lanes + r;
      rows_of_tile[r] = row < Rows ? data + row * row_bytes(Q, Cols) : nullptr;
    }
    Format<Q>::pack(rows_of_tile, Cols, out);
  }

  void decode_row(std::size_t row, float* out) const noexcept {
    Format<Q>::decode(data + row * row_bytes(Q, Cols), Cols, out);
  }
};

template <std::size_t N>
struct Vector {
  static constexpr quant format = quant::f32;
  static constexpr std::size_t rows = 1;
  static constexpr std::size_t cols = N;
  static constexpr std::size_t arena_bytes = aligned_bytes(padded(N) * sizeof(float));
  static constexpr std::size_t file_bytes = N * sizeof(float);

  const float* data = nullptr;  // (padded N)
};

struct Absent {
  static constexpr quant format = quant::none;
  static constexpr std::size_t rows = 0;
  static constexpr std::size_t cols = 0;
  static constexpr std::size_t arena_bytes = 0;
  static constexpr std::size_t file_bytes = 0;
};

template <class T>
inline constexpr bool is_present = !std::is_same_v<T, Absent>;

}  // namespace llambda::inline LLAMBDA_ABI
