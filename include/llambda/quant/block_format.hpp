// What all formats of blocks with integer codes share: how a tile is packed, decoded row by row, multiplied with one
// token, and opened into a panel that many tokens are multiplied with.
//
// Packed tile of 16 rows: the codes of all blocks, then the scales of all blocks.
//   codes  dword i of the code bytes of a block of row 0, of row 1, ... of row 15 (64 bytes), then dword i + 1
//   meta   element i of the scale bytes of a block of row 0, ... of row 15, then element i + 1
// So packing only transposes the file's own words: nothing is lost, and a tile is as large as its rows in the file.
// Four neighbouring codes of a row share a 32-bit lane, which is what the integer dot product adds up.
//
// Per row and 32 columns, the same for one token or many and on every instruction set:
//   t    = float(i_0) * s_0;  t = fma(float(i_1), s_1, t) where scales serve 16 columns;  t = fma(m_j, -sum_j(x), t)
//   acc  = fma(t, d_x, acc)
// with i the exact integer dot product of codes less their zero point, s the scale and m the minimum.
// Cost for 512 weights and a token: 8 dot products of 64, 3 to 7 float operations.
#pragma once

#include <llambda/quant/activation.hpp>
#include <llambda/quant/format.hpp>
#include <llambda/simd/dot_i8.hpp>
#include <llambda/simd/transpose.hpp>

#include <iterator>
#include <type_traits>

namespace llambda::inline LLAMBDA_ABI {

/// A stretch of a file block: `count` elements of `size` bytes at `offset`.
struct file_field {
  std::size_t offset, size, count;
};

/// Bytes of the fields before field `end`.
template <std::size_t N>
constexpr std::size_t bytes_before(const file_field (&fields)[N], std::size_t end) noexcept {
  std::size_t n = 0;
  for (std::size_t i = 0; i < end; ++i) n += fields[i].size * fields[i].count;
  return n;
}

/// Base of the formats with integer codes. `Traits` has
///   kind, sub (columns a scale: 16 or 32), codes (code_range), zero_shift (log2 of the zero point, -1 = none), has_min
///   code_fields, meta_fields   where codes (size 4) and scales are in a file block, in packed order
///   code<A, S, G>(p)           codes 4 G .. 4 G + 3 of columns 32 S .. of a step; p = packed codes of this part of
///   rows scale<A, B>(meta), minimum<A, B>(meta)   of sub-block B of a step, 16 rows decode_block(block, out)   the
///   meaning of the bits optionally transform(bytes), restore(bytes)   of the code bytes of a block between file and
///   tile
template <class Traits> struct BlockFormat {
  static constexpr quant kind = Traits::kind;
  static constexpr std::size_t block = info(kind).block;
  static constexpr std::size_t block_bytes = info(kind).block_bytes;
  static constexpr std::size_t step = block;
  static constexpr activation_kind activation = activation_kind::q8;
  static constexpr bool has_min = Traits::has_min;
  static constexpr std::size_t sub = Traits::sub;
  static constexpr std::size_t subs = 32 / sub;  // scales for 32 columns

  static constexpr std::size_t row_code_bytes = bytes_before(Traits::code_fields, std::size(Traits::code_fields));
  static constexpr std::size_t row_meta_bytes = bytes_before(Traits::meta_fields, std::size(Traits::meta_fields));
  static_assert(row_code_bytes + row_meta_bytes == block_bytes, "every byte of a block is code or scale");
  static constexpr std::size_t code_step = row_code_bytes * lanes;
  static constexpr std::size_t meta_step = row_meta_bytes * lanes;
  static constexpr std::size_t step_bytes = code_step + meta_step;

  static void decode(const std::byte* row, std::size_t cols, float* out) noexcept {
    for (std::size_t b = 0; b < cols / block; ++b) Traits::decode_block(row + b * block_bytes, out + b * block);
  }

  static void pack(tile_rows rows, std::size_t cols, std::byte* tile) noexcept {
    std::byte* codes = tile;
    std::byte* meta = tile + cols / block * code_step;
    std::byte words[lanes][row_code_bytes] = {};  // of rows past the end: zeros, as are their scales
    for (std::size_t b = 0; b < cols / block; ++b, codes += code_step, meta += meta_step) {
      for (std::size_t r = 0; r < lanes; ++r) {
        if (!rows[r]) {
          for_each_meta([&](std::size_t, std::size_t at, std::size_t size)
                            LLAMBDA_LAMBDA { std::memset(meta + at * lanes + r * size, 0, size); });
          continue;
        }
        const std::byte* from = rows[r] + b * block_bytes;
        for_each_code([&](std::size_t offset, std::size_t at, std::size_t size)
                          LLAMBDA_LAMBDA { std::memcpy(words[r] + at, from + offset, size); });
        if constexpr (requires { Traits::transform(words[r]); }) Traits::transform(words[r]);
        for_each_meta([&](std::size_t offset, std::size_t at, std::size_t size)
                          LLAMBDA_LAMBDA { std::memcpy(meta + at * lanes + r * size, from + offset, size); });
      }
      transpose_words<row_code_bytes / 4>(words[0], row_code_bytes, codes);
    }
  }

  static void unpack_row(const std::byte* tile, std::size_t lane, std::size_t cols, float* out) noexcept {
    const std::byte* codes = tile;
    const std::byte* meta = tile + cols / block * code_step;
    for (std::size_t b = 0; b < cols / block; ++b, codes += code_step, meta += meta_step) {
      std::byte row[row_code_bytes], file[block_bytes];
      for (std::size_t i = 0; i < row_code_bytes / 4; ++i) std::memcpy(row + i * 4, codes + i * 64 + lane * 4, 4);
      if constexpr (requires { Traits::transform(row); }) Traits::restore(row);
      for_each_code([&](std::size_t offset, std::size_t at, std::size_t size)
                        LLAMBDA_LAMBDA { std::memcpy(file + offset, row + at, size); });
      for_each_meta([&](std::size_t offset, std::size_t at, std::size_t size)
                        LLAMBDA_LAMBDA { std::memcpy(file + offset, meta + at * lanes + lane * size, size); });
      Traits::decode_block(file, out + b * block);
    }
  }

  /// Columns 32 S .. 32 S + 31 of a step times one token, before the activations' scale.
  template <Arch A, std::size_t S>
  static LLAMBDA_INLINE f32x16<A> unit(const std::byte* codes, const std::byte* meta, const std::int8_t* x,
                                       const q8_block& record) noexcept {
    using dot = dot_i8<A, Traits::codes>;
    f32x16<A> value[subs];
    for_each_part<A>([&](std::size_t p) LLAMBDA_LAMBDA {
      typename dot::codes w[8];
      take<A, S>(codes + p * code_bytes<A>, w, std::make_index_sequence<8>{});
      LLAMBDA_UNROLL
      for (std::size_t j = 0; j < subs; ++j) {
        typename dot::sums sum[1][1] = {{dot::template begin<Traits::zero_shift>(start_of(record, j))}};
        dot::template add<sub / 4, 0>(
            sum, [&](std::size_t, std::size_t g) LLAMBDA_LAMBDA { return w[j * (sub / 4) + g]; }, x + j * sub);
        value[j].v[p] = dot::to_float(sum[0][0]);
      }
    });
    f32x16<A> t = value[0] * Traits::template scale<A, S * subs>(meta);
    if constexpr (subs == 2) t = fma<A>(value[1], Traits::template scale<A, S * subs + 1>(meta), t);
    if constexpr (has_min) {
      unroll<subs>([&](auto j) LLAMBDA_LAMBDA {
        const f32x16<A> n = f32x16<A>::broadcast(static_cast<float>(*start_of(record, j)));
        t = fma<A>(Traits::template minimum<A, S * subs + j>(meta), n, t);
      });
    }
    return t;
  }

  /// acc[r][0] += columns [begin, end) of tile w[r] times the activations x[0] (q8_row<Cols>). Whole steps only.
  template <Arch A, std::size_t Cols, std::size_t R, std::size_t T>
  static LLAMBDA_INLINE void multiply(f32x16<A> (&acc)[R][T], const std::byte* const (&w)[R],
                                      const std::byte* const (&x)[T], std::size_t begin, std::size_t end) noexcept {
    static_assert(T == 1, "several tokens are multiplied with a panel");
    const std::int8_t* in = q8_row<Cols>::codes(x[0]);
    const q8_block* records = q8_row<Cols>::info(x[0]);
    for (std::size_t b = begin / block; b < end / block; ++b) {
      unroll<R>([&](auto r) LLAMBDA_LAMBDA {
        const std::byte* const codes = w[r] + b * code_step;
        const std::byte* const meta = w[r] + Cols / block * code_step + b * meta_step;
        add_step<A, R * tile_bytes<kind>(Cols)>(codes, meta, in + b * block, records + b * (block / 32), acc[r][0],
                                                std::make_index_sequence<block / 32>{});
      });
    }
  }

  /// A tile opened for many tokens: for each 32 columns the stored codes, (8, 16, 4), scales and minima, (subs, 16).
  static constexpr std::size_t panel_scales = 512;
  static constexpr std::size_t panel_minima = panel_scales + subs * lanes * sizeof(float);
  static constexpr std::size_t panel_unit = panel_minima + (has_min ? subs * lanes * sizeof(float) : 0);

  /// Opens columns [begin, end) of a tile of rows of `cols` columns. Whole steps only.
  template <Arch A>
  static LLAMBDA_INLINE void open(const std::byte* tile, std::size_t cols, std::size_t begin, std::size_t end,
                                  std::byte* panel) noexcept {
    for (std::size_t b = begin / block; b < end / block; ++b) {
      const std::byte* codes = tile + b * code_step;
      const std::byte* meta = tile + cols / block * code_step + b * meta_step;
      unroll<block / 32>([&](auto s) LLAMBDA_LAMBDA {
        open_unit<A, s>(codes, meta, panel);
        panel += panel_unit;
      });
    }
  }

  /// sums (R, T, 16) += `units` panels of 32 columns of R tiles times T tokens. Panels are `Panel` bytes apart, tiles
  /// of sums `Sums` floats, and codes and records of token t a row stride behind those of token t - 1.
  template <Arch A, std::size_t RowBytes, std::size_t Panel, std::size_t Sums, std::size_t R, std::size_t T>
  static LLAMBDA_INLINE void multiply_panel(const std::byte* panel, std::size_t units, const std::int8_t* x,
                                            const q8_block* records, float* sums) noexcept {
    using part = typename f32x16<A>::part;
    constexpr std::size_t width = lanes / f32x16<A>::parts;
    if constexpr (sums_fit_registers<A, R, T>) {
      part acc[R][T];
      LLAMBDA_UNROLL
      for (std::size_t i = 0; i < R * T; ++i) acc[i / T][i % T] = compat::load(sums + i / T * Sums + i % T * lanes, part{});
      for (std::size_t u = 0; u < units; ++u, panel += panel_unit, x += 32, ++records) {
        panel_step<A, RowBytes, Panel, R, T>(panel, x, records, 0,
                                             [&](std::size_t r, std::size_t t, const part& total, const part& scale)
                                                 LLAMBDA_LAMBDA { acc[r][t] = compat::fma(total, scale, acc[r][t]); });
      }
      LLAMBDA_UNROLL
      for (std::size_t i = 0; i < R * T; ++i) compat::store(sums + i / T * Sums + i % T * lanes, acc[i / T][i % T]);
    } else {
      for (std::size_t u = 0; u < units; ++u, panel += panel_unit, x += 32, ++records) {
        for_each_part<A>([&](std::size_t p) LLAMBDA_LAMBDA {
          panel_step<A, RowBytes, Panel, R, T>(
              panel, x, records, p,
              [&](std::size_t r, std::size_t t, const part& total, const part& scale) LLAMBDA_LAMBDA {
                float* to = sums + r * Sums + t * lanes + p * width;
                compat::store(to, compat::fma(total, scale, compat::load(to, part{})));
              });
        });
      }
    }
  }

  /// Where the scales are in a file block.
  static constexpr const auto& scale_fields() noexcept { return Traits::meta_fields; }

 private:
  /// Minus the sum of the activations that scale j of 32 columns belongs to.
  static LLAMBDA_INLINE const std::int32_t* start_of(const q8_block& record, std::size_t j) noexcept {
    return subs == 1 ? &record.minus_sum : &record.minus_half[j];
  }

  /// f(p) for the parts of 16 rows. Sixteen scalar parts are a loop: unrolled they would only cost the compiler.
  template <Arch A, class F> static LLAMBDA_INLINE void for_each_part(F&& f) noexcept {
    if constexpr (f32x16<A>::parts > 2) {
      for (std::size_t p = 0; p < f32x16<A>::parts; ++p) f(p);
    } else {
      unroll<f32x16<A>::parts>([&](auto p) LLAMBDA_LAMBDA { f(std::size_t{p}); });
    }
  }

  /// The integer sums of R x T products, their floats and what they are added to stay in registers.
  template <Arch A, std::size_t R, std::size_t T>
  static constexpr bool sums_fit_registers = f32x16<A>::parts == 1 && R * T * (1 + subs) + R + 2 <= 32;

  /// 32 columns of part p of the rows of R tiles times T tokens: add(r, t, value, scale of the activations).
  template <Arch A, std::size_t RowBytes, std::size_t Panel, std::size_t R, std::size_t T, class Add>
  static LLAMBDA_INLINE void panel_step(const std::byte* panel, const std::int8_t* x, const q8_block* records,
                                        std::size_t p, Add&& add) noexcept {
    using dot = dot_i8<A, Traits::codes>;
    using part = typename f32x16<A>::part;
    constexpr std::size_t width = lanes / f32x16<A>::parts;
    const auto record_of = [&](std::size_t t) LLAMBDA_LAMBDA -> const q8_block& {
      return *reinterpret_cast<const q8_block*>(reinterpret_cast<const std::byte*>(records) + t * RowBytes);
    };
    const auto floats = [&](std::size_t at, std::size_t j, std::size_t r) LLAMBDA_LAMBDA {
      return compat::load(reinterpret_cast<const float*>(panel + r * Panel + at) + j * lanes + p * width, part{});
    };
    part total[R][T];
    LLAMBDA_UNROLL
    for (std::size_t j = 0; j < subs; ++j) {
      typename dot::sums sum[R][T];
      LLAMBDA_UNROLL
      for (std::size_t t = 0; t < T; ++t) {
        const auto start = dot::template begin<Traits::zero_shift>(start_of(record_of(t), j));
        LLAMBDA_UNROLL
        for (std::size_t r = 0; r < R; ++r) sum[r][t] = start;
      }
      const std::byte* w = panel + j * (sub / 4) * 64 + p * code_bytes<A>;
      dot::template add<sub / 4, RowBytes>(
          sum, [&](std::size_t r, std::size_t g) LLAMBDA_LAMBDA { return dot::codes::load(w + r * Panel + g * 64); },
          x + j * sub);
      LLAMBDA_UNROLL
      for (std::size_t r = 0; r < R; ++r) {
        const part scale = floats(panel_scales, j, r);
        LLAMBDA_UNROLL
        for (std::size_t t = 0; t < T; ++t) {
          const part value = dot::to_float(sum[r][t]);
          total[r][t] = j == 0 ? compat::rounded(value * scale) : compat::fma(value, scale, total[r][t]);
        }
      }
    }
    if constexpr (has_min) {
      LLAMBDA_UNROLL
      for (std::size_t j = 0; j < subs; ++j) {
        LLAMBDA_UNROLL
        for (std::size_t t = 0; t < T; ++t) {
          const part n = compat::broadcast(static_cast<float>(*start_of(record_of(t), j)), part{});
          LLAMBDA_UNROLL
          for (std::size_t r = 0; r < R; ++r) total[r][t] = compat::fma(floats(panel_minima, j, r), n, total[r][t]);
        }
      }
    }
    LLAMBDA_UNROLL
    for (std::size_t t = 0; t < T; ++t) {
      const part scale = compat::broadcast(record_of(t).scale, part{});
      LLAMBDA_UNROLL
      for (std::size_t r = 0; r < R; ++r) add(r, t, total[r][t], scale);
    }
  }

  /// The stored codes of the 8 groups of 32 columns.
  template <Arch A, std::size_t S, class W, std::size_t... G>
  static LLAMBDA_INLINE void take(const std::byte* codes, W (&w)[8], std::index_sequence<G...>) noexcept {
    ((w[G] = dot_i8<A, Traits::codes>::stored(Traits::template code<A, S, G>(codes))), ...);
  }

  /// One step; the scales of the tile that comes after this one are `Next` bytes further.
  template <Arch A, std::size_t Next, std::size_t... S>
  static LLAMBDA_INLINE void add_step(const std::byte* codes, const std::byte* meta, const std::int8_t* x,
                                      const q8_block* records, f32x16<A>& acc, std::index_sequence<S...>) noexcept {
    ((fetch<code_step, S>(codes + codes_ahead), fetch<meta_step, S>(meta + Next),
      acc = fma<A>(unit<A, S>(codes, meta, x + S * 32, records[S]), f32x16<A>::broadcast(records[S].scale), acc)),
     ...);
  }

  /// Codes are asked for half a page before they are needed, and scales, whose short stretch between the codes of two
  /// tiles the hardware does not foresee, a tile before. Measured on a Xeon with 17 GB/s a core, 576 to 8192 columns:
  /// Q8_0 14.2 to 16.7 GB/s, Q4_K 14.4 to 16.2, Q6_K 11.1 to 13.2; 512 to 6144 bytes ahead differ by less than 10 %.
  static constexpr std::size_t codes_ahead = 2048;

  /// Asks for the lines of share S of a step's `Bytes`, into the second-level cache.
  template <std::size_t Bytes, std::size_t S> static LLAMBDA_INLINE void fetch(const std::byte* p) noexcept {
    constexpr std::size_t shares = block / 32;
    LLAMBDA_UNROLL
    for (std::size_t i = round_up(Bytes * S / shares, 64); i < Bytes * (S + 1) / shares; i += 64) {
      __builtin_prefetch(p + i, 0, 2);
    }
  }

  template <Arch A, std::size_t S>
  static LLAMBDA_INLINE void open_unit(const std::byte* codes, const std::byte* meta, std::byte* panel) noexcept {
    for_each_part<A>([&](std::size_t p) LLAMBDA_LAMBDA {
      typename dot_i8<A, Traits::codes>::codes w[8];
      take<A, S>(codes + p * code_bytes<A>, w, std::make_index_sequence<8>{});
      LLAMBDA_UNROLL
      for (std::size_t g = 0; g < 8; ++g) w[g].store(panel + g * 64 + p * code_bytes<A>);
    });
    unroll<subs>([&](auto j) LLAMBDA_LAMBDA {
      constexpr std::size_t at = j * lanes * sizeof(float);
      Traits::template scale<A, S * subs + j>(meta).store(reinterpret_cast<float*>(panel + panel_scales + at));
      if constexpr (has_min) {
        Traits::template minimum<A, S * subs + j>(meta).store(reinterpret_cast<float*>(panel + panel_minima + at));
      }
    });
  }

  /// f(offset in the file block, offset in the row's codes, size) for every stretch of codes.
  template <class F> static LLAMBDA_INLINE void for_each_code(F&& f) noexcept {
    unroll<std::size(Traits::code_fields)>([&](auto i) LLAMBDA_LAMBDA {
      constexpr file_field field = Traits::code_fields[i];
      constexpr std::size_t at = bytes_before(Traits::code_fields, i);
      f(std::integral_constant<std::size_t, field.offset>{}, std::integral_constant<std::size_t, at>{},
        std::integral_constant<std::size_t, field.size * field.count>{});
    });
  }

  /// f(offset in the file block, offset in the row's meta, size) for every scale element.
  template <class F> static LLAMBDA_INLINE void for_each_meta(F&& f) noexcept {
    unroll<std::size(Traits::meta_fields)>([&](auto n) LLAMBDA_LAMBDA {
      constexpr file_field field = Traits::meta_fields[n];
      constexpr std::size_t at = bytes_before(Traits::meta_fields, n);
      for (std::size_t i = 0; i < field.count; ++i) {
        f(field.offset + i * field.size, at + i * field.size, std::integral_constant<std::size_t, field.size>{});
      }
    });
  }
};

/// Little-endian 16 bits at any address.
LLAMBDA_INLINE std::uint16_t load_u16(const std::byte* p) noexcept {
  std::uint16_t value;
  std::memcpy(&value, p, 2);
  return value;
}

/// 16 binary16 numbers, one a row: element `i` of the scales of a step, which are `before` bytes a row into it.
template <Arch A> LLAMBDA_INLINE f32x16<A> half_of_rows(const std::byte* meta, std::size_t before) noexcept {
  return convert<A>::from_half(reinterpret_cast<const std::uint16_t*>(meta + before * lanes));
}

/// A byte of the scales of each of 16 rows, `before` bytes a row into them.
template <Arch A> LLAMBDA_INLINE u8_vec<A, lanes> byte_of_rows(const std::byte* meta, std::size_t before) noexcept {
  return u8_vec<A, lanes>::load(meta + before * lanes);
}

/// For traits: a block has one binary16 scale, d.
struct one_scale {
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> scale(const std::byte* meta) noexcept {
    return half_of_rows<A>(meta, 0);
  }
};
/// A block has a binary16 scale and, behind it, a binary16 m that is added: w = d q + m.
struct one_scale_and_minimum : one_scale {
  template <Arch A, std::size_t B> static LLAMBDA_INLINE f32x16<A> minimum(const std::byte* meta) noexcept {
    return f32x16<A>::zero() - half_of_rows<A>(meta, 2);  // a minimum is taken off
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
