// One model, two contexts in two threads, each with a pool of its own. Weights are shared and never change; what they
// compute is the same bits as one after the other, whatever the number of threads and the size of the chunks.
#include <llambda/llambda.hpp>

#include <cstdio>
#include <cstring>
#include <default_model.hpp>
#include <thread>

using namespace llambda;

int main(int, char** argv) {
  thread_pool loading;
  const auto model = Model<default_model>::load(argv[1], loading);
  const auto prompt = model.tokens().encode("The LORD is my shepherd");

  const auto whole = model.make_context(), stepped = model.make_context();
  std::thread other([&] {
    thread_pool one(1);
    for (token_id token : prompt) model.transformer().forward(*stepped, {&token, 1}, one);
  });
  thread_pool two(2);
  model.transformer().forward(*whole, prompt, two);
  other.join();

  const auto a = whole->logits(), b = stepped->logits();
  std::printf("prefill on 2 threads and steps on 1 thread: %s\n",
              std::memcmp(a.data(), b.data(), a.size_bytes()) == 0 ? "same bits" : "DIFFERENT");
}
