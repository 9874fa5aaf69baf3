// All weights of a model, ready for the kernels: one array of layers a kind, tensors packed into one arena, and the
// rotary table. Immutable once bound (io/bind.hpp); any number of contexts and threads read it.
#pragma once

#include <llambda/core/arena.hpp>
#include <llambda/model/memory_plan.hpp>

#include <array>
#include <memory>
#include <tuple>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

namespace detail {

template <ModelConfig C, class Sequence>
struct layer_storage;
template <ModelConfig C, std::size_t... K>
struct layer_storage<C, std::index_sequence<K...>> {
  using type = std::tuple<std::array<LayerTensors<C, K>, layers_of_kind<C, K>>...>;
};

}  // namespace detail

template <ModelConfig C>
struct Weights {
  using Layers = typename detail::layer_storage<C, std::make_index_sequence<kind_count<C>>>::type;

  std::shared_ptr<const void> source;  // what holds the tensors that are not copied
  arena memory;
  GlobalTensors<C> globals{};
  Layers layers{};
  float* rope_table = nullptr;  // (context, rope_dim): rope_dim / 2 cosines, then as many sines

  const float* rope_row(std::size_t position) const noexcept { return rope_table + position * rope_dim<C>; }

  /// Calls f(tensors of layer i); f is instantiated once a layer kind, not once a layer.
  template <class F>
  LLAMBDA_INLINE void visit_layer(std::size_t i, F&& f) const {
    visit(*this, i, f);
  }
  template <class F>
  LLAMBDA_INLINE void visit_layer(std::size_t i, F&& f) {
    visit(*this, i, f);
  }

 private:
  template <class Self, class F>
  static LLAMBDA_INLINE void visit(Self& self, std::size_t i, F& f) {
    const std::size_t kind = C::spec.kind_of[i], index = index_in_kind<C>[i];
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      ((kind == K ? (f(std::get<K>(self.layers)[index]), true) : false) || ...);
    }(std::make_index_sequence<kind_count<C>>{});
  }
};

}  // namespace llambda::inline LLAMBDA_ABI
