# A second opinion on llama_f64.py, in PyTorch doubles and built differently: the
# whole sequence at once, complex-number rotary embedding, einsum attention with a
# mask, weights decoded by PyTorch's own number types. Only the GGUF framing is shared.
# Needs python3-torch; not part of making the golden files.
#   torch_check.py [MODEL.gguf ...]   (without arguments: every golden model here)
import glob
import os
import sys

import torch

from gguf_reader import read_gguf
from llama_f64 import LlamaF64

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = 1e-10
torch.set_num_threads(1)


def decode(tensor):
    raw = bytearray(tensor.raw)
    if tensor.kind == "Q8_0":
        rows = torch.frombuffer(raw, dtype=torch.uint8).reshape(-1, 34)
        scale = rows[:, :2].contiguous().view(torch.float16).double()
        flat = rows[:, 2:].contiguous().view(torch.int8).double() * scale
    else:
        kinds = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
        flat = torch.frombuffer(raw, dtype=kinds[tensor.kind]).double()
    return flat.reshape(tensor.shape)


def norm(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def rotate(x, spin):
    """x: (tokens, heads, head_dim); spin: (tokens, rope_dim / 2) complex units."""
    n = 2 * spin.shape[-1]
    turned = torch.view_as_complex(x[..., :n].unflatten(-1, (-1, 2)).contiguous()) * spin[:, None]
    return torch.cat([torch.view_as_real(turned).flatten(-2), x[..., n:]], -1)


def forward(gguf, tokens):
    m = gguf.metadata
    w = {name: decode(t) for name, t in gguf.tensors.items()}
    heads, kv_heads = m["llama.attention.head_count"], m["llama.attention.head_count_kv"]
    d = m.get("llama.attention.key_length", m["llama.embedding_length"] // heads)
    rot, eps = m["llama.rope.dimension_count"], m["llama.attention.layer_norm_rms_epsilon"]
    freq = 1.0 / m["llama.rope.freq_base"] ** (torch.arange(0, rot, 2).double() / rot)
    if "rope_freqs.weight" in w:
        freq = freq / w["rope_freqs.weight"]
    angle = torch.outer(torch.arange(len(tokens)).double(), freq)
    spin = torch.polar(torch.ones_like(angle), angle)
    mask = torch.full((len(tokens),) * 2, float("-inf"), dtype=torch.float64).triu(1)

    out = {}
    x = out["inp_embd"] = torch.nn.functional.embedding(torch.tensor(tokens), w["token_embd.weight"])
    for layer in range(m["llama.block_count"]):
        def lin(name, y):
            return torch.nn.functional.linear(y, w["blk.%d.%s.weight" % (layer, name)])

        def keep(name, y):
            out["%s-%d" % (name, layer)] = y.flatten(1)
            return y

        h = keep("attn_norm", norm(x, w["blk.%d.attn_norm.weight" % layer], eps))
        q, k, v = (keep(n, lin("attn_" + n, h)).unflatten(-1, (-1, d)) for n in "qkv")
        q, k = keep("q_rope", rotate(q, spin)), keep("k_rope", rotate(k, spin))
        q = q.unflatten(1, (kv_heads, heads // kv_heads))  # (tokens, kv, group, d)
        p = (torch.einsum("qkgd,tkd->kgqt", q, k) * d ** -0.5 + mask).softmax(-1)
        a = keep("attn_out", torch.einsum("kgqt,tkd->qkgd", p, v))
        x = keep("ffn_inp", x + keep("attn_proj", lin("attn_output", a.flatten(1))))
        h = keep("ffn_norm", norm(x, w["blk.%d.ffn_norm.weight" % layer], eps))
        gate, up = keep("ffn_gate", lin("ffn_gate", h)), keep("ffn_up", lin("ffn_up", h))
        h = keep("ffn_act", torch.nn.functional.silu(gate) * up)
        x = keep("l_out", x + keep("ffn_out", lin("ffn_down", h)))
    x = out["result_norm"] = norm(x, w["output_norm.weight"], eps)
    out["result_output"] = x @ w.get("output.weight", w["token_embd.weight"]).T
    return out


def expected(path):
    expect = os.path.join(HERE, os.path.basename(path)[:-len(".gguf")] + ".expect.gguf")
    return read_gguf(expect)


def main():
    paths = sys.argv[1:] or sorted(p for p in glob.glob(os.path.join(HERE, "*.gguf"))
                                   if not p.endswith(".expect.gguf"))
    good = True
    for path in paths:
        gguf, golden = read_gguf(path), expected(path)
        tokens = golden.metadata["golden.tokens"]
        plain, other = LlamaF64(gguf).run(tokens), forward(gguf, tokens)
        if set(plain) != set(other):
            sys.exit("names differ: %s" % sorted(set(plain) ^ set(other)))
        worst = max((float((torch.from_numpy(plain[n]) - other[n]).abs().max()), n) for n in plain)
        # The files hold F32: half a unit in the last place, 2^-24, relative to the value. Those of models with
        # Q8_0 matrices hold the pass with int8 activations, which this program does not repeat.
        int8 = any(t.kind == "Q8_0" for t in gguf.tensors.values())
        stored = 0.0 if int8 else max(float(((decode(t) - other[n]).abs() / other[n].abs().clamp(min=1e-6)).max())
                     for n, t in golden.tensors.items())
        ok = worst[0] < LIMIT and stored < 2.0 ** -23
        good &= ok
        print("%-20s %3d intermediates, max |F64 - torch| %.2e (%s); file off by %.2e relative: %s"
              % (os.path.basename(path), len(plain), worst[0], worst[1], stored, "ok" if ok else "BAD"))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
