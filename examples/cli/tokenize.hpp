// `llambda tokenize`: the tokens that a file's vocabulary makes of a text, one a line with its id, or the ids alone.
// Only the metadata is read: a file without weights will do, and no compiler is involved.
#pragma once

#include <llambda/text/tokenizer.hpp>
#include <llambda/text/vocab_gguf.hpp>

#include <CLI/CLI.hpp>

#include "terminal.hpp"

namespace cli {

struct tokenize_options {
  std::string model, text, file = "-";
  bool ids = false, no_bos = false, special = false;

  void add_to(CLI::App& app) {
    app.add_option("model", model, "GGUF file, with or without weights")->required();
    auto* prompt = app.add_option("-p,--prompt", text, "the text");
    app.add_option("-f,--file", file, "read the text from a file; - is standard input, the default")->excludes(prompt);
    app.add_flag("--ids", ids, "the ids alone, on one line");
    app.add_flag("--no-bos", no_bos, "no token of the vocabulary's own at the beginning");
    app.add_flag("--special", special, "control tokens written in the text count as control tokens");
  }
};

namespace detail {

/// Text on one line of a terminal: control characters and bytes that are no UTF-8 as \n, \t, \xHH.
inline std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const llambda::utf8_step step = llambda::decode_utf8(text, at);
    const bool whole = step.status == llambda::utf8_status::valid;
    const bool control = step.code_point < 0x20 || (step.code_point >= 0x7F && step.code_point < 0xA0);
    if (text[at] == '\n' || text[at] == '\t' || text[at] == '\\') {
      out += text[at] == '\n' ? "\\n" : text[at] == '\t' ? "\\t" : "\\\\";
    } else if (whole && !control) {
      out += text.substr(at, step.length);
    } else {
      for (std::size_t i = 0; i < step.length; ++i) {
        char byte[8];
        std::snprintf(byte, sizeof byte, "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(text[at + i])));
        out += byte;
      }
    }
    at += step.length;
  }
  return out;
}

}  // namespace detail

inline int tokenize(const tokenize_options& o, bool text_given) {
  const llambda::tokenizer tokens(llambda::load_vocab(llambda::gguf_file::open(o.model)));
  llambda::encode_options encoding{.parse_special = o.special};
  if (o.no_bos) encoding.add_bos = false;
  std::string out;
  for (const llambda::token_id id : tokens.encode(text_given ? o.text : read_text(o.file), encoding)) {
    const std::string number = std::to_string(id);
    if (o.ids) {
      out += (out.empty() ? "" : " ") + number;
    } else {
      out.append(number.size() < 7 ? 7 - number.size() : 0, ' ').append(number);
      out += "  '" + detail::visible(tokens.piece(id, true)) + "'\n";
    }
  }
  if (o.ids) out += '\n';
  return write_text(out) ? 0 : exit_failed;
}

}  // namespace cli
