"""Declarations of columns: small frozen rules, named after the family of the column.

>>> from naively import Categorical, NaiveBayes, Poisson, Text
>>> model = NaiveBayes(columns={"zip": Categorical(), "visits": Poisson(), "review": Text(ngrams=(1, 2)), "id": None})
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from naively.errors import InputError
from naively.families.columns.bins import KINDS
from naively.read.columns import BOOLEAN, CATEGORY, NUMBER, TEXT, TIME
from naively.store.registry import stored

PARTS = ("month", "weekday", "hour")
MOST_BINS = 10_000


class Rule:
    """A declaration of a column; `reads` are the kinds of columns it applies to."""

    reads: ClassVar[tuple[str, ...]] = (NUMBER, BOOLEAN)

    @property
    def label(self) -> str:
        """The name of the family in reports."""
        return type(self).__name__.lower()


@stored()
@dataclass(frozen=True)
class Undeclared(Rule):
    """Numbers, or true and false (`boolean`), of which nothing was declared: their counts decide what they are."""

    boolean: bool = False

    @property
    def label(self) -> str:
        return "number"


@stored()
@dataclass(frozen=True)
class Refitted(Rule):
    """Numbers, or true and false, that were counted value by value and are taken for a family (None: left out)."""

    family: Rule | None
    boolean: bool = False

    @property
    def label(self) -> str:
        return "left out" if self.family is None else self.family.label


@stored()
@dataclass(frozen=True)
class Number(Rule):
    """Numbers with a density (Gaussian, log-normal, gamma) or a histogram, whichever predicts the labels better.

    Leave-one-out scores of the counted rows decide it.
    """


@stored()
@dataclass(frozen=True)
class Histogram(Rule):
    """Numbers in bins, which are chosen from the counts at first use.

    `bins`: "mdl" cuts where that helps to predict the labels (Fayyad and Irani), "width" makes `n_bins` of equal width,
    "frequency" `n_bins` that hold equally many rows, "sqrt" as many of these as the square root of the rows.
    """

    bins: str = "mdl"
    n_bins: int | None = None

    def __post_init__(self) -> None:
        if self.bins not in KINDS:
            raise InputError(f"bins must be one of {KINDS}, got {self.bins!r}")
        n_bins = self.n_bins
        if n_bins is not None and not (
            isinstance(n_bins, Integral) and not isinstance(n_bins, bool) and 0 < n_bins <= MOST_BINS
        ):
            raise InputError(f"n_bins must be a whole number above 0 and at most {MOST_BINS:_}, got {n_bins!r}")
        if self.n_bins is not None and self.bins in ("mdl", "sqrt"):
            raise InputError(f"bins={self.bins!r} finds the number of bins itself; leave n_bins out")


@stored()
@dataclass(frozen=True)
class Kernel(Rule):
    """Numbers with a smooth density: a normal curve about each, as wide as `bandwidth`.

    None: Silverman's rule, from the spread and the number of rows of each class.
    """

    bandwidth: float | None = None

    def __post_init__(self) -> None:
        if self.bandwidth is not None and not (
            isinstance(self.bandwidth, Real) and np.isfinite(self.bandwidth) and self.bandwidth > 0
        ):
            raise InputError(f"bandwidth must be above 0, got {self.bandwidth!r}")


@stored()
@dataclass(frozen=True)
class Categorical(Rule):
    """One of a few categories: text, whole numbers, yes and no."""

    reads = (TEXT, CATEGORY, NUMBER, BOOLEAN)


@stored("columns.Bernoulli")
@dataclass(frozen=True)
class Bernoulli(Rule):
    """Yes or no; for a number: is it above the threshold?"""

    threshold: float = 0.0

    def __post_init__(self) -> None:
        if not (isinstance(self.threshold, Real) and np.isfinite(self.threshold)):
            raise InputError(f"threshold must be a number, got {self.threshold!r}")


@stored("columns.Poisson")
@dataclass(frozen=True)
class Poisson(Rule):
    """A number of events, with a rate for each class."""


@stored()
@dataclass(frozen=True)
class Dates(Rule):
    """Points in time, by the parts of which each is a category: "month", "weekday", "hour"."""

    parts: tuple[str, ...] = PARTS
    reads = (TIME,)

    def __post_init__(self) -> None:
        parts = tuple(self.parts) if isinstance(self.parts, (tuple, list)) else ()
        if not parts or any(part not in PARTS for part in parts) or len(set(parts)) != len(parts):
            raise InputError(f"parts must be some of {PARTS}, each once, got {self.parts!r}")
        object.__setattr__(self, "parts", parts)


@stored()
@dataclass(frozen=True)
class Text(Rule):
    """Texts, by their words; the parameters are those of `TextClassifier`."""

    family: str = "multinomial"
    weighting: str = "counts"
    alpha: Any = None
    tokens: Any = "words"
    ngrams: tuple[int, int] = (1, 1)
    negation: bool = False
    lowercase: bool = True
    accents: str | None = None
    stop_words: Any = None
    min_df: Any = 1
    max_df: Any = 1.0
    max_features: int | None = None
    select: Any = None
    vocabulary: Any = None
    hashing: int | None = None
    reads = (TEXT, CATEGORY)

    def __post_init__(self) -> None:
        if isinstance(self.ngrams, list):
            object.__setattr__(self, "ngrams", tuple(self.ngrams))
        for name in ("stop_words", "vocabulary"):
            value = getattr(self, name)
            if isinstance(value, (list, set, frozenset, np.ndarray)):
                object.__setattr__(self, name, tuple(value))


@stored("columns.Multinomial")
@dataclass(frozen=True)
class Multinomial(Rule):
    """Several columns of counts that are parts of one whole, such as words in a text."""


@stored("columns.Complement")
@dataclass(frozen=True)
class Complement(Rule):
    """Several columns of counts that are parts of one whole, weighed by the counts of the other classes."""
