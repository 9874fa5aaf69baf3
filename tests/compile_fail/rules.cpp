// Every rule of a config, broken once. BROKEN = 0 compiles: all configs are sound. BROKEN = n changes one value, and
// the first error must be the sentence of case n (check.cmake reads the lines "// case n: sentence" of this file, and
// that every sentence of rules.hpp and check.hpp has a case).
#include <llambda/config/check.hpp>

#include <limits>

#ifndef BROKEN
#define BROKEN 0
#endif

using namespace llambda;

namespace {

/// A sound model of hidden 64, with one field changed when its number is the broken one.
#define CASE(n, change)                                                                                              \
  struct case_##n {                                                                                                  \
    static constexpr ModelSpec spec = [] {                                                                           \
      ModelSpec s{.name = "case", .hidden = 64, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 96, .vocab = 100,      \
                  .context = 128, .kinds = {{LayerSpec::all(quant::q8_0)}}};                                         \
      if (BROKEN == n) change;                                                                                       \
      return s;                                                                                                      \
    }();                                                                                                             \
  };                                                                                                                 \
  static_assert(ModelConfig<case_##n>)

/// The same model with other limits.
#define LIMITS_CASE(n, change)                                                                                       \
  struct case_##n {                                                                                                  \
    static constexpr ModelSpec spec{.name = "case", .hidden = 64, .layers = 2, .heads = 4, .kv_heads = 2, .ffn = 96,  \
                                    .vocab = 100, .context = 128};                                                   \
    static constexpr Limits limits = [] {                                                                            \
      Limits l{};                                                                                                    \
      if (BROKEN == n) change;                                                                                       \
      return l;                                                                                                      \
    }();                                                                                                             \
  };                                                                                                                 \
  static_assert(ModelConfig<case_##n>)

// case 1: hidden must be 1 to 2^24; set it to embedding_length
CASE(1, s.hidden = 0);
// case 2: layers must be 1 to 256; set it to block_count
CASE(2, s.layers = 257);
// case 3: heads must be 1 to 65536; set it to attention.head_count
CASE(3, s.heads = 0);
// case 4: kv_heads must be 1 to heads; set it to attention.head_count_kv
CASE(4, s.kv_heads = 0);
// case 5: heads must be a multiple of kv_heads; every key/value head serves the same number of query heads
CASE(5, s.kv_heads = 3);
// case 6: hidden must be a multiple of heads when head_dim is not given; set head_dim to attention.key_length
CASE(6, (s.heads = 6, s.kv_heads = 2));
// case 7: head_dim must be 2 to 4096; set it to attention.key_length
CASE(7, s.head_dim = 4098);
// case 8: rope.dim must be even, since elements turn in pairs; set it to rope.dimension_count
CASE(8, s.rope.dim = 15);
// case 9: rope.dim must not exceed head_dim; set it to rope.dimension_count
CASE(9, s.rope.dim = 18);
// case 10: rope.theta must be positive and finite; set it to rope.freq_base
CASE(10, s.rope.theta = std::numeric_limits<float>::infinity());
// case 11: ffn must be 1 to 2^24; set it to feed_forward_length
CASE(11, s.ffn = 0);
// case 12: vocab must be 1 to 2^24; set it to the rows of token_embd
CASE(12, s.vocab = 0);
// case 13: context must be 1 to 2^24; set it to context_length
CASE(13, s.context = (std::size_t{1} << 24) + 1);
// case 14: norm_eps must be positive and below 1; set it to attention.layer_norm_rms_epsilon
CASE(14, s.norm_eps = 0.0f);
// case 15: kind_of names a layer kind that does not exist; use indices below max_kinds
CASE(15, s.kind_of[1] = max_kinds);
// case 16: hidden is not a multiple of the block of a format whose rows are hidden long; choose another format
CASE(16, (s.hidden = 72, s.kinds[0].attn_output = quant::f32));
// case 17: heads * head_dim is not a multiple of attn_output's block; choose another format for attn_output
CASE(17, s.head_dim = 10);
// case 18: ffn is not a multiple of ffn_down's block; choose another format for ffn_down
CASE(18, s.ffn = 100);
// case 19: context must be 1 to 2^24 positions; set Limits::context
LIMITS_CASE(19, l.context = (std::size_t{1} << 24) + 1);
// case 20: batch must be 1 to 65536 tokens; set Limits::batch
LIMITS_CASE(20, l.batch = 0);
// case 21: the KV cache is stored as f32, f16, bf16 or q8_0; set Limits::kv
LIMITS_CASE(21, l.kv = quant::q4_0);
// case 22: threads must be 1 to 1024; set Limits::threads
LIMITS_CASE(22, l.threads = 1025);

// The other side of a rule, and formats that are none.
// case 23: hidden is not a multiple of the block of a format whose rows are hidden long; choose another format
CASE(23, s.token_embd = quant::none);
// case 24: ffn is not a multiple of ffn_down's block; choose another format for ffn_down
CASE(24, s.kinds[0].ffn_down = quant::none);
// case 25: rope.theta must be positive and finite; set it to rope.freq_base
CASE(25, s.rope.theta = std::numeric_limits<float>::quiet_NaN());
// case 26: kv_heads must be 1 to heads; set it to attention.head_count_kv
CASE(26, s.kv_heads = 8);
// case 27: a KV cache in q8_0 needs a head_dim that is a multiple of 32; set Limits::kv
LIMITS_CASE(27, l.kv = quant::q8_0);

}  // namespace
