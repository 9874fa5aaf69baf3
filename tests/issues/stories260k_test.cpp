// A trained model that nobody here made, where it is at hand: greedy texts of an independent program, token by token,
// and logits of the F64 reference (tests/golden/stories.py).
#include <llambda/llambda.hpp>

#include <cmath>
#include <cstring>

#include "../../configs/stories260k.hpp"
#include "../catch.hpp"

using namespace llambda;

namespace {

struct stories : stories260k<quant::f32> {
  static constexpr Limits limits{.kv = quant::f32};
};

}  // namespace

TEST_CASE("stories260K: the greedy texts of llama2.c, and logits within 1e-4") {
  const auto file = test::optional_data("weights/stories260K.gguf");
  const auto parity = test::optional_data("parity/stories260K/prompts.tsv");
  if (file.empty() || parity.empty()) return;
  thread_pool pool(2);
  const auto model = Model<stories>::load(file.string(), pool);
  const auto ctx = model.make_context();

  std::ifstream prompts(parity);
  std::size_t texts = 0;
  for (std::string line; std::getline(prompts, line);) {
    const auto tab = line.find('\t'), last = line.rfind('\t');
    if (tab == std::string::npos || last == tab) continue;
    const std::string prompt = line.substr(0, tab);
    const auto steps = static_cast<std::size_t>(std::stoul(line.substr(tab + 1)));
    std::string expected = test::read_file(parity.parent_path() / line.substr(last + 1));
    while (!expected.empty() && expected.back() == '\n') expected.pop_back();
    ctx->reset();
    std::string text = prompt;
    const std::size_t prompt_tokens = model.tokens().encode(prompt).size();
    generate(model, *ctx, pool, std::string_view(prompt),
             {.max_tokens = static_cast<std::int64_t>(steps - prompt_tokens + 1), .sampling = {.temperature = 0}},
             [&](std::string_view t) { text += t; });
    INFO(prompt);
    CHECK(text.substr(0, expected.size()) == expected);
    ++texts;
  }
  CHECK(texts == 3);

  const gguf_file golden = gguf_file::open(test::source_path("tests/golden/stories260K.expect.gguf").string());
  const auto tokens = golden.find("golden.tokens")->to_vector<token_id>();
  const gguf_tensor& logits = *golden.find_tensor("result_output");
  ctx->reset();
  double worst = 0, scale = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    model.transformer().forward(*ctx, {&tokens[t], 1}, pool);
    for (std::size_t i = 0; i < ctx->logits().size(); ++i) {
      float expected;
      std::memcpy(&expected, logits.data.data() + (t * ctx->logits().size() + i) * 4, 4);
      worst = std::fmax(worst, std::fabs(static_cast<double>(ctx->logits()[i]) - static_cast<double>(expected)));
      scale = std::fmax(scale, std::fabs(static_cast<double>(expected)));
    }
  }
  INFO(worst << " of " << scale);
  CHECK(worst / scale < 1e-4);
}
