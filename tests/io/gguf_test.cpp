// Sound GGUF files: what is in them comes out, whichever way they are opened and however their owner is moved.
#include <llambda/io/gguf.hpp>

#include <chrono>
#include <cmath>
#include <limits>

#include "../catch.hpp"
#include "gguf_builder.hpp"
#include "temp_dir.hpp"

namespace {

using llambda::errc;
using llambda::gguf_file;
using llambda::gguf_type;
using llambda::mapped_file;

gguf_file parse(const std::string& content) {
  return gguf_file::parse(mapped_file::view(std::as_bytes(std::span(content.data(), content.size())), "test.gguf"));
}

/// Code of the load_error `run` throws; `key` is the subject it must name.
template <class Run> errc code_of(std::string_view key, Run&& run) {
  try {
    run();
  } catch (const llambda::load_error& e) {
    CHECK(e.subject() == key);
    CHECK(e.path() == "test.gguf");
    return e.code();
  }
  FAIL("no load_error");
  throw 0;
}

}  // namespace

TEST_CASE("head, order and lookup", "[io][gguf]") {
  const std::string content = test::tiny_gguf();
  const gguf_file file = parse(content);
  CHECK(file.version() == 3);
  CHECK(file.alignment() == 32);
  CHECK(file.path() == "test.gguf");
  CHECK(file.file_bytes() == content.size());
  REQUIRE(file.metadata().size() == 18);
  CHECK(file.metadata().front().key == "general.architecture");
  CHECK(file.metadata().back().key == "t.nested");
  for (const auto& [key, value] : file.metadata()) {
    CHECK(file.find(key) == &value);
    CHECK(value.key() == key);
  }
  for (const auto& tensor : file.tensors()) CHECK(file.find_tensor(tensor.name) == &tensor);
  for (const char* absent : {"", "a", "t", "t.u", "t.u88", "zzz"}) {
    CHECK(file.find(absent) == nullptr);
    CHECK(file.find_tensor(absent) == nullptr);
  }
}

TEST_CASE("scalars come out as themselves and as any type that holds them", "[io][gguf]") {
  const std::string content = test::tiny_gguf();
  const gguf_file file = parse(content);
  CHECK(file.get<std::uint8_t>("t.u8") == 200);
  CHECK(file.get<std::int8_t>("t.i8") == -100);
  CHECK(file.get<std::uint16_t>("t.u16") == 60000);
  CHECK(file.get<std::int16_t>("t.i16") == -30000);
  CHECK(file.get<std::uint32_t>("t.u32") == 4000000000u);
  CHECK(file.get<std::int32_t>("t.i32") == -2000000000);
  CHECK(file.get<std::uint64_t>("t.u64") == 1ull << 63);
  CHECK(file.get<std::int64_t>("t.i64") == -(1ll << 62));
  CHECK(file.get<float>("t.f32") == 1.5f);
  CHECK(file.get<double>("t.f32") == 1.5);
  CHECK(file.get<double>("t.f64") == 1e300);
  CHECK(file.get<bool>("t.bool"));
  CHECK(file.get<std::string_view>("general.architecture") == "llama");
  CHECK(file.get<std::string>("general.architecture") == "llama");
  CHECK(file.get<int>("t.u8") == 200);
  CHECK(file.get<std::size_t>("t.u32") == 4000000000u);
  CHECK(file.get<std::int64_t>("t.i8") == -100);
  CHECK(file.get<std::uint8_t>("t.u8") == 200);
  const auto* architecture = file.find("general.architecture");
  CHECK(architecture->as<std::string_view>().data() == content.data() + 24 + 8 + 20 + 4 + 8);  // a view, not a copy
}

TEST_CASE("what does not fit or is of another kind is an error that names the key", "[io][gguf]") {
  const std::string content = test::tiny_gguf();
  const gguf_file file = parse(content);
  CHECK(code_of("t.u8", [&] { file.get<std::int8_t>("t.u8"); }) == errc::bad_hparam);
  CHECK(code_of("t.i8", [&] { file.get<std::uint64_t>("t.i8"); }) == errc::bad_hparam);
  CHECK(code_of("t.u32", [&] { file.get<int>("t.u32"); }) == errc::bad_hparam);
  CHECK(code_of("t.u64", [&] { file.get<std::int64_t>("t.u64"); }) == errc::bad_hparam);
  CHECK(code_of("t.f64", [&] { file.get<float>("t.f64"); }) == errc::bad_hparam);
  CHECK(code_of("t.u32", [&] { file.get<float>("t.u32"); }) == errc::wrong_type);
  CHECK(code_of("t.f32", [&] { file.get<int>("t.f32"); }) == errc::wrong_type);
  CHECK(code_of("t.u8", [&] { file.get<bool>("t.u8"); }) == errc::wrong_type);
  CHECK(code_of("t.bool", [&] { file.get<int>("t.bool"); }) == errc::wrong_type);
  CHECK(code_of("t.bool", [&] { file.get<float>("t.bool"); }) == errc::wrong_type);
  CHECK(code_of("t.u8", [&] { file.get<std::string_view>("t.u8"); }) == errc::wrong_type);
  CHECK(code_of("general.architecture", [&] { file.get<int>("general.architecture"); }) == errc::wrong_type);
  CHECK(code_of("t.flags", [&] { file.get<bool>("t.flags"); }) == errc::wrong_type);
  CHECK(code_of("t.flags", [&] { file.get<std::string>("t.flags"); }) == errc::wrong_type);
  CHECK(code_of("absent", [&] { file.get<int>("absent"); }) == errc::missing_key);
  CHECK(file.get_or<int>("absent", 7) == 7);
  CHECK(file.get_or("t.u8", 7) == 200);
  CHECK(file.get_or<std::string_view>("absent", "x") == "x");
  CHECK(code_of("t.u8", [&] { file.get_or<float>("t.u8", 1.0f); }) == errc::wrong_type);
  CHECK(code_of("t.u8", [&] { file.get_or<std::int8_t>("t.u8", 1); }) == errc::bad_hparam);
}

TEST_CASE("floats that are not finite, and doubles at the edge of float", "[io][gguf]") {
  const double most = (std::numeric_limits<float>::max)();
  const std::string content = test::gguf_builder()
                                  .scalar<double>("inf", test::f64, std::numeric_limits<double>::infinity())
                                  .scalar<double>("nan", test::f64, std::numeric_limits<double>::quiet_NaN())
                                  .scalar<double>("most", test::f64, -most)
                                  .scalar<double>("over", test::f64, std::nextafter(most, 1e300))
                                  .build();
  const gguf_file file = parse(content);
  CHECK(std::isinf(file.get<float>("inf")));
  CHECK(std::isnan(file.get<float>("nan")));
  CHECK(file.get<float>("most") == -(std::numeric_limits<float>::max)());
  CHECK(code_of("over", [&] { file.get<float>("over"); }) == errc::bad_hparam);
}

TEST_CASE("arrays", "[io][gguf]") {
  const std::string content = test::tiny_gguf();
  const gguf_file file = parse(content);
  const llambda::gguf_value& tokens = *file.find("tokenizer.ggml.tokens");
  CHECK(tokens.type() == gguf_type::array);
  CHECK(tokens.element_type() == gguf_type::string);
  CHECK(tokens.count() == 5);
  CHECK(tokens.strings() == std::vector<std::string_view>{"<s>", "", "a", "\xF0\x9F\x98\x80", "\xFF"});
  CHECK(file.find("tokenizer.ggml.scores")->to_vector<float>() == std::vector<float>{0.0f, -1.0f, 2.5f});
  CHECK(file.find("tokenizer.ggml.scores")->to_vector<double>() == std::vector<double>{0.0, -1.0, 2.5});
  CHECK(file.find("tokenizer.ggml.token_type")->to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 2, 3});
  CHECK(file.find("t.flags")->to_vector<bool>() == std::vector<bool>{false, true, true});
  CHECK(file.find("t.none")->count() == 0);
  CHECK(file.find("t.none")->to_vector<int>().empty());

  const auto nested = file.find("t.nested")->arrays();
  REQUIRE(nested.size() == 3);
  CHECK(nested[0].to_vector<int>() == std::vector<int>{1, 2, 3});
  CHECK(nested[1].to_vector<int>().empty());
  CHECK(nested[2].to_vector<int>() == std::vector<int>{-4});

  CHECK(code_of("t.nested", [&] { (void)nested[2].to_vector<unsigned>(); }) == errc::bad_hparam);
  CHECK(code_of("t.nested", [&] { (void)file.find("t.nested")->to_vector<int>(); }) == errc::wrong_type);
  CHECK(code_of("t.flags", [&] { (void)file.find("t.flags")->to_vector<int>(); }) == errc::wrong_type);
  CHECK(code_of("t.flags", [&] { (void)file.find("t.flags")->strings(); }) == errc::wrong_type);
  CHECK(code_of("t.u8", [&] { (void)file.find("t.u8")->to_vector<int>(); }) == errc::wrong_type);
  CHECK(code_of("tokenizer.ggml.tokens", [&] { (void)tokens.to_vector<int>(); }) == errc::wrong_type);
  CHECK(code_of("tokenizer.ggml.tokens", [&] { (void)tokens.arrays(); }) == errc::wrong_type);
  CHECK(code_of("tokenizer.ggml.tokens", [&] { (void)tokens.as<std::string>(); }) == errc::wrong_type);
}

TEST_CASE("tensors", "[io][gguf]") {
  const std::string content = test::tiny_gguf();
  const gguf_file file = parse(content);
  REQUIRE(file.tensors().size() == 3);
  const llambda::gguf_tensor& q = *file.find_tensor("blk.0.attn_q.weight");
  CHECK(q.type->name == "Q8_0");
  CHECK(q.n_dims == 2);
  CHECK(q.dims == std::array<std::uint64_t, 4>{32, 2, 1, 1});
  CHECK(q.row_elements() == 32);
  CHECK(q.rows() == 2);
  CHECK(q.row_bytes() == 34);
  CHECK(q.shape() == "[32, 2]");
  CHECK(q.bytes == 68);
  CHECK(q.data.size() == 68);
  CHECK(q.offset % 32 == 0);
  CHECK(reinterpret_cast<const char*>(q.data.data()) == content.data() + q.offset);
  CHECK(q.data.front() == std::byte{'q'});
  CHECK(q.data.back() == std::byte{'q'});
  CHECK(file.find_tensor("output_norm.weight")->shape() == "[5]");
  CHECK(file.find_tensor("output_norm.weight")->rows() == 1);
  CHECK(file.tensors().back().offset + file.tensors().back().bytes == content.size());
}

TEST_CASE("version 2, four dimensions, other alignments", "[io][gguf]") {
  for (std::uint32_t alignment : {1u, 2u, 8u, 64u, 4096u, 1u << 20}) {
    const std::string content = test::gguf_builder()
                                    .alignment(alignment)
                                    .string("odd", "x")
                                    .tensor("a", {2, 3, 2, 2}, 24, std::string(24, 'a'))
                                    .tensor("b", {3}, 0, std::string(12, 'b'))
                                    .build(2);
    const gguf_file file = parse(content);
    CHECK(file.version() == 2);
    CHECK(file.alignment() == alignment);
    const llambda::gguf_tensor &a = file.tensors()[0], &b = file.tensors()[1];
    CHECK(a.rows() == 12);
    CHECK(a.shape() == "[2, 3, 2, 2]");
    CHECK(b.offset % alignment == 0);
    for (std::byte value : a.data) CHECK(value == std::byte{'a'});
    for (std::byte value : b.data) CHECK(value == std::byte{'b'});
  }
}

TEST_CASE("tensors may come in any order of data, with gaps", "[io][gguf]") {
  test::bytes file;
  file.head(3, 2, 0)
      .tensor("late", {8}, 0, 64)
      .tensor("early", {8}, 0, 0)
      .align(32)
      .fill(32, 'e')
      .fill(32)
      .fill(32, 'l');
  const gguf_file parsed = parse(file);
  CHECK(parsed.find_tensor("late")->data.front() == std::byte{'l'});
  CHECK(parsed.find_tensor("early")->data.front() == std::byte{'e'});
}

TEST_CASE("mapped, read and moved files give the same views", "[io][gguf]") {
  const test::temp_dir dir;
  const std::string path = dir.write("tiny.gguf", test::tiny_gguf());
  for (bool mapped : {true, false}) {
    gguf_file first = mapped ? gguf_file::open(path) : gguf_file::parse(mapped_file::read(path));
    const llambda::gguf_value* value = first.find("t.u8");
    const std::string_view text = first.get<std::string_view>("general.architecture");
    gguf_file second = std::move(first);
    gguf_file third = parse(test::gguf_builder().build());
    third = std::move(second);
    CHECK(value == third.find("t.u8"));
    CHECK(text == "llama");
    CHECK(third.path() == path);
    try {
      (void)value->as<bool>();
      FAIL("no load_error");
    } catch (const llambda::load_error& e) {
      CHECK(e.path() == path);
    }
  }
  CHECK_THROWS_AS(gguf_file::open(dir.path("absent")), llambda::load_error);
}

TEST_CASE("storage types", "[io][gguf]") {
  using llambda::find_ggml_type;
  static_assert(find_ggml_type(8u)->block_bytes == 34);
  for (const llambda::ggml_type& type : llambda::ggml_types) {
    CHECK(find_ggml_type(type.id) == &type);
    CHECK(find_ggml_type(type.name) == &type);
    CHECK(type.block_length > 0);
    CHECK(type.block_bytes > 0);
  }
  for (std::uint32_t removed : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u, 43u, 999u, 0xFFFFFFFFu}) {
    CHECK(find_ggml_type(removed) == nullptr);
  }
  CHECK(find_ggml_type("Q4_K")->bits_per_weight() == 4.5);
  CHECK(find_ggml_type("Q6_K")->bits_per_weight() == 6.5625);
  CHECK(find_ggml_type("TQ1_0")->bits_per_weight() == 1.6875);
  CHECK(find_ggml_type("q4_k") == nullptr);
}

TEST_CASE("a large vocabulary is indexed in one pass", "[io][gguf]") {
  std::vector<std::string> tokens(300000), merges(600000);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = "tok" + std::to_string(i);
  for (std::size_t i = 0; i < merges.size(); ++i)
    merges[i] = "ab" + std::to_string(i % 1000) + " c" + std::to_string(i);
  const std::string content = test::gguf_builder().strings("tokens", tokens).strings("merges", merges).build();
  const auto begin = std::chrono::steady_clock::now();
  const gguf_file file = parse(content);
  const auto taken = std::chrono::steady_clock::now() - begin;
  std::cerr << "indexed " << content.size() << " bytes, 900000 strings, in "
            << std::chrono::duration<double, std::milli>(taken).count() << " ms\n";
  CHECK(taken < std::chrono::seconds(20));  // a few ms in an optimised build; this catches what is not linear
  const auto views = file.find("merges")->strings();
  REQUIRE(views.size() == merges.size());
  CHECK(views.back() == merges.back());
}
