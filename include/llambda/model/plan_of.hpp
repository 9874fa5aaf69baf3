// The memory plan of a spec that is known at run time only: what `inspect` shows of a file before anything is compiled.
// Written as sums over sizes; MemoryPlan<C> is the authority, and tests hold both equal for every config there is.
#pragma once

#include <llambda/model/memory_plan.hpp>

#include <algorithm>

namespace llambda::inline LLAMBDA_ABI {

struct plan_numbers {
  std::size_t weights_in_file = 0;
  std::size_t weights_packed = 0;
  std::size_t weights_mapped = 0;
  std::size_t tables = 0;
  std::size_t kv_cache = 0;
  std::size_t activations = 0;
  std::size_t scratch = 0;
  std::size_t total = 0;  ///< without weights_in_file

  bool operator==(const plan_numbers&) const = default;
};

/// The constants of MemoryPlan<C> as values.
template <ModelConfig C> constexpr plan_numbers plan_numbers_of() noexcept {
  using P = MemoryPlan<C>;
  return {P::weights_in_file, P::weights_packed, P::weights_mapped, P::tables,
          P::kv_cache,        P::activations,    P::scratch,        P::total()};
}

namespace detail {

struct packed_shape {
  std::size_t step, step_bytes;
  activation_kind activation;
};

constexpr packed_shape packed_shape_of(quant q) noexcept {
  packed_shape found{1, 0, activation_kind::f32};
  const auto look = [&]<quant Q>() {
    if (q == Q) found = {Format<Q>::step, Format<Q>::step_bytes, Format<Q>::activation};
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {  // every format after none
    (look.template operator()<static_cast<quant>(I + 1)>(), ...);
  }
  (std::make_index_sequence<sizeof quant_table / sizeof *quant_table - 1>{});
  return found;
}

}  // namespace detail

/// Precondition: `s` keeps the rules; `l` has no zero but context, which then gets its default.
constexpr plan_numbers plan_of(const ModelSpec& s, Limits l) noexcept {
  if (l.context == 0) l.context = s.context < 4096 ? s.context : 4096;
  if (l.batch > l.context) l.batch = l.context;
  const std::size_t head_dim = rules::head_dim(s), q = s.heads * head_dim, kv = s.kv_heads * head_dim;
  plan_numbers p;
  bool q8 = false;
  std::size_t largest_tile = 0;
  const auto matrix = [&](quant format, std::size_t rows, std::size_t cols) {
    const detail::packed_shape shape = detail::packed_shape_of(format);
    const std::size_t tile = aligned_bytes(round_up(cols, shape.step) / shape.step * shape.step_bytes);
    q8 = q8 || shape.activation == activation_kind::q8;
    p.weights_in_file += rows * row_bytes(format, cols);
    if (l.in_place) {
      p.weights_mapped += rows * row_bytes(format, cols);
      largest_tile = (std::max)(largest_tile, tile);
    } else {
      p.weights_packed += tile_count(rows) * tile;
    }
  };
  const auto vector = [&](std::size_t n) {
    p.weights_in_file += n * sizeof(float);
    p.weights_packed += aligned_bytes(padded(n) * sizeof(float));
  };
  for (std::size_t i = 0; i < s.layers; ++i) {
    const LayerSpec& k = s.kinds[s.kind_of[i]];
    vector(s.hidden);
    matrix(k.attn_q, q, s.hidden);
    matrix(k.attn_k, kv, s.hidden);
    matrix(k.attn_v, kv, s.hidden);
    matrix(k.attn_output, s.hidden, q);
    vector(s.hidden);
    matrix(k.ffn_gate, s.ffn, s.hidden);
    matrix(k.ffn_up, s.ffn, s.hidden);
    matrix(k.ffn_down, s.hidden, s.ffn);
  }
  if (s.output == quant::none) {
    matrix(s.token_embd, s.vocab, s.hidden);
  } else {
    p.weights_mapped += s.vocab * row_bytes(s.token_embd, s.hidden);
    p.weights_in_file += s.vocab * row_bytes(s.token_embd, s.hidden);
    matrix(s.output, s.vocab, s.hidden);
  }
  vector(s.hidden);
  if (s.rope.factors) vector(rules::rope_dim(s) / 2);

  const auto floats = [](std::size_t n) { return aligned_bytes(n * sizeof(float)); };
  const std::size_t heads = s.layers * s.kv_heads, tiles = tile_count(l.context);
  const std::size_t element = l.kv == quant::f32 ? 4 : l.kv == quant::q8_0 ? 1 : 2;
  const std::size_t scales = l.kv == quant::q8_0 ? head_dim / 32 * lanes * 2 : 0;
  const std::size_t partial = aligned_bytes((padded(head_dim) + 2) * sizeof(float)), spans = attention_spans(l.context);
  const std::size_t hidden = row_stride(s.hidden), ffn = row_stride(s.ffn),
                    widest_row = padded((std::max)({s.hidden, q, s.ffn}));
  const std::size_t q8_stride = q8 ? q8_row_bytes(widest_row) : 0;
  p.tables = floats(l.context * rules::rope_dim(s));
  p.kv_cache = aligned_bytes(heads * tiles * (head_dim * lanes * element + scales)) +
               aligned_bytes(heads * tiles * (padded(head_dim) * lanes * element + scales));
  p.activations = 2 * floats(l.batch * hidden) + 2 * floats(l.batch * row_stride(q)) +
                  2 * floats(l.batch * row_stride(kv)) + 2 * floats(l.batch * ffn) +
                  aligned_bytes(l.batch * q8_stride) + floats(padded(s.vocab)) +
                  (spans > 1 ? s.heads * spans * partial : 0);
  p.scratch = l.threads * (floats(hidden) + q8_stride + largest_tile);
  p.total = p.weights_packed + p.weights_mapped + p.tables + p.kv_cache + p.activations + p.scratch;
  return p;
}

}  // namespace llambda::inline LLAMBDA_ABI
