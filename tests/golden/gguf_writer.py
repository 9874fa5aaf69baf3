# A minimal GGUF version 3 writer, on numpy alone. It exists so that the golden
# files beside it can be made without any library of the project or of others:
# metadata of every scalar type, strings and (nested) arrays; tensors F32, F16,
# BF16 and Q8_0. Everything is little-endian; tensor data is aligned to 32.
import struct

import numpy as np

ALIGNMENT = 32
MAGIC, VERSION = b"GGUF", 3

# metadata type name -> (code in the file, struct format or None)
VALUE_TYPES = {
    "u8": (0, "<B"), "i8": (1, "<b"), "u16": (2, "<H"), "i16": (3, "<h"),
    "u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?"),
    "string": (8, None), "array": (9, None),
    "u64": (10, "<Q"), "i64": (11, "<q"), "f64": (12, "<d"),
}

# tensor type name -> (code in the file, values per block, bytes per block)
TENSOR_TYPES = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q8_0": (8, 32, 34), "BF16": (30, 1, 2)}


def _string(text):
    raw = text if isinstance(text, bytes) else text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


def _value(kind, value):
    """Bytes of one value. An array is given as kind ("array", element kind)."""
    if isinstance(kind, tuple):
        element = kind[1]
        code = VALUE_TYPES["array" if isinstance(element, tuple) else element][0]
        body = b"".join(_value(element, v) for v in value)
        return struct.pack("<IQ", code, len(value)) + body
    if kind == "string":
        return _string(value)
    return struct.pack(VALUE_TYPES[kind][1], value)


def encode_bf16(values):
    """Upper half of the F32 pattern, rounded to nearest, ties to even."""
    bits = np.ascontiguousarray(values, dtype="<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) >> np.uint64(16)).astype("<u2")


def encode_q8_0(values):
    """Blocks of 32 along a row: fp16 d = amax/127, then 32 int8 q = round(x/d)."""
    x = np.ascontiguousarray(values, dtype="<f4")
    if x.shape[-1] % 32:
        raise ValueError("Q8_0 needs rows of a multiple of 32 values")
    x = x.reshape(-1, 32)
    d = (np.abs(x).max(axis=1) / np.float32(127)).astype(np.float32)
    safe = np.where(d > 0, d, np.float32(1))
    ratio = x / safe[:, None]
    q = np.trunc(ratio + np.copysign(np.float32(0.5), ratio))  # half away from zero
    blocks = np.zeros(len(x), dtype=[("d", "<f2"), ("q", "i1", 32)])
    blocks["d"] = d.astype("<f2")
    blocks["q"] = np.clip(q, -127, 127).astype(np.int8)
    return blocks


def encode(values, kind):
    if kind == "F32":
        return np.ascontiguousarray(values, dtype="<f4").tobytes()
    if kind == "F16":
        return np.ascontiguousarray(values, dtype="<f4").astype("<f2").tobytes()
    if kind == "BF16":
        return encode_bf16(values).tobytes()
    if kind == "Q8_0":
        return encode_q8_0(values).tobytes()
    raise ValueError("tensor type " + kind)


def _padding(size):
    return b"\0" * (-size % ALIGNMENT)


class Writer:
    """Collects metadata and tensors in order; bytes() is the whole file."""

    def __init__(self, architecture):
        self._metadata, self._tensors = [], []
        self.add("general.architecture", "string", architecture)
        self.add("general.alignment", "u32", ALIGNMENT)

    def add(self, key, kind, value):
        code = VALUE_TYPES["array" if isinstance(kind, tuple) else kind][0]
        self._metadata.append(_string(key) + struct.pack("<I", code) + _value(kind, value))

    def add_tensor(self, name, values, kind="F32"):
        """values: numpy shape, slowest dimension first; the file holds it reversed."""
        values = np.asarray(values)
        self._tensors.append((name, values.shape[::-1], TENSOR_TYPES[kind][0], encode(values, kind)))

    def bytes(self):
        head = [MAGIC, struct.pack("<IQQ", VERSION, len(self._tensors), len(self._metadata))]
        head += self._metadata
        offset = 0
        for name, dims, code, data in self._tensors:
            head.append(_string(name) + struct.pack("<I", len(dims)))
            head.append(b"".join(struct.pack("<Q", d) for d in dims))
            head.append(struct.pack("<IQ", code, offset))
            offset += len(data) + len(_padding(len(data)))
        head = b"".join(head)
        out = [head, _padding(len(head))]
        for _, _, _, data in self._tensors:
            out += [data, _padding(len(data))]
        return b"".join(out)
