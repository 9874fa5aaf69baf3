// The library's guarantee, for one model: the logits of a token are the same bits for a prompt in one piece or in
// chunks of any size, for any number of threads, and for the scalar meaning of the vector code.
#pragma once

#include "golden_models.hpp"

namespace test {

/// Every chunk size and number of threads on one arch against `expected`.
template <class C, class A> void check_arch(const std::vector<token_id>& tokens, const std::vector<float>& expected) {
  INFO(std::string(A::name));
  for (unsigned threads : {1u, 2u, 3u}) {
    thread_pool pool(threads);
    const auto model = load<C, A>(pool);
    for (std::size_t chunk : {1, 2, 7, 64}) {
      INFO(threads << " threads, chunks of " << chunk);
      CHECK(same_bits(all_logits(model, tokens, pool, chunk), expected));
    }
  }
}

template <class C> void check_bits(std::uint64_t seed) {
  INFO(std::string(C::spec.name));
  const auto tokens = random_tokens(llambda::Context<C>::capacity(), C::spec.vocab, seed);
  thread_pool serial(1);
  const auto step = all_logits(load<C>(serial), tokens, serial, 1);
  for (float x : step) REQUIRE(std::isfinite(x));
  check_arch<C, llambda::default_arch>(tokens, step);
  check_arch<C, llambda::arch::scalar>(tokens, step);
}

}  // namespace test
