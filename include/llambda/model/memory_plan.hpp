// Every byte a model and a context will use, known before the program runs. The same constants size the arenas, so
// that the plan is not an estimate: after loading, used bytes and planned bytes are equal.
#pragma once

#include <llambda/model/tensors.hpp>
#include <llambda/runtime/context.hpp>
#include <llambda/tensor/for_each.hpp>

#include <array>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

consteval std::size_t operator""_KiB(unsigned long long n) { return static_cast<std::size_t>(n) << 10; }
consteval std::size_t operator""_MiB(unsigned long long n) { return static_cast<std::size_t>(n) << 20; }
consteval std::size_t operator""_GiB(unsigned long long n) { return static_cast<std::size_t>(n) << 30; }

struct plan_entry {
  std::string_view name;
  std::size_t bytes;
};

/// All sizes in bytes.
template <ModelConfig C> struct MemoryPlan {
  /// Sum of f.template operator()<Tensors>() over the globals and every layer.
  template <class F> static consteval std::size_t over_all(F f) {
    std::size_t sum = f.template operator()<GlobalTensors<C>>();
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((sum += f.template operator()<LayerTensors<C, K>>() * layers_of_kind<C, K>), ...);
    }
    (std::make_index_sequence<kind_count<C>>{});
    return sum;
  }

  /// Tensors as the file stores them.
  static constexpr std::size_t weights_in_file = over_all([]<class T>() { return file_bytes_of<T>; });
  /// Tensors packed for the kernels.
  static constexpr std::size_t weights_packed = over_all([]<class T>() { return arena_bytes_of<T>; });
  /// Tensors that stay in the file and are read there.
  static constexpr std::size_t weights_mapped = over_all([]<class T>() { return mapped_bytes_of<T>; });
  /// Cosines and sines of all positions, (context, rope_dim) floats.
  static constexpr std::size_t tables = aligned_bytes(limits_of<C>.context * rope_dim<C> * sizeof(float));
  static constexpr std::size_t kv_cache = KvCache<C>::bytes;
  static constexpr std::size_t kv_per_token = kv_cache / limits_of<C>.context;
  static constexpr std::size_t activations = context_layout<C>::activation_bytes;
  /// Of all threads a pool may have; only those that exist touch theirs.
  static constexpr std::size_t scratch = context_layout<C>::scratch_bytes;

  static constexpr std::size_t model_arena = weights_packed + tables;
  static constexpr std::size_t context_arena = kv_cache + activations + scratch;
  static_assert(context_arena == context_layout<C>::bytes);

  /// One model with one context.
  static constexpr std::size_t total() noexcept { return model_arena + weights_mapped + context_arena; }

  static constexpr std::array<plan_entry, 6> entries() noexcept {
    return {{{"weights_packed", weights_packed},
             {"weights_mapped", weights_mapped},
             {"tables", tables},
             {"kv_cache", kv_cache},
             {"activations", activations},
             {"scratch", scratch}}};
  }
};

/// Fails to compile when a model with one context needs more than `Budget` bytes; both numbers are in the message.
template <ModelConfig C, std::size_t Budget, std::size_t Needed = MemoryPlan<C>::total()> struct MemoryBudget {
  static_assert(Needed <= Budget,
                "llambda: memory_plan: the plan needs more bytes than the budget allows (MemoryBudget<Config, Budget, "
                "Needed>); lower Limits::context or Limits::batch, or store the KV cache as f16");
  static constexpr bool fits = true;
};

}  // namespace llambda::inline LLAMBDA_ABI
