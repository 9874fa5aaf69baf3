// `llambda inspect`: what a model file holds, and what a program for it would need. No compiler is involved.
#pragma once

#include <llambda/arch/all.hpp>
#include <llambda/io/gguf.hpp>
#include <llambda/model/plan_of.hpp>

#include <nlohmann/json.hpp>

#include <map>

#include "terminal.hpp"

namespace cli {

namespace detail {

/// A metadata value on one line: long texts are cut, arrays show their type and length.
inline std::string brief(const llambda::gguf_value& v) {
  using llambda::gguf_type;
  switch (v.type()) {
    case gguf_type::array:
      return "array of " + std::to_string(v.count());
    case gguf_type::string: {
      std::string text(v.as<std::string_view>().substr(0, 60));
      for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
      return v.as<std::string_view>().size() > 60 ? text + "..." : text;
    }
    case gguf_type::boolean:
      return v.as<bool>() ? "true" : "false";
    case gguf_type::float32:
    case gguf_type::float64: {
      char text[40];
      std::snprintf(text, sizeof text, "%.9g", v.as<double>());
      return text;
    }
    case gguf_type::uint64:
      return std::to_string(v.as<std::uint64_t>());
    default:
      return std::to_string(v.as<std::int64_t>());
  }
}

struct mix_entry {
  std::size_t tensors = 0, elements = 0, bytes = 0;
};

}  // namespace detail

inline int inspect(const std::string& path, const llambda::Limits& limits, bool json) {
  const llambda::gguf_file file = llambda::gguf_file::open(path);
  std::map<std::string, detail::mix_entry> mix;
  std::size_t elements = 0, bytes = 0;
  for (const llambda::gguf_tensor& t : file.tensors()) {
    const std::size_t n = t.row_elements() * t.rows();
    detail::mix_entry& m = mix[std::string(t.type->name)];
    m.tensors += 1, m.elements += n, m.bytes += t.bytes;
    elements += n, bytes += t.bytes;
  }
  // A sound file need not be a model this library runs: say why not, and show the rest.
  std::string refused;
  llambda::plan_numbers plan;
  llambda::ModelSpec spec;
  try {
    spec = llambda::read_spec(file);
    plan = llambda::plan_of(spec, limits);
  } catch (const llambda::load_error& e) {
    refused = e.what();
  }
  const std::vector<std::pair<std::string, std::size_t>> entries = {{"weights_packed", plan.weights_packed},
                                                                    {"weights_mapped", plan.weights_mapped},
                                                                    {"tables", plan.tables},
                                                                    {"kv_cache", plan.kv_cache},
                                                                    {"activations", plan.activations},
                                                                    {"scratch", plan.scratch}};
  if (json) {
    nlohmann::ordered_json out = {
        {"file", path}, {"version", file.version()}, {"file_bytes", file.file_bytes()}, {"parameters", elements}};
    for (const auto& entry : file.metadata()) out["metadata"][std::string(entry.key)] = detail::brief(entry.value);
    for (const auto& t : file.tensors()) {
      out["tensors"].push_back({{"name", t.name}, {"type", t.type->name}, {"shape", t.shape()}, {"bytes", t.bytes}});
    }
    for (const auto& [type, m] : mix)
      out["mix"][type] = {{"tensors", m.tensors}, {"parameters", m.elements}, {"bytes", m.bytes}};
    if (refused.empty()) {
      for (const auto& [name, size] : entries) out["plan"][name] = size;
      out["plan"]["total"] = plan.total;
    } else {
      out["unsupported"] = refused;
    }
    std::printf("%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  }
  std::printf("%s: GGUF v%u, %s, %zu tensors, %zu parameters\n\nmetadata\n", path.c_str(), file.version(),
              human_bytes(file.file_bytes()).c_str(), file.tensors().size(), elements);
  for (const auto& entry : file.metadata()) {
    std::printf("  %-44s %s\n", std::string(entry.key).c_str(), detail::brief(entry.value).c_str());
  }
  std::printf("\ntensors\n");
  for (const auto& t : file.tensors()) {
    std::printf("  %-32s %-6s %-18s %10s\n", std::string(t.name).c_str(), std::string(t.type->name).c_str(),
                t.shape().c_str(), human_bytes(t.bytes).c_str());
  }
  std::printf("\nstorage formats\n");
  for (const auto& [type, m] : mix) {
    std::printf("  %-6s %5zu tensors %14zu parameters %10s  %5.1f %%\n", type.c_str(), m.tensors, m.elements,
                human_bytes(m.bytes).c_str(),
                bytes ? 100.0 * static_cast<double>(m.bytes) / static_cast<double>(bytes) : 0.0);
  }
  if (!refused.empty()) {
    std::printf("\nno program can be built for it: %s\n", refused.c_str());
    return 0;
  }
  std::printf("\nmemory plan (KV cache %s)\n", std::string(llambda::info(limits.kv).name).c_str());
  print_plan(entries, plan.total);
  llambda::Limits other = limits;
  other.in_place = !limits.in_place;
  std::printf("%s: %s in all\n", limits.in_place ? "packed (without --in-place)" : "with --in-place",
              human_bytes(llambda::plan_of(spec, other).total).c_str());
  return 0;
}

}  // namespace cli
