// libFuzzer target for GGUF files: parses the bytes and uses everything the parser gives out.
// Any end but success or a load_error is a finding. The mutator starts from sound files and repairs the head most of
// the time, so that inputs get past the magic and into entries, tensors and data.
#include <llambda/io/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "../io/gguf_builder.hpp"
#include "../io/gguf_touch.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto content = std::as_bytes(std::span(data, size));
    test::touch(llambda::gguf_file::parse(llambda::mapped_file::view(content, "fuzz.gguf")));
  } catch (const llambda::load_error& e) {
    // Nothing here may need more memory than the limit, and a message always names something.
    if (e.code() == llambda::errc::out_of_memory || e.subject().empty()) std::abort();
  }
  return 0;
}

namespace {

/// Sound files to start from: one with every kind of value, one that is all tensors.
const std::string& sound(bool tensors) {
  static const std::string values = test::tiny_gguf();
  static const std::string weights = test::gguf_builder()
                                         .alignment(8)
                                         .tensor("a", {256}, 12, std::string(144, 'a'))
                                         .tensor("b", {3, 2}, 0, std::string(24, 'b'))
                                         .tensor("c", {32, 1, 2, 1}, 2, std::string(36, 'c'))
                                         .tensor("d", {1}, 27, std::string(8, 'd'))
                                         .build();
  return tensors ? weights : values;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  if (seed % 8 == 0 || size < 24) {
    const std::string& from = sound(seed % 3 != 0);
    size = from.size() < most ? from.size() : most;
    std::memcpy(data, from.data(), size);
  }
  const std::size_t head = 24;
  if (size < head || seed % 8 == 1) return LLVMFuzzerMutate(data, size, most);
  // Half the time nothing but the tail changes, where the tensor list is; the head is repaired so that it is believed:
  // magic, version 2 or 3, counts of at most 255.
  const std::size_t kept = (seed >> 4) % 2 != 0 ? head + (seed >> 5) % (size - head + 1) : head;
  if (kept < most) size = kept + LLVMFuzzerMutate(data + kept, size - kept, most - kept);
  if ((seed >> 16) % 8 == 0) LLVMFuzzerMutate(data, head, head);
  std::memcpy(data, "GGUF", 4);
  data[4] = static_cast<std::uint8_t>(2 + (seed >> 8) % 2);
  data[5] = data[6] = data[7] = 0;
  for (std::size_t i = 9; i < 16; ++i) data[i] = data[i + 8] = 0;
  return size;
}
