// What a context promises its user: prompts up to its size and a typed error beyond it (ggml-org/llama.cpp#3817), no
// change when a call is refused, going back, and any number of contexts on one model at the same time
// (ggml-org/llama.cpp#16245).
#include "golden_models.hpp"

#include <thread>

using namespace llambda;

namespace {

using model_type = Transformer<gqa_odd>;
using context_type = Context<gqa_odd>;

constexpr std::size_t vocab = gqa_odd::spec.vocab;

template <class F> errc code_of(F&& f) {
  try {
    f();
  } catch (const error& e) {
    CHECK(std::string(e.what()).rfind("llambda: ", 0) == 0);
    return e.code();
  }
  FAIL("no error");
  return errc::io_error;
}

std::vector<float> copy_of(const context_type& ctx) { return {ctx.logits().begin(), ctx.logits().end()}; }

token_id best(const context_type& ctx) {
  const auto logits = ctx.logits();
  return static_cast<token_id>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

/// Greedy tokens after a prompt, and all logits on the way.
std::pair<std::vector<token_id>, std::vector<float>> generate(const model_type& model, context_type& ctx,
                                                              thread_pool& pool, std::uint64_t seed,
                                                              std::size_t count) {
  model.forward(ctx, test::random_tokens(5 + seed % 7, vocab, seed), pool);
  std::pair<std::vector<token_id>, std::vector<float>> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.first.push_back(best(ctx));
    out.second.insert(out.second.end(), ctx.logits().begin(), ctx.logits().end());
    model.forward(ctx, std::span(&out.first.back(), 1), pool);
  }
  return out;
}

}  // namespace

TEST_CASE("context: prompts up to its size, a typed error beyond") {
  thread_pool pool(2);
  const model_type model = test::load<gqa_odd>(pool);
  REQUIRE(context_type::capacity() == 64);
  for (std::size_t n : {63, 64}) {
    const auto ctx = std::make_unique<context_type>();
    model.forward(*ctx, test::random_tokens(n, vocab, n), pool);
    CHECK(ctx->position() == n);
    CHECK(ctx->chunk() == n);
  }
  for (std::size_t n : {65, 1000}) {
    const auto ctx = std::make_unique<context_type>();
    CHECK(code_of([&] { model.forward(*ctx, test::random_tokens(n, vocab, n), pool); }) == errc::context_overflow);
    CHECK(ctx->position() == 0);
  }
}

TEST_CASE("context: a refused call changes nothing") {
  thread_pool pool(2), crowd(65);
  const model_type model = test::load<gqa_odd>(pool);
  const auto tokens = test::random_tokens(64, vocab, 1);
  const auto expected = test::all_logits(model, tokens, pool, 64);
  const auto ctx = std::make_unique<context_type>();
  model.forward(*ctx, std::span(tokens).first(60), pool);
  const auto before = copy_of(*ctx);
  const auto unchanged = [&] {
    return ctx->position() == 60 && ctx->chunk() == 60 && test::same_bits(copy_of(*ctx), before);
  };
  const auto forward = [&](std::vector<token_id> more, thread_pool& with) {
    return code_of([&] { model.forward(*ctx, more, with); });
  };

  CHECK(forward(test::random_tokens(5, vocab, 2), pool) == errc::context_overflow);
  CHECK(unchanged());
  CHECK(forward({}, pool) == errc::bad_argument);
  CHECK(unchanged());
  CHECK(forward({1}, crowd) == errc::bad_argument);
  CHECK(unchanged());
  for (token_id bad : {-1, static_cast<int>(vocab), 2147483647, -2147483647 - 1}) {
    CHECK(forward({1, 2, bad}, pool) == errc::bad_token_id);
    CHECK(unchanged());
  }
  CHECK(code_of([&] { model.logits(*ctx, 60, pool); }) == errc::bad_argument);
  CHECK(code_of([&] { model.logits(*ctx, 0, crowd); }) == errc::bad_argument);
  CHECK(unchanged());
  CHECK(code_of([&] { ctx->truncate(61); }) == errc::bad_argument);
  CHECK(unchanged());

  model.forward(*ctx, std::span(tokens).subspan(60), pool);  // and it goes on as if nothing had happened
  CHECK(test::same_bits(ctx->logits().data(), &expected[63 * vocab], vocab));
  CHECK(code_of([&] { model.forward(*ctx, std::span(tokens).first(1), pool); }) == errc::context_overflow);
  CHECK(ctx->position() == 64);
}

TEST_CASE("context: truncate and reset") {
  thread_pool pool(1);
  const model_type model = test::load<gqa_odd>(pool);
  const auto tokens = test::random_tokens(64, vocab, 3);
  const auto expected = test::all_logits(model, tokens, pool, 1);
  const auto ctx = std::make_unique<context_type>();
  CHECK(code_of([&] { model.logits(*ctx, 0, pool); }) == errc::bad_argument);  // nothing computed yet
  ctx->truncate(0);
  model.forward(*ctx, tokens, pool);
  ctx->truncate(33);
  CHECK(ctx->position() == 33);
  CHECK(code_of([&] { model.logits(*ctx, 0, pool); }) == errc::bad_argument);  // that chunk is gone
  model.forward(*ctx, std::span(tokens).subspan(33, 1), pool);
  CHECK(test::same_bits(ctx->logits().data(), &expected[33 * vocab], vocab));
  ctx->reset();
  CHECK(ctx->position() == 0);
  CHECK(ctx->chunk() == 0);
  model.forward(*ctx, std::span(tokens).first(2), pool);
  CHECK(test::same_bits(ctx->logits().data(), &expected[vocab], vocab));
}

TEST_CASE("context: eight contexts on one model, each with two threads, give what they give alone") {
  constexpr std::size_t count = 8, steps = 16;
  thread_pool loader(1);
  const model_type model = test::load<gqa_odd>(loader);
  std::vector<std::pair<std::vector<token_id>, std::vector<float>>> alone(count), together(count);
  for (std::size_t i = 0; i < count; ++i) {
    alone[i] = generate(model, *std::make_unique<context_type>(), loader, i, steps);
  }
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < count; ++i) {
    callers.emplace_back([&, i] {
      thread_pool pool(2);
      together[i] = generate(model, *std::make_unique<context_type>(), pool, i, steps);
    });
  }
  for (std::thread& t : callers) t.join();
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(together[i].first == alone[i].first);
    CHECK(test::same_bits(together[i].second, alone[i].second));
  }
}

TEST_CASE("context: two callers may share one pool; they take turns") {
  thread_pool pool(2);
  const model_type model = test::load<gqa_odd>(pool);
  std::vector<std::pair<std::vector<token_id>, std::vector<float>>> out(2);
  std::vector<std::thread> callers;
  for (std::size_t i = 0; i < 2; ++i) {
    callers.emplace_back([&, i] { out[i] = generate(model, *std::make_unique<context_type>(), pool, i, 16); });
  }
  for (std::thread& t : callers) t.join();
  for (std::size_t i = 0; i < 2; ++i) {
    const auto alone = generate(model, *std::make_unique<context_type>(), pool, i, 16);
    CHECK(out[i].first == alone.first);
    CHECK(test::same_bits(out[i].second, alone.second));
  }
}

TEST_CASE("context: neighbours of a head that is no multiple of 16 do not race") {
  // 24 elements a head: a key's last vector reaches into the next head, which another thread turns. For
  // ThreadSanitizer.
  thread_pool pool(3);
  const auto model = test::load<bf16_freqs>(pool);
  const auto ctx = std::make_unique<Context<bf16_freqs>>();
  const auto tokens = test::random_tokens(40, bf16_freqs::spec.vocab, 4);
  for (std::size_t i = 0; i < 20; ++i) model.forward(*ctx, std::span(tokens).subspan(i, 1), pool);
  model.forward(*ctx, std::span(tokens).subspan(20), pool);
  CHECK(ctx->position() == 40);
}
