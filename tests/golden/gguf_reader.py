# A minimal GGUF reader for the reference: metadata as Python values, tensors as
# raw bytes with type and shape, and their dequantised values as float64. Only
# the tensor types that gguf_writer.py writes are known.
import struct

import numpy as np

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?",
            10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
_BLOCKS = {0: ("F32", 1, 4), 1: ("F16", 1, 2), 8: ("Q8_0", 32, 34), 30: ("BF16", 1, 2)}


class _Cursor:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, fmt):
        value = struct.unpack_from(fmt, self.data, self.at)[0]
        self.at += struct.calcsize(fmt)
        return value

    def raw_string(self):
        length = self.take("<Q")
        self.at += length
        return bytes(self.data[self.at - length:self.at])

    def value(self, code):
        if code in _SCALARS:
            return self.take(_SCALARS[code])
        if code == _STRING:
            return self.raw_string().decode("utf-8", "surrogateescape")
        if code == _ARRAY:
            element, count = self.take("<I"), self.take("<Q")
            return [self.value(element) for _ in range(count)]
        raise ValueError("metadata type %d" % code)


class Tensor:
    def __init__(self, kind, shape, raw):
        self.kind, self.shape, self.raw = kind, shape, raw  # shape: slowest first

    def values(self):
        """The dequantised values, each exactly what the stored bits say, as F64."""
        if self.kind == "F32":
            flat = np.frombuffer(self.raw, "<f4").astype(np.float64)
        elif self.kind == "F16":
            flat = np.frombuffer(self.raw, "<f2").astype(np.float64)
        elif self.kind == "BF16":
            bits = np.frombuffer(self.raw, "<u2").astype(np.uint32) << np.uint32(16)
            flat = bits.view(np.float32).astype(np.float64)
        else:
            blocks = np.frombuffer(self.raw, [("d", "<f2"), ("q", "i1", 32)])
            flat = blocks["q"].astype(np.float64) * blocks["d"].astype(np.float64)[:, None]
        return flat.reshape(self.shape)


class Gguf:
    """metadata: dict key -> value; tensors: dict name -> Tensor."""

    def __init__(self, data):
        c = _Cursor(data)
        if data[:4] != b"GGUF":
            raise ValueError("no GGUF magic")
        c.at = 4
        self.version, n_tensors, n_metadata = c.take("<I"), c.take("<Q"), c.take("<Q")
        self.metadata, self.tensors = {}, {}
        for _ in range(n_metadata):
            key = c.raw_string().decode("utf-8")
            self.metadata[key] = c.value(c.take("<I"))
        infos = []
        for _ in range(n_tensors):
            name = c.raw_string().decode("utf-8")
            dims = [c.take("<Q") for _ in range(c.take("<I"))]
            infos.append((name, dims, c.take("<I"), c.take("<Q")))
        alignment = self.metadata.get("general.alignment", 32)
        base = (c.at + alignment - 1) // alignment * alignment
        for name, dims, code, offset in infos:
            kind, per_block, block_bytes = _BLOCKS[code]
            size = int(np.prod(dims, dtype=np.int64)) // per_block * block_bytes
            raw = data[base + offset:base + offset + size]
            if len(raw) != size:
                raise ValueError("tensor %s reaches past the end" % name)
            self.tensors[name] = Tensor(kind, tuple(dims[::-1]), raw)


def read_gguf(path):
    with open(path, "rb") as f:
        return Gguf(f.read())
