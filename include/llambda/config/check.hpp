// The door of the library: one consteval function, one static_assert a rule. Concept ModelConfig calls it, so that the
// sentence of the broken rule is the first error a compiler prints, wherever a bad config is used.
#pragma once

#include <llambda/config/rules.hpp>

#include <concepts>

namespace llambda::inline LLAMBDA_ABI {

/// C carries a model: static constexpr llambda::ModelSpec spec{...};
template <class C>
concept CarriesSpec = requires {
  { C::spec } -> std::convertible_to<const ModelSpec&>;
};

/// C carries limits of its own: static constexpr llambda::Limits limits{...};
template <class C>
concept CarriesLimits = requires {
  { C::limits } -> std::convertible_to<const Limits&>;
};

/// Limits of a config with every default filled in.
template <CarriesSpec C>
consteval Limits limits_of_config() {
  Limits l{};
  if constexpr (CarriesLimits<C>) l = C::limits;
  if (l.context == 0) l.context = C::spec.context < 4096 ? C::spec.context : 4096;
  if (l.batch > l.context) l.batch = l.context;
  return l;
}

/// Fails to compile with the rule's sentence unless C's spec and limits make a model.
template <CarriesSpec C>
consteval bool check_config() {
  constexpr const ModelSpec& s = C::spec;
#define LLAMBDA_ASSERT_RULE(field, condition, sentence) static_assert(condition, "llambda: config: " sentence);
  LLAMBDA_SPEC_RULES(LLAMBDA_ASSERT_RULE)
#undef LLAMBDA_ASSERT_RULE
  constexpr Limits l = limits_of_config<C>();
  static_assert(l.context >= 1 && l.context <= rules::max_context,
                "llambda: limits: context must be 1 to 2^24 positions; set Limits::context");
  static_assert(l.batch >= 1 && l.batch <= 65536, "llambda: limits: batch must be 1 to 65536 tokens; set Limits::batch");
  static_assert(is_kv_format(l.kv),
                "llambda: limits: the KV cache is stored as f32, f16, bf16 or q8_0; set Limits::kv");
  static_assert(!is_kv_format(l.kv) || rules::heads_fit_kv(s, l.kv),
                "llambda: limits: a KV cache in q8_0 needs a head_dim that is a multiple of 32; set Limits::kv");
  static_assert(l.threads >= 1 && l.threads <= 1024, "llambda: limits: threads must be 1 to 1024; set Limits::threads");
  return true;
}

/// A type a model can be compiled for.
template <class C>
concept ModelConfig = CarriesSpec<C> && check_config<C>();

}  // namespace llambda::inline LLAMBDA_ABI
