// Every intermediate of the tiny models against an independent F64 reference (see README.md here).
// Configs are generated from the model files by the generator a user runs.
#include <llambda/io/bind.hpp>
#include <llambda/model/transformer.hpp>

#include <bf16_freqs.hpp>
#include <f16_partial_rope.hpp>
#include <gqa_odd.hpp>
#include <mixed_kinds.hpp>
#include <tied_q8.hpp>

#include <cmath>
#include <map>

#include "../catch.hpp"

using namespace llambda;

namespace {

/// Keeps everything the trace points show, by the names of the reference files.
struct recorder {
  static constexpr bool enabled = true;
  std::map<std::string, std::vector<float>> seen;

  template <fixed_string Name>
  void operator()(std::size_t layer, const trace_rows& rows) {
    std::string name(Name.view());
    if (layer != no_layer) name += "-" + std::to_string(layer);
    std::vector<float>& all = seen[name];
    for (std::size_t t = 0; t < rows.tokens; ++t) all.insert(all.end(), rows[t], rows[t] + rows.width);
  }
};

/// Largest difference over the root mean square of the expected values.
double relative_error(const std::vector<float>& got, const std::vector<float>& expected) {
  double worst = 0, squares = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i])));
    squares += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return worst / std::sqrt(squares / static_cast<double>(expected.size()));
}

template <class C>
void compare(const std::string& name, double tolerance, unsigned threads, std::size_t chunk) {
  INFO(name << ", " << threads << " threads, chunks of " << chunk);
  thread_pool pool(threads);
  const auto file = std::make_shared<const gguf_file>(
      gguf_file::open(test::source_path("tests/golden/" + name + ".gguf").string()));
  const gguf_file expect = gguf_file::open(test::source_path("tests/golden/" + name + ".expect.gguf").string());
  const Transformer<C> model(bind_weights<C>(file, pool));
  const auto ctx = std::make_unique<Context<C>>();
  const auto tokens = expect.find("golden.tokens")->template to_vector<token_id>();

  recorder trace;
  for (std::size_t first = 0; first < tokens.size(); first += chunk) {
    const auto part = std::span(tokens).subspan(first, std::min(chunk, tokens.size() - first));
    model.forward(*ctx, part, pool, trace);
    // forward shows the head of the last token only; ask for the others in order
    auto& norm = trace.seen["result_norm"];
    auto& output = trace.seen["result_output"];
    norm.resize(norm.size() - C::spec.hidden);
    output.resize(output.size() - C::spec.vocab);
    for (std::size_t i = 0; i < part.size(); ++i) model.logits(*ctx, i, pool, trace);
  }
  std::size_t compared = 0;
  for (const gguf_tensor& tensor : expect.tensors()) {
    const std::string key(tensor.name);
    if (key.starts_with("attn_proj") || key.starts_with("ffn_out")) continue;  // added to the residual at once here
    std::vector<float> expected(tensor.bytes / sizeof(float));
    std::memcpy(expected.data(), tensor.data.data(), tensor.bytes);
    INFO(key);
    REQUIRE(trace.seen.count(key) == 1);
    REQUIRE(trace.seen[key].size() == expected.size());
    CHECK(relative_error(trace.seen[key], expected) <= tolerance);
    ++compared;
  }
  CHECK(compared == 3 + 13 * C::spec.layers);
}

template <class C>
void compare_all(const std::string& name, double tolerance) {
  compare<C>(name, tolerance, 1, 64);
  compare<C>(name, tolerance, 2, 1);
  compare<C>(name, tolerance, 2, 3);
  compare<C>(name, tolerance, 3, 64);
}

// Sums of at most 100 products of O(1) terms through at most 4 layers, each rounded to 2^-24; the bound leaves a factor
// of about ten over sqrt(n) growth. The reference rounds activations to int8 before Q8_0 as the kernels do, and no
// value of these models lies so close to half a code that the two could round it differently.
constexpr double tolerance = 2e-5;

}  // namespace

TEST_CASE("golden: odd sizes, heads != kv_heads, head_dim != hidden / heads, untied, F32") {
  compare_all<gqa_odd>("gqa_odd", tolerance);
}
TEST_CASE("golden: F16, partial rotation, untied") { compare_all<f16_partial_rope>("f16_partial_rope", tolerance); }
TEST_CASE("golden: BF16, frequency divisors, tied") { compare_all<bf16_freqs>("bf16_freqs", tolerance); }
TEST_CASE("golden: Q8_0, tied") { compare_all<tied_q8>("tied_q8", tolerance); }
TEST_CASE("golden: layers of two kinds in four formats") { compare_all<mixed_kinds>("mixed_kinds", tolerance); }
