// llambda.hpp: large language models on CPUs, specialised at compile time.
// Include this and the header of a model's config; then
//   llambda::thread_pool pool;
//   auto model = llambda::Model<my_config>::load("my_model.gguf", pool);
//   auto context = model.make_context();
//   llambda::generate(model, *context, pool, "Once upon a time", {}, [](std::string_view text) { std::cout << text; });
// Needs xsimd and Boost.Hana. Headers of the library never include this one.
#pragma once

#include <llambda/generate/generate.hpp>
#include <llambda/generate/perplexity.hpp>
#include <llambda/sample/sequence_breakers.hpp>
#include <llambda/sample/stage_list.hpp>
