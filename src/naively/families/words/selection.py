"""Selection of words by their association with labels, from a tally alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from naively.arrays import Array, sums_by, total_of
from naively.count.cells import Cells
from naively.count.counts import Counts
from naively.errors import InputError
from naively.store.registry import stored

OCCURRENCES, DOCUMENTS, WEIGHT = 0, 1, 2
_BLOCK = 1 << 20


def chi_square(a: Array, b: Array, c: Array, d: Array) -> Array:
    """n (ad - bc)² / ((a + b)(c + d)(a + c)(b + d)) of documents with and without a word, in a label and outside it.

    >>> chi_square(*map(np.array, ([10.0], [0.0], [0.0], [10.0]))).tolist()
    [20.0]
    """
    n = a + b + c + d
    below = (a + b) * (c + d) * (a + c) * (b + d)
    return np.where(below > 0, n * (a * d - b * c) ** 2 / np.where(below > 0, below, 1.0), 0.0)


def mutual_information(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Mutual information of the label and the word, in nats.

    >>> mutual_information(*map(np.array, ([10.0], [0.0], [0.0], [10.0]))).round(4).tolist()
    [0.6931]
    """
    n = a + b + c + d
    parts = ((a, a + b, a + c), (b, a + b, b + d), (c, c + d, a + c), (d, c + d, b + d))
    return sum((_information(both, one, other, n) for both, one, other in parts), np.zeros(np.shape(a + n)))


def _information(both: Array, one: Array, other: Array, n: Array) -> Array:
    there = both > 0
    odds = np.where(there, both * n, 1.0) / np.where(there, one * other, 1.0)
    return np.where(there, both / n * np.log(odds), 0.0)


def information_gain(with_word: Array, rows: Array) -> Array:
    """Information of a word about the label, in nats, from documents per word and label."""
    n, having = rows.sum(), with_word.sum(axis=1, keepdims=True)
    without = rows - with_word
    share = rows / n
    there = np.where(with_word > 0, with_word, 1.0) / np.where(with_word > 0, having * share, 1.0)
    absent = np.where(without > 0, without, 1.0) / np.where(without > 0, (n - having) * share, 1.0)
    parts = np.where(with_word > 0, with_word / n * np.log(there), 0.0)
    parts += np.where(without > 0, without / n * np.log(absent), 0.0)
    return parts.sum(axis=1)


PER_LABEL: dict[str, Callable[..., Array]] = {"chi2": chi_square, "mutual_information": mutual_information}
CRITERIA = (*PER_LABEL, "information_gain")


@stored()
@dataclass(frozen=True)
class Best:
    """The best `n` words: of all, or of each label.

    `by` is "chi2" (chi-square), "mutual_information" (of a word and a label) or "information_gain" (of a word and
    all labels). Among all, a word counts by its best label. Of words that are equally good, the first by name are
    taken.

    >>> Best(50, by="chi2", per="label")
    Best(n=50, by='chi2', per='label')
    """

    n: int
    by: str = "chi2"
    per: str = "all"

    def __post_init__(self) -> None:
        if not isinstance(self.n, Integral) or self.n < 1:
            raise InputError(f"Best: n must be a whole number above 0, got {self.n!r}")
        if self.by not in CRITERIA:
            raise InputError(f"Best: by must be one of {', '.join(CRITERIA)}, got {self.by!r}")
        if self.per not in ("all", "label"):
            raise InputError(f"Best: per must be 'all' or 'label', got {self.per!r}")
        if self.per == "label" and self.by == "information_gain":
            raise InputError("Best: information gain is of all labels at once; use by='mutual_information' per label")

    def among(self, tally: Counts, numbers: Array) -> Array:
        """Return the best of these words (sorted numbers)."""
        quality = self.quality(tally, numbers)
        columns = [quality.max(axis=1)] if self.per == "all" else list(quality.T)
        chosen = [first(numbers, column, self.n, tally) for column in columns]
        return np.unique(np.concatenate(chosen)) if chosen else numbers[:0]

    def quality(self, tally: Counts, numbers: Array) -> Array:
        """Return the criterion of each word for each label (in the order of the tally), or for all labels at once."""
        rows = tally.rows.astype(np.float64)
        parts = [self._quality(there, rows) for there in documents_by_label(tally, numbers)]
        return np.concatenate(parts) if parts else np.zeros((0, max(len(rows), 1)))

    def _quality(self, there: Array, rows: Array) -> Array:
        if self.by == "information_gain":
            return information_gain(there, rows)[:, None]
        elsewhere = there.sum(axis=1, keepdims=True) - there
        return PER_LABEL[self.by](there, elsewhere, rows - there, rows.sum() - rows - elsewhere)


def documents_by_label(tally: Counts, numbers: Array) -> Iterator[Array]:
    """Yield the number of documents with each word, words by labels, a block of words at a time."""
    classes = max(len(tally.rows), 1)
    step = max(1, _BLOCK // classes)
    cells = tally.cells
    for start in range(0, len(numbers), step):
        block = numbers[start : start + step]
        low, high = np.searchsorted(cells.feature, [block[0], block[-1] + 1])
        place = np.searchsorted(block, cells.feature[low:high])
        place = np.minimum(place, len(block) - 1)
        mine = block[place] == cells.feature[low:high]
        there = np.zeros((len(block), classes))
        there[place[mine], cells.klass[low:high][mine]] = cells.values[DOCUMENTS, low:high][mine]
        yield there


def first(numbers: Array, quality: Array, n: int, tally: Counts) -> Array:
    """The n best numbers; of equals, the first by name."""
    if n >= len(numbers):
        return numbers
    quality = np.round(quality / max(float(quality.max()), np.finfo(np.float64).tiny), 12)  # not by rounding errors
    least = np.partition(quality, len(quality) - n)[len(quality) - n]
    above, equal = numbers[quality > least], numbers[quality == least]
    words: Any = tally.features
    return np.concatenate([above, equal[words.order_of(equal)[: n - len(above)]]])


@stored()
@dataclass(frozen=True, eq=False)
class Selection:
    """The limits that select the words of a table."""

    min_df: Any = 1
    max_df: Any = 1.0
    max_features: int | None = None
    best: Best | None = None
    yields: bool = False  # whether `min_df` gives way where it would leave no word

    def __post_init__(self) -> None:
        value: Any
        for name, value in (("min_df", self.min_df), ("max_df", self.max_df)):
            count, whole = isinstance(value, Real) and not isinstance(value, bool), isinstance(value, Integral)
            if not count or not (value >= 1 if whole else 0.0 <= value <= 1.0):
                raise InputError(f"{name} must be a number of documents or a share from 0.0 to 1.0, got {value!r}")
        n = self.max_features
        if n is not None and (not isinstance(n, Integral) or n < 1):
            raise InputError(f"max_features must be None or a whole number above 0, got {n!r}")
        if self.best is not None and not isinstance(self.best, Best):
            raise InputError(f"select must be None or a rule such as Best(1000, by='chi2'), got {self.best!r}")

    @property
    def lowest(self) -> tuple[bool, Any]:
        """A pair: is `min_df` a share, and its value; so 1 and 1.0 differ."""
        return not isinstance(self.min_df, Integral), self.min_df

    @property
    def highest(self) -> tuple[bool, Any]:
        return not isinstance(self.max_df, Integral), self.max_df

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Selection) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return self.lowest, self.highest, self.max_features, self.best, self.yields

    @property
    def none(self) -> bool:
        """True if all words are selected."""
        return (
            self.lowest == (False, 1) and self.highest == (True, 1) and (self.max_features, self.best) == (None, None)
        )

    @property
    def by_rows(self) -> bool:
        """True if a word is selected by the number of its texts alone, whatever the other words."""
        least = isinstance(self.min_df, Integral)
        return least and self.highest == (True, 1) and (self.max_features, self.best) == (None, None)

    def kept(self, tally: Counts, numbers: Array) -> Array:
        """Return the selected words among these (sorted numbers)."""
        if self.none or not len(numbers):
            return numbers
        total = total_of(tally.rows)
        low, high = (v if isinstance(v, Integral) else v * total for v in (self.min_df, self.max_df))
        documents = summed(tally, numbers, DOCUMENTS)
        if self.yields and not ((documents >= low) & (documents <= high)).any():
            low = 0
        if high < low:
            raise InputError(f"max_df={self.max_df} comes to fewer documents than min_df={self.min_df}")
        kept = numbers[(documents >= low) & (documents <= high)]
        if self.max_features is not None:
            kept = np.sort(first(kept, summed(tally, kept, OCCURRENCES), int(self.max_features), tally))
        if self.best is not None and len(kept):
            kept = self.best.among(tally, kept)
        if not len(kept):
            raise InputError("no word is left after selection; lower min_df, or raise max_df")
        return kept


def summed(tally: Counts, numbers: Array, plane: int) -> Array:
    """Return the sum of a plane over all labels, for these words (sorted numbers)."""
    place = np.searchsorted(numbers, tally.cells.feature)
    place = np.minimum(place, max(len(numbers) - 1, 0))
    mine = numbers[place] == tally.cells.feature if len(numbers) else np.zeros(len(place), bool)
    return sums_by(place[mine], tally.cells.values[plane][mine], len(numbers))


def restricted(cells: Cells, numbers: Array) -> Cells:
    """The cells of these words (sorted numbers), numbered by their place among them."""
    if len(numbers) and len(numbers) == numbers[-1] + 1 and (not len(cells) or cells.feature[-1] < len(numbers)):
        return cells  # all of them
    place = places(numbers, cells.feature)
    mine = place >= 0
    return replace(cells.taken(mine), feature=place[mine])


def narrowed(cells: Cells, kept: Array, planes: Collection[int]) -> Cells:
    """Return the cells of some features (a mask), renumbered, with values of some planes alone."""
    mine = np.flatnonzero(kept[cells.feature])
    exact = np.zeros((len(cells.exact), len(mine)), cells.exact.dtype)
    for plane in planes:
        if plane < len(exact):
            np.take(cells.exact[plane], mine, out=exact[plane])
    return Cells((np.cumsum(kept) - 1)[cells.feature[mine]], cells.klass[mine], exact)


_DENSE = 1 << 24


def places(numbers: Array, wanted: Array) -> Array:
    """Return the place of each wanted number among some (sorted); -1 for those that are absent or below 0."""
    if not len(numbers) or not len(wanted):
        return np.full(len(wanted), -1, np.int64)
    most = max(int(numbers[-1]), int(wanted.max())) + 1
    if most > _DENSE:
        found = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
        return np.where(numbers[found] == wanted, found, -1)
    place = np.full(most + 1, -1, np.int64)  # and one behind the last, for numbers below 0
    place[numbers] = np.arange(len(numbers))
    return place[wanted]


def held_among(numbers: Array, held: Array) -> Array:
    """Return a mask of the numbers (sorted) that are in `held`."""
    mask = np.zeros(len(numbers), bool)
    found = places(numbers, held)
    mask[found[found >= 0]] = True
    return mask
