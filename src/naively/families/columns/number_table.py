"""NumberTable: how columns of numbers are weighed, each as categories, bins or densities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.columns import Categories
from naively.families.codes import code_table
from naively.families.columns.bins import bin_range
from naively.families.columns.declared import Bernoulli, Categorical, Kernel, Rule
from naively.families.densities.base import NumberFamily
from naively.names import Index
from naively.read.codes import CodeRows
from naively.read.matrix import error_for, interleaved
from naively.score.density import Density
from naively.score.scores import Scores
from naively.score.table import NO_CLASS, CodeTable, Shares, joined_shares, sorted_scores
from naively.store.damage import are, need
from naively.store.registry import stored


@dataclass(frozen=True, eq=False)
class NumberColumns:
    """Columns of numbers, NaN where missing."""

    names: tuple[str, ...]
    arrays: tuple[Array, ...]
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.arrays)

    @property
    def size(self) -> int:
        return self.rows * len(self.arrays)

    @cached_property
    def by_name(self) -> dict[str, Array]:
        return dict(zip(self.names, self.arrays, strict=True))

    def part(self, rows: slice) -> NumberColumns:
        """Some of the rows."""
        return NumberColumns(self.names, tuple(a[rows] for a in self.arrays), rows.stop - rows.start)


def _check_column(column: Column) -> None:
    codes = column.edges is not None, column.values is not None
    need(sum(codes) == (column.density is None) == (column.logs is not None), "the bins of numbers")
    need(column.edges is None or are(column.edges, "f8", None), "the bins of numbers")
    need(column.values is None or are(column.values.names, "i8", None), "the categories of numbers")


@stored(check=_check_column, endless={"parameters": np.inf})
@dataclass(frozen=True, eq=False)
class Column:
    """The family of one column, and why: a density with its parameters, or codes with their log-probabilities.

    A code is a bin (`edges`: the number at which each begins, but for the first), or a category (`values`).
    """

    name: str
    family: Rule
    why: str
    level: int  # of the ticks that were counted
    parameters: tuple[Array, ...] | None = None  # of a density, for each class
    edges: Array | None = None
    values: Index | None = None
    logs: tuple[Array, Array | None] | None = None
    counts: Array | None = None  # of the codes, by classes
    alpha: float = 0.0  # what was added to them
    width: Array | None = None  # of a kernel's curves, for each class
    losses: dict[str, float] = field(default_factory=dict)  # by label of each family that was compared, in order

    @property
    def density(self) -> NumberFamily | None:
        return self.family if isinstance(self.family, NumberFamily) else None

    @property
    def description(self) -> str:
        """The family as text, with the number of its codes."""
        if self.density is not None or isinstance(self.family, (Bernoulli, Kernel)):
            return self.family.label
        n_codes = 0 if self.counts is None else len(self.counts)
        what = "categories" if isinstance(self.family, Categorical) else "bins"
        return f"{self.family.label}, {n_codes:,} {what}"

    @property
    def ignored(self) -> str:
        """The reason why the column adds the same to every class, whatever its value; empty where it does not."""
        if self.parameters is not None:
            return "" if np.isfinite(self.parameters[-1]).any() else "one value"
        if self.values is not None:
            return "one category" if self.values.size < 2 else ""
        return "" if self.edges is None or len(self.edges) else "one bin"

    def reordered(self, places: Array) -> Column:
        """Return the column with its classes in another order."""

        def moved(values: Array | None) -> Array | None:
            return None if values is None else np.ascontiguousarray(values[..., places])

        parameters = None if self.parameters is None else tuple(values[places] for values in self.parameters)
        logs = None if self.logs is None else (self.logs[0][..., places], moved(self.logs[1]))
        return replace(self, parameters=parameters, logs=logs, counts=moved(self.counts), width=moved(self.width))

    def code_name(self, code: int) -> str:
        """A category, or the range of a bin, as text."""
        if isinstance(self.family, Bernoulli):
            return str(bool(code))
        if self.values is not None:
            return str(self.values.name(code))
        assert self.edges is not None
        return bin_range(self.edges, code)

    def coded(self, array: Array) -> _core.Column:
        """Numbers as codes; a number that is no category has the code behind the last."""
        if self.values is not None:
            return _core.Column.of_numbers(array, self.values.whole)
        assert self.edges is not None
        return _core.Column.of_bins(array, self.edges)


def _check_numbers(table: NumberTable) -> None:
    need(are(table.prior, "f8", table.classes.size), "the prior of numbers")
    coded = table.coded_columns
    for column in coded:
        need(column.edges is None or (np.diff(column.edges) > 0).all(), "the bins of numbers")
    plain = {column.name for column in table.columns if column.density is not None}
    need({name for density in table.densities for name in density.features.listed} == plain, "columns of numbers")
    need((table.codes is None) == (not coded), "columns of numbers")
    names = None if table.codes is None else table.codes.categories.columns.listed
    need(names is None or names == [column.name for column in coded], "bins of numbers")


@stored(check=_check_numbers, endless=NO_CLASS)
@dataclass(frozen=True, eq=False)
class NumberTable(Value):
    """Densities for some columns, a table for each family, and codes for the others."""

    who: str
    classes: Index
    prior: Array
    columns: tuple[Column, ...]
    densities: tuple[Density, ...]
    codes: CodeTable | None

    @classmethod
    def of(cls, who: str, classes: Index, columns: tuple[Column, ...], prior: Array) -> NumberTable:
        densities = []
        for family in dict.fromkeys(column.density for column in columns if column.density is not None):
            mine = [column for column in columns if column.density == family]
            each = zip(*(column.parameters for column in mine if column.parameters is not None), strict=True)
            parameters = tuple(np.stack(values, axis=1) for values in each)
            densities.append(Density(who, classes, Index.of([c.name for c in mine]), prior, family, parameters))
        return cls(who, classes, prior, columns, tuple(densities), _code_table(who, classes, columns, prior))

    @property
    def coded_columns(self) -> list[Column]:
        return [column for column in self.columns if column.density is None]

    @property
    def ignored(self) -> set[str]:
        """Columns that add the same to every class, whatever their value."""
        return {column.name for column in self.columns if column.ignored}

    def family_of(self, density: Density) -> NumberFamily:
        """The family of one of the tables of densities."""
        return next(c.density for c in self.columns if c.density is not None and c.density == density.family)

    def density_of(self, name: str) -> tuple[Density, int]:
        """The table of the density of a column, and the column's place in it."""
        return next((d, d.features.lookup[name]) for d in self.densities if name in d.features.lookup)

    def codes_of(self, X: NumberColumns) -> dict[str, Array]:
        """For each column that has codes, the code of each row (the lowest number of int32: missing)."""
        names = [column.name for column in self.coded_columns]
        found = self.code_rows(X).codes if names else np.zeros((X.rows, 0))
        return dict(zip(names, found.T, strict=True))

    def score(self, X: NumberColumns) -> Scores:
        parts = [density.score(self.matrix(X, density)) for density in self.densities]
        if self.codes is not None:
            parts.append(self.codes.score(self.code_rows(X)))
        if not parts:
            return sorted_scores(self.classes, np.zeros((X.rows, self.classes.size)), self.prior)
        return reduce(Scores.plus, parts)

    def coded(self, X: NumberColumns) -> tuple[CodeTable, CodeRows] | None:
        """The same as a table of codes, where there are no densities."""
        return None if self.densities or self.codes is None else (self.codes, self.code_rows(X))

    def shares(self, X: NumberColumns) -> Shares:
        parts: list[Shares] = [density.shares(self.matrix(X, density)) for density in self.densities]
        if self.codes is not None:
            parts.append(self.codes.shares(self.code_rows(X)))
        return joined_shares(parts, self.classes.size)

    def matrix(self, X: NumberColumns, density: Density) -> Array:
        """The columns of a density as an array."""
        assert density.features.names is not None
        names = density.features.names.tolist()
        return interleaved([X.by_name[name] for name in names], X.rows, np.float64)

    def code_rows(self, X: NumberColumns) -> CodeRows:
        """The columns that have codes, as the core reads them."""
        columns = self.coded_columns
        coded = [column.coded(X.by_name[column.name]) for column in columns]
        return CodeRows(coded, X.rows, self._refusal(X, [column.name for column in columns]))

    def _refusal(self, X: NumberColumns, names: list[str]) -> Callable[[tuple[int, int, int]], Exception]:
        def refuse(fault: tuple[int, int, int]) -> Exception:
            kind, row, j = fault
            array = X.by_name[names[j]][:, None]
            return error_for((kind, row, 0), array, Index.of([names[j]]), self.who, "finite numbers")

        return refuse


def _code_table(who: str, classes: Index, columns: tuple[Column, ...], prior: Array) -> CodeTable | None:
    coded = [column for column in columns if column.density is None]
    if not coded:
        return None
    logs = [column.logs for column in coded if column.logs is not None]
    sizes = np.array([len(finite) for finite, _ in logs], np.int64)
    finite = np.concatenate([finite for finite, _ in logs])
    impossible = None
    if any(never is not None for _, never in logs):
        impossible = np.concatenate([np.zeros_like(finite) if never is None else never for finite, never in logs])
    names = Categories(Index.of([c.name for c in coded]), tuple(Index(int(size)) for size in sizes))
    return code_table(who, classes, names, prior, sizes, (finite, impossible))
