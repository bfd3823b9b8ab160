"""What the tokeniser and the vocabulary must do, in plain Python."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

SPACELESS = (
    "CJK ", "IDEOGRAPHIC ITERATION", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA",
    "THAI ", "LAO ", "KHMER ", "MYANMAR ",
)  # fmt: skip
NEGATORS = {"not", "no", "never", "cannot", "neither", "nor", "nobody", "none", "nothing", "nowhere", "without"}
APOSTROPHES = ("'", "\u2019")
CLOSING = re.compile("[.,;:!?\u3002\uff0c\uff01\uff1f\uff1b\uff1a]")
Span = tuple[int, int]


@cache
def sort_of(character: str) -> str:
    """W: part of a word; S: of a script without spaces; a blank: neither."""
    category = unicodedata.category(character)
    if category[0] in "LM" and unicodedata.name(character, "").startswith(SPACELESS):
        return "S"
    return "W" if category[0] in "LMN" or category == "Pc" else " "


def word_spans(text: str) -> list[Span]:
    """Where words are; of a script without spaces, every two neighbours."""
    spans: list[Span] = []
    for run in re.finditer("W+|S+", "".join(map(sort_of, text))):
        start, end = run.span()
        if run[0][0] == "W" or end - start == 1:
            spans.append((start, end))
        else:
            spans += [(i, i + 2) for i in range(start, end - 1)]
    return spans


def negates(text: str, before: Span | None, span: Span) -> bool:
    word = text[slice(*span)]
    if word.isascii() and word.lower() in NEGATORS:
        return True
    if word not in ("t", "T") or before is None:
        return False
    return text[before[1] - 1] in "nN" and text[before[1] : span[0]] in APOSTROPHES


def marked(text: str, spans: list[Span]) -> list[str]:
    """Words; those behind a negation, up to the next punctuation, say so."""
    found, before, in_force = [], None, False
    for span in spans:
        if before is not None and CLOSING.search(text[before[1] : span[0]]):
            in_force = False
        found.append("NOT_" * in_force + text[slice(*span)])
        in_force = in_force or negates(text, before, span)
        before = span
    return found


def word_ngrams(words: list[str], low: int, high: int) -> list[str]:
    return [" ".join(words[i : i + n]) for n in range(low, high + 1) for i in range(len(words) - n + 1)]


def character_ngrams(text: str, low: int, high: int) -> list[str]:
    return [text[i : i + n] for n in range(low, high + 1) for i in range(len(text) - n + 1)]


def padded_ngrams(text: str, low: int, high: int) -> list[str]:
    """Inside what lies between spaces, with a space on either side; what is too short is there once, as it is."""
    found = []
    for word in text.split():
        padded = f" {word} "
        found += character_ngrams(padded, low, high)
        if len(padded) < low:
            found.append(padded)
    return found


def tokens_of(text: str | None, rule: Any) -> list[str]:
    """The tokens of a text by a rule; a word that was marked is a stop word if it was one before."""
    if text is None:
        return []
    text = text.lower() if rule.lowercase else text
    if rule.kind == "chars":
        return padded_ngrams(text, *rule.ngrams)
    if rule.kind == "stream":
        return character_ngrams(re.sub(r"\s\s+", " ", text), *rule.ngrams)
    spans = word_spans(text) if rule.kind == "words" else [run.span() for run in re.finditer(r"\w+", text)]
    words = marked(text, spans) if rule.negation else [text[a:b] for a, b in spans]
    if rule.kind == "sklearn":
        words = [word for word, (a, b) in zip(words, spans, strict=True) if b - a > 1]
    stop = rule.stop_words or ()
    kept = [word for word in words if (word.removeprefix("NOT_") if rule.negation else word) not in stop]
    return word_ngrams(kept, *rule.ngrams)


def names_from(data: bytes, length: list[int], before: list[int], last: list[int]) -> list[bytes] | None:
    """The names that a vocabulary's arrays stand for; None where they are damaged."""
    names: list[bytes] = []
    words: list[int] = []
    parts = list(zip(before, last, strict=False))
    if len(before) != len(last):
        return None
    for i, size in enumerate(length):
        if size >= 0:
            if size > len(data):
                return None
            name, data = data[:size], data[size:]
            words.append(1)
        else:
            if size != -1 or not parts:
                return None
            a, b = parts.pop(0)
            if not (0 <= a < i and 0 <= b < i and words[b] == 1):
                return None
            name = names[a] + b" " + names[b]
            words.append(words[a] + 1)
        names.append(name)
    entries = list(zip(names, words, strict=True))
    return None if data or parts or len(set(entries)) < len(entries) else names
