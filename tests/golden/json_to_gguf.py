#!/usr/bin/env python3
"""Writes the vocabulary of a Hugging Face tokenizer.json as a GGUF file, to compare ids with hf_reference.mjs.

  json_to_gguf.py TOKENIZER.json PRE OUT.gguf     PRE: a value of tokenizer.ggml.pre, gemma4, or spm (scores by rank)
"""
import json
import pathlib
import sys

import gguf_writer


def main():
    source, pre, out = sys.argv[1:]
    document = json.loads(pathlib.Path(source).read_text())
    model, added = document["model"], {t["id"]: t for t in document["added_tokens"]}
    by_id = {i: text for text, i in model["vocab"].items()}
    by_id.update({i: t["content"] for i, t in added.items()})
    tokens, kinds = [], []
    for i in range(max(by_id) + 1):
        text = by_id.get(i, "[PAD%d]" % i)
        kind = 5 if i not in by_id else 1
        if pre in ("gemma4", "spm") and len(text) == 6 and text.startswith("<0x"):
            kind = 6
        if i in added:
            kind = 3 if added[i]["special"] else 4
        if kind == 4 and "\u2581" in text:  # runs of spaces; Gemma 4's file has them as normal tokens
            kind, text = (1, text) if pre == "gemma4" else (4, text.replace("\u2581", " "))
        if pre == "spm" and text == "<unk>":
            kind = 2
        tokens.append(text)
        kinds.append(kind)
    w = gguf_writer.Writer("llama")
    w.add("tokenizer.ggml.model", "string", {"gemma4": "gemma4", "spm": "llama"}.get(pre, "gpt2"))
    w.add("tokenizer.ggml.tokens", ("array", "string"), tokens)
    w.add("tokenizer.ggml.token_type", ("array", "i32"), kinds)
    if pre == "spm":
        w.add("tokenizer.ggml.scores", ("array", "f32"), [-float(i) for i in range(len(tokens))])
        w.add("tokenizer.ggml.add_space_prefix", "bool", False)
    else:
        w.add("tokenizer.ggml.pre", "string", pre)
        merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
        w.add("tokenizer.ggml.merges", ("array", "string"), merges)
    if model.get("unk_token") in model["vocab"]:
        w.add("tokenizer.ggml.unknown_token_id", "u32", model["vocab"][model["unk_token"]])
    pathlib.Path(out).write_bytes(w.bytes())


if __name__ == "__main__":
    main()
