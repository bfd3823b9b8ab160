"""Characters: which belong to words, as ranges that other programs match, and their lower case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.count.vocabulary import Vocabulary
from naively.errors import InputError
from naively.read.texts import Texts
from naively.read.tokens import Tokens

Ranges = tuple[tuple[int, int], ...]
"""Code points from first to last."""

SIGMAS = "σς"
_TWO = "İ", "i\u0307"
"""The only letter whose lower case is two characters; not all rules take both for part of a word."""


@dataclass(frozen=True)
class Characters:
    """Characters of words, those of scripts without spaces (each a word by itself), and lower cases of others."""

    word: Ranges
    spaceless: Ranges
    lower: tuple[tuple[str, str], ...]

    def lower_for(self, words: Iterable[str]) -> list[tuple[str, str]]:
        """Return characters and their lower case, as far as some words can tell the difference."""
        needed = {*"".join(words), _TWO[0]}
        return [pair for pair in self.lower if needed & set("".join(pair))]


@lru_cache(maxsize=4)
def characters_of(kind: str) -> Characters:
    """Return the characters of words as the compiled core sees them: each is read between two letters."""
    points = np.array([point for point in range(1, 0x110000) if not 0xD800 <= point < 0xE000])
    texts = Texts.of([f"qq{chr(point)}qq" for point in points.tolist()])
    words = Vocabulary()
    starts, number, count = _core.read_growing(texts.core, Tokens(kind=kind).core, 1, words.table)
    names = np.array(Vocabulary.all_of(words.table).names_of(np.arange(len(words.table))), object)
    first = names[number[starts[:-1]]]
    alone = np.diff(starts) == 1
    parted = alone & (count[starts[:-1]] == 2)
    two = points == ord(_TWO[0])
    inside = (alone & ~parted) | two
    pairs = ((chr(p), str(w)[2:-2]) for p, w in zip(points[inside].tolist(), first[inside].tolist(), strict=True))
    spaceless = ~alone & ~two
    lower = [*((a, b) for a, b in pairs if a != b and a != _TWO[0]), _TWO]
    return Characters(_ranges(points[inside]), _ranges(points[spaceless]), tuple(lower))


def _ranges(points: Array) -> Ranges:
    runs = np.split(points, np.flatnonzero(np.diff(points) != 1) + 1) if len(points) else []
    return tuple((int(run[0]), int(run[-1])) for run in runs)


def check_exportable(who: str, tokens: Any, words: Iterable[str]) -> None:
    """Raise InputError if another program cannot split texts into these words."""
    characters = set("".join(words))
    problem = None
    if callable(tokens.kind) or tokens.kind not in ("words", "sklearn"):
        problem = f"tokens={tokens.kind!r} are not exported: use tokens='words' or 'sklearn'"
    elif tokens.negation:
        problem = "negation=True is not exported: train without it"
    elif tokens.accents is not None:
        problem = f"accents={tokens.accents!r} is not exported: train without it, or remove accents before"
    elif tokens.lowercase and characters & set(SIGMAS):
        problem = "Greek words are not exported with lowercase=True: the lower case of Σ depends on its place"
    elif tokens.kind == "words" and (found := in_ranges(characters, characters_of("words").spaceless)):
        problem = f"words of scripts without spaces ({min(found)!r}) are not exported"
    if problem is not None:
        raise InputError(f"{who}: {problem}")


def in_ranges(characters: set[str], ranges: Ranges) -> set[str]:
    """Return the characters that lie in these ranges."""
    ends = np.array(ranges, np.int64).reshape(-1, 2)
    points = np.array(sorted(map(ord, characters)), np.int64)
    place = np.searchsorted(ends[:, 0], points, side="right") - 1
    inside = (place >= 0) & (points <= ends[np.maximum(place, 0), 1]) if len(ends) else np.zeros(len(points), bool)
    return {chr(point) for point in points[inside].tolist()}
