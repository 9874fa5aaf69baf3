// The one error channel of the library: typed exceptions.
// `error` carries a code; `load_error` adds which file, which key or tensor, what was expected and what was found.
// The library never aborts and never exits; the decode path itself is noexcept.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llambda::inline LLAMBDA_ABI {

/// What went wrong, one value a kind of fault. `errc_name` gives the identifier as text.
enum class errc {
  // files
  io_error,            ///< open, stat, read or map failed; the message carries errno's text
  truncated,           ///< the file ends before the item that was announced
  bad_magic,           ///< not a file of this kind
  bad_version,         ///< a version of the file kind that is not read here
  wrong_endian,        ///< written on a machine of the other byte order
  count_too_large,     ///< a count that cannot fit in the bytes that are left
  length_too_large,    ///< a string or array longer than the bytes that are left
  unknown_type,        ///< value or tensor type id that does not exist
  nesting_too_deep,    ///< arrays of arrays
  bad_alignment,       ///< general.alignment is not a power of two, too large, or of the wrong type
  duplicate_key,       ///< the same metadata key twice
  duplicate_tensor,    ///< the same tensor name twice
  bad_name,            ///< a name that is empty, too long or not UTF-8
  bad_dimension,       ///< a tensor dimension that is zero, negative or too large, or too many dimensions
  size_overflow,       ///< the product of dimensions and element size does not fit in 64 bits
  row_not_multiple_of_block,  ///< row length is not a multiple of the format's block
  bad_offset,          ///< tensor offset misaligned
  data_out_of_file,    ///< tensor data past the end of the file
  data_overlap,        ///< two tensors share bytes
  // metadata
  missing_key,         ///< a key this model kind needs is absent
  wrong_type,          ///< a key has a value of another type
  bad_hparam,          ///< a hyper-parameter outside what makes a model
  unsupported,         ///< sound, but not something this library runs
  missing_tensor,      ///< a tensor this model kind needs is absent
  config_mismatch,     ///< the file is not the model this binary was compiled for
  // tokenizer
  bad_vocabulary,      ///< token lists of different lengths, empty vocabulary, invalid entry
  bad_token_id,        ///< token id outside the vocabulary
  input_too_long,      ///< more text or tokens than the library takes in one call
  // chat templates
  bad_template,        ///< text that is no template of this language
  template_failed,     ///< a template that went wrong on these messages: undefined values, wrong types
  template_raised,     ///< a template that refused these messages with raise_exception
  template_limit,      ///< a template that is too long, too deep, runs too long or makes too much text
  // running
  context_overflow,    ///< more tokens than the context holds
  bad_argument,        ///< a parameter outside its documented range
  non_finite_logits,   ///< NaN among the logits
  out_of_memory,       ///< the system refused the planned memory
  unsupported_cpu,     ///< the CPU lacks an instruction set this code was compiled for
};

/// Identifier of `c` as text, for messages and JSON.
constexpr std::string_view errc_name(errc c) noexcept {
  switch (c) {
    case errc::io_error: return "io_error";
    case errc::truncated: return "truncated";
    case errc::bad_magic: return "bad_magic";
    case errc::bad_version: return "bad_version";
    case errc::wrong_endian: return "wrong_endian";
    case errc::count_too_large: return "count_too_large";
    case errc::length_too_large: return "length_too_large";
    case errc::unknown_type: return "unknown_type";
    case errc::nesting_too_deep: return "nesting_too_deep";
    case errc::bad_alignment: return "bad_alignment";
    case errc::duplicate_key: return "duplicate_key";
    case errc::duplicate_tensor: return "duplicate_tensor";
    case errc::bad_name: return "bad_name";
    case errc::bad_dimension: return "bad_dimension";
    case errc::size_overflow: return "size_overflow";
    case errc::row_not_multiple_of_block: return "row_not_multiple_of_block";
    case errc::bad_offset: return "bad_offset";
    case errc::data_out_of_file: return "data_out_of_file";
    case errc::data_overlap: return "data_overlap";
    case errc::missing_key: return "missing_key";
    case errc::wrong_type: return "wrong_type";
    case errc::bad_hparam: return "bad_hparam";
    case errc::unsupported: return "unsupported";
    case errc::missing_tensor: return "missing_tensor";
    case errc::config_mismatch: return "config_mismatch";
    case errc::bad_vocabulary: return "bad_vocabulary";
    case errc::bad_token_id: return "bad_token_id";
    case errc::input_too_long: return "input_too_long";
    case errc::bad_template: return "bad_template";
    case errc::template_failed: return "template_failed";
    case errc::template_raised: return "template_raised";
    case errc::template_limit: return "template_limit";
    case errc::context_overflow: return "context_overflow";
    case errc::bad_argument: return "bad_argument";
    case errc::non_finite_logits: return "non_finite_logits";
    case errc::out_of_memory: return "out_of_memory";
    case errc::unsupported_cpu: return "unsupported_cpu";
  }
  return "unknown";
}

/// Base of every exception this library throws on purpose.
class error : public std::runtime_error {
 public:
  error(errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  errc code() const noexcept { return code_; }

 private:
  errc code_;
};

/// One difference between what is needed and what a file holds.
struct mismatch {
  std::string subject;   ///< metadata key, spec field or tensor name
  std::string expected;
  std::string got;
};

/// A file that cannot be used. `subject` is the key or tensor; `differences` lists every fault found where one
/// report can hold them all (binding a file to a compiled model), and holds at least the first otherwise.
class load_error : public error {
 public:
  load_error(errc code, std::string path, std::vector<mismatch> differences)
      : error(code, format(code, path, differences)), path_(std::move(path)), differences_(std::move(differences)) {}

  load_error(errc code, std::string path, std::string subject, std::string expected, std::string got)
      : load_error(code, std::move(path),
                   std::vector<mismatch>{{std::move(subject), std::move(expected), std::move(got)}}) {}

  const std::string& path() const noexcept { return path_; }
  const std::string& subject() const noexcept { return differences_.front().subject; }
  const std::string& expected() const noexcept { return differences_.front().expected; }
  const std::string& got() const noexcept { return differences_.front().got; }
  const std::vector<mismatch>& differences() const noexcept { return differences_; }

 private:
  static std::string format(errc code, const std::string& path, std::vector<mismatch>& differences) {
    if (differences.empty()) differences.push_back({"file", "a sound file", "a fault"});
    std::string text = path + ": " + std::string(errc_name(code));
    if (differences.size() == 1) {
      const mismatch& m = differences.front();
      return text + ": " + m.subject + ": expected " + m.expected + ", got " + m.got;
    }
    text += ": " + std::to_string(differences.size()) + " differences";
    for (const mismatch& m : differences) text += "\n  " + m.subject + ": expected " + m.expected + ", got " + m.got;
    return text;
  }

  std::string path_;
  std::vector<mismatch> differences_;
};

}  // namespace llambda::inline LLAMBDA_ABI
