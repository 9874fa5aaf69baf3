#!/usr/bin/env python3
"""Converts the trained model to GGUF v3, written byte by byte with numpy (no gguf package needed).

Usage: to_gguf.py WORK_DIR OUTPUT.gguf [--type q8_0|f16|f32]      (default q8_0; norms stay F32)
The keys, tensor names and token types are those that llama.cpp reads for the `llama` architecture.  The model
already rotates interleaved pairs, so attn_q and attn_k need no permutation; the output matrix is the embedding.
"""
import argparse
import pathlib
import struct

import numpy as np
import sentencepiece
import torch

ALIGNMENT = 32
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # GGUF value types
SCALAR = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}
TENSOR_TYPE = {"f32": 0, "f16": 1, "q8_0": 8}  # ggml tensor types
FILE_TYPE = {"f32": 0, "f16": 1, "q8_0": 7}  # general.file_type
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # tokenizer.ggml.token_type


def string(text):
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def value(kind, item):
    return string(item) if kind == STRING else struct.pack(SCALAR[kind], item)


def pair(key, kind, item):
    """One metadata entry; a list is written as an array of `kind`."""
    if isinstance(item, list):
        body = struct.pack("<IIQ", ARRAY, kind, len(item)) + b"".join(value(kind, i) for i in item)
    else:
        body = struct.pack("<I", kind) + value(kind, item)
    return string(key) + body


def encode(matrix, kind):
    """The bytes of a tensor.  Q8_0: per 32 values a half-precision scale d = amax / 127 and 32 int8 round(x / d)."""
    if kind == "f32":
        return matrix.astype("<f4").tobytes()
    if kind == "f16":
        return matrix.astype("<f2").tobytes()
    blocks = matrix.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1) / np.float32(127)
    inverse = np.divide(np.float32(1), scale, out=np.zeros_like(scale), where=scale > 0)
    scaled = blocks * inverse[:, None]
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))  # halves away from zero, like roundf
    out = np.empty(len(blocks), dtype=[("d", "<f2"), ("q", "i1", 32)])
    out["d"], out["q"] = scale, rounded
    return out.tobytes()


def metadata(shape, kind, vocabulary):
    ids = range(vocabulary.get_piece_size())
    kinds = [UNKNOWN if vocabulary.is_unknown(i) else CONTROL if vocabulary.is_control(i) else
             BYTE if vocabulary.is_byte(i) else NORMAL for i in ids]
    return [
        pair("general.architecture", STRING, "llama"),
        pair("general.name", STRING, "llambda default"),
        pair("general.description", STRING, "A very small model trained on public-domain English text."),
        pair("general.license", STRING, "mit"),
        pair("general.alignment", U32, ALIGNMENT),
        pair("general.file_type", U32, FILE_TYPE[kind]),
        pair("general.quantization_version", U32, 2),
        pair("llama.vocab_size", U32, shape["vocab"]),
        pair("llama.context_length", U32, shape["context"]),
        pair("llama.embedding_length", U32, shape["hidden"]),
        pair("llama.block_count", U32, shape["layers"]),
        pair("llama.feed_forward_length", U32, shape["ffn"]),
        pair("llama.attention.head_count", U32, shape["heads"]),
        pair("llama.attention.head_count_kv", U32, shape["kv_heads"]),
        pair("llama.attention.layer_norm_rms_epsilon", F32, shape["eps"]),
        pair("llama.rope.dimension_count", U32, shape["head_dim"]),
        pair("llama.rope.freq_base", F32, shape["rope_base"]),
        pair("tokenizer.ggml.model", STRING, "llama"),
        pair("tokenizer.ggml.tokens", STRING, [vocabulary.id_to_piece(i) for i in ids]),
        pair("tokenizer.ggml.scores", F32, [vocabulary.get_score(i) for i in ids]),
        pair("tokenizer.ggml.token_type", I32, kinds),
        pair("tokenizer.ggml.unknown_token_id", U32, vocabulary.unk_id()),
        pair("tokenizer.ggml.bos_token_id", U32, vocabulary.bos_id()),
        pair("tokenizer.ggml.eos_token_id", U32, vocabulary.eos_id()),
        pair("tokenizer.ggml.add_bos_token", BOOL, True),
        pair("tokenizer.ggml.add_eos_token", BOOL, False),
        pair("tokenizer.ggml.add_space_prefix", BOOL, True),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--type", choices=TENSOR_TYPE, default="q8_0")
    args = parser.parse_args()
    checkpoint = torch.load(args.work / "model.pt", map_location="cpu")
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=str(args.work / "vocab.model"))
    pairs = metadata(checkpoint["shape"], args.type, vocabulary)

    infos, data = b"", b""
    for name, tensor in checkpoint["state"].items():
        kind = args.type if tensor.dim() == 2 else "f32"
        if not name.endswith(".weight"):
            raise SystemExit(f"unexpected tensor {name}")
        # Dimensions are written innermost first: the row length, then the number of rows.
        dims = tensor.shape[::-1]
        infos += string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, TENSOR_TYPE[kind], len(data))
        data += encode(tensor.numpy(), kind)
        data += bytes(-len(data) % ALIGNMENT)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(checkpoint["state"]), len(pairs)) + b"".join(pairs) + infos
    args.output.write_bytes(head + bytes(-len(head) % ALIGNMENT) + data)
    print(f"{args.output}: {args.output.stat().st_size} bytes, {len(checkpoint['state'])} tensors, {args.type}")


if __name__ == "__main__":
    main()
