"""Rows of codes left out: only the counts of a row's own class change, by one in each of its categories."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively.cells import Array
from naively.errors import NeverCounted
from naively.families.base import remainder
from naively.families.left_out import unsorted
from naively.names import Categories
from naively.rows import SparseRows
from naively.smoothing import Logs, Smoothing
from naively.table import CodeTable, missing_codes
from naively.values import Value


@dataclass(frozen=True, eq=False)
class OwnCodes(Value):
    """The entries of some rows, and what is left of their categories in their own class."""

    codes: Array  # the class of each row
    row: Array  # of each entry
    column: Array
    at: Array  # its category, all of them standing in one line
    left: Array
    known: Array
    alone: Array  # whether no other row has the category
    size: Array  # how many categories its column has

    @classmethod
    def of(
        cls, X: Array, codes: Array, weight: Array, counts: Array, known: Array, categories: Categories,
        share: Array | None = None,
    ) -> OwnCodes:  # fmt: skip
        """`counts` are those of all categories in one line, `known` the rows in which a column is (both by classes).

        `share` is what part of a row went to the category that it is in (None: all of it).
        """
        row, column = np.nonzero(~missing_codes(X))
        code = X[row, column].astype(np.int64)
        klass, each = codes[row], weight[row]
        part = each if share is None else each * share[row, column]
        beyond = (code < 0) | (code >= categories.sizes[column])
        at = np.where(beyond, 0, categories.offsets[column] + code)
        counts = counts if len(counts) else np.zeros((1, known.shape[1]))
        there = np.where(beyond, 0.0, counts[at, klass])
        left = there - part
        beyond_all = left < -1e-9 * np.maximum(part, known[column, klass])  # counts may be differences themselves
        if beyond_all.any():
            raise NeverCounted(
                f"row {int(row[np.argmax(beyond_all)])} holds more than was counted of its class: leave out "
                "rows that the model was fitted on"
            )
        left = np.where(left <= 1e-12 * there, 0.0, left)
        alone = counts[at].sum(axis=1) - part <= 1e-12 * part
        rest = remainder(known[column, klass], each)
        return cls(codes, row, column, at, left, rest, alone, categories.sizes[column].astype(np.float64))

    @cached_property
    def _pick(self) -> Any:
        starts = np.searchsorted(self.row, np.arange(len(self.codes) + 1))
        many = len(self.row)
        return SparseRows(np.ones(many), np.arange(many), starts, (len(self.codes), many)).matrix()

    def sums(self, values: Array) -> Array:
        """Sums over the entries of each row."""
        return self._pick @ values


def codes_left_out(
    own: OwnCodes, table: CodeTable, rule: Smoothing, X: Array, *, ignore: bool, share: Any = 1.0
) -> Logs:
    """Rows by classes; `ignore` leaves out a category that no other row has, `share` is what a rule's pseudo-counts
    are multiplied with, for each column."""
    finite, odd = unsorted(table.score(X), table.classes)
    finite = finite.copy()
    pseudo = np.broadcast_to(rule.pseudo(None) * share, (len(table.sizes),))[own.column]
    mine, mine_odd = rule.log(own.left, own.known, pseudo, pseudo * own.size, own.size)
    if ignore and own.alone.any():
        alone, classes = own.alone[:, None], finite.shape[1]
        finite -= own.sums(np.where(alone, table.weights[own.at, :classes], 0.0))
        mine = np.where(own.alone, 0.0, mine)
        if odd is not None and table.impossible is not None:
            odd = odd - own.sums(np.where(alone, table.impossible[0][own.at, :classes], 0.0))
        mine_odd = None if mine_odd is None else np.where(own.alone, 0.0, mine_odd)
    rows = np.arange(len(own.codes))
    finite[rows, own.codes] = own.sums(mine)
    if odd is not None:
        odd = odd.copy()
        odd[rows, own.codes] = 0.0 if mine_odd is None else own.sums(mine_odd)
    return finite, odd
