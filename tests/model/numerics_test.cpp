// Numbers at the edge: a NaN anywhere in the weights must reach the logits, not vanish; subnormal weights count as
// zero on every thread; and the floating-point mode of the caller neither changes results nor is changed.
#include "golden_models.hpp"

#include <xmmintrin.h>

using namespace llambda;

namespace {

template <class C>
std::vector<float> logits_of(const std::shared_ptr<const gguf_file>& file, unsigned threads, std::size_t chunk) {
  thread_pool pool(threads);
  const Transformer<C> model(llambda::bind_weights<C>(file, pool));
  return test::all_logits(model, test::random_tokens(12, C::spec.vocab, 1), pool, chunk);
}

std::size_t count_nan(const std::vector<float>& x) {
  return static_cast<std::size_t>(std::count_if(x.begin(), x.end(), test::is_nan));
}

/// Writes a NaN into the tensor's middle: a float, or the scale of a Q8_0 block.
void poison(const std::string& name, char* data, std::size_t bytes, bool q8) {
  if (q8 && name.find("norm") == std::string::npos) {
    const std::uint16_t half_nan = 0x7e00;
    std::memcpy(data + bytes / 34 / 2 * 34, &half_nan, 2);
  } else {
    const float nan_value = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(data + bytes / 4 / 2 * 4, &nan_value, 4);
  }
}

template <class C> void check_every_tensor(bool q8) {
  std::vector<std::string> names;
  test::editable_file(test::golden_path<C>()).for_each_tensor([&](const std::string& name, char*, std::size_t) {
    if (name.find("token_embd") == std::string::npos && name.rfind("output.", 0) != 0) names.push_back(name);
  });
  CHECK(names.size() == 1 + 9 * C::spec.layers);
  for (const std::string& target : names) {
    INFO(target);
    test::editable_file file(test::golden_path<C>());
    file.for_each_tensor([&](const std::string& name, char* data, std::size_t bytes) {
      if (name == target) poison(name, data, bytes, q8);
    });
    const auto step = logits_of<C>(file.open(), 1, 1), batch = logits_of<C>(file.open(), 2, 12);
    CHECK(count_nan(step) == step.size());
    CHECK(count_nan(batch) == batch.size());
  }
}

}  // namespace

TEST_CASE("numerics: a NaN in any F32 tensor of a layer makes every logit NaN") { check_every_tensor<gqa_odd>(false); }

TEST_CASE("numerics: a NaN scale in any Q8_0 tensor of a layer makes every logit NaN") {
  check_every_tensor<tied_q8>(true);
}

TEST_CASE("numerics: a NaN in a row of the output matrix makes that logit NaN and no other") {
  test::editable_file file(test::golden_path<gqa_odd>());
  file.for_each_tensor([](const std::string& name, char* data, std::size_t bytes) {
    if (name == "output.weight") poison(name, data, bytes, false);
  });
  const auto logits = logits_of<gqa_odd>(file.open(), 2, 12);
  CHECK(count_nan(logits) == 12);
  CHECK(test::is_nan(logits[gqa_odd::spec.vocab / 2]));
}

TEST_CASE("numerics: subnormal weights count as zero, on any number of threads") {
  test::editable_file tiny(test::golden_path<gqa_odd>()), zero(test::golden_path<gqa_odd>());
  const auto fill = [](float value) {
    return [value](const std::string& name, char* data, std::size_t bytes) {
      if (name.find("ffn_up") == std::string::npos && name.find("attn_v") == std::string::npos) return;
      for (std::size_t i = 0; i < bytes; i += 4) {
        const float x = i % 8 ? value : -value;
        std::memcpy(data + i, &x, 4);
      }
    };
  };
  tiny.for_each_tensor(fill(1e-39f));
  zero.for_each_tensor(fill(0.0f));
  const auto expected = logits_of<gqa_odd>(zero.open(), 1, 1);
  for (unsigned threads : {1u, 2u, 3u}) {
    for (std::size_t chunk : {1, 12}) CHECK(test::same_bits(logits_of<gqa_odd>(tiny.open(), threads, chunk), expected));
  }
}

TEST_CASE("numerics: the caller's floating-point mode neither matters nor changes") {
  const auto file = std::make_shared<const gguf_file>(gguf_file::open(test::golden_path<tied_q8>()));
  const auto expected = logits_of<tied_q8>(file, 1, 1);
  const unsigned saved = _mm_getcsr();
  // rounding up, down and to zero; subnormals flushed or not; a sticky flag set
  for (unsigned mode : {0x5f80u, 0x3f81u, 0x7f80u, 0x9fc0u, 0x1f80u}) {
    for (unsigned threads : {1u, 2u}) {
      thread_pool pool(threads);
      const auto tokens = test::random_tokens(12, tied_q8::spec.vocab, 1);
      const auto ctx = std::make_unique<Context<tied_q8>>();
      _mm_setcsr(mode);
      const Transformer<tied_q8> model(llambda::bind_weights<tied_q8>(file, pool));
      const unsigned after_bind = _mm_getcsr();
      model.forward(*ctx, tokens, pool);
      const unsigned after = _mm_getcsr();
      _mm_setcsr(saved);
      CHECK((after_bind & ~0x3fu) == (mode & ~0x3fu));  // reading the header may raise flags
      CHECK(after == after_bind);
      CHECK(test::same_bits(ctx->logits().data(), &expected[11 * tied_q8::spec.vocab], tied_q8::spec.vocab));
    }
  }
}
