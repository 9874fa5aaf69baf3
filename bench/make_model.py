#!/usr/bin/env python3
# Writes a GGUF file of a real model's shape with random weights: speed does not depend on what the weights say, and a
# file of any size is made in seconds. Needs numpy only. Formats: f32, f16, bf16, q8_0 (norms are always F32).
#   python3 bench/make_model.py smollm2-135m q8_0 OUT.gguf
import argparse
import struct

import numpy as np

SHAPES = {
    "smollm2-135m": dict(hidden=576, layers=30, heads=9, kv_heads=3, ffn=1536, vocab=49152, context=8192, theta=1e5,
                         tied=True),
    "qwen2.5-0.5b-llama": dict(hidden=896, layers=24, heads=14, kv_heads=2, ffn=4864, vocab=151936, context=32768,
                               theta=1e6, tied=True),
    "tinyllama-1.1b": dict(hidden=2048, layers=22, heads=32, kv_heads=4, ffn=5632, vocab=32000, context=2048,
                           theta=1e4, tied=False),
    "llama-3.2-1b": dict(hidden=2048, layers=16, heads=32, kv_heads=8, ffn=8192, vocab=128256, context=131072,
                         theta=5e5, tied=True),
}
TYPE_ID = {"f32": 0, "f16": 1, "q8_0": 8, "bf16": 30}
ALIGNMENT = 32


def string(s):
    data = s.encode()
    return struct.pack("<Q", len(data)) + data


def encode(kind, rows):
    """Rows of float32 as the format stores them."""
    if kind == "f32":
        return rows.astype("<f4").tobytes()
    if kind == "f16":
        return rows.astype("<f2").tobytes()
    if kind == "bf16":
        bits = rows.astype("<f4").view("<u4")
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()
    blocks = rows.reshape(-1, 32)
    d = np.abs(blocks).max(axis=1, keepdims=True) / 127
    out = np.empty(len(blocks), dtype=[("d", "<f2"), ("q", "i1", 32)])
    out["d"] = d[:, 0]
    out["q"] = np.rint(blocks / np.where(d == 0, 1, d))
    return out.tobytes()


def metadata(name, s):
    def u32(key, value):
        return string(key) + struct.pack("<II", 4, value)

    def f32(key, value):
        return string(key) + struct.pack("<If", 6, value)

    def text(key, value):
        return string(key) + struct.pack("<I", 8) + string(value)

    # 256 byte tokens, three control tokens, and fillers: enough for a tokenizer to load.
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)]
    tokens += ["t%d" % i for i in range(len(tokens), s["vocab"])]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (s["vocab"] - 259)
    n = len(tokens)
    entries = [
        text("general.architecture", "llama"), text("general.name", name), u32("general.alignment", ALIGNMENT),
        u32("llama.context_length", s["context"]), u32("llama.embedding_length", s["hidden"]),
        u32("llama.block_count", s["layers"]), u32("llama.feed_forward_length", s["ffn"]),
        u32("llama.attention.head_count", s["heads"]), u32("llama.attention.head_count_kv", s["kv_heads"]),
        f32("llama.attention.layer_norm_rms_epsilon", 1e-5),
        u32("llama.rope.dimension_count", s["hidden"] // s["heads"]), f32("llama.rope.freq_base", s["theta"]),
        u32("llama.vocab_size", s["vocab"]), text("tokenizer.ggml.model", "llama"),
        string("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, n) + b"".join(map(string, tokens)),
        string("tokenizer.ggml.scores") + struct.pack("<IIQ", 9, 6, n) + np.arange(0, -n, -1, dtype="<f4").tobytes(),
        string("tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, n) + np.array(kinds, dtype="<i4").tobytes(),
        u32("tokenizer.ggml.bos_token_id", 1), u32("tokenizer.ggml.eos_token_id", 2),
        u32("tokenizer.ggml.unknown_token_id", 0),
    ]
    return entries


def tensors(s, kind):
    """(name, rows, cols, format); norms have one row."""
    h, kv = s["hidden"], s["hidden"] // s["heads"] * s["kv_heads"]
    yield "token_embd.weight", s["vocab"], h, kind
    yield "output_norm.weight", 1, h, "f32"
    if not s["tied"]:
        yield "output.weight", s["vocab"], h, kind
    for i in range(s["layers"]):
        for stem, rows, cols in [("attn_norm", 1, h), ("attn_q", h, h), ("attn_k", kv, h), ("attn_v", kv, h),
                                 ("attn_output", h, h), ("ffn_norm", 1, h), ("ffn_gate", s["ffn"], h),
                                 ("ffn_up", s["ffn"], h), ("ffn_down", h, s["ffn"])]:
            yield "blk.%d.%s.weight" % (i, stem), rows, cols, "f32" if rows == 1 else kind


def main():
    parser = argparse.ArgumentParser(description="GGUF files of real shapes with random weights")
    parser.add_argument("shape", choices=sorted(SHAPES))
    parser.add_argument("format", choices=sorted(TYPE_ID))
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    s = SHAPES[args.shape]
    random = np.random.default_rng(args.seed)
    entries, all_tensors = metadata(args.shape + "-" + args.format, s), list(tensors(s, args.format))
    infos, offset = b"", 0
    for name, rows, cols, kind in all_tensors:
        dims = [cols] if rows == 1 else [cols, rows]
        infos += string(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, TYPE_ID[kind], offset)
        size = rows * (cols // 32 * 34 if kind == "q8_0" else cols * {"f32": 4}.get(kind, 2))
        offset += -(-size // ALIGNMENT) * ALIGNMENT
    with open(args.out, "wb") as f:
        f.write(b"GGUF" + struct.pack("<IQQ", 3, len(all_tensors), len(entries)) + b"".join(entries) + infos)
        f.write(b"\0" * (-f.tell() % ALIGNMENT))
        for name, rows, cols, kind in all_tensors:
            if rows == 1:
                f.write(encode(kind, np.ones((1, cols), np.float32)))
            else:
                step = max(1, (1 << 22) // cols)
                for first in range(0, rows, step):
                    n = min(step, rows - first)
                    values = random.standard_normal((n, cols), dtype=np.float32) * np.float32(cols ** -0.5)
                    f.write(encode(kind, values))
            f.write(b"\0" * (-f.tell() % ALIGNMENT))


if __name__ == "__main__":
    main()
