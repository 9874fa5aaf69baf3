"""Strings that tokenizers have been wrong about, and any number of random ones in that manner. The same seed gives the
same strings. Items are bytes, most of them UTF-8."""
import random
import unicodedata

# Cases known from other programs' bug reports, and one of each kind that a pattern mentions.
FIXED = [
    "", " ", "  ", "   ", "\t", "\n", "\n\n", "\n\n\n", "\t\n", "\r\n", " \n ", "Hello world", " Hello", "   Hello",
    "    Hello\n    Hello", "\n =", "' era", "Hello, y'all! How are you \U0001F601 ?我想在apple工作1314151天～", "!!!!!!",
    *["3" * n for n in range(1, 11)], "12345.678,90", "3.14 3..3 3...3", "brutalist", "ied 4 ½ months", "¼-a", "Ⅵ-a",
    "a 〇b", "!\u0085", "!\u2003!", "\u2029 \uA3E4", "\x1f-a", "\uFEFF//", "a\u00a0b\u3000c\u202fd\u1680e", "x\u200by",
    "I've 'told he's, 'RE you? 'M 'D we'Ve a'lL don'T 'tis o'clock 's 'S'll", "’s it’s", "CamelCaseHTTPServer2Go",
    "ABCdefGHIjkl МОСКВАмосква ǅungla", "中ABC中abc中中", "e\u0301e\u0301 E\u0301 \u0301\u0301 \u0301A", "नमस्ते दुनिया",
    "កាន់តែពិសេសអាច", "ภาษาไทย", "안녕하세요 세계", "こんにちは世界カタカナ", "Cửa Việt", "Привет, мир!", "שלום עולם",
    "مرحبا ١٢٣", "\U0001F468\u200d\U0001F469\u200d\U0001F467 \U0001F636\u200d\U0001F32B\uFE0F \U0001F1E9\U0001F1EA",
    "https://example.org/a/b?c=d&e=f#g", "a/b//c\n/\n//d", "!\n/\r\n?",
    "#include <x>\n\nint main() {\n\treturn 0;\n}\n",
    "a  b   c    d", "word \n  \n\n  word", "trailing  ", "trailing \n", "a\x00b\x01\x7fc",
    "_snake_case __init__ $x+=1<=2^~|`",
    "“quoted” ‘single’ — dash… 。，、।", "：～！Ａｂｃ　。x", "ªº µß ÿ Ω K", "()|.,!?", "ɓʔʕa", "ჰello Ⴀb", "１２３ ²³ ௧௨",
    "   \u3000 x", "\u2028\u2029\n\v\f\x85", "😀" * 3 + " 😀 😀", "no\rreturn", "tab\tab\t\tab", "-5 - 5 -",
    "....//....\n\n",
]
ILL_FORMED = [b"\xff", b"a\xc3", b"\xe6\xad", b"\xf0\x9f\x98 ok", b"\xc0\xaf\xed\xa0\x80", b" \x80\x80 a\xf5b",
              b"1\xfe2"]

SCRIPTS = [(0x41, 0x5A), (0x61, 0x7A), (0x61, 0x7A), (0x20, 0x7E), (0xA1, 0x24F), (0x250, 0x2FF), (0x300, 0x36F),
           (0x370, 0x3FF), (0x400, 0x52F), (0x530, 0x5FF), (0x600, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F),
           (0x10A0, 0x10FF), (0x1780, 0x17FF), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x20A0, 0x218F), (0x2190, 0x23FF),
           (0x2460, 0x27BF), (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xFF01, 0xFFEE), (0x10400, 0x1044F),
           (0x1D400, 0x1D7FF), (0x1F300, 0x1F6FF), (0x0, 0x10FFFF)]
WORDS = ("the of and to in a is that for it was on are as with his they at be this from I have or by one had not but "
         "what all were when we there can an your which their said if do will each about how up out them then she many "
         "some so these would other into has more her two like him see time could no make than first been its who now "
         "people tokenization straightforwardly Antidisestablishmentarianism iPhone GPUs HTTPServer foo_bar NaN "
         "int32_t").split()
ENDINGS = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "'LL", "'x", "'", "\u2019s"]
SPACES = [" ", "  ", "   ",
          "\t", "\n", "\n\n", "\r\n", " \n", "\n ", "\u00a0", "\u3000", "\u2003", "\u0085", "    ",
          "\n\n\n\n"]
SIGNS = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + ["...", "?!", "::", "//", "--", "=====", "…", "。", "，", "—", "“",
                                      "”", "→"]
EMOJI = ["\U0001F600", "\U0001F468\u200d\U0001F469\u200d\U0001F467\u200d\U0001F466", "\u2764\uFE0F",
         "\U0001F44D\U0001F3FD",
         "\U0001F1EB\U0001F1F7", "\U0001F3F3\uFE0F\u200d\U0001F308"]


def character(rng):
    """One character of a random script, assigned in Unicode 14 at the latest; U+0295 changed its category later."""
    low, high = rng.choice(SCRIPTS)
    while True:
        c = rng.randint(low, high)
        if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co") and c != 0x295:
            return chr(c)


def part(rng, specials):
    kind = rng.randrange(15)
    if kind < 4:
        return rng.choice(WORDS)
    if kind == 4:
        word = rng.choice(WORDS)
        return rng.choice([word.upper(), word.capitalize(), word + rng.choice(WORDS).capitalize()])
    if kind == 5:
        return rng.choice(ENDINGS)
    if kind < 8:
        return rng.choice(SPACES) * rng.choice([1, 1, 1, 2, 5])
    if kind == 8:
        return "".join(rng.choice("0123456789") for _ in range(rng.randint(1, 12)))
    if kind == 9:
        return rng.choice(SIGNS) * rng.choice([1, 1, 2, 4])
    if kind == 10:
        return rng.choice(EMOJI)
    if kind == 11 and specials:
        text = rng.choice(specials)
        return rng.choice([text, text, text, text[:-1], text[1:], text + text])
    if kind == 12:
        return character(rng) * rng.randint(2, 40)
    return "".join(character(rng) for _ in range(rng.randint(1, 8)))


def strings(count, seed, specials=(), ill_formed=True):
    """The fixed strings, then random ones up to `count`, some of them ill-formed if asked for."""
    rng = random.Random(seed)
    out = [text.encode() for text in FIXED] + (ILL_FORMED if ill_formed else [])
    while len(out) < count:
        words = []
        for _ in range(rng.randint(1, 14)):
            words.append(part(rng, specials))
            if rng.random() < 0.5:
                words.append(" ")
        raw = "".join(words).encode()
        if ill_formed and rng.random() < 0.1:
            at = rng.randrange(len(raw) + 1)
            raw = raw[:at] + bytes(rng.randrange(256) for _ in range(rng.randint(1, 3))) + raw[at:]
        out.append(raw)
    return out[:count]
