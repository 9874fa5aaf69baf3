// F32: IEEE binary32, little-endian. 32 bits a weight, exact.
// The meaning every other format is measured against.
#pragma once

#include <llambda/quant/plain.hpp>

namespace llambda::inline LLAMBDA_ABI {

struct f32_traits {
  using stored = float;
  static constexpr quant kind = quant::f32;
  static constexpr float to_float(float x) noexcept { return x; }
  template <Arch A>
  static LLAMBDA_INLINE f32x16<A> load(const float* p) noexcept {
    return f32x16<A>::load(p);
  }
};

template <>
struct Format<quant::f32> : PlainFormat<f32_traits> {};

static_assert(PackableFormat<quant::f32, default_arch>);

}  // namespace llambda::inline LLAMBDA_ABI
