// Does this CPU, and its operating system, have what this translation unit was compiled for? Answered with integer
// registers alone, so that it may run before any code that could fault.
//
// A program puts LLAMBDA_ISA_GUARD(); at namespace scope of one source file: the check then runs before every static
// initialiser, and the program ends with a message and exit code 69 instead of an illegal instruction. A library that
// must not end the process calls missing_isa() instead.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__) && defined(__unix__)
#include <unistd.h>
#define LLAMBDA_INTEGER_ONLY __attribute__((target("general-regs-only"), noinline))
#else
#define LLAMBDA_INTEGER_ONLY
#endif

namespace llambda::inline LLAMBDA_ABI {

namespace isa {

inline constexpr int exit_code = 69;

struct feature {
  const char* name;
  std::uint32_t leaf;  // of cpuid; subleaf 0 but for AVX-VNNI and AVX512-BF16 (subleaf 1)
  std::uint32_t subleaf;
  unsigned reg;  // 0 eax, 1 ebx, 2 ecx, 3 edx
  unsigned bit;
};

/// What the flags of this translation unit allow the compiler to use, besides the x86-64 baseline.
inline constexpr feature compiled_for[] = {
#if defined(__SSE3__)
    {"SSE3", 1, 0, 2, 0},
#endif
#if defined(__SSSE3__)
    {"SSSE3", 1, 0, 2, 9},
#endif
#if defined(__SSE4_1__)
    {"SSE4.1", 1, 0, 2, 19},
#endif
#if defined(__SSE4_2__)
    {"SSE4.2", 1, 0, 2, 20},
#endif
#if defined(__POPCNT__)
    {"POPCNT", 1, 0, 2, 23},
#endif
#if defined(__MOVBE__)
    {"MOVBE", 1, 0, 2, 22},
#endif
#if defined(__AVX__)
    {"AVX", 1, 0, 2, 28},
#endif
#if defined(__FMA__)
    {"FMA", 1, 0, 2, 12},
#endif
#if defined(__F16C__)
    {"F16C", 1, 0, 2, 29},
#endif
#if defined(__AVX2__)
    {"AVX2", 7, 0, 1, 5},
#endif
#if defined(__BMI__)
    {"BMI1", 7, 0, 1, 3},
#endif
#if defined(__BMI2__)
    {"BMI2", 7, 0, 1, 8},
#endif
#if defined(__ADX__)
    {"ADX", 7, 0, 1, 19},
#endif
#if defined(__LZCNT__)
    {"LZCNT", 0x80000001u, 0, 2, 5},
#endif
#if defined(__AVX512F__)
    {"AVX512F", 7, 0, 1, 16},
#endif
#if defined(__AVX512DQ__)
    {"AVX512DQ", 7, 0, 1, 17},
#endif
#if defined(__AVX512CD__)
    {"AVX512CD", 7, 0, 1, 28},
#endif
#if defined(__AVX512BW__)
    {"AVX512BW", 7, 0, 1, 30},
#endif
#if defined(__AVX512VL__)
    {"AVX512VL", 7, 0, 1, 31},
#endif
#if defined(__AVX512VNNI__)
    {"AVX512VNNI", 7, 0, 2, 11},
#endif
#if defined(__AVX512IFMA__)
    {"AVX512IFMA", 7, 0, 1, 21},
#endif
#if defined(__AVX512VBMI__)
    {"AVX512VBMI", 7, 0, 2, 1},
#endif
#if defined(__AVX512VBMI2__)
    {"AVX512VBMI2", 7, 0, 2, 6},
#endif
#if defined(__AVX512BITALG__)
    {"AVX512BITALG", 7, 0, 2, 12},
#endif
#if defined(__AVX512VPOPCNTDQ__)
    {"AVX512VPOPCNTDQ", 7, 0, 2, 14},
#endif
#if defined(__AVX512BF16__)
    {"AVX512BF16", 7, 1, 0, 5},
#endif
#if defined(__AVXVNNI__)
    {"AVXVNNI", 7, 1, 0, 4},
#endif
    {nullptr, 0, 0, 0, 0},
};

#if defined(__x86_64__) && defined(__unix__)

LLAMBDA_INTEGER_ONLY inline void cpuid(std::uint32_t leaf, std::uint32_t subleaf, std::uint32_t (&out)[4]) noexcept {
  __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(subleaf));
}

/// Does the operating system save the registers (XCR0)? 0x6: SSE and AVX; 0xe6: AVX-512 too.
LLAMBDA_INTEGER_ONLY inline bool os_saves(std::uint32_t mask) noexcept {
  std::uint32_t r[4];
  cpuid(1, 0, r);
  if (!(r[2] & (1u << 27))) return false;  // OSXSAVE
  std::uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & mask) == mask;
}

LLAMBDA_INTEGER_ONLY inline bool has(const feature& f) noexcept {
  std::uint32_t r[4];
  cpuid(f.leaf & 0x80000000u, 0, r);
  if (r[0] < f.leaf) return false;
  if (f.subleaf != 0) {
    cpuid(f.leaf, 0, r);
    if (r[0] < f.subleaf) return false;
  }
  cpuid(f.leaf, f.subleaf, r);
  return (r[f.reg] >> f.bit) & 1u;
}

/// Writes the names of missing features, each with a space in front, into `text`; returns the length, 0 = all there.
LLAMBDA_INTEGER_ONLY inline std::size_t missing_isa(char* text, std::size_t size) noexcept {
  std::size_t length = 0;
  const auto add = [&](const char* name) __attribute__((target("general-regs-only"))) {
    if (length + 1 < size) text[length++] = ' ';
    for (; *name && length + 1 < size; ++name) text[length++] = *name;
  };
  for (const feature* f = compiled_for; f->name; ++f) {
    if (!has(*f)) add(f->name);
  }
#if defined(__AVX512F__)
  if (!os_saves(0xe6)) add("AVX-512-registers-saved-by-the-system");
#elif defined(__AVX__)
  if (!os_saves(0x6)) add("AVX-registers-saved-by-the-system");
#endif
  if (size) text[length] = 0;
  return length;
}

/// Ends the process with a message on stderr when the CPU lacks something.
LLAMBDA_INTEGER_ONLY inline void guard() noexcept {
  char text[512];
  const std::size_t length = missing_isa(text, sizeof text);
  if (length == 0) return;
#if defined(__AVX512F__)
  static constexpr char before[] = "llambda: this program needs AVX-512 (F+BW+DQ+VL)+FMA+F16C; this CPU lacks:";
#else
  static constexpr char before[] = "llambda: this program needs AVX2+FMA+F16C; this CPU lacks:";
#endif
  // Nothing can be done about a message that cannot be written: the exit code says it too.
  [[maybe_unused]] long written = ::write(2, before, sizeof before - 1);
  written = ::write(2, text, length);
  written = ::write(2, "\n", 1);
  ::_exit(exit_code);
}

#else

inline std::size_t missing_isa(char* text, std::size_t size) noexcept {
  if (size) text[0] = 0;
  return 0;
}
inline void guard() noexcept {}

#endif

}  // namespace isa

}  // namespace llambda::inline LLAMBDA_ABI

/// Checks the CPU before every static initialiser of the program. At namespace scope, in one source file of an
/// executable; preinit_array runs before the initialisers of shared libraries too.
#if defined(__x86_64__) && defined(__linux__)
#define LLAMBDA_ISA_GUARD()                                                                         \
  __attribute__((section(".preinit_array"), used)) static void (*const llambda_isa_guard_entry)() = \
      &::llambda::isa::guard
#else
#define LLAMBDA_ISA_GUARD() static_assert(true)
#endif
