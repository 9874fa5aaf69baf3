# The F64 reference on a real model (stories260K, given as an argument; its weights
# are not ours to commit). For each prompt prints ids, greedy continuation and text.
#   stories.py MODEL.gguf [--steps N] [--prompt TEXT]... [--same FILE]... [--ids 1,2,3]...
#              [--expect OUT.gguf]
# --same FILE, one per --prompt in order: compares the text with the file's.
# --expect writes BOS + the first 64 greedy tokens and the F32 logits at each of them.
import argparse
import sys

import numpy as np

from gguf_reader import read_gguf
from gguf_writer import Writer
from llama_f64 import LlamaF64

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
SPACE = "\u2581"


class Spm:
    """SentencePiece BPE: start from characters, merge the best-scored pair, leftmost first."""

    def __init__(self, metadata):
        self.tokens = metadata["tokenizer.ggml.tokens"]
        self.scores = metadata["tokenizer.ggml.scores"]
        self.types = metadata["tokenizer.ggml.token_type"]
        self.bos = metadata.get("tokenizer.ggml.bos_token_id", 1)
        self.eos = metadata.get("tokenizer.ggml.eos_token_id", 2)
        self.ids = {t: i for i, t in enumerate(self.tokens) if self.types[i] in (NORMAL, USER)}
        self.bytes = {int(t[3:5], 16): i for i, t in enumerate(self.tokens) if self.types[i] == BYTE}

    def encode(self, text):
        if not text:
            return [self.bos]
        pieces = list(SPACE + text.replace(" ", SPACE))  # with the dummy prefix
        while True:
            best = None
            for i in range(len(pieces) - 1):
                merged = self.ids.get(pieces[i] + pieces[i + 1])
                if merged is not None and (best is None or self.scores[merged] > best[0]):
                    best = (self.scores[merged], i)
            if best is None:
                break
            i = best[1]
            pieces[i:i + 2] = [pieces[i] + pieces[i + 1]]
        ids = [self.bos]
        for p in pieces:
            ids += [self.ids[p]] if p in self.ids else [self.bytes[b] for b in p.encode("utf-8")]
        return ids

    def decode(self, ids):
        out = b""
        for i in ids:
            if self.types[i] == BYTE:
                out += bytes([int(self.tokens[i][3:5], 16)])
            elif self.types[i] in (NORMAL, USER):
                out += self.tokens[i].replace(SPACE, " ").encode("utf-8")
        return out[1:] if out[:1] == b" " else out  # the dummy prefix's space


def greedy(model, spm, prompt, steps):
    """Feeds `steps` tokens at most, prompt included; stops when BOS or EOS is chosen.
    Returns the ids after the first and the smallest lead of a choice."""
    model.reset()
    ids, lead, logits = [prompt[0]], np.inf, []
    for pos in range(steps):
        row = model.step(ids[pos])["result_output"]
        logits.append(row)
        if pos + 1 < len(prompt):
            ids.append(prompt[pos + 1])
            continue
        second, first = np.sort(row)[-2:]
        lead = min(lead, float(first - second))
        chosen = int(np.argmax(row))
        if chosen in (spm.bos, spm.eos):
            break
        ids.append(chosen)
    return ids, lead, logits


def write_expect(path, model, spm, count=64):
    ids, _, logits = greedy(model, spm, [spm.bos], count + 1)
    tokens = ids[:count + 1]
    w = Writer("golden")
    w.add("general.name", "string", "stories260K")
    w.add("golden.tokens", ("array", "i32"), tokens)
    w.add_tensor("result_output", np.array(logits[:len(tokens)]), "F32")
    data = w.bytes()
    with open(path, "wb") as f:
        f.write(data)
    print("wrote %s: %d tokens, %d bytes" % (path, len(tokens), len(data)))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("--steps", type=int, default=128)
    p.add_argument("--prompt", action="append", default=[])
    p.add_argument("--same", action="append", default=[])
    p.add_argument("--ids", action="append", default=[])
    p.add_argument("--expect")
    a = p.parse_args()
    gguf = read_gguf(a.model)
    spm, model = Spm(gguf.metadata), LlamaF64(gguf)
    prompts = [spm.encode(t) for t in a.prompt]
    prompts += [[int(i) for i in ids.split(",")] for ids in a.ids]
    wrong = 0
    for n, prompt in enumerate(prompts):
        ids, lead, _ = greedy(model, spm, prompt, a.steps)
        text = spm.decode(ids[1:])
        print("prompt ids   %s" % prompt)
        print("continuation %s" % ids[len(prompt):])
        print("smallest lead of a choice %.3g" % lead)
        print(text.decode("utf-8", "replace"))
        if n < len(a.prompt) and n < len(a.same):
            with open(a.same[n], "rb") as f:
                wanted = f.read()
            same = text.rstrip(b"\n") == wanted.rstrip(b"\n")
            print("%s as %s" % ("SAME" if same else "NOT THE SAME", a.same[n]))
            wrong += not same
    if a.expect:
        write_expect(a.expect, model, spm)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
