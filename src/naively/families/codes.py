"""Codes: columns that hold one of a few outcomes, as categories and bins are; each class of a column is an urn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.count.columns import Categories
from naively.errors import NegativeCount
from naively.families.base import remainder
from naively.families.counts_left_out import unsorted
from naively.names import Index
from naively.score.table import CodeTable, missing_codes, padded
from naively.smooth.evidence import Columns, Draws
from naively.smooth.logs import NOTHING, Logs
from naively.smooth.rules import Context, Settled


@dataclass(frozen=True, eq=False)
class CodeCounts(Value):
    """Counts of each code in each class, for some columns, one after another."""

    counts: Array  # codes by classes
    column: Array  # of each code
    known: Array  # columns by classes: rows that have a value
    sizes: Array  # number of codes of each column
    usual: Any = None  # number of codes that pseudo-counts refer to, by column; None: `sizes`

    @classmethod
    def of(cls, columns: list[Array], usual: Any = None) -> CodeCounts:
        """Join the counts of columns without missing values, each codes by classes."""
        sizes = np.array([len(counts) for counts in columns])
        known = np.stack([counts.sum(axis=0) for counts in columns])
        return cls(np.concatenate(columns), np.repeat(np.arange(len(columns)), sizes), known, sizes, usual)

    @cached_property
    def offsets(self) -> Array:
        return np.cumsum(self.sizes) - self.sizes

    def urns(self) -> Columns:
        """Return what the codes of each column were drawn from, where all codes are there."""
        ends = (self.offsets + self.sizes).tolist()
        found = zip(self.offsets.tolist(), ends, self.known, strict=True)
        return Columns([Draws.of(self.counts[a:b], known, float(b - a)) for a, b, known in found])

    def logs(self, settled: Settled) -> Logs:
        """Return the log-probability of each code."""
        return self.context(settled, self.column[:, None]).log(self.counts, self.known[self.column])

    def unseen(self, settled: Settled) -> Logs:
        """Return the log-probability of a code that was never seen, in each column."""
        return self.context(settled, np.arange(len(self.sizes))[:, None]).log(np.zeros(self.known.shape), self.known)

    def context(self, settled: Settled, column: Array) -> Context:
        """Return what the rule needs to know of codes in these columns."""
        size = np.maximum(self.sizes, 1.0)
        pseudo = settled.pseudo(None) if self.usual is None else settled.pseudo(None) * (self.usual / size)
        return Context(settled, size[column], pseudo[column] if isinstance(pseudo, np.ndarray) else pseudo)


def code_table(
    who: str, classes: Index, columns: Categories, prior: Array, sizes: Array, logs: Logs, unseen: Logs = NOTHING
) -> CodeTable:
    """Return the table of columns with these `sizes`, of log-probabilities codes by classes."""
    nothing = np.zeros((len(sizes), classes.size))
    impossible = None
    if logs[1] is not None:
        impossible = padded(logs[1]), padded(nothing if unseen[1] is None else unseen[1])
    return CodeTable(
        who, classes, columns, prior, padded(logs[0]), padded(nothing + unseen[0]), impossible,
        np.cumsum(sizes) - sizes, sizes,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class LeftOutCodes(Value):
    """The counts of each row's codes in its own class without the row, rows by columns."""

    counted: CodeCounts
    codes: Array  # the class of each row
    missing: Array
    at: Array  # the code, all of them standing in one line; 0 where there is none
    left: Array
    known: Array
    alone: Array  # True where no other row has the code

    @classmethod
    def of(cls, counted: CodeCounts, X: Array, codes: Array, weight: Array, part: Array | None = None) -> LeftOutCodes:
        """`part` is what part of a row went to the code that it has (None: all of it)."""
        missing, each = missing_codes(X), weight[:, None]
        code = np.where(missing, 0, X).astype(np.int64)
        none = missing | (code < 0) | (code >= counted.sizes)
        at = np.where(none, 0, counted.offsets + code)
        counts = counted.counts if len(counted.counts) else np.zeros((1, counted.known.shape[1]))
        there = np.where(none, 0.0, counts[at, codes[:, None]])
        own = np.where(missing, 0.0, each if part is None else each * part)
        left, rows = there - own, counted.known.T[codes]
        beyond_all = left < -1e-9 * np.maximum(own, rows)  # counts may themselves be differences
        if beyond_all.any():
            raise NegativeCount(
                f"row {int(np.argmax(beyond_all.any(axis=1)))} holds more than was counted of its class: leave out "
                "rows that the model was fitted on"
            )
        left = np.where(left <= 1e-12 * there, 0.0, left)
        alone = (counts.sum(axis=1)[at] - own <= 1e-12 * own) & ~missing
        return cls(counted, codes, missing, at, left, remainder(rows, each), alone)

    def left_out(self, table: CodeTable, settled: Settled, X: Array, *, ignore: bool | Array = False) -> Logs:
        """Return the scores of each row by the counts without it; `ignore` leaves out a code that no other row has.

        It says so of all columns, or of each. Only scores of the row's own class are other than the table says.
        """
        finite, impossible = unsorted(table.score(X), table.classes)
        parts = [finite.copy(), None if impossible is None else impossible.copy()]
        context = self.counted.context(settled, np.arange(len(self.counted.sizes)))
        own = list(context.log(self.left, self.known))
        alone = self.alone & ignore
        if alone.any():
            tables = table.weights, None if table.impossible is None else table.impossible[0]
            parts = [self._without(alone, a, b) for a, b in zip(parts, tables, strict=True)]
            own = [None if a is None else np.where(alone, 0.0, a) for a in own]
        rows = np.arange(len(self.codes))
        for part, mine in zip(parts, own, strict=True):
            if part is not None:
                part[rows, self.codes] = 0.0 if mine is None else np.where(self.missing, 0.0, mine).sum(axis=1)
        assert parts[0] is not None
        return parts[0], parts[1]

    def _without(self, alone: Array, scores: Array | None, weights: Array | None) -> Array | None:
        """Return scores without the codes that no other row has."""
        if scores is not None and weights is not None:
            row, column = np.nonzero(alone)
            np.subtract.at(scores, row, weights[self.at[row, column], : scores.shape[1]])
        return scores
