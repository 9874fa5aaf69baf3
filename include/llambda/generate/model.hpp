// A model ready to use: the file it came from, its weights and its tokenizer, loaded by one call. Immutable: one Model
// serves any number of contexts and threads.
#pragma once

#include <llambda/generate/stats.hpp>
#include <llambda/io/bind.hpp>
#include <llambda/model/transformer.hpp>
#include <llambda/text/tokenizer.hpp>
#include <llambda/text/vocab_gguf.hpp>

#include <memory>
#include <string>

namespace llambda::inline LLAMBDA_ABI {

template <ModelConfig C, Arch A = default_arch>
class Model {
 public:
  using config = C;

  /// Maps the file, checks that it is the model C, and packs its weights on the threads of `pool`, or maps the pack
  /// cache that an earlier start left (options.pack_cache).
  /// Throws load_error (with every difference at once when it is another model) and error(out_of_memory).
  static Model load(const std::string& path, thread_pool& pool, const load_options& options = {}) {
    return Model(mapped_file::map(path), pool, options);
  }

  /// The same from bytes that are part of the program. `name` stands in messages; the bytes must outlive the model.
  static Model from_bytes(std::span<const std::byte> bytes, std::string name, thread_pool& pool,
                          const load_options& options = {}) {
    return Model(mapped_file::view(bytes, std::move(name)), pool, options);
  }

  const Transformer<C, A>& transformer() const noexcept { return transformer_; }
  const tokenizer& tokens() const noexcept { return tokenizer_; }
  double load_seconds() const noexcept { return load_seconds_; }

  /// A context of its own for one inference, on the heap. Throws error(out_of_memory).
  std::unique_ptr<Context<C>> make_context() const { return std::make_unique<Context<C>>(); }

 private:
  Model(mapped_file file, thread_pool& pool, const load_options& options)
      : Model(stopwatch(), std::make_shared<const gguf_file>(gguf_file::parse(std::move(file))), pool, options) {}

  Model(stopwatch clock, std::shared_ptr<const gguf_file> file, thread_pool& pool, const load_options& options)
      : tokenizer_(load_vocab(*file)), transformer_(bind_weights<C>(std::move(file), pool, options)) {
    load_seconds_ = clock.seconds();
  }

  tokenizer tokenizer_;
  Transformer<C, A> transformer_;
  double load_seconds_ = 0;
};

}  // namespace llambda::inline LLAMBDA_ABI
