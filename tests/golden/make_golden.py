# Makes the tiny golden models NAME.gguf (random weights from fixed seeds, a small
# but valid SPM tokenizer) and NAME.expect.gguf (every intermediate of a forward
# pass by llama_f64.py, rounded to F32, and the input ids as "golden.tokens").
#   make_golden.py          write the files beside this script
#   make_golden.py --check  recompute and compare with the files byte for byte
import os
import sys

import numpy as np

from gguf_reader import Gguf
from gguf_writer import Writer
from llama_f64 import LlamaF64

HERE = os.path.dirname(os.path.abspath(__file__))
MATRICES = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"]


def all_of(kind):
    return lambda layer, name: kind


def mixed(layer, name):
    """Layers 0 and 3 alike, layers 1 and 2 alike; all four formats occur."""
    if layer in (0, 3):
        return "Q8_0" if name in ("attn_v", "attn_output", "ffn_down") else "F16"
    return "BF16" if name.startswith("ffn_") else "F32"


# kind: storage of a layer's matrix; embd/output: of those two (output None = tied)
MODELS = {
    "gqa_odd": dict(
        seed=101, hidden=40, layers=3, heads=5, kv=1, head_dim=12, rope_dim=12, ffn=52, base=10000.0,
        context=64, eps=1e-5, kind=all_of("F32"), embd="F32", output="F32",
        tokens=[1, 260, 265, 260, 299, 3, 260, 0, 287, 287, 265]),
    "tied_q8": dict(
        seed=202, hidden=64, layers=2, heads=4, kv=2, head_dim=32, rope_dim=32, ffn=96, base=10000.0,
        context=64, eps=1e-6, kind=all_of("Q8_0"), embd="Q8_0", output=None,
        tokens=[1, 288, 264, 271, 264, 264, 130, 299, 288, 13, 271]),
    "f16_partial_rope": dict(
        seed=303, hidden=48, layers=2, heads=6, kv=3, head_dim=16, rope_dim=8, ffn=80, base=500000.0,
        context=64, eps=1e-5, kind=all_of("F16"), embd="F16", output="F16",
        tokens=[1, 275, 275, 290, 261, 258, 275, 290, 261, 279, 2, 1]),
    "bf16_freqs": dict(
        seed=404, hidden=48, layers=4, heads=3, kv=3, head_dim=24, rope_dim=24, ffn=64, base=10000.0,
        context=64, eps=1e-5, kind=all_of("BF16"), embd="BF16", output=None,
        factors=[1.0, 1.0, 1.25, 1.5, 2.0, 2.75, 3.5, 4.5, 5.5, 6.5, 7.25, 8.0],
        tokens=[1, 299, 270, 299, 299, 281, 270, 44, 262, 262, 296]),
    "mixed_kinds": dict(
        seed=505, hidden=64, layers=4, heads=2, kv=1, head_dim=32, rope_dim=32, ffn=64, base=10000.0,
        context=64, eps=1e-5, kind=mixed, embd="F16", output="Q8_0",
        tokens=[1, 287, 294, 262, 287, 294, 200, 262, 262, 259, 287]),
}


def tokenizer():
    """(text, score, type) of each of 300 ids; types: 1 normal, 2 unknown, 3 control, 6 byte."""
    vocab = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)]
    vocab += [("<0x%02X>" % b, 0.0, 6) for b in range(256)]
    merged = ["\u2581t", "he", "\u2581a", "in", "\u2581the", "re", "on", "\u2581s", "er", "ed", "nd", "\u2581w",
              "\u2581and", "it"]
    letters = ["\u2581"] + [chr(c) for c in range(ord("a"), ord("z") + 1)]
    # As SentencePiece's BPE has it: merges by rank first, single letters after them.
    vocab += [(text, -float(rank), 1) for rank, text in enumerate(merged + letters)]
    return vocab


def make_model(name):
    c = MODELS[name]
    vocab = tokenizer()
    w = Writer("llama")
    w.add("general.name", "string", name)
    w.add("general.quantization_version", "u32", 2)
    for key, value in [("context_length", c["context"]), ("embedding_length", c["hidden"]),
                       ("block_count", c["layers"]), ("feed_forward_length", c["ffn"]),
                       ("attention.head_count", c["heads"]), ("attention.head_count_kv", c["kv"]),
                       ("attention.key_length", c["head_dim"]),
                       ("attention.value_length", c["head_dim"]),
                       ("rope.dimension_count", c["rope_dim"]), ("vocab_size", len(vocab))]:
        w.add("llama." + key, "u32", value)
    w.add("llama.attention.layer_norm_rms_epsilon", "f32", c["eps"])
    w.add("llama.rope.freq_base", "f32", c["base"])
    w.add("tokenizer.ggml.model", "string", "llama")
    w.add("tokenizer.ggml.tokens", ("array", "string"), [v[0] for v in vocab])
    w.add("tokenizer.ggml.scores", ("array", "f32"), [v[1] for v in vocab])
    w.add("tokenizer.ggml.token_type", ("array", "i32"), [v[2] for v in vocab])
    w.add("tokenizer.ggml.bos_token_id", "u32", 1)
    w.add("tokenizer.ggml.eos_token_id", "u32", 2)
    w.add("tokenizer.ggml.unknown_token_id", "u32", 0)
    w.add("tokenizer.ggml.add_bos_token", "bool", True)
    w.add("tokenizer.ggml.add_eos_token", "bool", False)

    random = np.random.RandomState(c["seed"])  # numpy keeps this stream frozen

    def normal(rows, columns, gain):
        return random.standard_normal((rows, columns)) * (gain / np.sqrt(columns))

    def norm_weight():
        return 1.0 + 0.25 * random.standard_normal(c["hidden"])

    q_dim, kv_dim = c["heads"] * c["head_dim"], c["kv"] * c["head_dim"]
    shapes = {"attn_q": (q_dim, c["hidden"], 1.5), "attn_k": (kv_dim, c["hidden"], 1.5),
              "attn_v": (kv_dim, c["hidden"], 1.0), "attn_output": (c["hidden"], q_dim, 1.0),
              "ffn_gate": (c["ffn"], c["hidden"], 1.5), "ffn_up": (c["ffn"], c["hidden"], 1.0),
              "ffn_down": (c["hidden"], c["ffn"], 1.0)}
    # Own output: unit embeddings. Tied: both uses share a matrix of logit gain 2.
    gain = 2.0 if c["output"] is None else np.sqrt(c["hidden"])
    embedding = normal(len(vocab), c["hidden"], gain)
    if c["embd"] == "Q8_0":
        embedding[5, :32] = 0.0  # a block whose scale is zero
    w.add_tensor("token_embd.weight", embedding, c["embd"])
    if "factors" in c:
        w.add_tensor("rope_freqs.weight", np.array(c["factors"]), "F32")
    for layer in range(c["layers"]):
        blk = "blk.%d." % layer
        w.add_tensor(blk + "attn_norm.weight", norm_weight(), "F32")
        w.add_tensor(blk + "ffn_norm.weight", norm_weight(), "F32")
        for m in MATRICES:
            w.add_tensor(blk + m + ".weight", normal(*shapes[m]), c["kind"](layer, m))
    w.add_tensor("output_norm.weight", norm_weight(), "F32")
    if c["output"] is not None:
        w.add_tensor("output.weight", normal(len(vocab), c["hidden"], 2.0), c["output"])
    return w.bytes()


def make_expect(name, model_bytes):
    tokens = MODELS[name]["tokens"]
    model = LlamaF64(Gguf(model_bytes), int8_activations=True)
    rec = model.run(tokens)
    w = Writer("golden")
    w.add("general.name", "string", name)
    w.add("golden.tokens", ("array", "i32"), tokens)
    # One key of every scalar type, at an extreme, for a metadata parser to meet.
    for kind, value in [("u8", 255), ("i8", -128), ("u16", 65535), ("i16", -32768),
                        ("u32", 2**32 - 1), ("i32", -2**31), ("u64", 2**64 - 1), ("i64", -2**63),
                        ("f32", 0.5), ("f64", 0.1), ("bool", True), ("string", "\u2581caf\u00e9")]:
        w.add("golden.sample." + kind, kind, value)
    w.add("golden.sample.empty", ("array", "u32"), [])
    for key, value in rec.items():
        w.add_tensor(key, value, "F32")
    return w.bytes(), rec, model


def describe(name, rec, model):
    late = [p for p in model.attention if len(p) >= 6]
    peak = float(np.mean([p.max() * len(p) for p in late]))
    residual = max(float(np.std(v)) for k, v in rec.items() if k.startswith("l_out"))
    print("%-17s logit std %.2f, residual std up to %.2f, attention peak %.1f x uniform"
          % (name, np.std(rec["result_output"]), residual, peak))


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: make_golden.py [--check]")
    wrong = 0
    for name in MODELS:
        model_bytes = make_model(name)
        expect_bytes, rec, model = make_expect(name, model_bytes)
        describe(name, rec, model)
        for suffix, data in [(".gguf", model_bytes), (".expect.gguf", expect_bytes)]:
            path = os.path.join(HERE, name + suffix)
            if check:
                same = os.path.exists(path) and open(path, "rb").read() == data
                print("  %-5s %s%s" % ("same" if same else "DIFFERS", name, suffix))
                wrong += not same
            else:
                with open(path, "wb") as f:
                    f.write(data)
                print("  wrote %s%s (%d bytes)" % (name, suffix, len(data)))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
