// The pack cache: what is mapped is bit for bit what would have been packed; whatever does not fit exactly is made
// anew; a cache that cannot be written costs a message and no model.
#include "golden_models.hpp"

#include <chrono>
#include <filesystem>

#include "../io/temp_dir.hpp"

using namespace llambda;

namespace {

namespace fs = std::filesystem;

template <class C> Weights<C> bind_cached(const std::string& path) {
  thread_pool pool(2);
  load_options options;
  options.pack_cache = true;
  return llambda::bind_weights<C>(std::make_shared<const gguf_file>(gguf_file::open(path)), pool, options);
}

template <class C> std::string copy_of_golden(const test::temp_dir& dir) {
  return dir.write("model.gguf", test::read_file(test::golden_path<C>()));
}

/// The only file of the directory whose name ends in ".pack".
std::string cache_in(const test::temp_dir& dir) {
  std::string found;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(dir.path(""))) {
    ++files;
    if (entry.path().extension() == ".pack") found = entry.path().string();
  }
  CHECK(files == 2);  // the model and its cache, no temporary file
  REQUIRE_FALSE(found.empty());
  return found;
}

template <class C> bool same_memory(const Weights<C>& a, const Weights<C>& b) {
  return std::ranges::equal(a.memory.bytes(), b.memory.bytes());
}

}  // namespace

TEMPLATE_TEST_CASE("pack cache: the second start maps what the first packed", "", tied_q8, mixed_kinds, bf16_freqs) {
  const test::temp_dir dir;
  const std::string path = copy_of_golden<TestType>(dir);
  const auto packed = bind_cached<TestType>(path);
  CHECK(packed.memory.owned());
  CHECK(packed.cache_failure.empty());
  cache_in(dir);
  const auto mapped = bind_cached<TestType>(path);
  CHECK_FALSE(mapped.memory.owned());
  CHECK(mapped.memory.used() == MemoryPlan<TestType>::model_arena);
  CHECK(same_memory(packed, mapped));

  // The same logits, from the mapping alone.
  thread_pool pool(1);
  const Transformer<TestType> expected = test::load<TestType>(pool);
  const Transformer<TestType> model(bind_cached<TestType>(path));
  const auto context = std::make_unique<Context<TestType>>(), other = std::make_unique<Context<TestType>>();
  const std::vector<token_id> tokens{1, 5, 3, 7};
  model.forward(*context, tokens, pool);
  expected.forward(*other, tokens, pool);
  CHECK(test::same_bits(context->logits().data(), other->logits().data(), other->logits().size()));
}

TEST_CASE("pack cache: another file, another model, or a damaged cache is not used") {
  const test::temp_dir dir;
  const std::string path = copy_of_golden<tied_q8>(dir);
  const auto first = bind_cached<tied_q8>(path);
  const std::string cache = cache_in(dir);
  const std::string sound = test::read_file(cache);
  const auto is_made_anew = [&] {
    const auto weights = bind_cached<tied_q8>(path);
    CHECK(weights.memory.owned());
    CHECK(same_memory(first, weights));
    CHECK(test::read_file(cache).size() == sound.size());
    CHECK_FALSE(bind_cached<tied_q8>(path).memory.owned());
  };
  const auto put = [&](const std::string& content) { std::ofstream(cache, std::ios::binary) << content; };

  SECTION("the model file was touched") {
    fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(2));
    is_made_anew();
  }
  SECTION("every byte of the header counts") {
    for (std::size_t i = 0; i < sizeof(pack_cache_header); ++i) {
      INFO(i);
      std::string damaged = sound;
      damaged[i] = static_cast<char>(damaged[i] ^ 1);
      put(damaged);
      is_made_anew();
    }
  }
  SECTION("short, long, empty") {
    for (const std::size_t size : {std::size_t{0}, std::size_t{39}, std::size_t{4096}, sound.size() - 1}) {
      put(sound.substr(0, size));
      is_made_anew();
    }
    put(sound + "x");
    is_made_anew();
  }
  SECTION("another config has another name") {
    const std::string other = dir.write("model.gguf", test::read_file(test::golden_path<mixed_kinds>()));
    CHECK(bind_cached<mixed_kinds>(other).memory.owned());
    CHECK(test::read_file(cache) == sound);
  }
}

TEST_CASE("pack cache: one that cannot be written leaves the model usable and says why") {
  const test::temp_dir dir;
  const std::string path = copy_of_golden<tied_q8>(dir);
  std::string cache;
  {
    const auto weights = bind_cached<tied_q8>(path);
    cache = cache_in(dir);
  }
  fs::remove(cache);
  fs::create_directories(cache + "/in the way");
  const auto weights = bind_cached<tied_q8>(path);
  CHECK(weights.memory.owned());
  CHECK(weights.cache_failure.find(cache) != std::string::npos);
  CHECK(weights.cache_failure.find("io_error") != std::string::npos);
  CHECK(std::distance(fs::directory_iterator(dir.path("")), {}) == 2);
}

TEST_CASE("pack cache: bytes that are no file are packed and nothing is written") {
  thread_pool pool(1);
  load_options options;
  options.pack_cache = true;
  const test::editable_file bytes(test::golden_path<tied_q8>());
  const auto weights = llambda::bind_weights<tied_q8>(bytes.open(), pool, options);
  CHECK(weights.memory.owned());
  CHECK(weights.cache_failure.empty());
  for (const auto& entry : fs::directory_iterator(".")) {
    CHECK_FALSE(entry.path().filename().string().starts_with("edited."));
  }
}
