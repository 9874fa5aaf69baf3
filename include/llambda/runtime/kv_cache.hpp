// Keys and values of all positions so far, one block a layer and key/value head (kernels/kv_layout.hpp).
// Its size is fixed by the config; positions are only ever appended or dropped from the end.
#pragma once

#include <llambda/config/derived.hpp>
#include <llambda/core/arena.hpp>
#include <llambda/kernels/kv_layout.hpp>

namespace llambda::inline LLAMBDA_ABI {

template <ModelConfig C>
class KvCache {
 public:
  static constexpr quant format = limits_of<C>.kv;
  using layout = kv_layout<format, head_dim<C>>;
  using element = typename layout::element;

  static constexpr std::size_t positions = limits_of<C>.context;
  static constexpr std::size_t key_elements = layout::key_elements(positions);
  static constexpr std::size_t value_elements = layout::value_elements(positions);
  static constexpr std::size_t heads = C::spec.layers * C::spec.kv_heads;
  static constexpr std::size_t keys_bytes = aligned_bytes(heads * key_elements * sizeof(element));
  static constexpr std::size_t values_bytes = aligned_bytes(heads * value_elements * sizeof(element));
  static constexpr std::size_t bytes = keys_bytes + values_bytes;

  explicit KvCache(arena& memory)
      : keys_(memory.take<element>(heads * key_elements)), values_(memory.take<element>(heads * value_elements)) {}

  element* keys(std::size_t layer, std::size_t kv_head) noexcept {
    return keys_ + (layer * C::spec.kv_heads + kv_head) * key_elements;
  }
  element* values(std::size_t layer, std::size_t kv_head) noexcept {
    return values_ + (layer * C::spec.kv_heads + kv_head) * value_elements;
  }

 private:
  element* keys_;    // (layers, kv_heads, context / 16, head_dim, 16)
  element* values_;  // (layers, kv_heads, context, head_dim padded)
};

}  // namespace llambda::inline LLAMBDA_ABI
