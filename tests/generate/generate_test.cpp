// The token loop on the shipped default model: why it stops, what it does at the edges of the context, cancelling,
// seeds, and that it allocates nothing while it runs.
#include <llambda/llambda.hpp>

#include <cmath>
#include <cstring>
#include <default_model.hpp>
#include <thread>

#include "../catch.hpp"
#include "../io/alloc_count.hpp"

using namespace llambda;

namespace {

struct short_model : default_model {
  static constexpr Limits limits{.context = 16, .batch = 5, .kv = quant::f32, .threads = 8};
};

template <class C> const Model<C>& loaded() {
  static thread_pool pool(2);
  static const Model<C> model = Model<C>::load(test::source_path("examples/default_model/default.gguf").string(), pool);
  return model;
}

thread_pool& pool() {
  static thread_pool threads(2);
  return threads;
}

const auto ignore = [](std::string_view) {};
constexpr sampling_params greedy{.temperature = 0};

std::vector<token_id> ids(std::size_t n) {
  std::vector<token_id> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<token_id>(300 + i % 700);
  return out;
}

/// Generates after a prompt of n tokens in a context of 16; end tokens do not stop it.
generation run_short(Context<short_model>& ctx, std::size_t n, std::int64_t most) {
  const auto prompt = ids(n);
  return generate(loaded<short_model>(), ctx, pool(), std::span<const token_id>(prompt),
                  {.max_tokens = most, .sampling = greedy, .ignore_end_of_text = true}, ignore);
}

}  // namespace

TEST_CASE("generate: a prompt up to the context is taken, a longer one refused with nothing changed") {
  const auto ctx = loaded<short_model>().make_context();
  for (std::size_t n : {15u, 16u}) {
    ctx->reset();
    const generation g = run_short(*ctx, n, -1);
    CHECK(g.reason == finish_reason::length);
    CHECK(g.tokens.size() == 16 - n + 1);  // the last one needs no position of its own
    CHECK(ctx->position() == 16);
  }
  ctx->reset();
  run_short(*ctx, 3, 0);
  CHECK(ctx->position() == 3);
  for (std::size_t n : {17u, 1000u}) {
    try {
      run_short(*ctx, n, 1);
      FAIL("accepted");
    } catch (const error& e) {
      CHECK(e.code() == errc::context_overflow);
    }
    CHECK(ctx->position() == 3);
  }
  const generation after = run_short(*ctx, 1, 2);
  CHECK(after.tokens.size() == 2);
}

TEST_CASE("generate: max_tokens counts what is generated") {
  const auto ctx = loaded<short_model>().make_context();
  for (const auto& [most, expected] :
       {std::pair<std::int64_t, std::size_t>{0, 0}, {1, 1}, {5, 5}, {2147483647, 13}, {-1, 13}}) {
    ctx->reset();
    const generation g = run_short(*ctx, 4, most);
    CHECK(g.reason == finish_reason::length);
    CHECK(g.tokens.size() == expected);
    CHECK(g.stats.generated_tokens == expected);
    CHECK(g.stats.prompt_tokens == 4);
  }
  ctx->reset();
  CHECK_THROWS_AS(run_short(*ctx, 4, -2), error);
  CHECK_THROWS_AS(run_short(*ctx, 0, 1), error);
  CHECK(ctx->position() == 0);
}

TEST_CASE("generate: a callback stops it, and chunks together are the text") {
  const auto& model = loaded<default_model>();
  const auto ctx = model.make_context();
  std::string text;
  std::size_t calls = 0;
  const auto stopped =
      generate(model, *ctx, pool(), "In the", {.max_tokens = 50, .sampling = greedy}, [&](std::string_view t) {
        text += t;
        return ++calls < 7;
      });
  CHECK(stopped.reason == finish_reason::stopped);
  CHECK(calls == 7);
  CHECK(text == model.tokens().decode(stopped.tokens, {.at_start = false}));
}

TEST_CASE("generate: stop strings, wherever they begin and end") {
  const auto& model = loaded<default_model>();
  const auto ctx = model.make_context();
  const auto text_of = [&](const std::vector<std::string>& stop, generation* out = nullptr) {
    ctx->reset();
    std::string text;
    const auto g = generate(model, *ctx, pool(), "In the", {.max_tokens = 60, .sampling = greedy, .stop = stop},
                            [&](std::string_view t) { text += t; });
    if (out) *out = g;
    return text;
  };
  const std::string whole = text_of({});
  REQUIRE(whole.size() > 80);
  int differ = 0;
  for (std::size_t at = 1; at + 7 < whole.size(); at += 5) {
    const std::string stop = whole.substr(at, 7);
    generation g;
    const std::string text = text_of({"never in there", stop}, &g);
    differ += text != whole.substr(0, whole.find(stop)) || g.reason != finish_reason::stop;
  }
  CHECK(differ == 0);
  generation g;
  CHECK(text_of({whole.substr(whole.size() - 4) + "not any more"}, &g) == whole);  // what waited is shown at the end
  CHECK(g.reason == finish_reason::length);
  CHECK(name_of(finish_reason::stop) == "stop");
  for (const char* bad : {"", "\xC3"}) {
    ctx->reset();
    CHECK_THROWS_AS(text_of({bad}), error);
    CHECK(ctx->position() == 0);
  }
}

TEST_CASE("generate: log-probabilities are a row for each token") {
  const auto& model = loaded<default_model>();
  const auto ctx = model.make_context();
  generate_options options{.max_tokens = 12, .sampling = {.temperature = 1, .seed = 3}, .log_probs = 3};
  const auto g = generate(model, *ctx, pool(), "In the", options, ignore);
  REQUIRE(g.log_probs.size() == 4 * g.tokens.size());
  const auto plain = model.make_context();
  auto context_tokens = model.tokens().encode("In the");
  for (std::size_t i = 0; i < g.tokens.size(); ++i) {
    model.transformer().forward(*plain, context_tokens, pool());
    context_tokens = {g.tokens[i]};
    const auto logits = plain->logits();
    double sum = 0;
    for (const float x : logits) sum += std::exp(static_cast<double>(x));
    const token_log_prob* row = &g.log_probs[4 * i];
    CHECK(row[0].id == g.tokens[i]);
    for (std::size_t j = 0; j < 4; ++j) {
      const double want = static_cast<double>(logits[static_cast<std::size_t>(row[j].id)]) - std::log(sum);
      CHECK(std::fabs(static_cast<double>(row[j].log_prob) - want) < 1e-5);
      if (j > 1) CHECK(row[j].log_prob <= row[j - 1].log_prob);
      if (j > 0) CHECK(row[0].log_prob <= row[1].log_prob);
    }
  }
  for (const int bad : {-1, 1 << 20}) {
    options.log_probs = bad;
    ctx->reset();
    CHECK_THROWS_AS(generate(model, *ctx, pool(), "In the", options, ignore), error);
    CHECK(ctx->position() == 0);
  }
}

TEST_CASE("generate: a chain of the caller's own") {
  const auto& model = loaded<default_model>();
  struct only {
    token_id id;
    void apply(sampling_step& step) { step.choose(id); }
  };
  const auto ctx = model.make_context();
  sampling_chain chain(default_model::spec.vocab, 0, only{300});
  const auto g = generate(model, *ctx, pool(), "In the", {.max_tokens = 5, .log_probs = 1}, ignore, chain);
  CHECK(g.tokens == std::vector<token_id>(5, 300));
  CHECK(g.log_probs.size() == 10);
}

TEST_CASE("generate: cancelling, before and during prefill and between tokens") {
  const auto& model = loaded<default_model>();
  const auto ctx = model.make_context();
  std::atomic<bool> cancel{true};
  const auto prompt = ids(300);
  auto g = generate(model, *ctx, pool(), std::span<const token_id>(prompt),
                    {.max_tokens = 5, .sampling = greedy, .cancel = &cancel}, ignore);
  CHECK(g.reason == finish_reason::cancelled);
  CHECK(g.tokens.empty());
  CHECK(ctx->position() == 0);

  cancel = false;
  ctx->reset();
  g = generate(model, *ctx, pool(), "In the", {.sampling = greedy, .ignore_end_of_text = true, .cancel = &cancel},
               [&](std::string_view) { cancel = true; });
  CHECK(g.reason == finish_reason::cancelled);
  CHECK(g.tokens.size() >= 1);

  // a context that was cancelled in mid-prompt goes on as if nothing had happened
  ctx->reset();
  cancel = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    cancel = true;
  });
  const bool whole = model.transformer().forward(*ctx, prompt, pool(), NoTrace{}, &cancel);
  other.join();
  CHECK((whole || ctx->position() % limits_of<default_model>.batch == 0));
  ctx->reset();
  model.transformer().forward(*ctx, prompt, pool());
  const std::vector<float> after(ctx->logits().begin(), ctx->logits().end());
  const auto fresh = model.make_context();
  model.transformer().forward(*fresh, prompt, pool());
  CHECK(std::memcmp(after.data(), fresh->logits().data(), fresh->logits().size_bytes()) == 0);
}

TEST_CASE("generate: seeds reproduce, over threads and chunks") {
  const auto& model = loaded<default_model>();
  const auto text_of = [&](std::uint64_t seed, unsigned threads) {
    thread_pool own(threads);
    const auto ctx = model.make_context();
    std::string text;
    generate(model, *ctx, own, "And he said", {.max_tokens = 40, .sampling = {.temperature = 1, .seed = seed}},
             [&](std::string_view t) { text += t; });
    return text;
  };
  const std::string one = text_of(5, 1);
  CHECK(one == text_of(5, 2));
  CHECK(one == text_of(5, 3));
  CHECK(one != text_of(6, 1));
}

TEST_CASE("generate: nothing is allocated while tokens are made") {
  const auto& model = loaded<default_model>();
  const auto ctx = model.make_context();
  std::size_t first = 0, last = 0, calls = 0;
  generate(model, *ctx, pool(), "In the",
           {.max_tokens = 100,
            .sampling = {.temperature = 1, .repeat_penalty = 1.1f, .dry_multiplier = .5f},
            .stop = {"no such text", "and no such either"},
            .log_probs = 5,
            .ignore_end_of_text = true},
           [&](std::string_view) {
             const std::size_t now = test::bytes_asked();
             if (calls++ == 0) first = now;
             last = now;
           });
  CHECK(calls > 50);
  if (test::counts_allocations()) CHECK(last == first);
}

TEST_CASE("generate: the arenas are what the plan says") {
  const auto& model = loaded<default_model>();
  const auto ctx = model.make_context();
  CHECK(model.transformer().weights().memory.used() == MemoryPlan<default_model>::model_arena);
  CHECK(ctx->memory_used() == MemoryPlan<default_model>::context_arena);
  CHECK(ctx->memory_used() == ctx->memory_size());
}
