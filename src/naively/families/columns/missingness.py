"""Missingness: what it says of the class that a value is missing; one yes/no feature per column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.arrays import Array, Value
from naively.count.columns import Categories
from naively.families.base import remainder
from naively.families.codes_left_out import LeftOutCodes, codes_left_out
from naively.names import Index
from naively.read.columns import missing
from naively.read.frame import Frame
from naively.score.table import CodeTable, Shares, padded
from naively.smooth.evidence import Draws
from naively.smooth.rules import Logs, Smoothing, settled
from naively.store.registry import stored


@stored()
@dataclass(frozen=True, eq=False)
class Missingness(Value):
    """The table of which values are missing, made from what the blocks have counted."""

    names: tuple[str, ...]
    table: CodeTable
    counts: Array  # how often each value is there and missing, by classes
    rule: Smoothing

    @classmethod
    def of(
        cls, who: str, classes: Index, rows: Array, names: list[str], lost: list[Array], rule: Smoothing
    ) -> Missingness:
        """`lost` is how often each column is missing, by classes."""
        gone = np.array(lost).reshape(len(names), classes.size)
        counts = (
            np.stack([remainder(rows, gone), gone], axis=1).reshape(2 * len(names), classes.size).astype(np.float64)
        )
        known = np.broadcast_to(rows, (len(names), len(rows)))
        rule = settled(rule, lambda: Draws.of(counts, known, 2.0))
        pseudo = rule.pseudo(None)
        finite, impossible = rule.log(counts, rows.astype(np.float64), pseudo, 2 * pseudo, 2)
        columns = Categories(Index.of([f"{name} missing" for name in names]), (Index(2),) * len(names))
        unseen = padded(np.zeros((len(names), classes.size)))
        table = CodeTable(
            who, classes, columns, np.zeros(classes.size), padded(finite), unseen,
            None if impossible is None else (padded(impossible), unseen),
            2 * np.arange(len(names)), np.full(len(names), 2),
        )  # fmt: skip
        return cls(tuple(names), table, counts, rule)

    @property
    def lost(self) -> tuple[list[str], list[Array]]:
        """The columns, and how often each is missing, by classes."""
        return list(self.names), list(self.counts[1::2])

    def codes(self, X: Frame) -> Array:
        """1 where a value is missing."""
        result = np.empty((len(X), len(self.names)), np.uint8)
        for j, name in enumerate(self.names):
            result[:, j] = missing(X.get(name))
        return result

    def shares(self, codes: Array) -> Shares:
        return self.table.shares(codes)

    def left_out(self, X: Frame, rows: Array, codes: Array, weight: Array | None) -> Logs:
        """The score of each row by the other rows; `rows` are those of each class."""
        found = self.codes(X)
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        known = np.broadcast_to(rows.astype(np.float64), (len(self.names), len(rows)))
        own = LeftOutCodes.of(found, codes, each, self.counts, known, self.table.categories)
        return codes_left_out(own, self.table, self.rule, found, ignore=False)
