// What must not compile in sampling: a chain with something that is no stage. As rules.cpp.
#include <llambda/sample/chain.hpp>

#ifndef BROKEN
#define BROKEN 0
#endif

namespace {

struct stage {
#if BROKEN == 1
  void aply(llambda::sampling_step&) {}
#else
  void apply(llambda::sampling_step&) {}
#endif
};

// case 1: llambda: sampling: a stage has a member function void apply(sampling_step&); add it
[[maybe_unused]] llambda::sampling_chain chain(10, 0, llambda::stages::top_k{40}, stage{});

}  // namespace
