// A user's program: the umbrella header, a generated config, one forward pass.
// It is compiled without extensions of C++ and with no flags of ours.
#include <llambda/llambda.hpp>
#include <tiny_model.hpp>

#include <cstdio>
#include <memory>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  llambda::thread_pool pool(1);
  const auto file = std::make_shared<const llambda::gguf_file>(llambda::gguf_file::open(argv[1]));
  const llambda::Transformer<tiny_model> model(llambda::bind_weights<tiny_model>(file, pool));
  const auto context = std::make_unique<llambda::Context<tiny_model>>();
  const llambda::token_id tokens[] = {1, 2, 3};
  model.forward(*context, tokens, pool);
  std::printf("consumer: %s, first logit %g\n", llambda::version, static_cast<double>(context->logits()[0]));
  return context->position() == 3 ? 0 : 1;
}
