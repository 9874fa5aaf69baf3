// Logits compared with memcmp: one token at a time or many, 1 to 3 threads, scalar and vector code. Models in F32 and
// Q8_0 here, the others in bits_16_test.cpp; then a cache in F16 with chunks larger than a batch, and the proof that a
// sum in another order would be noticed.
#include "bits_checks.hpp"

using namespace llambda;

TEST_CASE("bits: F32") { test::check_bits<gqa_odd>(1); }
TEST_CASE("bits: Q8_0") { test::check_bits<tied_q8>(2); }

namespace {

/// gqa_odd with its cache in F16, and batches so small that forward cuts the prompt itself.
struct small_batches {
  static constexpr ModelSpec spec = gqa_odd::spec;
  static constexpr Limits limits{.context = 64, .batch = 5, .kv = quant::f16, .threads = 4};
};

}  // namespace

TEST_CASE("bits: chunks larger than a batch, cache in F16") {
  const auto tokens = test::random_tokens(64, small_batches::spec.vocab, 3);
  thread_pool serial(1);
  const auto step = test::all_logits(test::load<small_batches>(serial), tokens, serial, 1);
  const std::size_t vocab = small_batches::spec.vocab;
  for (unsigned threads : {1u, 2u, 4u}) {
    thread_pool pool(threads);
    const auto model = test::load<small_batches>(pool);
    CHECK(test::same_bits(test::all_logits(model, tokens, pool, 5), step));
    const auto ctx = std::make_unique<Context<small_batches>>();
    std::size_t done = 0;
    for (std::size_t chunk : {3, 5, 6, 11, 39}) {  // 64 in all
      model.forward(*ctx, std::span(tokens).subspan(done, chunk), pool);
      done += chunk;
      CHECK(test::same_bits(ctx->logits().data(), &step[(done - 1) * vocab], vocab));
    }
  }
}

namespace {

/// Longer than two spans of positions, so that threads divide them.
template <quant Kv> struct long_context {
  static constexpr ModelSpec spec = Kv == quant::q8_0 ? tied_q8::spec : gqa_odd::spec;
  static constexpr Limits limits{.context = 600, .batch = 64, .kv = Kv, .threads = 4};
};

template <quant Kv> void check_long_context() {
  using config = long_context<Kv>;
  const auto tokens = test::random_tokens(600, config::spec.vocab, 6);
  thread_pool serial(1);
  const auto step = test::all_logits(test::load<config>(serial), tokens, serial, 1);
  for (unsigned threads : {1u, 3u}) {
    thread_pool pool(threads);
    const auto model = test::load<config>(pool);
    for (std::size_t chunk : {1, 7, 64}) {
      if (threads == 1 && chunk == 1) continue;
      CHECK(test::same_bits(test::all_logits(model, tokens, pool, chunk), step));
    }
  }
}

}  // namespace

TEST_CASE("bits: a context of several spans, caches in BF16 and Q8_0") {
  check_long_context<quant::bf16>();
  check_long_context<quant::q8_0>();
}

TEST_CASE("bits: a context that was used before gives the bits of a new one") {
  const auto tokens = test::random_tokens(40, small_batches::spec.vocab, 4);
  thread_pool pool(2);
  const auto model = test::load<small_batches>(pool);
  const std::size_t vocab = small_batches::spec.vocab;
  const auto step = test::all_logits(model, tokens, pool, 1);
  const auto ctx = std::make_unique<Context<small_batches>>();
  model.forward(*ctx, test::random_tokens(64, vocab, 5), pool);
  ctx->reset();
  model.forward(*ctx, std::span(tokens).first(30), pool);
  CHECK(test::same_bits(ctx->logits().data(), &step[29 * vocab], vocab));
  for (std::size_t keep : {17, 16, 1, 0}) {  // go back and come again
    ctx->truncate(keep);
    model.forward(*ctx, std::span(tokens).subspan(keep), pool);
    CHECK(test::same_bits(ctx->logits().data(), &step[39 * vocab], vocab));
  }
}

#if LLAMBDA_HAS_AVX2

namespace test {

/// An instruction set of this test's own: AVX2 whose horizontal sums run from left to right.
struct left_to_right : arch::avx2 {};

}  // namespace test

namespace llambda {

template <> inline float reduce_add<test::left_to_right>(const f32x16<test::left_to_right>& a) noexcept {
  float x[lanes], sum = 0;
  a.store(x);
  for (float v : x) sum += v;
  return sum;
}

}  // namespace llambda

TEST_CASE("bits: the comparison notices another order of additions") {
  const auto tokens = test::random_tokens(64, gqa_odd::spec.vocab, 1);
  thread_pool serial(1);
  const auto promised = test::all_logits(test::load<gqa_odd>(serial), tokens, serial, 1);
  const auto other = test::all_logits(test::load<gqa_odd, test::left_to_right>(serial), tokens, serial, 1);
  CHECK_FALSE(test::same_bits(other, promised));
  double worst = 0;
  for (std::size_t i = 0; i < promised.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(other[i]) - static_cast<double>(promised[i])));
  }
  CHECK(worst < 1e-3);  // and yet they are the same numbers
}

#endif
