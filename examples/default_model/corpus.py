#!/usr/bin/env python3
"""Builds the training text of the default model from a pinned Debian package.

The source is the public-domain Bible text of Debian's `sword-text-web` (modern, simple English in one
consistent style, so that a very small model still reads as sentences).  The package is fetched by name with
`apt-get download`, unpacked, reduced to plain paragraphs and split into train.txt / valid.txt.

Usage: corpus.py WORK_DIR      (needs apt-get and dpkg-deb; writes nothing outside WORK_DIR)
"""
import hashlib
import pathlib
import re
import struct
import subprocess
import sys
import zlib

PACKAGE, VERSION = "sword-text-web", "426.0-1"
# SHA-256 of the plain text this script extracts: tells at once if a rebuilt package changed it.
TEXT_SHA256 = "9342b48a73bf335e0216fb1a4ac400805e7050d650838149f3663f4cc783db6c"
# Books that only repeat others of the collection in a second recension.
SKIP_BOOKS = {"EsthGr", "DanGr"}
# Validation: of every 24 runs of RUN consecutive chapters one is held out (about 4 %).
RUN, EVERY, OFFSET = 6, 24, 11
EXCERPT_BYTES = 56_000


def fetch(work: pathlib.Path) -> pathlib.Path:
    """Downloads and unpacks the package (once); returns the directory with the compressed text."""
    root = work / "package"
    if not root.exists():
        subprocess.run(["apt-get", "download", f"{PACKAGE}={VERSION}"], cwd=work, check=True)
        deb = next(work.glob(f"{PACKAGE}_*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(deb), str(root)], check=True)
    return next(root.rglob("ot.bzz")).parent


def markup(text_dir: pathlib.Path) -> str:
    """Inflates the zText blocks: *.bzs is an index of (offset, packed size, size), *.bzz the zlib streams."""
    parts = []
    for testament in ("ot", "nt"):
        index = (text_dir / f"{testament}.bzs").read_bytes()
        packed = (text_dir / f"{testament}.bzz").read_bytes()
        for offset, size, _ in struct.iter_unpack("<III", index):
            parts.append(zlib.decompress(packed[offset:offset + size]).decode("utf-8"))
    return "".join(parts)


ASCII = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-",
                       "\u2014": " - ", "\u2026": "...", "\u00a0": " ", "\u2009": " ", "\u202f": " "})


def chapters(osis: str):
    """Yields chapters, each a list of paragraphs in plain ASCII without notes, headings and verse numbers."""
    osis = re.sub(r"<(title|list|speaker)\b.*?</\1>", "", osis, flags=re.S)
    # A footnote may be all that stands between two words.
    osis = re.sub(r"(?:<note\b.*?</note>)+(?=(?:<w [^>]*>)?([\w\u2018\u201c])?)",
                  lambda m: " " if m.group(1) else "", osis, flags=re.S)
    book, inside, paragraphs, words = "", False, [], []

    def flush_paragraph():
        text = "".join(words).replace("\u2014\u201d", ' -"').translate(ASCII)
        text = " ".join(text.split())
        text = re.sub(r"\s+([,.;:?!])|[][]", r"\1", text)
        text = re.sub(r"([a-z][,.;:?!])(?=[A-Za-z])", r"\1 ", text).encode("ascii", "ignore").decode()
        if len(text) > 1 and re.search(r"[a-z]", text):
            paragraphs.append(text)
        words.clear()

    for tag, text in re.findall(r"(<[^>]*>)|([^<]+)", osis):
        if text:
            if inside and book not in SKIP_BOOKS:
                words.append(text)
        elif tag.startswith("<chapter"):
            flush_paragraph()
            if paragraphs:
                yield paragraphs[:]
                paragraphs.clear()
            inside = "sID=" in tag
            name = re.search(r'osisID="(\w+)\.', tag)
            book = name.group(1) if name else book
        elif re.match(r'<div[^>]*sID="[^>]*type="(x-p|paragraph|x-m|x-pi|x-b|x-nb)"', tag) or tag.startswith("<lg "):
            flush_paragraph()
        elif tag.startswith(("<l ", "<l>", "<lb", "<div")):
            words.append(" ")
    flush_paragraph()
    if paragraphs:
        yield paragraphs


def write(path: pathlib.Path, documents) -> None:
    """One paragraph a line; a blank line ends a document."""
    path.write_text("\n\n".join("\n".join(d) for d in documents) + "\n", encoding="utf-8")


def main() -> None:
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    documents = list(chapters(markup(fetch(work))))
    digest = hashlib.sha256(repr(documents).encode()).hexdigest()
    if digest != TEXT_SHA256:
        print(f"note: the text differs from the one the shipped model was trained on ({digest})", file=sys.stderr)
    held_out = [d for i, d in enumerate(documents) if i // RUN % EVERY == OFFSET]
    training = [d for i, d in enumerate(documents) if i // RUN % EVERY != OFFSET]
    write(work / "train.txt", training)
    write(work / "valid.txt", held_out)
    # The committed excerpt: whole held-out chapters, the longest prefix within EXCERPT_BYTES.
    lines, size = [], 0
    for document in held_out:
        size += sum(len(p) + 1 for p in document)
        if size > EXCERPT_BYTES:
            break
        lines += document
    (work / "valid_excerpt.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("train.txt", "valid.txt", "valid_excerpt.txt"):
        print(f"{name}: {(work / name).stat().st_size} bytes")
    print(f"{len(training)} training and {len(held_out)} validation chapters")


if __name__ == "__main__":
    main()
