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

  static constexpr std::size_t positions = limits_of<C>.context;
  static constexpr std::size_t head_keys = layout::key_bytes(positions);
  static constexpr std::size_t head_values = layout::value_bytes(positions);
  static constexpr std::size_t heads = C::spec.layers * C::spec.kv_heads;
  static constexpr std::size_t keys_bytes = aligned_bytes(heads * head_keys);
  static constexpr std::size_t values_bytes = aligned_bytes(heads * head_values);
  static constexpr std::size_t bytes = keys_bytes + values_bytes;

  explicit KvCache(arena& memory)
      : keys_(memory.take<std::byte>(heads * head_keys)), values_(memory.take<std::byte>(heads * head_values)) {}

  std::byte* keys(std::size_t layer, std::size_t kv_head) noexcept {
    return keys_ + (layer * C::spec.kv_heads + kv_head) * head_keys;
  }
  std::byte* values(std::size_t layer, std::size_t kv_head) noexcept {
    return values_ + (layer * C::spec.kv_heads + kv_head) * head_values;
  }

 private:
  std::byte* keys_;    // (layers, kv_heads, head_keys)
  std::byte* values_;  // (layers, kv_heads, head_values)
};

}  // namespace llambda::inline LLAMBDA_ABI
