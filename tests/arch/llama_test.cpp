// From a file's metadata to a ModelSpec: what is judged, in which order, and how it is refused. Each case is a sound
// container whose numbers make no model.
#include <llambda/arch/all.hpp>
#include <llambda/io/gguf.hpp>

#include <functional>
#include <limits>
#include <map>

#include "../catch.hpp"
#include "../io/gguf_builder.hpp"

using namespace llambda;

namespace {

/// Metadata of a small sound model; a test changes one entry and leaves the rest.
struct header {
  std::map<std::string, std::uint32_t> sizes = {{"embedding_length", 64},     {"block_count", 2},
                                                {"feed_forward_length", 96},  {"context_length", 128},
                                                {"attention.head_count", 4},  {"attention.head_count_kv", 2},
                                                {"rope.dimension_count", 16}, {"vocab_size", 32}};
  float eps = 1e-5f;
  float theta = 10000.0f;
  std::string architecture = "llama";
  std::string scaling;
  std::map<std::string, std::uint32_t> types;  // tensor -> type id; absent = F32, 999 = leave the tensor out
  bool output = true;
  bool with_tensors = true;

  std::string build() const {
    test::gguf_builder b;
    b.string("general.architecture", architecture).string("general.name", "small");
    for (const auto& [key, value] : sizes) b.scalar("llama." + key, test::u32, value);
    b.scalar("llama.attention.layer_norm_rms_epsilon", test::f32, eps);
    b.scalar("llama.rope.freq_base", test::f32, theta);
    if (!scaling.empty()) b.string("llama.rope.scaling.type", scaling);
    if (!with_tensors) return b.build();
    const auto add = [&](const std::string& name) {
      const auto type = types.find(name);
      if (type != types.end() && type->second == 999) return;
      const std::uint32_t id = type == types.end() ? 0 : type->second;
      b.tensor(name, {32}, id, std::string(id == 0 ? 128 : id == 8 ? 34 : id == 9 ? 36 : 64, '\0'));
    };
    for (const char* name : {"token_embd.weight", "output_norm.weight"}) add(name);
    if (output) add("output.weight");
    for (int layer = 0; layer < 2; ++layer) {
      for (const char* stem :
           {"attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
        add("blk." + std::to_string(layer) + "." + stem + ".weight");
      }
    }
    return b.build();
  }
};

ModelSpec read(const header& h) {
  static std::string bytes;  // the spec's name is a view into it
  bytes = h.build();
  return read_spec(gguf_file::parse(mapped_file::view(std::as_bytes(std::span(bytes)), "small.gguf")));
}

void refused(const header& h, errc code, const std::string& subject) {
  INFO(subject);
  try {
    read(h);
    FAIL("accepted");
  } catch (const load_error& e) {
    INFO(e.what());
    CHECK(errc_name(e.code()) == errc_name(code));
    CHECK(e.subject() == subject);
    CHECK(std::string(e.what()).find("small.gguf") == 0);
  }
}

}  // namespace

TEST_CASE("llama: a sound header is read, in its normal form") {
  header h;
  h.types = {{"blk.1.ffn_down.weight", 8}, {"token_embd.weight", 1}};
  const ModelSpec s = read(h);
  CHECK(s.hidden == 64);
  CHECK(s.head_dim == 0);
  CHECK(s.rope.dim == 0);
  CHECK(s.kind_of[0] == 0);
  CHECK(s.kind_of[1] == 1);
  CHECK(s.kinds[1].ffn_down == quant::q8_0);
  CHECK(s.token_embd == quant::f16);
  CHECK(s.output == quant::f32);
  h.output = false;
  CHECK(read(h).output == quant::none);
}

TEST_CASE("llama: hyper-parameters that make no model, with or without tensors") {
  const auto with = [](const std::string& key, std::uint32_t value) {
    header h;
    h.sizes[key] = value;
    return h;
  };
  for (bool tensors : {true, false}) {
    const auto bad = [&](const std::string& key, std::uint32_t value, const std::string& subject) {
      header h = with(key, value);
      h.with_tensors = tensors;
      refused(h, errc::bad_hparam, subject);
    };
    bad("attention.head_count", 0, "llama.attention.head_count");
    bad("attention.head_count_kv", 0, "llama.attention.head_count_kv");
    bad("attention.head_count_kv", 3, "llama.attention.head_count_kv");
    bad("attention.head_count_kv", 8, "llama.attention.head_count_kv");
    bad("block_count", 0xffffffffu, "llama.block_count");
    bad("block_count", 0, "llama.block_count");
    bad("embedding_length", 0, "llama.embedding_length");
    bad("embedding_length", 62, "llama.attention.key_length");
    bad("feed_forward_length", 0, "llama.feed_forward_length");
    bad("context_length", 0xffffffffu, "llama.context_length");
    bad("context_length", 0, "llama.context_length");
    bad("rope.dimension_count", 18, "llama.rope.dimension_count");
    bad("rope.dimension_count", 15, "llama.rope.dimension_count");
    bad("attention.key_length", 8192, "llama.attention.key_length");
    header h;
    h.with_tensors = tensors;
    for (float eps : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      h.eps = eps;
      refused(h, errc::bad_hparam, "llama.attention.layer_norm_rms_epsilon");
    }
    h.eps = 1e-5f;
    h.theta = 0;
    refused(h, errc::bad_hparam, "llama.rope.freq_base");
  }
  header no_vocab = with("attention.head_count", 0);
  no_vocab.sizes.erase("vocab_size");
  refused(no_vocab, errc::bad_hparam, "llama.attention.head_count");
  no_vocab.sizes["attention.head_count"] = 4;
  refused(no_vocab, errc::missing_key, "llama.vocab_size");
  header none;
  none.sizes.erase("block_count");
  refused(none, errc::missing_key, "llama.block_count");
}

TEST_CASE("llama: what is sound but not run here is refused by name") {
  header h;
  h.architecture = "mamba";
  refused(h, errc::unsupported, "general.architecture");
  h = {};
  h.sizes["expert_count"] = 8;
  refused(h, errc::unsupported, "llama.expert_count");
  h = {};
  h.scaling = "yarn";
  refused(h, errc::unsupported, "llama.rope.scaling.type");
  h = {};
  h.sizes["attention.value_length"] = 8;
  refused(h, errc::unsupported, "llama.attention.value_length");
  h = {};
  h.types = {{"blk.0.attn_v.weight", 9}};  // a Q8_1 among the others
  refused(h, errc::unsupported, "blk.0.attn_v.weight");
}

TEST_CASE("llama: all missing tensors are in one report") {
  header h;
  h.types = {{"blk.0.attn_q.weight", 999}, {"blk.1.ffn_up.weight", 999}, {"output_norm.weight", 999}};
  try {
    read(h);
    FAIL("accepted");
  } catch (const load_error& e) {
    CHECK(e.code() == errc::missing_tensor);
    CHECK(e.differences().size() == 3);
  }
}
