// Causal attention of the query heads that share one key/value head:
//   out[g] = sum over p of softmax over p (q[g] . k[p] / sqrt(head_dim)) v[p],   p = 0 .. positions - 1
// Online softmax (Milakov & Gimelshein 2018) over blocks of 64 positions: no buffer grows with the context. Positions
// are cut into spans of 256 that are summed apart and merged from first to last (as in Flash-Decoding, Dao et al. 2023),
// so that several threads may share a long context. Cuts depend on the position alone, never on batch or threads, and
// so do all bits.
// Trick: a key tile has 16 positions in its lanes, so a score needs no sum across lanes; each load of a key or value
// serves several query rows: the heads of a group, and in prefill those of several tokens.
// Cost a position: 2 head_dim multiply-adds a query row.
#pragma once

#include <llambda/kernels/kv_layout.hpp>
#include <llambda/simd/math.hpp>

#include <limits>

namespace llambda::inline LLAMBDA_ABI {

inline constexpr std::size_t attention_block = 64;  ///< positions between two rescalings
inline constexpr std::size_t attention_span = 256;  ///< positions that are summed apart

constexpr std::size_t attention_spans(std::size_t positions) noexcept {
  return (positions + attention_span - 1) / attention_span;
}

/// A query row over some of its positions: weighted values, the largest score, and the sum of weights relative to it.
template <std::size_t HeadDim> struct attention_partial {
  alignas(buffer_alignment) float sums[padded(HeadDim)];
  float top, total;
};

namespace detail {

/// R query rows over one span. A member of a class, so that its symbol shows the format and not how it is computed.
template <quant Kv, std::size_t HeadDim, std::size_t R, Arch A>
struct attend {
  using vec = f32x16<A>;
  using layout = kv_layout<Kv, HeadDim>;
  using partial = attention_partial<HeadDim>;
  static constexpr std::size_t width = layout::width;
  static constexpr float infinity = std::numeric_limits<float>::infinity();

  /// out[r] = row q[r] over positions [first, min(last[r], first + attention_span)). Positions up to the largest end
  /// have been written; what lies behind a row's own end does not reach it.
  static void run(const float* const (&q)[R], const std::size_t (&last)[R], const std::byte* keys,
                  const std::byte* values, std::size_t first, float scale, partial* const (&out)[R]) noexcept;

 private:
  struct block {
    std::size_t count[R], least, most;  // positions of a row, and of all rows
    alignas(buffer_alignment) float weights[R][attention_block];
  };

  static LLAMBDA_INLINE void score(const float (&q)[R][HeadDim], const std::byte* tile, float scale,
                                   block& b) noexcept {
    for (std::size_t p = 0; p < b.most; p += lanes, tile += layout::key_tile) {
      vec total[R];
      unroll<R>([&](auto r) LLAMBDA_LAMBDA { total[r] = vec::zero(); });
      for (std::size_t d = 0; d < HeadDim; d += layout::scale_block) {
        vec sum[R];
        unroll<R>([&](auto r) LLAMBDA_LAMBDA { sum[r] = vec::zero(); });
        for (std::size_t i = d; i < d + layout::scale_block; ++i) {
          const vec key = layout::template key<A>(tile, i);
          unroll<R>([&](auto r) LLAMBDA_LAMBDA { sum[r] = fma<A>(key, vec::broadcast(q[r][i]), sum[r]); });
        }
        if constexpr (layout::scaled) {
          const vec scales = layout::template key_scale<A>(tile, d / layout::scale_block);
          unroll<R>([&](auto r) LLAMBDA_LAMBDA { total[r] = fma<A>(sum[r], scales, total[r]); });
        } else {
          unroll<R>([&](auto r) LLAMBDA_LAMBDA { total[r] = sum[r]; });
        }
      }
      unroll<R>([&](auto r) LLAMBDA_LAMBDA { (total[r] * vec::broadcast(scale)).store(b.weights[r] + p); });
    }
  }

  /// Scores of a row become weights against the largest score so far. Returns what earlier sums are to be scaled with.
  static LLAMBDA_INLINE float soften(float* weights, std::size_t count, float& top, float& total) noexcept {
    if (count == 0) return 1.0f;
    for (std::size_t p = count; p < padded(count); ++p) weights[p] = -infinity;
    vec largest = vec::broadcast(-infinity);
    for (std::size_t p = 0; p < count; p += lanes) largest = max_or_second<A>(largest, vec::load(weights + p));
    const float new_top = (compat::max)(top, reduce_max<A>(largest));
    const float correction = exp_f32(top - new_top);
    top = new_top;
    vec sum = vec::zero();
    for (std::size_t p = 0; p < count; p += lanes) {
      const vec e = exp<A>(vec::load(weights + p) - vec::broadcast(new_top));
      e.store(weights + p);
      sum = sum + e;
    }
    total = compat::fma(total, correction, reduce_add<A>(sum));
    return correction;
  }

  /// sums[r] += weighted values, elements [d, d + 16).
  static LLAMBDA_INLINE void add_values(const float (&weights)[R][attention_block], const block& b,
                                        const std::byte* tiles, std::size_t d, const float (&correction)[R],
                                        partial* const (&out)[R]) noexcept {
    const auto value = [&](std::size_t p) LLAMBDA_LAMBDA {
      return layout::template value<A>(tiles + p / lanes * layout::value_tile, p % lanes, d);
    };
    vec acc[R];
    unroll<R>([&](auto r) LLAMBDA_LAMBDA { acc[r] = vec::load(out[r]->sums + d) * vec::broadcast(correction[r]); });
    std::size_t p = 0;
    const std::byte* tile = tiles;
    for (; p + lanes <= b.least; p += lanes, tile += layout::value_tile) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const vec v = layout::template value<A>(tile, lane, d);
        unroll<R>([&](auto r) LLAMBDA_LAMBDA { acc[r] = fma<A>(v, vec::broadcast(weights[r][p + lane]), acc[r]); });
      }
    }
    for (; p < b.least; ++p) {
      const vec v = value(p);
      unroll<R>([&](auto r) LLAMBDA_LAMBDA { acc[r] = fma<A>(v, vec::broadcast(weights[r][p]), acc[r]); });
    }
    unroll<R>([&](auto r) LLAMBDA_LAMBDA { acc[r].store(out[r]->sums + d); });
    if (b.least == b.most) return;
    for (std::size_t r = 0; r < R; ++r) {
      vec rest = vec::load(out[r]->sums + d);
      for (p = b.least; p < b.count[r]; ++p) rest = fma<A>(value(p), vec::broadcast(weights[r][p]), rest);
      rest.store(out[r]->sums + d);
    }
  }

  static LLAMBDA_INLINE void add_values(const block& b, const std::byte* tiles, const float (&correction)[R],
                                        partial* const (&out)[R]) noexcept {
    if constexpr (layout::scaled) {
      alignas(buffer_alignment) float weights[R][attention_block];  // times the values' scales
      for (std::size_t d = 0; d < width; d += lanes) {
        if (d % layout::scale_block == 0) {
          for (std::size_t p = 0; p < b.most; p += lanes) {
            const vec scales = layout::template value_scale<A>(tiles + p / lanes * layout::value_tile,
                                                               d / layout::scale_block);
            unroll<R>([&](auto r) LLAMBDA_LAMBDA { (vec::load(b.weights[r] + p) * scales).store(weights[r] + p); });
          }
        }
        add_values(weights, b, tiles, d, correction, out);
      }
    } else {
      for (std::size_t d = 0; d < width; d += lanes) add_values(b.weights, b, tiles, d, correction, out);
    }
  }
};

template <quant Kv, std::size_t HeadDim, std::size_t R, Arch A>
LLAMBDA_NOINLINE void attend<Kv, HeadDim, R, A>::run(const float* const (&q)[R], const std::size_t (&last)[R],
                                                     const std::byte* keys, const std::byte* values,
                                                     std::size_t first, float scale,
                                                     partial* const (&out)[R]) noexcept {
  alignas(buffer_alignment) float own[R][HeadDim];  // one address and constant distances
  std::size_t end = 0;
  for (std::size_t r = 0; r < R; ++r) {
    std::memcpy(own[r], q[r], sizeof own[r]);
    *out[r] = partial{{}, -infinity, 0.0f};
    end = last[r] > end ? last[r] : end;
  }
  if (end > first + attention_span) end = first + attention_span;
  for (std::size_t at = first; at < end; at += attention_block) {
    block b;
    b.least = attention_block;
    b.most = 0;
    for (std::size_t r = 0; r < R; ++r) {
      const std::size_t left = last[r] > at ? last[r] - at : 0;
      b.count[r] = left < attention_block ? left : attention_block;
      b.least = b.count[r] < b.least ? b.count[r] : b.least;
      b.most = b.count[r] > b.most ? b.count[r] : b.most;
    }
    score(own, keys + at / lanes * layout::key_tile, scale, b);
    float correction[R];
    for (std::size_t r = 0; r < R; ++r) correction[r] = soften(b.weights[r], b.count[r], out[r]->top, out[r]->total);
    add_values(b, values + at / lanes * layout::value_tile, correction, out);
  }
}

}  // namespace detail

/// Attention of the `Group` query heads of one key/value head.
template <quant Kv, std::size_t HeadDim, std::size_t Group, Arch A>
struct attention {
  using vec = f32x16<A>;
  using partial = attention_partial<HeadDim>;
  /// Query rows side by side: enough sums to hide the latency of a multiply-add.
  static constexpr std::size_t rows = f32x16<A>::parts == 1 ? 8 : 4;
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
