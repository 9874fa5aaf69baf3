// Instruction sets as tags. A kernel takes one as its last template parameter and contains no #ifdef; everything that
// differs between them is an atom in this directory. Tags inherit, so that an atom for avx512 serves its successors
// until they get one of their own: specialise for the concepts below.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <concepts>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

namespace arch {

/// Plain C++ floats, sixteen of them: the meaning of every vector operation, and the same bits, slowly.
struct scalar {
  static constexpr std::string_view name = "scalar";
};

/// AVX2 + FMA + F16C: the baseline the library is written for (Haswell 2013, Zen 2017 and later).
struct avx2 {
  static constexpr std::string_view name = "avx2";
};

/// AVX-512 F + BW + DQ + VL (Skylake-X, Zen 4 and later), with FMA and F16C.
struct avx512 : avx2 {
  static constexpr std::string_view name = "avx512";
};

/// AVX2 with the VEX-encoded integer dot product (Alder Lake, Zen 5 and later).
struct avxvnni : avx2 {
  static constexpr std::string_view name = "avxvnni";
};

/// AVX-512 with the integer dot product (Cascade Lake, Zen 4 and later).
struct avx512vnni : avx512 {
  static constexpr std::string_view name = "avx512vnni";
};

}  // namespace arch

template <class A>
concept Arch = std::same_as<A, arch::scalar> || std::derived_from<A, arch::avx2>;

/// For atoms: a specialisation for Avx512Arch is more specialised than one for Avx2Arch.
template <class A>
concept Avx2Arch = Arch<A> && std::derived_from<A, arch::avx2>;
template <class A>
concept Avx512Arch = Avx2Arch<A> && std::derived_from<A, arch::avx512>;
template <class A>
concept AvxVnniArch = Avx2Arch<A> && std::derived_from<A, arch::avxvnni>;
template <class A>
concept Avx512VnniArch = Avx512Arch<A> && std::derived_from<A, arch::avx512vnni>;
/// Has an instruction that multiplies unsigned by signed bytes and adds four products to 32 bits.
template <class A>
concept VnniArch = AvxVnniArch<A> || Avx512VnniArch<A>;

/// The widest instruction set the compiler's flags allow.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__) && \
    defined(__FMA__) && defined(__F16C__)
#define LLAMBDA_HAS_AVX512 1
#define LLAMBDA_HAS_AVX2 1
#if defined(__AVX512VNNI__)
using default_arch = arch::avx512vnni;
#else
using default_arch = arch::avx512;
#endif
#elif defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define LLAMBDA_HAS_AVX512 0
#define LLAMBDA_HAS_AVX2 1
#if defined(__AVXVNNI__)
using default_arch = arch::avxvnni;
#else
using default_arch = arch::avx2;
#endif
#else
using default_arch = arch::scalar;
#define LLAMBDA_HAS_AVX512 0
#define LLAMBDA_HAS_AVX2 0
#endif
#if defined(__AVX512VNNI__) && LLAMBDA_HAS_AVX512
#define LLAMBDA_HAS_AVX512VNNI 1
#else
#define LLAMBDA_HAS_AVX512VNNI 0
#endif
#if defined(__AVXVNNI__) && LLAMBDA_HAS_AVX2
#define LLAMBDA_HAS_AVXVNNI 1
#else
#define LLAMBDA_HAS_AVXVNNI 0
#endif

}  // namespace llambda::inline LLAMBDA_ABI
