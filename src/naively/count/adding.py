"""Adds many tallies, one after another, without holding them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import IntArray
from naively.count.cells import Cells
from naively.count.counts import WORDS, Counts, sum_of
from naively.count.tally import Tally
from naively.count.vocabulary import Vocabulary
from naively.errors import NaivelyError


def add_all(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies, each taken when the one before it has been added.

    It equals `a + b + c + ...`, but copies no large sum for each of them: all words are numbered by one vocabulary that
    grows, and counts are added to counts of like size first.
    """
    given = iter(tallies)
    total, following = next(given), next(given, None)
    if following is None:
        return total
    growing = _GrowingSum(total)
    del total
    while following is not None:
        growing.add(following)
        following = next(given, None)
    return growing.total()


class _GrowingSum:
    """The sum of tallies; `known` has their classes and rows."""

    def __init__(self, first: Tally):
        self.parts: dict[str, Any] = {
            name: _WordSum(part) if isinstance(part, Counts) and part.kind in WORDS else _PartSum(part)
            for name, part in first.parts.items()
        }
        self.known = Tally(first.classes, first.exact_rows, dict.fromkeys(first.parts, None))  # type: ignore[arg-type]

    def add(self, tally: Tally) -> None:
        self.known = self.known.with_parts_of(tally)
        for name in self.known.parts.keys() - self.parts.keys():
            self.parts[name] = _PartSum(self.known.parts[name])
        classes, tally = self.known.aligned(tally.with_parts_of(self._sample()))
        for name, part in self.parts.items():
            part.add(tally.parts[name])
        self.known = replace(self.known, classes=classes, exact_rows=sum_of([self.known.exact_rows, tally.exact_rows]))

    def _sample(self) -> Tally:
        """Return a tally that has one of the parts of each name."""
        parts: Any = {n: p.sums[0] if isinstance(p, _PartSum) else p.known for n, p in self.parts.items()}
        return replace(self.known, parts=parts)

    def total(self) -> Tally:
        return replace(self.known, parts={name: part.total() for name, part in self.parts.items()})


class _PartSum:
    """The sum of parts that are small, or have no words."""

    def __init__(self, first: Any):
        self.sums = [first]

    def add(self, part: Any) -> None:
        _push(self.sums, part, lambda part: part.size)

    def total(self) -> Any:
        return _summed(self.sums)


class _WordSum:
    """The sum of counts of words; `known` has their features and rows, `whole` and `weighted` the cells."""

    def __init__(self, first: Counts):
        self.known = replace(first, cells=Cells.empty(len(first.planes)))
        self.owns_vocabulary = False
        self.whole = _core.CellSum(len(first.planes))
        self.weighted: list[Cells] = []
        self._put(first.cells, None)

    def add(self, part: Counts) -> None:
        self.known.check_alike(part)
        features, moved = self._united(self.known.features, part.features)
        rows = sum_of([self.known.exact_rows, part.exact_rows])
        self.known = replace(self.known, features=features, exact_rows=rows)
        self._put(part.cells, moved)

    def _united(self, mine: Any, theirs: Any) -> tuple[Any, IntArray | None]:
        """Return the union of features and the numbers of theirs in it; a vocabulary is copied once, then extended."""
        if not isinstance(mine, Vocabulary) or not isinstance(theirs, Vocabulary) or mine.source is theirs.source:
            return mine.union(theirs, "features")
        if not self.owns_vocabulary:
            mine, self.owns_vocabulary = mine.copied(), True
        return mine.grown(theirs)

    def _put(self, cells: Cells, moved: IntArray | None) -> None:
        if cells.exact.dtype == np.int64:
            with _within_64_bits():
                self.whole.add(cells.feature if moved is None else moved[cells.feature], cells.klass, cells.exact)
        else:
            _push(self.weighted, cells.renumbered(None if moved is None else moved.__getitem__, None), len)

    def total(self) -> Counts:
        with _within_64_bits():
            cells = Cells(*self.whole.take())
        return replace(self.known, cells=_summed([cells, *self.weighted]))


@contextmanager
def _within_64_bits() -> Iterator[None]:
    try:
        yield
    except OverflowError as error:
        raise NaivelyError(f"{error}; divide the weights by a common factor") from None


def _push(sums: list[Any], value: Any, size: Callable[[Any], int]) -> None:
    """Append a value; sums that are not twice as large as the next are added to it, so that each is copied rarely."""
    sums.append(value)
    while len(sums) > 1 and size(sums[-2]) < 2 * size(sums[-1]):
        last = sums.pop()
        sums[-1] = sums[-1] + last


def _summed(sums: list[Any]) -> Any:
    return reduce(lambda later, earlier: earlier + later, reversed(sums))
