// Ids from @huggingface/tokenizers (npm), a second reference that shares nothing with bpe_reference.py.
//   node hf_reference.mjs TOKENIZER.json STRINGS.hex OUT.tsv     "hex of the text, tab, ids" a line
// STRINGS.hex has a text a line; ill-formed UTF-8 is left out, as JavaScript has no such strings. JavaScript's \s is
// not White_Space (it has U+FEFF and lacks U+0085), so it is spelled out; normalisation is left out, as GGUF files have
// none. Texts with U+2581 are left out where that stands for a space: Gemma's added tokens are written with it, and so
// tell a typed one from a space.
import fs from "node:fs";
import { createRequire } from "node:module";
const { Tokenizer } = createRequire(process.cwd() + "/")("@huggingface/tokenizers");

const [source, strings, out] = process.argv.slice(2);
const tokenizer_json = JSON.parse(fs.readFileSync(source, "utf8"));
const spaces = "\\t-\\r \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const spelled = (pattern) =>
  pattern.replace(/\[(?:\\.|[^\]\\])*\]|\\s|\\S/g, (part) =>
    part === "\\s" ? `[${spaces}]` : part === "\\S" ? `[^${spaces}]` : part.replace("\\s", spaces));
for (const step of tokenizer_json.pre_tokenizer?.pretokenizers ?? []) {
  if (step.pattern?.Regex) step.pattern.Regex = spelled(step.pattern.Regex);
}
if (tokenizer_json.normalizer?.type === "NFC") tokenizer_json.normalizer = null;
tokenizer_json.post_processor = null;
const marks_spaces = JSON.stringify(tokenizer_json.normalizer ?? "").includes("\u2581");
const tokenizer = new Tokenizer(tokenizer_json, {});
const lines = [];
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
for (const hex of fs.readFileSync(strings, "utf8").split("\n")) {
  let text;
  try {
    text = decoder.decode(Buffer.from(hex, "hex"));
  } catch {
    continue;
  }
  if (marks_spaces && text.includes("\u2581")) continue;
  const ids = text === "" ? [] : tokenizer.encode(text, { add_special_tokens: false }).ids;
  lines.push(`${hex}\t${Array.from(ids).join(" ")}\n`);
}
fs.writeFileSync(out, lines.join(""));
