// Causal attention of the query heads that share one key/value head, for one token:
//   out[g] = sum over p of softmax over p (q[g] . k[p] / sqrt(head_dim)) v[p],   p = 0 .. positions - 1
// Online softmax (Milakov & Gimelshein 2018) over blocks of 64 positions: no buffer grows with the context, and the
// order of all sums depends on the position alone, never on the batch or the threads.
// Trick: a key tile has 16 positions in its lanes, so a score needs no sum across lanes; each load of a key or value
// serves all query heads of the group. Cost a position: 2 head_dim multiply-adds a query head, and one read of k and v.
#pragma once

#include <llambda/kernels/kv_layout.hpp>
#include <llambda/simd/math.hpp>

#include <limits>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

inline constexpr std::size_t attention_block = 64;  // positions between two rescalings

/// G query heads (at most 4 side by side in the registers) against all positions of one key/value head.
/// q, out: (G, head_dim) with HeadDim floats between heads.
/// A member of a class, so that its symbol shows the element's type and not how it is computed.
template <quant Kv, std::size_t HeadDim, std::size_t G, Arch A> struct attend {
  using element = kv_element<Kv>;
  static void run(const float* q, const element* keys, const element* values, std::size_t positions, float scale,
                  float* out) noexcept;
};

template <quant Kv, std::size_t HeadDim, std::size_t G, Arch A>
LLAMBDA_NOINLINE void attend<Kv, HeadDim, G, A>::run(const float* q, const element* keys, const element* values,
                                                     std::size_t positions, float scale, float* out) noexcept {
  using vec = f32x16<A>;
  using layout = kv_layout<Kv, HeadDim>;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr std::size_t width = padded(HeadDim);
  alignas(buffer_alignment) float sums[G][width];  // weighted values, not yet divided
  alignas(buffer_alignment) float weights[G][attention_block];
  float top[G], total[G];
  unroll<G>([&](auto g) LLAMBDA_LAMBDA {
    top[g] = -infinity;
    total[g] = 0.0f;
    for (std::size_t d = 0; d < width; d += lanes) vec::zero().store(sums[g] + d);
  });
  for (std::size_t first = 0; first < positions; first += attention_block) {
    const std::size_t count = positions - first < attention_block ? positions - first : attention_block;
    for (std::size_t p = 0; p < count; p += lanes) {  // scores, a tile of 16 positions at a time
      const kv_element<Kv>* tile = keys + (first + p) / lanes * layout::tile_elements;
      vec score[G];
      unroll<G>([&](auto g) LLAMBDA_LAMBDA { score[g] = vec::zero(); });
      for (std::size_t d = 0; d < HeadDim; ++d) {
        const vec key = layout::template load<A>(tile + d * lanes);
        unroll<G>([&](auto g) LLAMBDA_LAMBDA { score[g] = fma<A>(key, vec::broadcast(q[g * HeadDim + d]), score[g]); });
      }
      unroll<G>([&](auto g) LLAMBDA_LAMBDA { (score[g] * vec::broadcast(scale)).store(weights[g] + p); });
    }
    float correction[G];
    unroll<G>([&](auto g) LLAMBDA_LAMBDA {  // softmax weights of the block, against the largest score so far
      for (std::size_t p = count; p < padded(count); ++p) weights[g][p] = -infinity;
      vec largest = vec::broadcast(-infinity);
      for (std::size_t p = 0; p < count; p += lanes) largest = max_or_second<A>(largest, vec::load(weights[g] + p));
      const float new_top = (compat::max)(top[g], reduce_max<A>(largest));
      correction[g] = exp_f32(top[g] - new_top);
      top[g] = new_top;
      vec block_total = vec::zero();
      for (std::size_t p = 0; p < count; p += lanes) {
        const vec e = exp<A>(vec::load(weights[g] + p) - vec::broadcast(new_top));
        e.store(weights[g] + p);
        block_total = block_total + e;
      }
      total[g] = compat::fma(total[g], correction[g], reduce_add<A>(block_total));
    });
    for (std::size_t d = 0; d < width; d += lanes) {  // values, 16 elements at a time
      vec acc[G];
      unroll<G>([&](auto g) LLAMBDA_LAMBDA { acc[g] = vec::load(sums[g] + d) * vec::broadcast(correction[g]); });
      const kv_element<Kv>* row = values + first * layout::value_stride + d;
      for (std::size_t p = 0; p < count; ++p, row += layout::value_stride) {
        const vec value = layout::template load<A>(row);
        unroll<G>([&](auto g) LLAMBDA_LAMBDA { acc[g] = fma<A>(value, vec::broadcast(weights[g][p]), acc[g]); });
      }
      unroll<G>([&](auto g) LLAMBDA_LAMBDA { acc[g].store(sums[g] + d); });
    }
  }
  unroll<G>([&](auto g) LLAMBDA_LAMBDA {
    const vec divisor = vec::broadcast(total[g]);
    for (std::size_t d = 0; d < width; d += lanes) (vec::load(sums[g] + d) / divisor).store(sums[g] + d);
    std::memcpy(out + g * HeadDim, sums[g], HeadDim * sizeof(float));
  });
}

}  // namespace detail

/// All `Group` query heads of one key/value head. q, out: (Group, head_dim). Precondition: positions >= 1.
template <quant Kv, std::size_t HeadDim, std::size_t Group, Arch A>
void attention(const float* q, const kv_element<Kv>* keys, const kv_element<Kv>* values, std::size_t positions,
               float scale, float* out) noexcept {
  constexpr std::size_t together = Group < 4 ? Group : 4;
  std::size_t g = 0;
  for (; g + together <= Group; g += together) {
    detail::attend<Kv, HeadDim, together, A>::run(q + g * HeadDim, keys, values, positions, scale, out + g * HeadDim);
  }
  if constexpr (Group % together != 0) {
    detail::attend<Kv, HeadDim, Group % together, A>::run(q + g * HeadDim, keys, values, positions, scale,
                                                          out + g * HeadDim);
  }
}

}  // namespace llambda::inline LLAMBDA_ABI
