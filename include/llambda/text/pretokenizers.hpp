// The pre-tokenizers by the names that GGUF files give them (tokenizer.ggml.pre), and the rules each one consists of.
// A pattern is given as its tokenizer.json has it. Another name is a word in
// `known_pretokenizers`, another pattern a line in `pretokenize::text`.
#pragma once

#include <llambda/text/pretokenize.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI {

/// Which pieces a text is cut into before merging.
enum class pretokenizer : std::uint8_t {
  undefined,  ///< llama.cpp's choice for files that name none
  gpt2,       ///< GPT-2
  digits,     ///< every number a piece, then GPT-2
  falcon,     ///< punctuation runs, GPT-2, digits by threes
  llama3,     ///< GPT-4 (cl100k)
  qwen2,      ///< Llama 3 with single digits
  qwen35,     ///< Qwen 2 with marks as letters
  gpt4o,      ///< o200k: case decides where words end
  tekken,     ///< GPT-4o without contractions, single digits
  deepseek,   ///< DeepSeek LLM
  deepseek_coder,
  deepseek3,   ///< DeepSeek V3
  bloom,       ///< words are what no punctuation ends
  viking,      ///< Bloom, every number a piece
  seed_coder,  ///< Qwen 2, line ends apart from punctuation
  laguna,      ///< lines, then Qwen 2
  minicpm5,    ///< digits by threes, then Llama 3
  blocks,      ///< line ends in runs, the rest whole: Gemma 4's merges need no words
};

/// Values of tokenizer.ggml.pre and what they stand for besides the pattern.
struct pretokenizer_entry {
  pretokenizer kind;
  std::string_view names;     ///< separated by blanks
  bool whole_pieces = false;  ///< a piece that is a token is that token, whatever the merges say (ignore_merges)
  bool add_bos = false;       ///< unless the file says otherwise

  constexpr bool has(std::string_view name) const noexcept {
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = names.find(' ', at) == names.npos ? names.size() : names.find(' ', at);
      if (names.substr(at, end - at) == name) return true;
      at = end + 1;
    }
    return false;
  }
};

inline constexpr std::array<pretokenizer_entry, 19> known_pretokenizers = {{
    {pretokenizer::undefined, "default"},
    {pretokenizer::gpt2, "gpt-2 gpt2 phi-2 mpt olmo jais trillion exaone4 gigachat a.x-4.0 mellum granite-docling"},
    {pretokenizer::digits, "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2"},
    {pretokenizer::falcon, "falcon"},
    {pretokenizer::llama3, "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2", true, true},
    {pretokenizer::llama3, "dbrx smaug-bpe glm4 chatglm-bpe"},
    {pretokenizer::qwen2,
     "qwen2 qwen3 deepseek-r1-qwen kormo megrez stablelm2 hunyuan solar-open grok-2 bailingmoe bailingmoe2 llada-moe"},
    {pretokenizer::qwen35, "qwen35"},
    {pretokenizer::gpt4o, "gpt-4o llama4 kanana2 talkie minimax-m2"},
    {pretokenizer::tekken, "tekken", true, true},
    {pretokenizer::deepseek, "deepseek-llm"},
    {pretokenizer::deepseek_coder, "deepseek-coder"},
    {pretokenizer::deepseek3, "deepseek-v3 hunyuan-dense joyai-llm hy_v4"},
    {pretokenizer::bloom, "bloom poro-chat gpt3-finnish"},
    {pretokenizer::viking, "viking"},
    {pretokenizer::seed_coder, "seed-coder"},
    {pretokenizer::laguna, "laguna"},
    {pretokenizer::minicpm5, "minicpm5", true},
    {pretokenizer::blocks, "gemma4", false, true},
}};

/// The entry of `name`, or nullptr.
constexpr const pretokenizer_entry* find_pretokenizer(std::string_view name) noexcept {
  for (const pretokenizer_entry& known : known_pretokenizers) {
    if (known.has(name)) return &known;
  }
  return nullptr;
}

/// All known names, for messages.
inline std::string pretokenizer_names() {
  std::string names = "one of";
  for (const pretokenizer_entry& known : known_pretokenizers) names.append(" ").append(known.names);
  return names;
}

namespace pretokenize {

namespace detail {

using chars::number, chars::punctuation, chars::newline;

// [A-Za-zµÀ-ÖØ-ö...]: letters with case, as DeepSeek's pattern lists them.
inline constexpr std::array<char32_t, 168> cased_letters = {
    0x41,    0x5A,    0x61,    0x7A,    0xB5,    0xB5,    0xC0,    0xD6,    0xD8,    0xF6,    0xF8,    0x1BA,   0x1BC,
    0x1BF,   0x1C4,   0x293,   0x295,   0x2AF,   0x370,   0x373,   0x376,   0x377,   0x37B,   0x37D,   0x37F,   0x37F,
    0x386,   0x386,   0x388,   0x38A,   0x38C,   0x38C,   0x38E,   0x3A1,   0x3A3,   0x3F5,   0x3F7,   0x481,   0x48A,
    0x52F,   0x531,   0x556,   0x10A0,  0x10C5,  0x13A0,  0x13F5,  0x13F8,  0x13FD,  0x1C90,  0x1CBA,  0x1CBD,  0x1CBF,
    0x1D00,  0x1D2B,  0x1D6B,  0x1D77,  0x1D79,  0x1D9A,  0x1E00,  0x1F15,  0x1F18,  0x1F1D,  0x1F20,  0x1F45,  0x1F48,
    0x1F4D,  0x1F50,  0x1F57,  0x1F59,  0x1F59,  0x1F5B,  0x1F5B,  0x1F5D,  0x1F5D,  0x1F5F,  0x1F7D,  0x1F80,  0x1FB4,
    0x1FB6,  0x1FBC,  0x1FBE,  0x1FBE,  0x1FC2,  0x1FC4,  0x1FC6,  0x1FCC,  0x1FD0,  0x1FD3,  0x1FD6,  0x1FDB,  0x1FE0,
    0x1FEC,  0x1FF2,  0x1FF4,  0x1FF6,  0x1FFC,  0x2102,  0x2102,  0x2107,  0x2107,  0x210A,  0x2113,  0x2115,  0x2115,
    0x2119,  0x211D,  0x2124,  0x2124,  0x2126,  0x2126,  0x2128,  0x2128,  0x212A,  0x212D,  0x212F,  0x2134,  0x2139,
    0x2139,  0x213C,  0x213F,  0x2145,  0x2149,  0x214E,  0x214E,  0x2183,  0x2184,  0x2C00,  0x2C7B,  0x2C7E,  0x2CE4,
    0x2CEB,  0x2CEE,  0x2CF2,  0x2CF3,  0xA640,  0xA66D,  0xA680,  0xA69B,  0xA722,  0xA76F,  0xA771,  0xA787,  0xA78B,
    0xA78E,  0xAB70,  0xABBF,  0xFB00,  0xFB06,  0xFB13,  0xFB17,  0xFF21,  0xFF3A,  0xFF41,  0xFF5A,  0x10400, 0x1044F,
    0x104B0, 0x104D3, 0x104D8, 0x104FB, 0x10C80, 0x10CB2, 0x10CC0, 0x10CF2, 0x118A0, 0x118DF, 0x1E900, 0x1E943};

// [!-/:-~！-／：-～‘-‟　-。]; the range from : to ~ holds the ASCII letters, in the original too.
inline constexpr std::array<char32_t, 12> deepseek_signs = {0x21,   0x2F,   0x3A,   0x7E,   0x2018, 0x201F,
                                                            0x3000, 0x3002, 0xFF01, 0xFF0F, 0xFF1A, 0xFF5E};

// [一-龥ࠀ-一가-퟿]
inline constexpr std::array<char32_t, 4> deepseek_cjk = {0x800, 0x9FA5, 0xAC00, 0xD7FF};

// [一-龥぀-ゟ゠-ヿ]
inline constexpr std::array<char32_t, 4> deepseek3_cjk = {0x3040, 0x30FF, 0x4E00, 0x9FA5};

inline constexpr std::array<char32_t, 2> ascii_digits = {'0', '9'};

// \p{P}, the listed symbols, and ` where Falcon has it.
template <bool Backquote> struct falcon_signs {
  static constexpr bool test(std::string_view text, std::size_t at) noexcept {
    constexpr std::string_view symbols = Backquote ? "$+<=>^~|`" : "$+<=>^~|";
    return in_classes<punctuation>::test(text, at) || symbols.find(text[at]) != symbols.npos;
  }
};

// [^(\s|.,!?…。，、।۔،)]
struct bloom_letters {
  static constexpr bool test(std::string_view text, std::size_t at) noexcept {
    constexpr std::u32string_view ends = U"(|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)";
    return (chars::at(text, at).classes & chars::space) == 0 &&
           ends.find(decode_utf8(text, at).code_point) == ends.npos;
  }
};

// Exactly three digits: what is left over stays with its surroundings.
struct digits_by_three {
  static constexpr std::size_t first(std::string_view text) noexcept {
    std::size_t run = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      run = text[at] >= '0' && text[at] <= '9' ? run + 1 : 0;
      if (run == 3) return at == 2 ? 3 : at - 2;
    }
    return text.size();
  }
};

template <std::size_t Most> using numbers = isolate<in_classes<number>, led_by::nothing, Most>;
template <const auto& Ranges, led_by Lead = led_by::nothing> using range_runs = isolate<in_ranges<Ranges>, Lead>;
using single_line_ends = isolate<in_classes<newline>, led_by::nothing, 1>;

// [^\n]+|[\n]+
struct line_blocks {
  static constexpr std::size_t first(std::string_view text) noexcept {
    const std::size_t end = text[0] == '\n' ? text.find_first_not_of('\n') : text.find('\n');
    return end == text.npos ? text.size() : end;
  }
};

inline constexpr word_style llama3_style{.digits = 3};
inline constexpr word_style qwen2_style{};
inline constexpr word_style qwen35_style{.letters = chars::letter | chars::mark};
inline constexpr word_style gpt4o_style{.by_case = true, .digits = 3, .slash = true};
inline constexpr word_style tekken_style{.contractions = false, .by_case = true, .slash = true};
inline constexpr word_style seed_coder_style{.line_ends = false};

}  // namespace detail

/// Cuts `text` as `kind` says and hands each piece to `emit`, in order; together they are the text.
template <class Emit> constexpr void text(pretokenizer kind, std::string_view text, Emit&& emit) {
  using namespace detail;
  constexpr std::size_t all = ~std::size_t{0};
  switch (kind) {
    case pretokenizer::undefined:
      return split<isolate<falcon_signs<false>>, gpt2_words, numbers<all>, digits_by_three>(text, emit);
    case pretokenizer::gpt2:
      return split<gpt2_words>(text, emit);
    case pretokenizer::digits:
      return split<numbers<1>, gpt2_words>(text, emit);
    case pretokenizer::falcon:
      return split<isolate<falcon_signs<true>>, gpt2_words, digits_by_three>(text, emit);
    case pretokenizer::llama3:
      return split<words<llama3_style>>(text, emit);
    case pretokenizer::qwen2:
      return split<words<qwen2_style>>(text, emit);
    case pretokenizer::qwen35:
      return split<words<qwen35_style>>(text, emit);
    case pretokenizer::gpt4o:
      return split<words<gpt4o_style>>(text, emit);
    case pretokenizer::tekken:
      return split<words<tekken_style>>(text, emit);
    case pretokenizer::deepseek:
      return split<single_line_ends, range_runs<cased_letters, led_by::space>,
                   range_runs<deepseek_signs, led_by::space>, trailing_spaces, range_runs<deepseek_cjk>, numbers<all>>(
          text, emit);
    case pretokenizer::deepseek_coder:
      return split<single_line_ends, isolate<in_classes<chars::letter>, led_by::space>,
                   isolate<in_classes<punctuation>, led_by::space>, range_runs<deepseek_cjk>, numbers<1>>(text, emit);
    case pretokenizer::deepseek3:
      return split<numbers<3>, range_runs<deepseek3_cjk>, deepseek3_words>(text, emit);
    case pretokenizer::bloom:
      return split<isolate<bloom_letters, led_by::blank>>(text, emit);
    case pretokenizer::viking:
      return split<isolate<bloom_letters, led_by::blank>, numbers<1>>(text, emit);
    case pretokenizer::seed_coder:
      return split<words<seed_coder_style>>(text, emit);
    case pretokenizer::laguna:
      return split<line_blocks, words<qwen2_style>>(text, emit);
    case pretokenizer::minicpm5:
      return split<numbers<3>, words<llama3_style>>(text, emit);
    case pretokenizer::blocks:
      return split<line_blocks>(text, emit);
  }
}

}  // namespace pretokenize

}  // namespace llambda::inline LLAMBDA_ABI
