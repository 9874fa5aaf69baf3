// Binding a file to a compiled model: the wrong file is refused with every difference in one report, and nothing is
// left behind that would keep the right file from loading.
#include "golden_models.hpp"

#include <set>

using namespace llambda;

namespace {

/// The report of binding `file` to C, or a failed test.
template <class C> load_error refusal(const std::shared_ptr<const gguf_file>& file) {
  thread_pool pool(1);
  try {
    llambda::bind_weights<C>(file, pool);
  } catch (const load_error& e) {
    return e;
  }
  FAIL("the file was accepted");
  return load_error(errc::io_error, "", "", "", "");
}

std::shared_ptr<const gguf_file> open(const std::string& path) {
  return std::make_shared<const gguf_file>(gguf_file::open(path));
}

const mismatch* find(const load_error& e, const std::string& subject) {
  for (const mismatch& m : e.differences()) {
    if (m.subject == subject) return &m;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("bind: another model is refused with all differences at once") {
  const load_error e = refusal<gqa_odd>(open(test::golden_path<tied_q8>()));
  CHECK(e.code() == errc::config_mismatch);
  CHECK(e.path() == test::golden_path<tied_q8>());
  for (const char* field : {"hidden", "layers", "heads", "kv_heads", "head_dim", "ffn", "norm_eps", "token_embd",
                            "output", "blk.0.attn_q.weight", "blk.2.attn_q.weight", "blk.2.ffn_down.weight",
                            "output.weight", "token_embd.weight", "output_norm.weight", "blk.1.ffn_norm.weight"}) {
    INFO(field);
    REQUIRE(find(e, field));
    CHECK(std::string(e.what()).find(std::string(field) + ": expected " + find(e, field)->expected) !=
          std::string::npos);
  }
  CHECK(find(e, "hidden")->expected == "40");
  CHECK(find(e, "hidden")->got == "64");
  CHECK(find(e, "output")->got == "tied");
  CHECK(find(e, "blk.2.attn_q.weight")->got == "nothing");
  for (const char* field : {"architecture", "vocab", "rope.theta", "rope.pairing", "rope.factors"}) {
    INFO(field);
    CHECK_FALSE(find(e, field));
  }
  CHECK(std::string(e.what()).find(std::to_string(e.differences().size()) + " differences") != std::string::npos);
}

TEST_CASE("bind: a tensor the model has no place for is named") {
  const load_error e = refusal<gqa_odd>(open(test::golden_path<bf16_freqs>()));
  REQUIRE(find(e, "rope_freqs.weight"));
  CHECK(find(e, "rope_freqs.weight")->expected == "no such tensor");
  REQUIRE(find(e, "blk.3.attn_k.weight"));
  REQUIRE(find(e, "rope.factors"));
}

TEST_CASE("bind: a single difference is the whole message") {
  test::editable_file file(test::golden_path<gqa_odd>());
  const float ours = 1e-5f, theirs = 1e-6f;
  const std::string from(reinterpret_cast<const char*>(&ours), 4), to(reinterpret_cast<const char*>(&theirs), 4);
  file.replace(from, to);
  const load_error e = refusal<gqa_odd>(file.open());
  CHECK(e.differences().size() == 1);
  CHECK(e.subject() == "norm_eps");
  CHECK(e.expected() == "1e-05");
  CHECK(e.got() == "1e-06");
  CHECK(std::string(e.what()) == "edited: config_mismatch: norm_eps: expected 1e-05, got 1e-06");
}

TEST_CASE("bind: after a refusal the right config still binds the same file") {
  const auto file = open(test::golden_path<tied_q8>());
  refusal<mixed_kinds>(file);
  thread_pool pool(2);
  const auto weights = llambda::bind_weights<tied_q8>(file, pool);
  CHECK(weights.memory.used() == weights.memory.size());
}

TEST_CASE("bind: a tensor renamed in the file is missing under its old name and unknown under the new") {
  test::editable_file file(test::golden_path<tied_q8>());
  file.replace("blk.1.ffn_up.weight", "blk.1.ffn_UP.weight");
  thread_pool pool(1);
  try {
    llambda::bind_weights<tied_q8>(file.open(), pool);
    FAIL("the file was accepted");
  } catch (const load_error& e) {
    CHECK(std::string(e.what()).find("blk.1.ffn_up.weight") != std::string::npos);
  }
}

TEST_CASE("bind: progress grows to the size of the weights") {
  thread_pool pool(2);
  std::size_t last = 0, calls = 0;
  load_options options;
  options.progress = [&](std::size_t done, std::size_t total) {
    CHECK(done > last);
    CHECK(total == MemoryPlan<tied_q8>::weights_in_file);
    last = done, ++calls;
  };
  llambda::bind_weights<tied_q8>(open(test::golden_path<tied_q8>()), pool, options);
  CHECK(last == MemoryPlan<tied_q8>::weights_in_file);
  CHECK(calls == 2 + 9 * tied_q8::spec.layers);
}

TEST_CASE("bind: packed tensors hold the numbers of the file") {
  thread_pool pool(3);
  const auto file = open(test::golden_path<mixed_kinds>());
  const auto weights = llambda::bind_weights<mixed_kinds>(file, pool);
  std::vector<float> row(64), expected(64);
  const auto check = [&](const char* name, const auto& tensor) {
    using T = std::remove_cvref_t<decltype(tensor)>;
    const gguf_tensor& source = *file->find_tensor(name);
    for (std::size_t r = 0; r < T::rows; ++r) {
      tensor.decode_row(r, row.data());
      Format<T::format>::decode(source.data.data() + r * row_bytes(T::format, T::cols), T::cols, expected.data());
      CHECK(test::same_bits(row.data(), expected.data(), T::cols));
    }
  };
  check("token_embd.weight", weights.globals.token_embd);
  check("output.weight", weights.globals.output);
  check("blk.3.attn_v.weight", std::get<0>(weights.layers)[1].attn_v);
  check("blk.0.ffn_gate.weight", std::get<0>(weights.layers)[0].ffn_gate);
  check("blk.2.attn_q.weight", std::get<1>(weights.layers)[1].attn_q);
  check("blk.1.ffn_down.weight", std::get<1>(weights.layers)[0].ffn_down);
}
