// Attention of R query rows over one span of 256 positions, the part of attention.hpp where the time goes:
//   sums[r] = sum over p of exp(q[r] . k[p] scale - top[r]) v[p],   total[r] the sum of the weights alone
// Online softmax (Milakov & Gimelshein 2018) over blocks of 64 positions.
// Trick: a key tile has 16 positions in its lanes, so a score needs no sum across lanes; each load of a key or value
// serves several query rows (the heads of a group, and in prefill those of several tokens), and where the rows are few,
// several tiles go side by side, so that there are always sums enough to hide the latency of a multiply-add.
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

/// Sums that stay in registers beside what they are made of.
template <Arch A>
inline constexpr std::size_t sums_in_registers = f32x16<A>::parts == 1 ? 16 : f32x16<A>::parts == 2 ? 6 : 1;

/// R query rows over one span. A member of a class, so that its symbol shows the format and not how it is computed.
template <quant Kv, std::size_t HeadDim, std::size_t R, Arch A>
struct attend {
  using vec = f32x16<A>;
  using layout = kv_layout<Kv, HeadDim>;
  using partial = attention_partial<HeadDim>;
  static constexpr std::size_t width = layout::width;
  /// Key tiles, and vectors of a value, side by side: with R rows their sums fill the registers.
  static constexpr std::size_t at_once = R * 4 <= sums_in_registers<A> ? 4 : R * 2 <= sums_in_registers<A> ? 2 : 1;
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

  /// b.weights[r][p] = scaled dot products of P tiles, from position p of the block on.
  template <std::size_t P>
  static LLAMBDA_INLINE void score(const float (&q)[R][HeadDim], const std::byte* tiles, std::size_t p, float scale,
                                   block& b) noexcept {
    for (std::size_t d = 0; d < HeadDim; d += layout::scale_block) {
      vec sum[P * R];
      unroll<P * R>([&](auto i) LLAMBDA_LAMBDA { sum[i] = vec::zero(); });
      for (std::size_t i = d; i < d + layout::scale_block; ++i) {
        vec key[P];
        unroll<P>([&](auto t) LLAMBDA_LAMBDA {
          key[t] = layout::template key<A>(tiles + t * layout::key_tile, i);
        });
        unroll<R>([&](auto r) LLAMBDA_LAMBDA {
          const vec element = vec::broadcast(q[r][i]);
          unroll<P>([&](auto t) LLAMBDA_LAMBDA { sum[t * R + r] = fma<A>(key[t], element, sum[t * R + r]); });
        });
      }
      unroll<P>([&](auto t) LLAMBDA_LAMBDA {
        unroll<R>([&](auto r) LLAMBDA_LAMBDA {
          float* to = b.weights[r] + p + t * lanes;
          vec total = sum[t * R + r];
          if constexpr (layout::scaled) {
            const vec before = d == 0 ? vec::zero() : vec::load(to);
            total = fma<A>(total, layout::template key_scale<A>(tiles + t * layout::key_tile, d / layout::scale_block),
                           before);
          }
          (d + layout::scale_block == HeadDim ? total * vec::broadcast(scale) : total).store(to);
        });
      });
    }
  }

  /// All tiles of the block that hold positions: as many groups of P as there are, then smaller groups.
  template <std::size_t P>
  static LLAMBDA_INLINE void score_from(const float (&q)[R][HeadDim], const std::byte* tiles, std::size_t p,
                                        float scale, block& b) noexcept {
    for (; p + (P - 1) * lanes < b.most; p += P * lanes, tiles += P * layout::key_tile) {
      score<P>(q, tiles, p, scale, b);
    }
    if constexpr (P > 1) {
      if (p < b.most) score_from<P / 2>(q, tiles, p, scale, b);
    }
  }

  /// Scores become weights against the largest score so far; correction[r] is what a row's earlier sums are to be
  /// scaled with. Step by step over all rows, so that their chains of dependent operations overlap.
  static LLAMBDA_INLINE void soften(block& b, partial* const (&out)[R], float (&correction)[R]) noexcept {
    constexpr std::size_t tiles = attention_block / lanes;
    alignas(buffer_alignment) float rise[padded(R)] = {};
    for (std::size_t r = 0; r < R; ++r) {
      if (b.count[r] == 0) continue;
      float* weights = b.weights[r];
      for (std::size_t p = b.count[r]; p < attention_block; ++p) weights[p] = -infinity;
      vec largest = vec::broadcast(-infinity);
      unroll<tiles>([&](auto t) LLAMBDA_LAMBDA { largest = max_or_second<A>(largest, vec::load(weights + t * lanes)); });
      const float top = (compat::max)(out[r]->top, reduce_max<A>(largest));
      rise[r] = out[r]->top - top;
      out[r]->top = top;
    }
    for (std::size_t r = 0; r < R; r += lanes) exp<A>(vec::load(rise + r)).store(rise + r);
    for (std::size_t r = 0; r < R; ++r) {
      correction[r] = rise[r];
      if (b.count[r] == 0) continue;
      const vec top = vec::broadcast(out[r]->top);
      vec sum = vec::zero();
      unroll<tiles>([&](auto t) LLAMBDA_LAMBDA {
        const vec e = exp<A>(vec::load(b.weights[r] + t * lanes) - top);
        e.store(b.weights[r] + t * lanes);
        sum = sum + e;
      });
      out[r]->total = compat::fma(out[r]->total, rise[r], reduce_add<A>(sum));
    }
  }

  /// sums[r] += weighted values, elements [d, d + 16 V).
  template <std::size_t V>
  static LLAMBDA_INLINE void add_values(const float (&weights)[R][attention_block], const block& b,
                                        const std::byte* tiles, std::size_t d, const float (&correction)[R],
                                        partial* const (&out)[R]) noexcept {
    vec sum[V * R];
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      const vec factor = vec::broadcast(correction[r]);
      unroll<V>([&](auto v) LLAMBDA_LAMBDA { sum[v * R + r] = vec::load(out[r]->sums + d + v * lanes) * factor; });
    });
    const auto add = [&](const std::byte* tile, std::size_t lane, std::size_t p) LLAMBDA_LAMBDA {
      vec value[V];
      unroll<V>([&](auto v) LLAMBDA_LAMBDA { value[v] = layout::template value<A>(tile, lane, d + v * lanes); });
      unroll<R>([&](auto r) LLAMBDA_LAMBDA {
        const vec weight = vec::broadcast(weights[r][p]);
        unroll<V>([&](auto v) LLAMBDA_LAMBDA { sum[v * R + r] = fma<A>(value[v], weight, sum[v * R + r]); });
      });
    };
    std::size_t p = 0;
    const std::byte* tile = tiles;
    for (; p + lanes <= b.least; p += lanes, tile += layout::value_tile) {
      for (std::size_t lane = 0; lane < lanes; ++lane) add(tile, lane, p + lane);
    }
    for (; p < b.least; ++p) add(tile, p % lanes, p);
    unroll<R>([&](auto r) LLAMBDA_LAMBDA {
      unroll<V>([&](auto v) LLAMBDA_LAMBDA { sum[v * R + r].store(out[r]->sums + d + v * lanes); });
    });
    if (b.least == b.most) return;
    for (std::size_t r = 0; r < R; ++r) {
      for (float* to = out[r]->sums + d; to != out[r]->sums + d + V * lanes; to += lanes) {
        vec rest = vec::load(to);
        for (p = b.least; p < b.count[r]; ++p) {
          const vec value = layout::template value<A>(tiles + p / lanes * layout::value_tile, p % lanes,
                                                      static_cast<std::size_t>(to - out[r]->sums));
          rest = fma<A>(value, vec::broadcast(weights[r][p]), rest);
        }
        rest.store(to);
      }
    }
  }

  /// Elements [d, end): as many groups of V vectors as there are, then smaller groups.
  template <std::size_t V>
  static LLAMBDA_INLINE void add_values_from(const float (&weights)[R][attention_block], const block& b,
                                             const std::byte* tiles, std::size_t d, std::size_t end,
                                             const float (&correction)[R], partial* const (&out)[R]) noexcept {
    for (; d + V * lanes <= end; d += V * lanes) add_values<V>(weights, b, tiles, d, correction, out);
    if constexpr (V > 1) {
      if (d < end) add_values_from<V / 2>(weights, b, tiles, d, end, correction, out);
    }
  }

  static LLAMBDA_INLINE void add_values(const block& b, const std::byte* tiles, const float (&correction)[R],
                                        partial* const (&out)[R]) noexcept {
    if constexpr (layout::scaled) {
      alignas(buffer_alignment) float weights[R][attention_block];  // times the values' scales
      for (std::size_t d = 0; d < width; d += layout::scale_block) {
        for (std::size_t p = 0; p < b.most; p += lanes) {
          const vec scales = layout::template value_scale<A>(tiles + p / lanes * layout::value_tile,
                                                             d / layout::scale_block);
          unroll<R>([&](auto r) LLAMBDA_LAMBDA { (vec::load(b.weights[r] + p) * scales).store(weights[r] + p); });
        }
        add_values_from<at_once>(weights, b, tiles, d, d + layout::scale_block, correction, out);
      }
    } else {
      add_values_from<at_once>(b.weights, b, tiles, 0, width, correction, out);
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
    score_from<at_once>(own, keys + at / lanes * layout::key_tile, 0, scale, b);
    float correction[R];
    soften(b, out, correction);
    add_values(b, values + at / lanes * layout::value_tile, correction, out);
  }
}

}  // namespace detail

}  // namespace llambda::inline LLAMBDA_ABI
