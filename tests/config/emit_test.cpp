// The text of a generated config: the same bytes for the same input, safe against names that try to leave their
// literal or comment, and exact floats. That it compiles and means the spec is shown by every golden model.
#include <llambda/config/emit.hpp>

#include "../catch.hpp"

using namespace llambda;

namespace {

ModelSpec small() {
  ModelSpec s{.name = "small",
              .hidden = 64,
              .layers = 3,
              .heads = 4,
              .kv_heads = 2,
              .ffn = 96,
              .vocab = 32,
              .context = 128,
              .norm_eps = 1e-6f,
              .rope = {.theta = 500000.0f, .dim = 8}};
  s.kinds[1] = LayerSpec::all(quant::q8_0);
  s.kind_of[1] = 1;
  return s;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("emit: the same input gives the same bytes, and says what matters") {
  const emit_options o{.type_name = "small_model",
                       .source = "small.gguf",
                       .sha256 = std::string(64, 'a'),
                       .limits = {.context = 77, .kv = quant::f32}};
  const std::string text = emit_config(small(), o);
  CHECK(text == emit_config(small(), o));
  CHECK(contains(text, "struct small_model {"));
  CHECK(contains(text, "from small.gguf"));
  CHECK(contains(text, "sha256 " + std::string(64, 'a')));
  CHECK(contains(text, ".norm_eps = 1e-06f"));
  CHECK(contains(text, ".theta = 5e+05f"));
  CHECK(contains(text, "LayerSpec::all(quant::q8_0)"));
  CHECK(contains(text, ".kind_of = {0, 1, 0}"));
  CHECK(contains(text, ".context = 77"));
  CHECK(contains(text, ".kv = llambda::quant::f32"));
  CHECK(!contains(emit_config(small(), {}), "limits"));
}

TEST_CASE("emit: a hostile name stays inside its literal, a hostile file name inside its comment") {
  ModelSpec s = small();
  s.name = "a\"; int x = 1; // \\\n\x01\xff?\?=";
  const std::string text = emit_config(s, {.source = "evil\nint main() {}\\\n"});
  CHECK(contains(text, ".name = \"a\\\"; int x = 1; // \\\\\\012\\001\\377\\?\\?=\","));
  CHECK(!contains(text, "\nint main"));
  CHECK(contains(text, "evil?int main() {}??"));
}

TEST_CASE("emit: floats read back as they were") {
  for (float x : {1e-5f, 1e-6f, 0.1f, 10000.0f, 500000.0f, 1.0f, 3.4e38f, 1.17549435e-38f}) {
    const std::string literal = detail::float_literal(x);
    CHECK(literal.back() == 'f');
    CHECK(literal.find_first_of(".e") != std::string::npos);
    CHECK(std::strtof(literal.c_str(), nullptr) == x);
  }
}
