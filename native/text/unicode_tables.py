"""Writes what Python knows of characters as a C++ header, so that the tokeniser and Python agree on what a word is.

    python native/unicode_tables.py OUTPUT

Each code point has flags and its lower case; a table of blocks keeps equal blocks once.
"""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

BLOCK = 128
SPACELESS = (
    "CJK ", "IDEOGRAPHIC ITERATION", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA",
    "THAI ", "LAO ", "KHMER ", "MYANMAR ",
)  # fmt: skip
FLAGS = ("alnum", "word", "spaceless", "cased", "ignorable", "closing", "space")


def is_spaceless(character: str) -> bool:
    """Letters and marks of scripts that are written without spaces between words."""
    return unicodedata.category(character)[0] in "LM" and unicodedata.name(character, "").startswith(SPACELESS)


def is_cased(character: str) -> bool:
    """Python tells by the sigma, which is lowered differently behind a cased letter."""
    return (character + "\N{GREEK CAPITAL LETTER SIGMA}").lower()[-1] == "\N{GREEK SMALL LETTER FINAL SIGMA}"


def is_ignorable(character: str) -> bool:
    """Looked through when a cased letter is sought."""
    through = ("a" + character + "\N{GREEK CAPITAL LETTER SIGMA}").lower()[-1]
    alone = (character + "\N{GREEK CAPITAL LETTER SIGMA}").lower()[-1]
    return through == "\N{GREEK SMALL LETTER FINAL SIGMA}" != alone


def describe(point: int) -> tuple[int, int]:
    """Flags and lower case of a code point."""
    if 0xD800 <= point < 0xE000:
        return 0, point
    character = chr(point)
    category = unicodedata.category(character)
    answers = (
        character.isalnum() or character == "_",
        category[0] in "LMN" or category == "Pc",
        is_spaceless(character),
        is_cased(character),
        is_ignorable(character),
        character in ".,;:!?\N{IDEOGRAPHIC FULL STOP}\N{FULLWIDTH COMMA}\N{FULLWIDTH EXCLAMATION MARK}"
        "\N{FULLWIDTH QUESTION MARK}\N{FULLWIDTH SEMICOLON}\N{FULLWIDTH COLON}",
        character.isspace(),
    )
    flags = sum(1 << bit for bit, answer in enumerate(answers) if answer)
    lower = character.lower()
    return flags, ord(lower) if len(lower) == 1 else point


def main(output: Path) -> None:
    described = [describe(point) for point in range(0x110000)]
    kinds = sorted({(flags, lower - point) for point, (flags, lower) in enumerate(described)})
    number = {kind: i for i, kind in enumerate(kinds)}
    codes = [number[flags, lower - point] for point, (flags, lower) in enumerate(described)]
    blocks: dict[tuple[int, ...], int] = {}
    index = [blocks.setdefault(tuple(codes[i : i + BLOCK]), len(blocks)) for i in range(0, len(codes), BLOCK)]
    several = [point for point in range(0x110000) if not 0xD800 <= point < 0xE000 and len(chr(point).lower()) > 1]
    assert several == [0x130], several  # the tokeniser knows the one letter whose lower case is two characters
    lines = [
        f"// Made from Unicode {unicodedata.unidata_version} by unicode_tables.py.",
        "#pragma once",
        "#include <cstdint>",
        "namespace naively::unicode {",
        *(f"constexpr std::uint8_t {name} = {1 << bit};" for bit, name in enumerate(FLAGS)),
        "struct Kind { std::uint8_t flags; std::int32_t to_lower; };",
        f"constexpr std::uint32_t block_size = {BLOCK};",
        "constexpr Kind kinds[] = {" + ",".join(f"{{{flags},{lower}}}" for flags, lower in kinds) + "};",
        f"constexpr std::uint16_t index[{len(index)}] = {{{','.join(map(str, index))}}};",
        f"constexpr std::uint16_t blocks[{len(blocks)}][{BLOCK}] = {{",
        *("{" + ",".join(map(str, block)) + "}," for block in blocks),
        "};",
        "}",
    ]
    output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
