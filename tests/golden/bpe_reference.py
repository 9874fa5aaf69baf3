#!/usr/bin/env python3
"""An independent reference for BPE: regular expressions (Debian: python3-regex) and the merge rule as it is told.

  bpe_reference.py tiny                          writes bpe_tiny.gguf and bpe_pieces.golden beside this file
  bpe_reference.py ids VOCAB.gguf OUT.tsv COUNT  ids of COUNT strings, "hex of the text, tab, ids" a line
  bpe_reference.py strings VOCAB.gguf OUT COUNT  the strings alone, in hex: what hf_reference.mjs reads

Ill-formed bytes count as U+FFFD for the patterns and stay bytes for the merges, as the library documents.
"""
import collections
import pathlib
import sys

import regex

import gguf_reader
import gguf_writer
import token_strings

HERE = pathlib.Path(__file__).parent
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CONTRACTIONS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
TAIL = r"|\s*[\r\n]+|\s+(?!\S)|\s+"


def gpt4(digits, letters=r"\p{L}", contractions=CONTRACTIONS + "|", ends=r"[\r\n]*", other=r"^\s\p{N}"):
    return contractions + r"[^\r\n\p{L}\p{N}]?[%s]+|%s| ?[%s%s]+%s" % (letters, digits, other, letters, ends) + TAIL


def by_case(digits, contractions):
    upper, lower = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
    return (r"[^\r\n\p{L}\p{N}]?%s*%s+%s|[^\r\n\p{L}\p{N}]?%s+%s*%s|%s| ?[^\s\p{L}\p{N}]+[\r\n/]*" %
            (upper, lower, contractions, upper, lower, contractions, digits) + TAIL)


CASED = ("A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝ"
         "\u1f5f-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌ\u1fd0-\u1fd3\u1fd6-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ"
         "\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ"
         "Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃")
DEEPSEEK_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
             r"| ?[\p{P}\p{S}]+[\r\n]*" + TAIL)
BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+"
# tokenizer.ggml.pre -> the splits of its tokenizer.json, one after the other.
PATTERNS = {
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "gpt-2": [GPT2],
    "starcoder": [r"\p{N}", GPT2],
    "falcon": [r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    "llama-bpe": [gpt4(r"\p{N}{1,3}")],
    "qwen2": [gpt4(r"\p{N}")],
    "qwen35": [gpt4(r"\p{N}", letters=r"\p{L}\p{M}")],
    "gpt-4o": [by_case(r"\p{N}{1,3}", CONTRACTIONS + "?")],
    "tekken": [by_case(r"\p{N}", "")],
    "deepseek-llm": ["[\r\n]", r"\s?[" + CASED + "]+", r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+", r"\s+$", DEEPSEEK_CJK,
                     r"\p{N}+"],
    "deepseek-coder": ["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_CJK, r"\p{N}"],
    "deepseek-v3": [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", DEEPSEEK3],
    "bloom": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "seed-coder": [gpt4(r"\p{N}", ends="", other=r"^\r\n\s\p{N}")],
    "laguna": [r"[^\n]+|[\n]+", gpt4(r"\p{N}")],
    "minicpm5": [r"\p{N}{1,3}", gpt4(r"\p{N}+")],
    "gemma4": [r"[^\n]+|[\n]+"],
}
ALIASES = {"llama3": "llama-bpe", "smollm": "starcoder", "phi-2": "gpt-2"}
WHOLE = {"llama-bpe", "tekken", "minicpm5"}


def split(text, patterns):
    """Pieces of `text`: every pattern's matches and what lies between them, cut further by the next pattern."""
    pieces = [text]
    for pattern in patterns:
        cut, compiled = [], regex.compile(pattern)
        for piece in pieces:
            at = 0
            for match in compiled.finditer(piece):
                cut += [piece[at:match.start()], match.group()]
                at = match.end()
            cut.append(piece[at:])
        pieces = [p for p in cut if p]
    return pieces


def pieces_of(raw, pre):
    """Pieces of bytes: patterns see U+FFFD for a byte that belongs to no character."""
    text = raw.decode("utf-8", "surrogateescape")
    seen = regex.sub("[\ud800-\udfff]", "\ufffd", text)
    out, at = [], 0
    for piece in split(seen, PATTERNS[ALIASES.get(pre, pre)]):
        out.append(text[at:at + len(piece)].encode("utf-8", "surrogateescape"))
        at += len(piece)
    return out


def alphabet():
    """Byte -> character, as GPT-2 prints bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(0x100 + i) for i, b in enumerate(rest)}}


class Reference:
    def __init__(self, metadata):
        tokens = metadata["tokenizer.ggml.tokens"]
        kinds = metadata["tokenizer.ggml.token_type"]
        self.pre = metadata.get("tokenizer.ggml.pre", "default")
        self.on_bytes = metadata["tokenizer.ggml.model"] == "gpt2"
        if not self.on_bytes:
            self.pre = "gemma4"
        self.whole = ALIASES.get(self.pre, self.pre) in WHOLE
        self.ids = {}
        for i, token in enumerate(tokens):
            self.ids.setdefault(token, i)
        self.normal = {t for t, k in zip(tokens, kinds) if k == 1}
        self.ranks = {}
        for rank, merge in enumerate(metadata["tokenizer.ggml.merges"]):
            cut = merge.index(" ", 1)
            self.ranks.setdefault((merge[:cut], merge[cut + 1:]), rank)
        self.specials = [t for t, k in zip(tokens, kinds) if k in (3, 4) and t]
        self.special_bytes = {t.encode(): self.ids[t] for t in self.specials}
        longest_first = sorted(self.special_bytes, key=lambda t: (-len(t), t))
        self.special = regex.compile(b"|".join(regex.escape(t) for t in longest_first)) if longest_first else None
        self.alphabet = alphabet()
        self.cache = {}

    def merge(self, symbols):
        symbols = list(symbols)
        while len(symbols) > 1:
            rank, at = min((self.ranks.get(pair, 1 << 60), i) for i, pair in enumerate(zip(symbols, symbols[1:])))
            if rank == 1 << 60:
                break
            symbols[at:at + 2] = [symbols[at] + symbols[at + 1]]
        return symbols

    def piece_ids(self, raw):
        if raw not in self.cache:
            if self.on_bytes:
                symbols = [self.alphabet[b] for b in raw]
            else:
                symbols = list(raw.decode("utf-8", "surrogateescape"))
            word = "".join(symbols)
            lines = not self.on_bytes and not raw.strip(b"\n")
            symbols = [word] if (self.whole or lines) and word in self.normal else self.merge(symbols)
            ids = []
            for symbol in symbols:
                if symbol in self.normal:
                    ids.append(self.ids[symbol])
                elif self.on_bytes:
                    ids += [self.ids[self.alphabet[b]] for b in "\ufffd".encode()]
                else:
                    ids += [self.ids["<0x%02X>" % b] for b in symbol.encode("utf-8", "surrogateescape")]
            self.cache[raw] = ids
        return self.cache[raw]

    def plain_ids(self, raw):
        if not self.on_bytes:
            raw = raw.replace(b" ", "\u2581".encode())
        return [i for piece in pieces_of(raw, self.pre) for i in self.piece_ids(piece)]

    def encode(self, raw):
        """Ids with every special token's text taken as that token, none added."""
        ids, at = [], 0
        for match in self.special.finditer(raw) if self.special else ():
            ids += self.plain_ids(raw[at:match.start()]) + [self.special_bytes[match.group()]]
            at = match.end()
        return ids + self.plain_ids(raw[at:])


def train(text, pre, merges):
    """Plain BPE training: the most frequent pair, the first in order of its characters on ties."""
    letters = alphabet()
    words = collections.Counter(tuple(letters[b] for b in p) for p in pieces_of(text, pre))
    out = []
    for _ in range(merges):
        pairs = collections.Counter()
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        best = min(pairs, key=lambda p: (-pairs[p], p))
        out.append(best)
        joined = collections.Counter()
        for word, n in words.items():
            new, i = [], 0
            while i < len(word):
                pair = word[i:i + 2] == best
                new.append("".join(best) if pair else word[i])
                i += 1 + pair
            joined[tuple(new)] += n
        words = joined
    return out


def tiny():
    text = b"\n".join((HERE.parents[1] / name).read_bytes() for name in ("LICENSE", "HACKING.md"))
    text += "\n".join(token_strings.FIXED).encode() * 2
    merges = train(text, "llama-bpe", 500)
    tokens = list(alphabet().values()) + ["".join(m) for m in merges]
    controls = ["<|end|>", "<|begin|>", "<|begin|>x"]
    users = ["[user]", "  "]
    kinds = [1] * len(tokens) + [3] * len(controls) + [4] * len(users)
    bos = len(tokens) + 1
    tokens += controls + users
    w = gguf_writer.Writer("llama")
    w.add("tokenizer.ggml.model", "string", "gpt2")
    w.add("tokenizer.ggml.pre", "string", "llama-bpe")
    w.add("tokenizer.ggml.tokens", ("array", "string"), tokens)
    w.add("tokenizer.ggml.token_type", ("array", "i32"), kinds)
    w.add("tokenizer.ggml.merges", ("array", "string"), [" ".join(m) for m in merges])
    w.add("tokenizer.ggml.bos_token_id", "u32", bos)
    w.add("tokenizer.ggml.eos_token_id", "u32", bos - 1)
    (HERE / "bpe_tiny.gguf").write_bytes(w.bytes())
    reference = Reference(gguf_reader.read_gguf(HERE / "bpe_tiny.gguf").metadata)
    items = token_strings.strings(150, 1, controls + users)
    with open(HERE / "bpe_pieces.golden", "w") as out:
        out.write("# Made by bpe_reference.py: texts in hex with their ids in bpe_tiny.gguf, then the lengths of the\n"
                  "# pieces of text i by each pre-tokenizer.\n")
        for raw in items:
            out.write("text %s : %s\n" % (raw.hex() or "-", " ".join(map(str, reference.encode(raw)))))
        for pre in PATTERNS:
            for i, raw in enumerate(items):
                out.write("%s %d : %s\n" % (pre, i, " ".join(str(len(p)) for p in pieces_of(raw, pre))))


def main():
    if sys.argv[1] == "tiny":
        return tiny()
    what, vocabulary, path, count = sys.argv[1:]
    metadata = gguf_reader.read_gguf(vocabulary).metadata
    kinds = metadata["tokenizer.ggml.token_type"]
    specials = [t for t, k in zip(metadata["tokenizer.ggml.tokens"], kinds) if k in (3, 4)]
    items = token_strings.strings(int(count), 7, specials[::1 + len(specials) // 40])
    with open(path, "w") as out:
        if what == "strings":
            out.writelines(raw.hex() + "\n" for raw in items)
            return
        reference = Reference(metadata)
        for raw in items:
            out.write("%s\t%s\n" % (raw.hex(), " ".join(map(str, reference.encode(raw)))))


if __name__ == "__main__":
    main()
