"""Tokens: rules that split texts into words."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively import _core
from naively.errors import InputError
from naively.read.texts import Texts, as_strings
from naively.store.registry import stored

KINDS = {"words": 0, "sklearn": 1, "chars": 2, "stream": 3}
ACCENTS = ("unicode", "ascii")


@stored()
@dataclass(frozen=True)
class Tokens:
    """A rule that turns texts into words.

    kind
        "words": runs of letters, marks, digits and connectors; in scripts without spaces (Chinese, Japanese, Thai,
        Lao, Khmer, Burmese) every two neighbouring characters. "sklearn": the default of scikit-learn's
        `CountVectorizer`, runs of two or more characters that match `\\w`. "chars": `ngrams` characters in a row, in
        each run between spaces, padded with a space on either side. Or a function from text to a list of tokens.
    ngrams
        Smallest and largest number of words (or characters) in a token.
    negation
        If True, words after a negation ("not", "n't", "never", "no", ...), up to the next punctuation, become other
        words: `NOT_word`.
    """

    kind: Any = "words"
    ngrams: tuple[int, int] = (1, 1)
    lowercase: bool = True
    negation: bool = False
    accents: str | None = None
    stop_words: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not callable(self.kind) and self.kind not in KINDS:
            raise InputError(f"tokens must be 'words', 'sklearn', 'chars' or a function, got {self.kind!r}")
        if callable(self.kind) and type(self.kind).__hash__ is None:
            raise InputError(f"tokens: the function must be hashable, got {self.kind!r}; define __hash__ for its class")
        if self.accents is not None and self.accents not in ACCENTS:
            raise InputError(f"accents must be None, 'unicode' or 'ascii', got {self.accents!r}")
        if self.negation and self.kind not in ("words", "sklearn"):
            raise InputError("negation marks words: it goes with tokens='words' or 'sklearn'")
        if self.spelt and self.stop_words:
            raise InputError("stop words are words: they do not go with tokens='chars'")
        low, high = checked_ngrams(self.ngrams)
        object.__setattr__(self, "ngrams", (low, high))

    @property
    def spelt(self) -> bool:
        """True if tokens are runs of characters, in which a blank does not separate two words."""
        return self.kind in ("chars", "stream")

    @cached_property
    def core(self) -> Any:
        """The rule as an object of the compiled core."""
        kind = KINDS["words"] if callable(self.kind) else KINDS[self.kind]
        lower = self.lowercase and self.accents is None
        stop = None if self.stop_words is None else sorted(self.stop_words)
        return _core.TokenRules.of(kind, lower, self.negation, *self.ngrams, stop)

    def texts(self, X: Any) -> Texts:
        """Convert texts for the core; functions and accents, which it does not handle, are applied text by text."""
        if isinstance(X, Texts):
            return X
        if callable(self.kind):
            return Texts.of_tokens(as_strings(X, self._tokens))
        if self.accents is not None:
            return Texts.of(as_strings(X, self._prepared))
        return Texts.of(X)

    def _prepared(self, text: str) -> str:
        text = text.lower() if self.lowercase else text
        return text if self.accents is None else without_accents(text, self.accents)

    def _tokens(self, text: str) -> list[str]:
        found = self.kind(self._prepared(text))
        if isinstance(found, (str, bytes)) or not hasattr(found, "__iter__"):
            raise InputError(f"tokens: the function must give a list of tokens for each text, got {found!r}")
        return [t.decode("utf-8", "replace") if isinstance(t, bytes) else t for t in found]

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "core"}


def checked_ngrams(ngrams: Any) -> tuple[int, int]:
    try:
        low, high = ngrams
        fine = all(isinstance(n, int) or (hasattr(n, "dtype") and n.dtype.kind in "iu") for n in (low, high))
    except (TypeError, ValueError):
        fine = False
    if not fine or not 1 <= low <= high <= 255:
        raise InputError(f"ngrams must be two whole numbers, from and to, such as (1, 2), got {ngrams!r}")
    return int(low), int(high)


def without_accents(text: str, how: str) -> str:
    """Remove accents from letters; with "ascii", also drop all characters that are not ASCII then.

    >>> without_accents("café", "unicode")
    'cafe'
    """
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join(c for c in decomposed if not unicodedata.combining(c))
