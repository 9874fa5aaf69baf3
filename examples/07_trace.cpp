// Watching a forward pass: a trace is a type with a call operator, called at named points. Without one (NoTrace) the
// points cost nothing. This one prints how the residual stream grows from layer to layer.
#include <llambda/llambda.hpp>

#include <cmath>
#include <cstdio>
#include <default_model.hpp>

struct print_norms {
  static constexpr bool enabled = true;

  template <llambda::fixed_string Name> void operator()(std::size_t layer, const llambda::trace_rows& rows) {
    if constexpr (Name.view() == "l_out") {
      const float* last = rows[rows.tokens - 1];
      double squares = 0;
      for (std::size_t i = 0; i < rows.width; ++i)
        squares += static_cast<double>(last[i]) * static_cast<double>(last[i]);
      std::printf("layer %zu: |hidden| = %.2f\n", layer, std::sqrt(squares));
    }
  }
};

int main(int, char** argv) {
  llambda::thread_pool pool(1);
  const auto model = llambda::Model<default_model>::load(argv[1], pool);
  const auto context = model.make_context();
  model.transformer().forward(*context, model.tokens().encode("Let there be light"), pool, print_norms{});
}
