// Options, a callback that stops, continuing in the same context, and what it all cost.
#include <llambda/llambda.hpp>

#include <cstdio>
#include <default_model.hpp>
#include <string>

int main(int, char** argv) {
  llambda::thread_pool pool(2);
  const auto model = llambda::Model<default_model>::load(argv[1], pool);
  const auto context = model.make_context();

  llambda::generate_options options{.max_tokens = 200, .sampling = {.temperature = 0.7f, .top_k = 20, .seed = 7}};
  std::string sentence;
  const auto until_full_stop = [&](std::string_view text) {
    sentence += text;
    return text.find('.') == std::string_view::npos;  // false stops
  };
  const auto first = llambda::generate(model, *context, pool, "And it came to pass", options, until_full_stop);
  std::printf("And it came to pass%s\n-> %s after %zu tokens\n", sentence.c_str(),
              std::string(llambda::name_of(first.reason)).c_str(), first.stats.generated_tokens);

  // The context keeps what was said: more text goes on from there.
  const std::size_t before = context->position();
  options.max_tokens = 8;
  llambda::generate(model, *context, pool, " Then", options, [](std::string_view) {});
  std::printf("positions %zu -> %zu\n", before, context->position());

  // The same seed gives the same text, whatever came before.
  context->reset();
  options.max_tokens = 200;
  std::string again;
  std::swap(again, sentence);
  llambda::generate(model, *context, pool, "And it came to pass", options, until_full_stop);
  std::printf("same seed, same text: %s\n", again == sentence ? "yes" : "NO");
  std::printf("prefill %s, decode %s\n", first.stats.prefill_tokens_per_second() > 0 ? "timed" : "not timed",
              first.stats.generated_tokens > 0 ? "timed" : "not timed");
}
