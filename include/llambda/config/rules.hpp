// Every rule a ModelSpec must keep, once: LLAMBDA_SPEC_RULES expands to static_asserts when a config is compiled
// (check.hpp) and to typed errors when a file's header is judged (arch/).
// A rule is RULE(field, condition on the spec `s`, sentence).
#pragma once

#include <llambda/config/spec.hpp>

#include <limits>

namespace llambda::inline LLAMBDA_ABI {

namespace rules {

inline constexpr std::size_t max_size = std::size_t{1} << 24;     // any dimension
inline constexpr std::size_t max_context = std::size_t{1} << 24;  // positions that a float counts exactly

constexpr std::size_t head_dim(const ModelSpec& s) noexcept {
  return s.head_dim != 0 ? s.head_dim : s.heads != 0 ? s.hidden / s.heads : 0;
}
constexpr std::size_t rope_dim(const ModelSpec& s) noexcept { return s.rope.dim != 0 ? s.rope.dim : head_dim(s); }

constexpr bool finite_positive(float x) noexcept { return x > 0.0f && x <= (std::numeric_limits<float>::max)(); }

constexpr bool is_weight_format(quant q) noexcept { return q != quant::none; }

/// Heads can be stored in a KV cache of format `kv`.
constexpr bool heads_fit_kv(const ModelSpec& s, quant kv) noexcept { return head_dim(s) % info(kv).block == 0; }

/// Every layer's kind exists.
constexpr bool kinds_exist(const ModelSpec& s) noexcept {
  for (std::size_t i = 0; i < s.layers && i < max_layers; ++i) {
    if (s.kind_of[i] >= max_kinds) return false;
  }
  return true;
}

/// Rows of `cols` elements are whole blocks in every format `pick` selects from a layer kind that is in use.
template <class Pick>
constexpr bool whole_blocks(const ModelSpec& s, std::size_t cols, Pick pick) noexcept {
  for (std::size_t i = 0; i < s.layers && i < max_layers; ++i) {
    if (s.kind_of[i] >= max_kinds) return true;  // another rule's matter
    const LayerSpec& k = s.kinds[s.kind_of[i]];
    for (quant q : pick(k)) {
      if (!is_weight_format(q) || cols % info(q).block != 0) return false;
    }
  }
  return true;
}

constexpr bool hidden_rows_whole(const ModelSpec& s) noexcept {
  return whole_blocks(s, s.hidden, [](const LayerSpec& k) {
           return std::array{k.attn_q, k.attn_k, k.attn_v, k.ffn_gate, k.ffn_up};
         }) &&
         is_weight_format(s.token_embd) && s.hidden % info(s.token_embd).block == 0 &&
         s.hidden % info(s.output).block == 0;
}
constexpr bool q_rows_whole(const ModelSpec& s) noexcept {
  return whole_blocks(s, s.heads * head_dim(s), [](const LayerSpec& k) { return std::array{k.attn_output}; });
}
constexpr bool ffn_rows_whole(const ModelSpec& s) noexcept {
  return whole_blocks(s, s.ffn, [](const LayerSpec& k) { return std::array{k.ffn_down}; });
}

}  // namespace rules

// clang-format off
#define LLAMBDA_SPEC_RULES(RULE)                                                                                        \
  RULE(hidden, s.hidden >= 1 && s.hidden <= rules::max_size,                                                            \
       "hidden must be 1 to 2^24; set it to embedding_length")                                                          \
  RULE(layers, s.layers >= 1 && s.layers <= max_layers,                                                                 \
       "layers must be 1 to 256; set it to block_count")                                                                \
  RULE(heads, s.heads >= 1 && s.heads <= 65536,                                                                         \
       "heads must be 1 to 65536; set it to attention.head_count")                                                      \
  RULE(kv_heads, s.kv_heads >= 1 && s.kv_heads <= s.heads,                                                              \
       "kv_heads must be 1 to heads; set it to attention.head_count_kv")                                                \
  RULE(kv_heads, s.kv_heads == 0 || s.heads % s.kv_heads == 0,                                                          \
       "heads must be a multiple of kv_heads; every key/value head serves the same number of query heads")              \
  RULE(head_dim, s.head_dim != 0 || s.heads == 0 || s.hidden % s.heads == 0,                                            \
       "hidden must be a multiple of heads when head_dim is not given; set head_dim to attention.key_length")           \
  RULE(head_dim, rules::head_dim(s) >= 2 && rules::head_dim(s) <= 4096,                                                 \
       "head_dim must be 2 to 4096; set it to attention.key_length")                                                    \
  RULE(rope.dim, rules::rope_dim(s) % 2 == 0,                                                                           \
       "rope.dim must be even, since elements turn in pairs; set it to rope.dimension_count")                           \
  RULE(rope.dim, rules::rope_dim(s) <= rules::head_dim(s),                                                              \
       "rope.dim must not exceed head_dim; set it to rope.dimension_count")                                             \
  RULE(rope.theta, rules::finite_positive(s.rope.theta),                                                                \
       "rope.theta must be positive and finite; set it to rope.freq_base")                                              \
  RULE(ffn, s.ffn >= 1 && s.ffn <= rules::max_size,                                                                     \
       "ffn must be 1 to 2^24; set it to feed_forward_length")                                                          \
  RULE(vocab, s.vocab >= 1 && s.vocab <= rules::max_size,                                                               \
       "vocab must be 1 to 2^24; set it to the rows of token_embd")                                                     \
  RULE(context, s.context >= 1 && s.context <= rules::max_context,                                                      \
       "context must be 1 to 2^24; set it to context_length")                                                           \
  RULE(norm_eps, rules::finite_positive(s.norm_eps) && s.norm_eps < 1.0f,                                               \
       "norm_eps must be positive and below 1; set it to attention.layer_norm_rms_epsilon")                             \
  RULE(kinds, rules::kinds_exist(s),                                                                                    \
       "kind_of names a layer kind that does not exist; use indices below max_kinds")                                   \
  RULE(hidden, rules::hidden_rows_whole(s),                                                                             \
       "hidden is not a multiple of the block of a format whose rows are hidden long; choose another format")           \
  RULE(head_dim, rules::q_rows_whole(s),                                                                                \
       "heads * head_dim is not a multiple of attn_output's block; choose another format for attn_output")              \
  RULE(ffn, rules::ffn_rows_whole(s),                                                                                   \
       "ffn is not a multiple of ffn_down's block; choose another format for ffn_down")
// clang-format on

}  // namespace llambda::inline LLAMBDA_ABI
