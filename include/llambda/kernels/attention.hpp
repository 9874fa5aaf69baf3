// Causal attention of the query heads that share one key/value head:
//   out[g] = sum over p of softmax over p (q[g] . k[p] / sqrt(head_dim)) v[p],   p = 0 .. positions - 1
// No buffer grows with the context. Positions are cut into spans of 256 that are summed apart (attend.hpp) and merged
// from first to last (as in Flash-Decoding, Dao et al. 2023), so that several threads may share a long context. Cuts
// depend on the position alone, never on batch or threads, and so do all bits.
#pragma once

#include <llambda/kernels/attend.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// Attention of the `Group` query heads of one key/value head.
template <quant Kv, std::size_t HeadDim, std::size_t Group, Arch A>
struct attention {
  using vec = f32x16<A>;
  using partial = attention_partial<HeadDim>;
  /// Query rows side by side in prefill; of 4, 6, 8, 12 and 16 the fastest with 32 and with 16 registers.
  static constexpr std::size_t rows = vec::parts == 1 ? 8 : 6;
  /// Tokens a tile of prefill should have, so that its rows are whole groups of `rows`.
  static constexpr std::size_t tokens = rows;

  /// One span of one token. q: (Group, HeadDim); out: Group partials, `stride` apart.
  static void span(const float* q, const std::byte* keys, const std::byte* values, std::size_t positions,
                   std::size_t which, float scale, partial* out, std::size_t stride) noexcept {
    constexpr std::size_t together = Group < rows ? Group : rows;
    for (std::size_t g = 0; g + together <= Group; g += together) {
      heads<together>(q + g * HeadDim, keys, values, positions, which, scale, out + g * stride, stride);
    }
    if constexpr (Group % together != 0) {
      constexpr std::size_t g = Group / together * together;
      heads<Group % together>(q + g * HeadDim, keys, values, positions, which, scale, out + g * stride, stride);
    }
  }

  /// Merges `count` partials of a row, first to last, and writes its HeadDim results. Changes partials[0].
  static void finish(partial* partials, std::size_t count, float* out) noexcept {
    partial& all = partials[0];
    for (std::size_t s = 1; s < count; ++s) merge(all, partials[s]);
    const vec divisor = vec::broadcast(all.total);
    for (std::size_t d = 0; d < padded(HeadDim); d += lanes) (vec::load(all.sums + d) / divisor).store(all.sums + d);
    std::memcpy(out, all.sums, HeadDim * sizeof(float));
  }

  /// `count` tokens, the first of which sees `positions` positions, the next one more. q, out: rows of (Group, HeadDim),
  /// `stride` floats apart.
  static void tile(const float* q, std::size_t stride, std::size_t count, const std::byte* keys,
                   const std::byte* values, std::size_t positions, float scale, float* out) noexcept {
    if (count == 1) {
      partial all[Group], next[Group];
      for (std::size_t s = 0; s < attention_spans(positions); ++s) {
        span(q, keys, values, positions, s, scale, s == 0 ? all : next, 1);
        for (std::size_t g = 0; s != 0 && g < Group; ++g) merge(all[g], next[g]);
      }
      for (std::size_t g = 0; g < Group; ++g) finish(&all[g], 1, out + g * HeadDim);
      return;
    }
    for (std::size_t first = 0; first < count * Group; first += rows) {
      const float* in[rows];
      std::size_t last[rows];
      partial all[rows], next[rows];
      partial *to_all[rows], *to_next[rows];
      const std::size_t valid = count * Group - first < rows ? count * Group - first : rows;
      for (std::size_t r = 0; r < rows; ++r) {  // the last row fills up a group that is not whole
        const std::size_t row = first + (r < valid ? r : valid - 1);
        in[r] = q + row / Group * stride + row % Group * HeadDim;
        last[r] = positions + row / Group;
        to_all[r] = &all[r];
        to_next[r] = &next[r];
      }
      for (std::size_t s = 0; s < attention_spans(last[valid - 1]); ++s) {
        using kernel = detail::attend<Kv, HeadDim, rows, A>;
        kernel::run(in, last, keys, values, s * attention_span, scale, s == 0 ? to_all : to_next);
        for (std::size_t r = 0; s != 0 && r < valid; ++r) {
          if (last[r] > s * attention_span) merge(all[r], next[r]);
        }
      }
      for (std::size_t r = 0; r < valid; ++r) {
        const std::size_t row = first + r;
        finish(&all[r], 1, out + row / Group * stride + row % Group * HeadDim);
      }
    }
  }

 private:
  template <std::size_t R>
  static LLAMBDA_INLINE void heads(const float* q, const std::byte* keys, const std::byte* values,
                                   std::size_t positions, std::size_t which, float scale, partial* out,
                                   std::size_t stride) noexcept {
    const float* in[R];
    std::size_t last[R];
    partial* to[R];
    for (std::size_t r = 0; r < R; ++r) {
      in[r] = q + r * HeadDim;
      last[r] = positions;
      to[r] = out + r * stride;
    }
    detail::attend<Kv, HeadDim, R, A>::run(in, last, keys, values, which * attention_span, scale, to);
  }

  static LLAMBDA_INLINE void merge(partial& all, const partial& next) noexcept {
    const float top = (compat::max)(all.top, next.top);
    const float a = exp_f32(all.top - top), b = exp_f32(next.top - top);
    all.total = compat::fma(next.total, b, compat::rounded(all.total * a));
    all.top = top;
    for (std::size_t d = 0; d < padded(HeadDim); d += lanes) {
      const vec mine = vec::load(all.sums + d) * vec::broadcast(a);
      fma<A>(vec::load(next.sums + d), vec::broadcast(b), mine).store(all.sums + d);
    }
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
