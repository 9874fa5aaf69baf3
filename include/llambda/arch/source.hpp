// What an architecture needs to see of a model file: metadata by key and tensors by name. gguf_file is such a source.
// Also the judgement all architectures share: rules of the spec, formats of tensors, missing tensors.
#pragma once

#include <llambda/config/describe.hpp>
#include <llambda/core/error.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

template <class F>
concept ModelSource = requires(const F& f, std::string_view name) {
  { f.path() } -> std::convertible_to<std::string>;
  { f.template get<std::uint64_t>(name) } -> std::same_as<std::uint64_t>;
  { f.template get_or<float>(name, 1.0f) } -> std::same_as<float>;
  { f.find(name) != nullptr } -> std::same_as<bool>;
  { f.find_tensor(name)->type->id } -> std::convertible_to<std::uint32_t>;
};

/// Every storage format the library runs, for messages.
inline std::string supported_formats() {
  std::string text;
  for (const quant_info& q : quant_table) {
    if (q.kind != quant::none) text += (text.empty() ? "" : ", ") + std::string(q.name);
  }
  return text;
}

/// Collects what is wrong with the tensors of a file, so that one report names all of it.
template <ModelSource F>
class tensor_judge {
 public:
  explicit tensor_judge(const F& file) : file_(file) {}

  /// Format of a tensor that must be there.
  quant required(const std::string& name) {
    const auto* tensor = file_.find_tensor(name);
    if (!tensor) {
      missing_.push_back({name, "the tensor", "nothing"});
      return quant::f32;
    }
    return known(name, *tensor);
  }
  /// Format of a tensor that may be absent: quant::none.
  quant optional(const std::string& name) {
    const auto* tensor = file_.find_tensor(name);
    return tensor ? known(name, *tensor) : quant::none;
  }
  /// Throws load_error(missing_tensor) or load_error(unsupported) with everything found.
  void finish() const {
    if (!missing_.empty()) throw load_error(errc::missing_tensor, std::string(file_.path()), missing_);
    if (!unsupported_.empty()) throw load_error(errc::unsupported, std::string(file_.path()), unsupported_);
  }

 private:
  template <class T>
  quant known(const std::string& name, const T& tensor) {
    const quant q = quant_from_ggml(static_cast<std::uint32_t>(tensor.type->id));
    if (q == quant::none) {
      unsupported_.push_back({name, "one of " + supported_formats(), std::string(tensor.type->name)});
      return quant::f32;
    }
    return q;
  }

  const F& file_;
  std::vector<mismatch> missing_;
  std::vector<mismatch> unsupported_;
};

/// Throws load_error(bad_hparam) for the first broken rule; `key_of(field)` gives the metadata key of a spec field.
template <ModelSource F, class KeyOf>
void judge_spec(const F& file, const ModelSpec& s, KeyOf key_of) {
  const auto broken = [&](std::string_view field, std::string_view sentence) {
    std::string got = "another value";
    for_each_field(s, [&](std::string_view name, const std::string& value) {
      if (name == field) got = value;
    });
    if (field == "context") got = std::to_string(s.context);
    throw load_error(errc::bad_hparam, std::string(file.path()), std::string(key_of(field)), std::string(sentence), got);
  };
#define LLAMBDA_JUDGE_RULE(field, condition, sentence) \
  if (!(condition)) broken(#field, sentence);
  LLAMBDA_SPEC_RULES(LLAMBDA_JUDGE_RULE)
#undef LLAMBDA_JUDGE_RULE
}

}  // namespace llambda::inline LLAMBDA_ABI
