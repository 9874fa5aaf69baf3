// The architectures by their GGUF name: reads general.architecture of a file and hands it to its reader.
// A new one is a header in this directory and a line here.
#pragma once

#include <llambda/arch/llama.hpp>

namespace llambda::inline LLAMBDA_ABI {

/// ModelSpec of any supported file. Throws load_error; `unsupported` lists what is supported.
template <ModelSource F>
ModelSpec read_spec(const F& file) {
  const auto name = file.template get<std::string_view>("general.architecture");
  if (name == "llama") return arch::read_llama(file);
  throw load_error(errc::unsupported, std::string(file.path()), "general.architecture", "one of: llama",
                   std::string(name));
}

}  // namespace llambda::inline LLAMBDA_ABI
