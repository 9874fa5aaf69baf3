// The tiny models of tests/golden as objects: their files, possibly with some bytes changed, bound and ready to run.
#pragma once

#include <llambda/io/bind.hpp>
#include <llambda/model/transformer.hpp>

#include <bf16_freqs.hpp>
#include <f16_partial_rope.hpp>
#include <gqa_odd.hpp>
#include <mixed_kinds.hpp>
#include <tied_q8.hpp>

#include <memory>
#include <string>

#include "../catch.hpp"
#include "../random.hpp"

namespace test {

using llambda::gguf_file, llambda::thread_pool, llambda::token_id;

/// The file a generated config came from; configs of this directory keep its name.
template <class C> std::string golden_path() {
  return source_path("tests/golden/" + std::string(C::spec.name) + ".gguf").string();
}

template <class C, class A = llambda::default_arch> llambda::Transformer<C, A> load(thread_pool& pool) {
  return llambda::Transformer<C, A>(
      llambda::bind_weights<C>(std::make_shared<const gguf_file>(gguf_file::open(golden_path<C>())), pool));
}

/// A model file in memory whose bytes a test may change.
class editable_file {
 public:
  explicit editable_file(const std::string& path) : bytes_(read_file(path)) {}

  /// Calls f(name, data, type name) for each tensor; data may be written.
  template <class F> void for_each_tensor(F&& f) {
    const auto parsed = gguf_file::parse(view());
    for (const llambda::gguf_tensor& t : parsed.tensors()) {
      f(std::string(t.name), bytes_.data() + t.offset, static_cast<std::size_t>(t.bytes));
    }
  }
  /// Replaces the only occurrence of `from` before the tensor data.
  void replace(const std::string& from, const std::string& to) {
    REQUIRE(from.size() == to.size());
    const std::size_t at = bytes_.find(from);
    REQUIRE(at != std::string::npos);
    bytes_.replace(at, from.size(), to);
  }
  /// Must not outlive this object.
  std::shared_ptr<const gguf_file> open() const { return std::make_shared<const gguf_file>(gguf_file::parse(view())); }

 private:
  llambda::mapped_file view() const {
    return llambda::mapped_file::view(std::as_bytes(std::span(bytes_.data(), bytes_.size())), "edited");
  }
  std::string bytes_;
};

inline std::vector<token_id> random_tokens(std::size_t n, std::size_t vocab, std::uint64_t seed) {
  random_source random(seed);
  std::vector<token_id> tokens(n);
  for (token_id& t : tokens) t = static_cast<token_id>(random.below(vocab));
  return tokens;
}

/// Logits after each of `tokens`, computed in chunks of `chunk` (at most Limits::batch) from an empty context: (tokens,
/// vocab).
template <class C, class A>
std::vector<float> all_logits(const llambda::Transformer<C, A>& model, const std::vector<token_id>& tokens,
                              thread_pool& pool, std::size_t chunk) {
  const auto ctx = std::make_unique<llambda::Context<C>>();
  std::vector<float> all;
  for (std::size_t first = 0; first < tokens.size(); first += chunk) {
    const auto part = std::span(tokens).subspan(first, std::min(chunk, tokens.size() - first));
    model.forward(*ctx, part, pool);
    const std::vector<float> last(ctx->logits().begin(), ctx->logits().end());
    for (std::size_t i = 0; i < part.size(); ++i) {
      model.logits(*ctx, i, pool);
      all.insert(all.end(), ctx->logits().begin(), ctx->logits().end());
    }
    CHECK(same_bits(last.data(), ctx->logits().data(), last.size()));  // what forward left
  }
  return all;
}

}  // namespace test
