// What a model is, as plain aggregates: written with designated initialisers, printed, compared with a file's header.
// A config is a type that carries one of them: struct my_model { static constexpr ModelSpec spec{...}; };
// Names follow GGUF's metadata keys; sizes are elements, not bytes.
#pragma once

#include <llambda/config/quant_kind.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

enum class architecture : std::uint8_t { llama };

/// Which elements of a head rotate together: (x0, x1), (x2, x3), ... or (x0, x[d/2]), (x1, x[d/2 + 1]), ...
enum class rope_pairing : std::uint8_t { interleaved, halves };

/// Rotary position embedding: pair i of a head turns by position * theta^(-2 i / dim) / factor[i].
struct RopeSpec {
  float theta = 10000.0f;
  std::size_t dim = 0;  ///< leading elements of a head that rotate; 0 = all of head_dim
  rope_pairing pairing = rope_pairing::interleaved;
  bool factors = false;  ///< the file has rope_freqs.weight, (dim / 2) divisors

  bool operator==(const RopeSpec&) const = default;
};

/// One kind of layer: what its parts are and how each matrix is stored. Norm weights are always f32.
struct LayerSpec {
  quant attn_q = quant::f32;
  quant attn_k = quant::f32;
  quant attn_v = quant::f32;
  quant attn_output = quant::f32;
  quant ffn_gate = quant::f32;
  quant ffn_up = quant::f32;
  quant ffn_down = quant::f32;

  bool operator==(const LayerSpec&) const = default;

  /// The same format for every matrix.
  static constexpr LayerSpec all(quant q) noexcept { return {q, q, q, q, q, q, q}; }
};

inline constexpr std::size_t max_layers = 256;
inline constexpr std::size_t max_kinds = 32;

struct ModelSpec {
  std::string_view name{};
  architecture arch = architecture::llama;
  std::size_t hidden = 0;    ///< embedding_length
  std::size_t layers = 0;    ///< block_count
  std::size_t heads = 0;     ///< attention.head_count
  std::size_t kv_heads = 0;  ///< attention.head_count_kv
  std::size_t head_dim = 0;  ///< attention.key_length; 0 = hidden / heads
  std::size_t ffn = 0;       ///< feed_forward_length
  std::size_t vocab = 0;     ///< rows of token_embd
  std::size_t context = 0;   ///< context_length: positions the model was trained for
  float norm_eps = 1e-5f;    ///< attention.layer_norm_rms_epsilon
  RopeSpec rope{};
  quant token_embd = quant::f32;
  quant output = quant::none;  ///< none: tied, token_embd serves as the output matrix
  std::array<LayerSpec, max_kinds> kinds{};
  std::array<std::uint8_t, max_layers> kind_of{};  ///< (layers): index into kinds

  bool operator==(const ModelSpec&) const = default;
};

/// What a binary is prepared for at run time. A config may carry one: static constexpr Limits limits{...};
struct Limits {
  std::size_t context = 0;  ///< positions of the KV cache; 0 = the model's context, at most 4096
  std::size_t batch = 96;   ///< most tokens computed together in prefill
  quant kv = quant::f16;    ///< format of the KV cache: f32, f16, bf16 or q8_0
  std::size_t threads = 64; ///< most threads of a pool; each has scratch of its own
  bool in_place = false;    ///< matrices stay in the mapped file, and are packed tile by tile at every use: slower, and
                            ///< the file is the only copy

  bool operator==(const Limits&) const = default;
};

}  // namespace llambda::inline LLAMBDA_ABI
