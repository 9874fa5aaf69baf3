#!/usr/bin/env python3
"""Writes include/llambda/text/char_class_table.hpp from the Unicode Character Database (Debian: unicode-data).

  char_class_table.py [DIRECTORY OF UnicodeData.txt]        default /usr/share/unicode

Code points are cut into runs of one class; runs are written as a letter and a length, 1 where none stands. Latin and
Cyrillic alternate between upper and lower case for long stretches: such a stretch is one run of its own class.
"""
import pathlib
import re
import sys

LAST = 0x110000
LETTERS = {"Lu": "U", "Lt": "U", "Ll": "l", "Lm": "o", "Lo": "o"}


def read_classes(directory):
    """The class letter of every code point, and the database's version."""
    category = ["Cn"] * LAST
    first = None
    for line in open(directory / "UnicodeData.txt"):
        code, name, value = line.split(";")[:3]
        code = int(code, 16)
        if name.endswith(", First>"):
            first = code
        for c in range(first if name.endswith(", Last>") else code, code + 1):
            category[c] = value
    classes = [LETTERS.get(c) or (c[0] if c[0] in "MNPS" else "x") for c in category]
    properties = open(directory / "PropList.txt").read()
    for begin, end in re.findall(r"^([0-9A-F]+)(?:\.\.([0-9A-F]+))?\s*; White_Space", properties, re.M):
        for c in range(int(begin, 16), int(end or begin, 16) + 1):
            classes[c] = "s"
    return classes, re.search(r"PropList-([0-9.]+)\.txt", properties).group(1)


def runs_of(classes):
    """[class, length] with alternating stretches of three or more as A (upper first) or a (lower first)."""
    runs = []
    at = 0
    while at < LAST:
        end = at + 1
        while end < LAST and classes[end] != classes[end - 1] and {classes[end], classes[end - 1]} == {"U", "l"}:
            end += 1
        if end - at >= 3:
            runs.append(["A" if classes[at] == "U" else "a", end - at])
        else:
            end = at + 1
            while end < LAST and classes[end] == classes[at]:
                end += 1
            alternates = end < LAST - 1 and end - at > 1 and {classes[end - 1], classes[end]} == {"U", "l"} == {
                classes[end], classes[end + 1]}
            end -= alternates  # its last one begins an alternating stretch
            runs.append([classes[at], end - at])
        at = end
    return runs


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode")
    classes, version = read_classes(directory)
    runs = runs_of(classes)
    lines, line = [], ""
    for letter, length in runs:
        word = letter + (str(length) if length > 1 else "")
        if len(line) + len(word) > 114:
            lines.append(line)
            line = ""
        line += word
    lines.append(line)
    out = pathlib.Path(__file__).parents[2] / "include/llambda/text/char_class_table.hpp"
    out.write_text(f"""\
// The general categories of Unicode {version}, as far as text splitting asks for them, from U+0000 to U+10FFFF.
// Made by tests/text/char_class_table.py; char_class.hpp reads it. A letter is a class, the number after it how many
// code points have it (1 where there is none): U Lu and Lt, l Ll, o Lm and Lo, M marks, N numbers, P punctuation,
// S symbols, s White_Space, x the rest; A is upper, lower, upper, ... in turn, and a begins with lower.
#pragma once

#include <llambda/core/config_macros.hpp>

#include <cstddef>
#include <string_view>

namespace llambda::inline LLAMBDA_ABI::chars {{

inline constexpr std::string_view unicode_version = "{version}";
inline constexpr std::size_t run_count = {len(runs)};
inline constexpr std::string_view runs =
""" + "\n".join(f'    "{line}"' for line in lines) + """;

}  // namespace llambda::inline LLAMBDA_ABI::chars
""")


if __name__ == "__main__":
    main()
