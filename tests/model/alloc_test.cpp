// Nothing is allocated and nothing freed after loading: every entry to the C library's heap is counted while a model
// decodes. Skipped under a sanitizer, which brings a heap of its own, and without glibc.
#include "golden_models.hpp"

#include <atomic>
#include <cerrno>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LLAMBDA_TEST_COUNTS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LLAMBDA_TEST_COUNTS 0
#endif
#endif
#if !defined(LLAMBDA_TEST_COUNTS)
#if defined(__GLIBC__)
#define LLAMBDA_TEST_COUNTS 1
#else
#define LLAMBDA_TEST_COUNTS 0
#endif
#endif

namespace {

std::atomic<std::size_t> heap_calls{0};

}  // namespace

#if LLAMBDA_TEST_COUNTS

extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) {
  ++heap_calls;
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  ++heap_calls;
  return __libc_calloc(count, size);
}
void* realloc(void* at, std::size_t size) {
  ++heap_calls;
  return __libc_realloc(at, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  ++heap_calls;
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  ++heap_calls;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** at, std::size_t alignment, std::size_t size) {
  ++heap_calls;
  *at = __libc_memalign(alignment, size);
  return *at ? 0 : ENOMEM;
}
void free(void* at) {
  ++heap_calls;
  __libc_free(at);
}

}  // extern "C"

#endif

using namespace llambda;

TEST_CASE("alloc: no heap call from the first token on") {
  thread_pool pool(2);
  const auto model = test::load<mixed_kinds>(pool);
  const auto prompt = test::random_tokens(40, mixed_kinds::spec.vocab, 1);

  const std::size_t at_start = heap_calls;
  const auto ctx = std::make_unique<Context<mixed_kinds>>();
  if (heap_calls == at_start) {
    std::cerr << "skipped: heap calls are not counted in this program\n";
    return;
  }
  CHECK(ctx->memory_used() == ctx->memory_size());

  const std::size_t before = heap_calls;
  model.forward(*ctx, prompt, pool);  // the first run too: nothing is set up lazily
  std::size_t steps = 0;
  for (; steps < 100; ++steps) {
    if (ctx->position() == ctx->capacity()) ctx->truncate(8);
    const auto logits = ctx->logits();
    const auto next = static_cast<token_id>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    model.forward(*ctx, std::span(&next, 1), pool);
  }
  model.logits(*ctx, 0, pool);
  ctx->reset();
  model.forward(*ctx, prompt, pool);
  const std::size_t after = heap_calls;
  CHECK(steps == 100);
  CHECK(after - before == 0);
}
