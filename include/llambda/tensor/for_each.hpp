// Iterating over the tensors of a struct declared with BOOST_HANA_DEFINE_STRUCT: the only user of hana::accessors.
// Loading, planning and reports go through here, so that a tensor is named once, where it is declared.
#pragma once

#include <llambda/core/hana.hpp>
#include <llambda/tensor/tensor.hpp>

#include <string_view>
#include <utility>

namespace llambda::inline LLAMBDA_ABI {

/// Calls f(stem, tensor&) for each present tensor of `tensors`, in the order of declaration.
/// `stem` is the member's name, which is the tensor's name in GGUF files without layer and suffix.
template <class Tensors, class F>
void for_each_tensor(Tensors& tensors, F&& f) {
  hana::unpack(hana::accessors<std::remove_const_t<Tensors>>(), [&](auto... accessor) {
    const auto visit = [&](auto pair) {
      auto& tensor = hana::second(pair)(tensors);
      if constexpr (is_present<std::remove_cvref_t<decltype(tensor)>>) {
        f(std::string_view(hana::to<const char*>(hana::first(pair))), tensor);
      }
    };
    (visit(accessor), ...);
  });
}

/// Sum of f.template operator()<T>() over the types of the tensors of a struct, at compile time.
template <class Tensors, class F>
consteval std::size_t sum_over_tensors(F f) {
  return hana::unpack(hana::accessors<Tensors>(), [&](auto... accessor) {
    return (std::size_t{0} + ... +
            f.template operator()<std::remove_cvref_t<decltype(hana::second(accessor)(std::declval<Tensors&>()))>>());
  });
}

/// Bytes the tensors of a struct take in the weights' arena.
template <class Tensors>
inline constexpr std::size_t arena_bytes_of =
    sum_over_tensors<Tensors>([]<class T>() { return T::arena_bytes; });

/// Bytes of the tensors of a struct that are used where they lie in the file.
template <class Tensors>
inline constexpr std::size_t mapped_bytes_of =
    sum_over_tensors<Tensors>([]<class T>() { return T::arena_bytes == 0 ? T::file_bytes : 0; });

/// Bytes the tensors of a struct take in the file.
template <class Tensors>
inline constexpr std::size_t file_bytes_of = sum_over_tensors<Tensors>([]<class T>() { return T::file_bytes; });

}  // namespace llambda::inline LLAMBDA_ABI
