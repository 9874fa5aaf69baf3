// Stages in an order that is known only when the program runs, where sampling_chain<...> composes them when it is
// compiled: one virtual call a stage and step.
#pragma once

#include <llambda/sample/step.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

namespace stages {

/// A stage made of stages, which run in the order they were added.
class list {
 public:
  template <SamplingStage S>
  list& add(S stage) {
    stages_.push_back(std::make_unique<holder<S>>(std::move(stage)));
    return *this;
  }
  void check() const {
    for (const auto& s : stages_) s->check();
  }
  void prepare(std::size_t vocab_size) {
    for (auto& s : stages_) s->prepare(vocab_size);
  }
  void reset() {
    for (auto& s : stages_) s->reset();
  }
  void apply(sampling_step& step) {
    for (auto& s : stages_) {
      if (!step.is_chosen()) s->apply(step);
    }
  }

 private:
  struct base {
    virtual ~base() = default;
    virtual void check() const = 0;
    virtual void prepare(std::size_t vocab_size) = 0;
    virtual void reset() = 0;
    virtual void apply(sampling_step& step) = 0;
  };
  template <class S>
  struct holder final : base {
    explicit holder(S s) : stage(std::move(s)) {}
    void check() const override {
      if constexpr (requires { stage.check(); }) stage.check();
    }
    void prepare(std::size_t vocab_size) override {
      if constexpr (requires { stage.prepare(vocab_size); }) stage.prepare(vocab_size);
    }
    void reset() override {
      if constexpr (requires { stage.reset(); }) stage.reset();
    }
    void apply(sampling_step& step) override { stage.apply(step); }
    S stage;
  };
  std::vector<std::unique_ptr<base>> stages_;
};

}  // namespace stages

}  // namespace llambda::inline LLAMBDA_ABI
