"""Coded columns: categories and bins that the compiled core looks up while it scores them, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively import _core
from naively.arrays import Array
from naively.threads import threads


@dataclass(frozen=True, eq=False)
class CodeRows:
    """Columns of one length, each of which gives every row a code (the lowest number of int32: missing).

    `refuse` makes the error for a value that cannot be used, from its kind, row and column.

    `refuse` makes an error of the kind, row and column of a value that cannot be used.
    """

    columns: list[_core.Column]
    rows: int
    refuse: Callable[[tuple[int, int, int]], Exception]

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.columns)

    @property
    def size(self) -> int:
        return self.rows * len(self.columns)

    @cached_property
    def codes(self) -> Array:
        """All codes as an array, rows by columns."""
        codes, fault = _core.read_codes(self.columns, self.rows, threads(self.size))
        if fault is not None:
            raise self.refuse(fault)
        return codes


@dataclass(frozen=True, eq=False)
class CodeTerm:
    """Columns and a row of weights for each code of each column; codes from `sizes` on have the weights `unseen`."""

    columns: CodeRows
    weights: Array
    unseen: Array
    offsets: Array
    sizes: Array

    @property
    def term(self) -> tuple[list[_core.Column], Array, Array, Array, Array]:
        """The term in the form that the compiled core takes."""
        return self.columns.columns, self.weights, self.unseen, self.offsets, self.sizes


def sums(terms: Sequence[CodeTerm], classes: int) -> Array:
    """Return for each row and class the sum of the weights of the row's codes."""
    scores, _, fault = _core.score_columns([term.term for term in terms], *_size(terms, classes))
    _refuse(terms, fault)
    return scores


def highest(terms: Sequence[CodeTerm], prior: Array) -> Array:
    """Return for each row the first class whose sum plus prior is highest, without keeping the sums."""
    rows, _, n_threads = _size(terms, len(prior))
    places, fault = _core.decide_columns([term.term for term in terms], rows, prior, n_threads)
    _refuse(terms, fault)
    return places


def _size(terms: Sequence[CodeTerm], classes: int) -> tuple[int, int, int]:
    return terms[0].columns.rows, classes, threads(sum(term.columns.size for term in terms))


def _refuse(terms: Sequence[CodeTerm], fault: tuple[int, int, int] | None) -> None:
    if fault is None:
        return
    kind, row, column = fault
    for term in terms:
        if column < len(term.columns.columns):
            raise term.columns.refuse((kind, row, column))
        column -= len(term.columns.columns)


def codes_of(X: Any) -> Any:
    """Return rows of codes as an array or a matrix."""
    return X.codes if isinstance(X, CodeRows) else X
