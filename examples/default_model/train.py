#!/usr/bin/env python3
"""Trains the default model: a SentencePiece BPE vocabulary and a small Llama-architecture language model.

Usage: train.py WORK_DIR [--steps N]     (WORK_DIR as filled by corpus.py; Debian: python3-torch,
python3-sentencepiece, python3-matplotlib, and an optimised BLAS such as libopenblas0-openmp)
Writes WORK_DIR/vocab.model and WORK_DIR/model.pt (also at every evaluation), and loss.svg and
training_log.json beside this script.
"""
import argparse
import json
import math
import pathlib
import time

import numpy as np
import sentencepiece
import torch
import torch.multiprocessing as multiprocessing
import torch.nn.functional as F
from torch import nn

SHAPE = dict(vocab=2048, context=512, hidden=192, layers=6, heads=6, kv_heads=2, head_dim=32, ffn=512,
             eps=1e-5, rope_base=10000.0)
BOS, EOS = 1, 2  # a document is BOS, its tokens, EOS
SEED = 1234
HERE = pathlib.Path(__file__).resolve().parent


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(size)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.eps) * self.weight


def rope_table(context, head_dim, base):
    """Unit complex numbers exp(i * position * base^(-2k/d)), shape (context, head_dim / 2)."""
    frequency = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angle = torch.outer(torch.arange(context, dtype=torch.float64), frequency)
    return torch.polar(torch.ones_like(angle), angle).to(torch.complex64)


def rotate(x, table):
    """Rotates the interleaved pairs (x0, x1), (x2, x3), ... of x (batch, time, heads, head_dim)."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * table[:x.shape[1], None, :]).flatten(-2)


class Block(nn.Module):
    def __init__(self, s, dropout):
        super().__init__()
        linear = lambda i, o: nn.Linear(i, o, bias=False)
        self.shape, self.drop = s, nn.Dropout(dropout)
        self.attn_norm, self.ffn_norm = RMSNorm(s["hidden"], s["eps"]), RMSNorm(s["hidden"], s["eps"])
        self.attn_q = linear(s["hidden"], s["heads"] * s["head_dim"])
        self.attn_k = linear(s["hidden"], s["kv_heads"] * s["head_dim"])
        self.attn_v = linear(s["hidden"], s["kv_heads"] * s["head_dim"])
        self.attn_output = linear(s["heads"] * s["head_dim"], s["hidden"])
        self.ffn_gate, self.ffn_up = linear(s["hidden"], s["ffn"]), linear(s["hidden"], s["ffn"])
        self.ffn_down = linear(s["ffn"], s["hidden"])

    def attention(self, x, table, mask):
        s, (batch, time_, _) = self.shape, x.shape
        group = s["heads"] // s["kv_heads"]
        q = rotate(self.attn_q(x).unflatten(-1, (s["heads"], -1)), table) * s["head_dim"] ** -0.5
        k = rotate(self.attn_k(x).unflatten(-1, (s["kv_heads"], -1)), table)
        v = self.attn_v(x).unflatten(-1, (s["kv_heads"], -1))
        # The query heads that share a key/value head are stacked along the rows of one matrix product.
        q = q.unflatten(2, (s["kv_heads"], group)).permute(0, 2, 3, 1, 4).flatten(2, 3)
        scores = q @ k.permute(0, 2, 3, 1)
        scores = scores.view(batch, s["kv_heads"], group, time_, time_).add_(mask[:time_, :time_])
        y = scores.softmax(-1).flatten(2, 3) @ v.transpose(1, 2)
        y = y.unflatten(2, (group, time_)).permute(0, 3, 1, 2, 4).flatten(2)
        return self.attn_output(y)

    def forward(self, x, table, mask):
        x = x + self.drop(self.attention(self.attn_norm(x), table, mask))
        h = self.ffn_norm(x)
        return x + self.drop(self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h)))


class Llama(nn.Module):
    def __init__(self, s=SHAPE, dropout=0.0):
        super().__init__()
        self.shape, self.drop = s, nn.Dropout(dropout)
        self.token_embd = nn.Embedding(s["vocab"], s["hidden"])
        self.blk = nn.ModuleList(Block(s, dropout) for _ in range(s["layers"]))
        self.output_norm = RMSNorm(s["hidden"], s["eps"])
        self.register_buffer("table", rope_table(s["context"], s["head_dim"], s["rope_base"]), persistent=False)
        self.register_buffer("mask", torch.full((s["context"],) * 2, -math.inf).triu(1), persistent=False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                last = "output.weight" in name or "ffn_down" in name
                nn.init.normal_(p, std=0.02 / (math.sqrt(2 * s["layers"]) if last else 1.0))

    def forward(self, tokens):
        x = self.drop(self.token_embd(tokens))
        for block in self.blk:
            x = block(x, self.table, self.mask)
        return F.linear(self.output_norm(x), self.token_embd.weight)  # tied embeddings


def train_vocabulary(work):
    """BPE with byte fallback, so that every byte, "\\n" included, has a token."""
    if not (work / "vocab.model").exists():
        sentencepiece.SentencePieceTrainer.train(
            input=str(work / "train.txt"), model_prefix=str(work / "vocab"), model_type="bpe",
            vocab_size=SHAPE["vocab"], byte_fallback=True, add_dummy_prefix=True, character_coverage=1.0,
            normalization_rule_name="identity", remove_extra_whitespaces=False, unk_id=0, bos_id=BOS,
            eos_id=EOS, pad_id=-1, max_sentence_length=16384, num_threads=2, minloglevel=1)
    return sentencepiece.SentencePieceProcessor(model_file=str(work / "vocab.model"))


def token_stream(vocabulary, path):
    """All documents of a file (separated by blank lines) as BOS tokens EOS BOS tokens EOS ..."""
    stream = []
    for document in path.read_text(encoding="utf-8").rstrip("\n").split("\n\n"):
        stream += [BOS, *vocabulary.encode(document), EOS]
    return torch.tensor(stream)


@torch.no_grad()
def evaluate(model, stream, context):
    """Mean negative log-likelihood over a stream cut in windows; the BOS that starts a document is given."""
    model.eval()
    total, count = 0.0, 0
    n = (len(stream) - 1) // context
    x = stream[:n * context].view(n, context)
    y = stream[1:n * context + 1].view(n, context).masked_fill(stream[1:n * context + 1].view(n, context) == BOS, -1)
    for i in range(0, n, 8):
        logits = model(x[i:i + 8]).flatten(0, 1)
        total += F.cross_entropy(logits, y[i:i + 8].flatten(), ignore_index=-1, reduction="sum").item()
        count += int((y[i:i + 8] >= 0).sum())
    model.train()
    return total / count, total, count


def plot(log, path):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "0", "svg.fonttype": "none", "font.size": 11})
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(figsize=(7.2, 4.2), facecolor="white")
    axes.plot(*zip(*log["train"]), color="#7aa6c2", linewidth=1.2, label="training (mean of 20 steps)")
    axes.plot(*zip(*log["valid"]), color="#b3401f", marker="o", markersize=3.5, label="validation")
    axes.set(xlabel="optimiser step", ylabel="loss (nats per token)", xlim=(0, None))
    axes.set_ylim(top=min(6.0, max(v for _, v in log["train"])))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def worker(rank, args, shared, barrier):
    """One of args.workers processes: each has the whole model and a share of every batch; the gradients are
    averaged in shared memory in a fixed order, so that all copies stay identical and runs repeat exactly."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    vocabulary = train_vocabulary(args.work)
    train, valid = (token_stream(vocabulary, args.work / f"{n}.txt") for n in ("train", "valid"))
    model = Llama(dropout=args.dropout)
    parameters = list(model.parameters())
    optimiser = torch.optim.AdamW(
        [dict(params=[p for p in parameters if p.dim() == 2], weight_decay=0.1),
         dict(params=[p for p in parameters if p.dim() == 1], weight_decay=0.0)],
        lr=args.lr, betas=(0.9, 0.95), foreach=True)
    size = sum(p.numel() for p in parameters)
    say = print if rank == 0 else lambda *a, **k: None
    say(f"{size} parameters, {len(train)} training and {len(valid)} validation tokens", flush=True)

    log, recent, warmup, start = dict(train=[], valid=[]), [], 100, time.time()
    generator = np.random.default_rng(SEED)
    step, progress = 0, 0.0
    while progress < 1.0:
        step += 1
        # Short windows are cheaper: the full context is used in the last part of the training only.
        length = 128 if progress < 0.5 else 256 if progress < 0.85 else SHAPE["context"]
        first = generator.integers(0, len(train) - length - 1, args.batch_tokens // length)
        window = torch.stack([train[i:i + length + 1] for i in first.tolist()[rank::args.workers]])
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()

        torch.cat([*(p.grad.flatten() for p in parameters), loss.detach()[None]], out=shared["grad"][rank])
        shared["progress"][rank] = max(step / args.steps, (time.time() - start) / (60 * args.minutes))
        barrier.wait()
        mean = shared["grad"].mean(0)
        progress = float(shared["progress"][0])
        barrier.wait()
        for p, g in zip(parameters, mean[:-1].split([p.numel() for p in parameters])):
            p.grad = g.view_as(p)
        recent.append(float(mean[-1]))
        rate = args.lr * min(step / warmup, 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1.0, progress))))
        for group in optimiser.param_groups:
            group["lr"] = rate
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()

        if step % 20 == 0:
            log["train"].append((step, round(float(np.mean(recent)), 4)))
            recent.clear()
            say(f"step {step} loss {log['train'][-1][1]:.3f} {step * args.batch_tokens / (time.time() - start):.0f} "
                f"tokens/s, {100 * progress:.1f} % of the schedule", flush=True)
        if rank == 0 and (step % args.eval_every == 0 or progress >= 1.0):
            mean, _, _ = evaluate(model, valid[:32 * SHAPE["context"] + 1], SHAPE["context"])
            log["valid"].append((step, round(mean, 4)))
            say(f"  validation {mean:.4f} perplexity {math.exp(mean):.2f} after {time.time() - start:.0f} s", flush=True)
            torch.save(dict(shape=SHAPE, state=model.state_dict()), args.work / "model.pt")

    if rank == 0:
        mean, total, count = evaluate(model, valid, SHAPE["context"])
        text = (args.work / "valid.txt").stat().st_size * count / int((valid[1:] != BOS).sum())
        log["result"] = dict(
            parameters=size, steps=step, batch_tokens=args.batch_tokens, training_tokens=len(train),
            validation_tokens=count, seconds=round(time.time() - start), validation_loss=round(mean, 4),
            validation_perplexity=round(math.exp(mean), 3), bits_per_byte=round(total / math.log(2) / text, 4))
        print(json.dumps(log["result"], indent=1))
        (HERE / "training_log.json").write_text(json.dumps(log).replace('], "', '],\n"').replace("]], ", "]],\n") + "\n")
        plot(log, HERE / "loss.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=3200)
    parser.add_argument("--minutes", type=float, default=math.inf, help="shorten the schedule to end by then")
    parser.add_argument("--batch-tokens", type=int, default=2048)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    parser.add_argument("--eval-every", type=int, default=150)
    args = parser.parse_args()
    train_vocabulary(args.work)
    numbers = sum(p.numel() for p in Llama().parameters())
    shared = dict(grad=torch.zeros(args.workers, numbers + 1).share_memory_(),
                  progress=torch.zeros(args.workers, dtype=torch.float64).share_memory_())
    barrier = multiprocessing.get_context("spawn").Barrier(args.workers)
    multiprocessing.start_processes(worker, (args, shared, barrier), args.workers, start_method="spawn")


if __name__ == "__main__":
    main()
