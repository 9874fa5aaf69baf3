// The single declaration of every tensor: name, storage format, shape. Loading, checking, planning, packing and reports
// iterate over these structs; the member name is the tensor's stem in GGUF files (tensor/names.hpp).
#pragma once

#include <llambda/config/derived.hpp>
#include <llambda/core/hana.hpp>
#include <llambda/tensor/tensor.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// A matrix that is multiplied: packed, or where it lies in the file.
template <ModelConfig C, quant Q, std::size_t Rows, std::size_t Cols>
using Matrix = std::conditional_t<limits_of<C>.in_place, FileTensor<Q, Rows, Cols>, Tensor<Q, Rows, Cols>>;

/// Tensors of one layer of kind `Kind`.
template <ModelConfig C, std::size_t Kind> struct LayerTensors {
  static constexpr LayerSpec K = C::spec.kinds[Kind];
  using Norm = Vector<C::spec.hidden>;
  using Wq = Matrix<C, K.attn_q, q_dim<C>, C::spec.hidden>;
  using Wk = Matrix<C, K.attn_k, kv_dim<C>, C::spec.hidden>;
  using Wv = Matrix<C, K.attn_v, kv_dim<C>, C::spec.hidden>;
  using Wo = Matrix<C, K.attn_output, C::spec.hidden, q_dim<C>>;
  using Gate = Matrix<C, K.ffn_gate, C::spec.ffn, C::spec.hidden>;
  using Up = Matrix<C, K.ffn_up, C::spec.ffn, C::spec.hidden>;
  using Down = Matrix<C, K.ffn_down, C::spec.hidden, C::spec.ffn>;
  BOOST_HANA_DEFINE_STRUCT(LayerTensors, (Norm, attn_norm), (Wq, attn_q), (Wk, attn_k), (Wv, attn_v), (Wo, attn_output),
                           (Norm, ffn_norm), (Gate, ffn_gate), (Up, ffn_up), (Down, ffn_down));
};

/// Tensors outside the layers. A tied embedding is packed, since it is also multiplied; an untied one is only looked
/// up, and stays in the file.
template <ModelConfig C> struct GlobalTensors {
  using Multiplied = Matrix<C, C::spec.token_embd, C::spec.vocab, C::spec.hidden>;
  using Lookup = FileTensor<C::spec.token_embd, C::spec.vocab, C::spec.hidden>;
  using Embedding = std::conditional_t<tied<C>, Multiplied, Lookup>;
  using Norm = Vector<C::spec.hidden>;
  using Untied = Matrix<C, C::spec.output, C::spec.vocab, C::spec.hidden>;
  using Output = std::conditional_t<tied<C>, Absent, Untied>;
  using Factors = std::conditional_t<C::spec.rope.factors, Vector<rope_dim<C> / 2>, Absent>;
  BOOST_HANA_DEFINE_STRUCT(GlobalTensors, (Embedding, token_embd), (Norm, output_norm), (Output, output),
                           (Factors, rope_freqs));
};

}  // namespace llambda::inline LLAMBDA_ABI
