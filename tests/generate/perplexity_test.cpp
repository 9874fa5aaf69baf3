// Perplexity of the shipped model on held-out text of more than 10,000 tokens, and its edge cases.
// The reference is llama.cpp's on the same text with the same weights as F32 (windows of 511 tokens after the
// beginning-of-text token, every position scored).
#include <llambda/llambda.hpp>

#include <cmath>
#include <default_model.hpp>

#include "../catch.hpp"

using namespace llambda;

TEST_CASE("perplexity: Q8_0 within 0.5 % of llama.cpp with F32 weights on the validation excerpt") {
  thread_pool pool(2);
  const auto model =
      Model<default_model>::load(test::source_path("examples/default_model/default.gguf").string(), pool);
  const auto ctx = model.make_context();
  encode_options plain;
  plain.add_bos = false;
  const auto text =
      model.tokens().encode(test::read_file(test::source_path("examples/default_model/valid_excerpt.txt")), plain);
  REQUIRE(text.size() > 10000);
  std::size_t last_done = 0;
  const auto r = perplexity(model, *ctx, pool, std::span<const token_id>(text), 511,
                            [&](std::size_t done, std::size_t) { last_done = done; });
  CHECK(last_done == text.size());
  INFO(r.perplexity());
  constexpr double reference = 26.6449;
  CHECK(std::abs(r.perplexity() / reference - 1) < 0.005);

  CHECK_THROWS_AS(perplexity(model, *ctx, pool, std::span<const token_id>(text), 1), error);
  CHECK_THROWS_AS(perplexity(model, *ctx, pool, std::span<const token_id>(text), 512), error);
  const auto none = perplexity(model, *ctx, pool, std::span<const token_id>{}, 100);
  CHECK(none.scored_tokens == 0);
}
