"""Terms: what a model adds up for a row, in a form that knows no library; exporters write it in other languages.

Weights have one column for each class, in sorted order. What a row lacks adds nothing, unless a term says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from naively.arrays import Array
from naively.score.calibration import PerClass, Temperature

TEXT, NUMBER, BOOLEAN, FLAG, TIME = "text", "number", "boolean", "flag", "time"
"""Kinds of values of a column; a flag is a number or a boolean."""


@dataclass(frozen=True, eq=False)
class Names:
    """A value's code is its place among these names."""

    kind: str
    names: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Whole:
    """A number from 0 on is its own code; it has `size` codes."""

    size: int
    kind: str = NUMBER


@dataclass(frozen=True, eq=False)
class Bins:
    """A number's code is how many of these ends are not above it."""

    ends: tuple[float, ...]
    kind: str = NUMBER


@dataclass(frozen=True, eq=False)
class Above:
    """The code is 1 above the threshold, else 0."""

    threshold: float
    kind: str = FLAG


@dataclass(frozen=True, eq=False)
class DatePart:
    """The code is the month, the weekday (from Monday) or the hour of a point in time, from 0 on."""

    part: str
    kind: str = TIME


@dataclass(frozen=True, eq=False)
class IsMissing:
    """The code is 1 where a value is missing, else 0; `kind` is that of the values."""

    kind: str


Coding = Names | Whole | Bins | Above | DatePart | IsMissing


@dataclass(frozen=True, eq=False)
class Weights:
    """Finite weights, rows by classes, and how many factors of probability zero they stand for (None: none)."""

    finite: Array
    impossible: Array | None = None


@dataclass(frozen=True, eq=False)
class Codes:
    """A column of codes: a row of weights for each code, and a last one for codes that were never seen."""

    column: str
    coding: Coding
    weights: Weights


@dataclass(frozen=True, eq=False)
class Sums:
    """Columns of numbers, each times its weights; `missing` weighs the columns that have no value."""

    columns: tuple[str, ...]
    weights: Weights
    base: Weights
    missing: Weights | None = None
    threshold: float | None = None


@dataclass(frozen=True, eq=False)
class Densities:
    """A column of numbers with a density for each class; `parameters` have a value for each class."""

    column: str
    family: Any
    parameters: tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Words:
    """A column of texts: weights of words, and what any text adds beside them (`base`).

    `weighting` is "counts", "binary", or "tfidf" with the `idf` of each word.
    """

    column: str
    tokens: Any
    words: tuple[str, ...]
    weights: Weights
    base: Weights
    weighting: str
    idf: Array | None = None


Term = Codes | Sums | Densities | Words


@dataclass(frozen=True, eq=False)
class Terms:
    """All terms of a model, its classes in sorted order, their log-priors, and how scores become probabilities."""

    who: str
    labels: tuple[Any, ...]
    prior: Array
    terms: tuple[Term, ...]
    calibration: Temperature | PerClass

    @property
    def has_impossible(self) -> bool:
        """True if some factor may be impossible."""
        parts = [part for term in self.terms for part in weights_of(term)]
        return any(part.impossible is not None for part in parts)

    @property
    def offsets(self) -> Array | None:
        """Constants of classes that are added to calibrated scores; None: there are none."""
        return self.calibration.offsets if isinstance(self.calibration, PerClass) else None

    @property
    def temperature(self) -> float:
        """The number that scores are divided by."""
        return self.calibration.temperature if isinstance(self.calibration, PerClass) else self.calibration.value


def weights_of(term: Term) -> list[Weights]:
    """Return all weights of a term."""
    if isinstance(term, Densities):
        return []
    if isinstance(term, Codes):
        return [term.weights]
    more = [term.missing] if isinstance(term, Sums) and term.missing is not None else []
    return [term.weights, term.base, *more]


def column_kinds(term: Term) -> dict[str, str]:
    """Return the columns that a term reads, and the kinds of their values."""
    if isinstance(term, Sums):
        return dict.fromkeys(term.columns, NUMBER)
    if isinstance(term, Densities):
        return {term.column: NUMBER}
    if isinstance(term, Words):
        return {term.column: TEXT}
    return {term.column: term.coding.kind}
