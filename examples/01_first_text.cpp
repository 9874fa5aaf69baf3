// From #include to streamed text. The config of the model is a header generated from its file; the program below is
// compiled for exactly that model.
#include <llambda/llambda.hpp>

#include <default_model.hpp>
#include <iostream>

int main(int, char** argv) {
  llambda::thread_pool pool;  // a thread a physical core
  const auto model = llambda::Model<default_model>::load(argv[1], pool);
  const auto context = model.make_context();
  llambda::generate(model, *context, pool, "In the beginning", {.max_tokens = 40, .sampling = {.temperature = 0}},
                    [](std::string_view text) { std::cout << text << std::flush; });
  std::cout << '\n';
}
