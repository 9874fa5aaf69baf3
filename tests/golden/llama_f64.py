# The Llama architecture in float64, written from its definition and from nothing
# else, as plainly as possible: one token, one layer, one head at a time. Weights
# are the dequantised values of a GGUF file. Activations are exact, or, when asked,
# rounded to int8 before they meet a Q8_0 matrix, as integer kernels define it.
# Every sum is math.fsum (correctly rounded), so results do not depend on the
# machine's BLAS and the golden files are reproducible to the byte.
import math

import numpy as np

# Width of a layer's intermediates, in the order they arise; also the names under
# which they are recorded, with "-L" for layer L appended.
LAYER_NAMES = ["attn_norm", "q", "k", "v", "q_rope", "k_rope", "attn_out", "attn_proj", "ffn_inp",
               "ffn_norm", "ffn_gate", "ffn_up", "ffn_act", "ffn_out", "l_out"]


def dot(a, b):
    return math.fsum((a * b).tolist())


def matvec(matrix, x):
    """matrix: (rows, columns); one dot product per row."""
    return np.array([math.fsum(row) for row in (matrix * x).tolist()])


def int8_rounded(x):
    """x in blocks of 32, each as d * code: d = max |x| / 127, code = x / d to the nearest integer."""
    blocks = x.reshape(-1, 32)
    d = np.abs(blocks).max(axis=1, keepdims=True) / 127.0
    return (np.rint(blocks / np.where(d == 0.0, 1.0, d)) * d).reshape(-1)


def rms_norm(x, weight, eps):
    mean_square = math.fsum((x * x).tolist()) / len(x)
    return x / math.sqrt(mean_square + eps) * weight


def silu(x):
    return np.array([v / (1.0 + math.exp(-v)) for v in x.tolist()])


def softmax(scores):
    top = max(scores)
    e = [math.exp(s - top) for s in scores]
    total = math.fsum(e)
    return np.array([v / total for v in e])


def rope_head(head, pos, rope_dim, base, factors):
    """Rotate the pairs (x[2i], x[2i+1]) of the first rope_dim values."""
    out = head.copy()
    for i in range(rope_dim // 2):
        angle = pos * math.pow(base, -2.0 * i / rope_dim) / factors[i]
        c, s = math.cos(angle), math.sin(angle)
        a, b = head[2 * i], head[2 * i + 1]
        out[2 * i] = a * c - b * s
        out[2 * i + 1] = a * s + b * c
    return out


class LlamaF64:
    def __init__(self, gguf, int8_activations=False):
        m, t = gguf.metadata, gguf.tensors
        self.hidden = m["llama.embedding_length"]
        self.n_layers = m["llama.block_count"]
        self.n_heads = m["llama.attention.head_count"]
        self.n_kv = m.get("llama.attention.head_count_kv", self.n_heads)
        self.head_dim = m.get("llama.attention.key_length", self.hidden // self.n_heads)
        self.rope_dim = m.get("llama.rope.dimension_count", self.head_dim)
        self.base = m.get("llama.rope.freq_base", 10000.0)
        self.eps = m["llama.attention.layer_norm_rms_epsilon"]
        w = {name: tensor.values() for name, tensor in t.items()}
        self.rounded = {id(w[name]) for name, tensor in t.items() if int8_activations and tensor.kind == "Q8_0"}
        self.factors = w.get("rope_freqs.weight", np.ones(self.rope_dim // 2))
        self.embedding = w["token_embd.weight"]
        self.output_norm = w["output_norm.weight"]
        self.output = w.get("output.weight", self.embedding)  # tied when absent
        names = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate",
                 "ffn_up", "ffn_down"]
        self.layers = [{n: w["blk.%d.%s.weight" % (layer, n)] for n in names}
                       for layer in range(self.n_layers)]
        self.reset()

    def product(self, matrix, x):
        return matvec(matrix, int8_rounded(x) if id(matrix) in self.rounded else x)

    def reset(self):
        self.pos = 0
        self.keys = [[] for _ in range(self.n_layers)]    # per layer, per position: rotated k
        self.values = [[] for _ in range(self.n_layers)]
        self.attention = []  # rows of attention weights, only to look at

    def heads(self, x):
        return [x[h * self.head_dim:(h + 1) * self.head_dim] for h in range(len(x) // self.head_dim)]

    def rope(self, x):
        return np.concatenate([rope_head(h, self.pos, self.rope_dim, self.base, self.factors)
                               for h in self.heads(x)])

    def attend(self, q, layer):
        group = self.n_heads // self.n_kv
        out = []
        for h, head in enumerate(self.heads(q)):
            kv = h // group
            keys = [self.heads(k)[kv] for k in self.keys[layer]]
            values = [self.heads(v)[kv] for v in self.values[layer]]
            p = softmax([dot(head, k) / math.sqrt(self.head_dim) for k in keys])
            self.attention.append(p)
            out.append(matvec(np.array(values).T, p))
        return np.concatenate(out)

    def step(self, token):
        """One token at the next position; returns name -> row of every intermediate."""
        rec = {}
        x = rec["inp_embd"] = self.embedding[token]
        for layer, w in enumerate(self.layers):
            r = {}
            r["attn_norm"] = rms_norm(x, w["attn_norm"], self.eps)
            r["q"] = self.product(w["attn_q"], r["attn_norm"])
            r["k"] = self.product(w["attn_k"], r["attn_norm"])
            r["v"] = self.product(w["attn_v"], r["attn_norm"])
            r["q_rope"] = self.rope(r["q"])
            r["k_rope"] = self.rope(r["k"])
            self.keys[layer].append(r["k_rope"])
            self.values[layer].append(r["v"])
            r["attn_out"] = self.attend(r["q_rope"], layer)
            r["attn_proj"] = self.product(w["attn_output"], r["attn_out"])
            r["ffn_inp"] = x + r["attn_proj"]
            r["ffn_norm"] = rms_norm(r["ffn_inp"], w["ffn_norm"], self.eps)
            r["ffn_gate"] = self.product(w["ffn_gate"], r["ffn_norm"])
            r["ffn_up"] = self.product(w["ffn_up"], r["ffn_norm"])
            r["ffn_act"] = silu(r["ffn_gate"]) * r["ffn_up"]
            r["ffn_out"] = self.product(w["ffn_down"], r["ffn_act"])
            x = r["l_out"] = r["ffn_inp"] + r["ffn_out"]
            rec.update(("%s-%d" % (name, layer), r[name]) for name in LAYER_NAMES)
        rec["result_norm"] = rms_norm(x, self.output_norm, self.eps)
        rec["result_output"] = self.product(self.output, rec["result_norm"])
        self.pos += 1
        return rec

    def run(self, tokens):
        """All intermediates of a sequence from position 0, each (tokens, width)."""
        self.reset()
        steps = [self.step(t) for t in tokens]
        return {name: np.array([s[name] for s in steps]) for name in steps[0]}
