"""Samples of the rows that a model has counted: the same for any order, batches and partition of the rows.

Each row has a key, a fixed hash of its content and label. A sample keeps the different rows with the smallest keys, and
some of each class, each with the weight of all its copies. The sample of two sets of rows is therefore found in the
samples of each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array, Value, alike, less, negative, nonzero, rounded, scaled, summed_by
from naively.count.counts import spread, sum_of
from naively.families.base import rows_per_class
from naively.names import Index
from naively.read.frame import Frame
from naively.read.joined import joined_frames, types_of
from naively.read.row_keys import row_keys
from naively.read.texts import Texts
from naively.store.registry import stored

NO_CLASSES = Index(0)
_WAITING = 256
"""Largest number of rows that wait until their keys are computed: one by one, that would cost more."""


@stored()
@dataclass(frozen=True)
class Limits:
    """The size of a sample: `rows` of all, of at most `size` bytes of text together, and of each class `of_class`."""

    rows: int
    size: int
    of_class: int = 0

    def smaller(self, other: Limits) -> Limits:
        """Return the smaller of each limit."""
        return Limits(min(self.rows, other.rows), min(self.size, other.size), min(self.of_class, other.of_class))

    def kept(self, sizes: Array, codes: Array, n_classes: int) -> Array:
        """Return a mask of the rows to keep; rows are in the order of their keys."""
        mask = (np.arange(len(sizes)) < self.rows) & (_before(sizes) < self.size)
        if mask.all() or not self.of_class:
            return mask
        order = np.argsort(codes, kind="stable")
        first = np.flatnonzero(np.diff(codes[order], prepend=-1))
        start = np.repeat(first, np.diff(np.append(first, len(order))))
        before = _before(sizes[order])
        rank, before = np.arange(len(order)) - start, before - before[start]
        mask[order] |= (rank < max(min(self.of_class, self.rows // n_classes), 1)) & (before < self.size // n_classes)
        return mask


def _before(sizes: Array) -> Array:
    """Return the sum of the sizes of all earlier rows."""
    return np.cumsum(sizes) - sizes


@stored()
@dataclass(frozen=True, eq=False)
class KeptRows(Value):
    """Different rows with columns of the same types, in the order of their keys.

    `exact` is the weight of all copies of each row: int64, or FIXED where weights have fractions.
    """

    frame: Frame
    keys: Array
    codes: Array
    exact: Array

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def weight(self) -> Array:
        return rounded(self.exact).astype(np.float64)

    @cached_property
    def found(self) -> dict[Any, Any]:
        """A cache of things found out about these rows."""
        return {}

    def level(self, n_rows: float) -> float:
        """Return how many times the weight of these rows `n_rows` is, as a power of two; 1.0 if these are all."""
        mine = float(self.weight.sum())
        return 1.0 if mine >= n_rows * (1 - 1e-9) else 2.0 ** np.floor(np.log2(n_rows / mine))

    @property
    def sizes(self) -> Array:
        """Number of bytes of each text; 0 for rows of a table."""
        texts = self.frame.whole
        return texts.core.lengths() if isinstance(texts, Texts) else np.zeros(len(self), np.int64)

    def numbered(self, place: Array) -> KeptRows:
        """Return the same rows with other numbers of classes, without those of classes that have none (-1)."""
        moved = replace(self, codes=place[self.codes])
        if (moved.codes < 0).any():
            return moved.take(np.flatnonzero(moved.codes >= 0))
        moved.__dict__["found"] = self.found
        return moved

    def take(self, rows: Array) -> KeptRows:
        return KeptRows(self.frame.take(rows), self.keys[rows], self.codes[rows], self.exact[rows])

    def joined(self, others: list[KeptRows]) -> KeptRows:
        """Return all rows in the order of their keys, with copies of what they hold."""
        groups = [self, *others]
        keys, codes = (np.concatenate([getattr(g, n) for g in groups]) for n in ("keys", "codes"))
        exact = np.concatenate(alike([group.exact for group in groups]))
        order = np.argsort(keys, kind="stable")
        frame = joined_frames([group.frame for group in groups]).take(order)
        if isinstance(frame.whole, Texts):
            frame = Frame.of_rows(frame.whole.copied())
        return KeptRows(frame, keys[order], codes[order], exact[order])


@dataclass(frozen=True, eq=False)
class _Waiting:
    """Rows whose keys are not computed yet."""

    frame: Frame
    codes: Array
    classes: Index
    weight: Array | None

    def rows(self, classes: Index, places: Array | None, limits: Limits | None = None) -> KeptRows:
        """Return the rows with their keys; with `limits`, those alone that these may keep."""
        each = np.arange(len(self.codes), dtype=np.int32)
        weight = None if self.weight is None else self.weight.astype(np.float64)
        exact = rows_per_class(each, weight, len(each))
        codes = self.codes.astype(np.int64) if places is None else places[self.codes]
        keys = row_keys(self.frame, codes, classes)
        near = None if limits is None or limits.of_class else _smallest(keys, limits.rows)
        if near is None:
            return KeptRows(self.frame, keys, codes, exact)
        return KeptRows(self.frame.take(near), keys[near], codes[near], exact[near])


@stored()
@dataclass(frozen=True, eq=False)
class Sample(Value):
    """Rows that were counted, chosen by their keys.

    >>> classes, texts = Index.of(["ham", "spam"]), Frame.of_rows(Texts.of(["a", "b", "c", "d", "a"]))
    >>> sample = Sample(Limits(rows=3, size=1000)).with_rows(texts, np.array([0, 1, 0, 1, 0]), classes, None)
    >>> sample.n_rows
    3
    """

    limits: Limits
    classes: Index = NO_CLASSES
    known: tuple[KeptRows, ...] = ()
    waiting: tuple[_Waiting, ...] = ()

    def with_rows(self, frame: Frame, codes: Array, classes: Index, weight: Array | None) -> Sample:
        """Return the sample of these rows as well."""
        waiting = (*self.waiting, _Waiting(_detached(frame), codes, classes, weight))
        result = replace(self, waiting=waiting)
        return result.settled if sum(len(rows.codes) for rows in waiting) >= _WAITING else result

    def __add__(self, other: Sample) -> Sample:
        mine, theirs = self.settled, other.settled
        classes, places = mine.classes.union(theirs.classes, "classes")
        moved = [g if places is None else replace(g, codes=places[g.codes]) for g in theirs.known]
        limits = mine.limits.smaller(theirs.limits)
        return Sample(limits, classes, _united(mine.known, moved, limits, classes.size))

    def without(self, frame: Frame, codes: Array, classes: Index, weight: Array | None) -> Sample:
        """Return the sample without these rows, as far as they are in it."""
        mine = self.settled
        named, places = mine.classes.union(classes, "classes")
        forgotten = _Waiting(frame, codes, classes, weight).rows(named, places)
        keys, place = np.unique(forgotten.keys, return_inverse=True)
        gone = summed_by(place.ravel(), forgotten.exact[None], len(keys))[0]
        left = []
        for group in mine.known:
            at = np.minimum(np.searchsorted(keys, group.keys), len(keys) - 1)
            hit = np.flatnonzero(keys[at] == group.keys)
            if len(hit):
                rest, fewer = alike([group.exact, less(group.exact[hit], gone[at[hit]])])
                rest = rest.copy()
                rest[hit] = fewer
                group = replace(group, exact=rest).take(np.flatnonzero(nonzero(rest) & ~negative(rest)))
            left += [group] if len(group) else []
        return mine if left == list(mine.known) else replace(mine, known=tuple(left))

    def scaled(self, factor: float) -> Sample:
        """Return the sample of rows that weigh so many times as much."""
        mine = self.settled
        less = [replace(group, exact=scaled(group.exact, np.array(factor))) for group in mine.known]
        left = (group.take(np.flatnonzero(nonzero(group.exact))) for group in less)
        return replace(mine, known=tuple(group for group in left if len(group)))

    @cached_property
    def settled(self) -> Sample:
        """The same sample, without waiting rows."""
        if not self.waiting:
            return self
        classes, groups = self.classes, []
        for waiting in self.waiting:
            classes, places = classes.union(waiting.classes, "classes")
            groups.append(waiting.rows(classes, places, self.limits))
        return Sample(self.limits, classes, _united(self.known, groups, self.limits, classes.size))

    @property
    def groups(self) -> tuple[KeptRows, ...]:
        """The rows of the sample: those with columns of the same types together."""
        return self.settled.known

    @property
    def n_rows(self) -> int:
        """Number of different rows."""
        return sum(map(len, self.groups))

    def weight_of(self, classes: Index) -> Array:
        """Return the weight of the rows of each of these classes, copies included."""
        mine = self.settled
        own = sum_of([np.bincount(g.codes, g.weight, mine.classes.size) for g in mine.known] or [np.zeros(1)])
        place = classes.locate(mine.classes.names) if mine.classes.names is not None else np.zeros(0, np.int64)
        result = np.zeros(classes.size)
        result[place[place >= 0]] = spread(own, mine.classes.size, None)[place >= 0]
        return result

    def rows_for(self, classes: Index) -> list[KeptRows]:
        """Return the rows of these classes, labelled by their numbers."""
        mine = self.settled
        place = classes.locate(mine.classes.names) if mine.classes.names is not None else np.zeros(0, np.int64)
        return [group.numbered(place) for group in mine.known]

    def __getstate__(self) -> dict[str, Any]:
        settled = self.settled
        return {"limits": settled.limits, "classes": settled.classes, "known": settled.known, "waiting": ()}


def _smallest(keys: Array, n_keys: int) -> Array | None:
    """Return the numbers of all rows with the `n_keys` smallest different keys, and some more; None: of all rows."""
    size = 4 * n_keys
    while size < len(keys):
        near = np.flatnonzero(keys <= np.partition(keys, size)[size])
        if len(np.unique(keys[near])) > n_keys:
            return near
        size *= 4
    return None


def _detached(frame: Frame) -> Frame:
    """Return the rows with copies of what their owner might still change."""
    if frame.whole is not None or not any(isinstance(values, np.ndarray) for values in frame.columns.values()):
        return frame
    columns = {name: v.copy() if isinstance(v, np.ndarray) else v for name, v in frame.columns.items()}
    return Frame(columns, frame.rows, frame.named)


def _united(known: tuple[KeptRows, ...], more: list[KeptRows], limits: Limits, n_classes: int) -> tuple[KeptRows, ...]:
    """Return the sample of all these rows, as groups of rows of the same types; `known` groups have no row twice."""
    groups = [*known, *more]
    if not groups:
        return known
    keys, codes, sizes = (np.concatenate([getattr(g, n) for g in groups]) for n in ("keys", "codes", "sizes"))
    exact = np.concatenate(alike([group.exact for group in groups]))
    _, distinct, place = np.unique(keys, return_index=True, return_inverse=True)
    sums = summed_by(place.ravel(), exact[None], len(distinct))[0]
    kept = limits.kept(sizes[distinct], codes[distinct], n_classes)
    chosen, sums = distinct[kept], sums[kept]
    begin = np.cumsum([0, *map(len, groups)])
    all_known = len(chosen) == begin[len(known)] == np.count_nonzero(chosen < begin[len(known)])
    if all_known and np.array_equal(sums[np.argsort(chosen)], exact[: len(chosen)]):
        return known  # no row was added, was removed, or has one more copy
    by_type: dict[Any, list[KeptRows]] = {}
    of_group = np.searchsorted(begin, chosen, side="right") - 1
    for number, group in enumerate(groups):
        mine = of_group == number
        if mine.any():
            own = exact[begin[number] : begin[number + 1]].copy()
            own[chosen[mine] - begin[number]] = sums[mine]
            part = replace(group, exact=own)
            by_type.setdefault(types_of(group.frame), []).append(part.take(np.sort(chosen[mine] - begin[number])))
    return tuple(parts[0].joined(parts[1:]) for parts in by_type.values())
