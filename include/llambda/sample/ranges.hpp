// The range of every sampling parameter, in one place: single steps, stages and whole chains refuse the same values,
// NaN among them, with errc::bad_argument and the name of the parameter.
#pragma once

#include <llambda/core/error.hpp>
#include <llambda/core/token.hpp>

#include <cstddef>
#include <limits>
#include <string>

namespace llambda::inline LLAMBDA_ABI {

namespace sampling {

inline constexpr float infinity = std::numeric_limits<float>::infinity();

[[noreturn]] inline void bad_argument(const char* name, const char* range, double value) {
  throw error(errc::bad_argument,
              std::string("llambda: sampling: ") + name + " must be " + range + "; got " + std::to_string(value));
}

[[noreturn]] inline void no_logits(const char* what) {
  throw error(errc::non_finite_logits, std::string("llambda: sampling: ") + what);
}

inline void check_range(bool within, const char* name, const char* range, double value) {
  if (!within) bad_argument(name, range, value);
}

inline void check_temperature(float t) { check_range(t >= 0, "temperature", "0 (greedy) or more", t); }
inline void check_dynatemp_range(float r) {
  check_range(r >= 0 && r < infinity, "dynatemp_range", "0 (off) or more, and finite", r);
}
inline void check_dynatemp_exponent(float e) {
  check_range(e >= 0 && e < infinity, "dynatemp_exponent", "0 or more, and finite", e);
}
inline void check_top_k(int k) { check_range(k >= 0, "top_k", "0 (off) or more", k); }
inline void check_top_p(float p) { check_range(p >= 0, "top_p", "0 or more; 1 is off", p); }
inline void check_min_p(float p) { check_range(p >= 0, "min_p", "0 (off) or more", p); }
inline void check_typical_p(float p) { check_range(p >= 0, "typical_p", "0 or more; 1 is off", p); }
inline void check_top_n_sigma(float n) { check_range(n == n, "top_n_sigma", "a number; 0 or less is off", n); }
inline void check_xtc_probability(float p) {
  check_range(p >= 0 && p <= 1, "xtc_probability", "0 (off) to 1", p);
}
inline void check_xtc_threshold(float p) {
  check_range(p >= 0 && p <= 1, "xtc_threshold", "0 to 1; above 0.5 is off", p);
}
inline void check_repeat_penalty(float penalty) {
  check_range(penalty > 0 && penalty < infinity, "repeat_penalty", "above 0; 1 is off", penalty);
}
inline void check_presence_penalty(float penalty) {
  check_range(penalty - penalty == 0, "presence_penalty", "finite; 0 is off", penalty);
}
inline void check_frequency_penalty(float penalty) {
  check_range(penalty - penalty == 0, "frequency_penalty", "finite; 0 is off", penalty);
}
inline void check_last_n(int last_n, const char* name) {
  check_range(last_n >= -1, name, "-1 (all), 0 (off) or more", last_n);
}
inline void check_dry_multiplier(float multiplier) {
  check_range(multiplier >= 0 && multiplier < infinity, "dry_multiplier", "0 (off) or more, and finite", multiplier);
}
inline void check_dry_base(float base) {
  check_range(base >= 1 && base < infinity, "dry_base", "1 or more, and finite", base);
}
inline void check_dry_allowed_length(int length) {
  check_range(length >= 0, "dry_allowed_length", "0 or more", length);
}
inline void check_mirostat(int version) {
  check_range(version == 0 || version == 2, "mirostat", "0 (off) or 2", version);
}
inline void check_mirostat_tau(float tau) {
  check_range(tau >= 0 && tau < infinity, "mirostat_tau", "0 or more, and finite", tau);
}
inline void check_mirostat_eta(float eta) {
  check_range(eta >= 0 && eta < infinity, "mirostat_eta", "0 or more, and finite", eta);
}

/// `what` names where the id stands: "history", "logit_bias".
inline void check_token(token_id id, std::size_t vocab_size, const char* what) {
  if (id >= 0 && static_cast<std::size_t>(id) < vocab_size) return;
  throw error(errc::bad_token_id, std::string("llambda: sampling: ") + what + " holds token id " + std::to_string(id) +
                                      " outside 0 ... " + std::to_string(vocab_size - 1));
}

}  // namespace sampling

}  // namespace llambda::inline LLAMBDA_ABI
