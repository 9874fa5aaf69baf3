// All weights of a model, ready for the kernels: one array of layers a kind, tensors packed into one arena, and the
// rotary table. Immutable once bound (io/bind.hpp); any number of contexts and threads read it.
#pragma once

#include <llambda/core/arena.hpp>
#include <llambda/model/memory_plan.hpp>

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

template <ModelConfig C, class Sequence> struct layer_storage;
template <ModelConfig C, std::size_t... K> struct layer_storage<C, std::index_sequence<K...>> {
  using type = std::tuple<std::array<LayerTensors<C, K>, layers_of_kind<C, K>>...>;
};

}  // namespace detail

template <ModelConfig C> struct Weights {
  using Layers = typename detail::layer_storage<C, std::make_index_sequence<kind_count<C>>>::type;

  std::shared_ptr<const void> source;  // what holds the tensors that are not copied
  std::string cache_failure;           // why the pack cache could not be written; empty if all is well
  arena memory;
  GlobalTensors<C> globals{};
  Layers layers{};
  float* rope_table = nullptr;  // (context, rope_dim): rope_dim / 2 cosines, then as many sines

  const float* rope_row(std::size_t position) const noexcept { return rope_table + position * rope_dim<C>; }

  /// Calls f(tensors of layer i); f is instantiated once a layer kind, not once a layer.
  template <class F> LLAMBDA_INLINE void visit_layer(std::size_t i, F&& f) const { visit<0>(*this, i, f); }
  template <class F> LLAMBDA_INLINE void visit_layer(std::size_t i, F&& f) { visit<0>(*this, i, f); }

 private:
  template <std::size_t Kind, class Self, class F> static LLAMBDA_INLINE void visit(Self& self, std::size_t i, F& f) {
    if constexpr (Kind + 1 < kind_count<C>) {
      if (C::spec.kind_of[i] != Kind) return visit<Kind + 1>(self, i, f);
    }
    if constexpr (layers_of_kind<C, Kind> != 0) f(std::get<Kind>(self.layers)[index_in_kind<C>[i]]);
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
