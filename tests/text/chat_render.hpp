// A template rendered the way the reference in jinja_reference.py does: the same variables, the same clock, and the
// outcome as a verdict with a text.
// The hash is the reference's, 64-bit FNV-1a.
#pragma once

#include <llambda/text/chat_template.hpp>

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

namespace test {

struct outcome {
  std::string verdict;  ///< text, raised, failed, limit or bad
  std::string text;     ///< what was rendered, or the message
};

inline std::tm reference_time() {
  std::tm t{};
  t.tm_year = 124, t.tm_mon = 6, t.tm_mday = 6, t.tm_wday = 6, t.tm_yday = 187;
  t.tm_hour = 15, t.tm_min = 4, t.tm_sec = 5;
  return t;
}

/// `f` gives a text or throws.
template <class F> outcome outcome_of(F&& f) {
  try {
    return {"text", f()};
  } catch (const llambda::jinja::template_error& e) {
    switch (e.code()) {
      case llambda::errc::template_raised:
        return {"raised", e.detail()};
      case llambda::errc::template_failed:
        return {"failed", e.what()};
      case llambda::errc::template_limit:
        return {"limit", e.what()};
      default:
        return {"bad", e.what()};
    }
  }
}

inline std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t h = 0xCBF29CE484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return h;
}

}  // namespace test
