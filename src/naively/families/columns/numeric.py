"""ColumnCounts of any distribution: counted as moments and on a grid, weighed by what tells the labels best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, ClassVar

import numpy as np

from naively import _core
from naively.arrays import Array, Value, alike, from_core, nonzero
from naively.count.cells import Cells
from naively.count.column_counts import ColumnCounts
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.count.counts import Counts
from naively.count.exact_sums import ExactSums
from naively.count.grid import BITS, Grid, cells_of, middles, starts, within
from naively.count.ledger import PartLedger
from naively.count.moments import Moments
from naively.families.base import rows_per_class
from naively.families.codes import CodeCounts, LeftOutCodes, code_table
from naively.families.columns.bins import binned, by_frequency, edges
from naively.families.columns.declared import Histogram, Kernel, Number, Rule
from naively.families.columns.kernel import USUAL_BINS, curve_between, kernel_bins
from naively.families.columns.loss import loss_by_bins, loss_by_normal
from naively.families.counts_left_out import Left, concat_rules
from naively.families.densities.base import fitted
from naively.families.densities.gaussian import Gaussian
from naively.names import Index
from naively.read.codes import CodeRows
from naively.read.matrix import error_for, interleaved
from naively.score.density import Density, log_densities
from naively.score.scores import Scores
from naively.score.table import NO_CLASS, CodeTable, Shares, joined_shares, sorted_scores
from naively.smooth.evidence import Known
from naively.smooth.logs import Logs, added
from naively.smooth.rules import Additive, Settled, Smoothing
from naively.store.damage import are, need
from naively.store.registry import stored
from naively.threads import threads


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


@stored()
@dataclass(frozen=True, eq=False)
class Column:
    """How one column is weighed: by normal densities (no edges), or by bins and their log-probabilities."""

    name: str
    rule: Rule
    edges: Array | None = None
    logs: tuple[Array, Array | None] | None = None
    losses: tuple[float, float] | None = None  # leaving one out, by normal densities and by bins
    counts: Array | None = None  # of the bins, by classes
    alpha: float = 0.0  # what was added to them
    width: Array | None = None  # of a kernel's curves, for each class

    @property
    def family_name(self) -> str:
        if self.edges is None:
            return "gaussian"
        return "kernel" if isinstance(self.rule, Kernel) else f"histogram, {len(self.edges) + 1} bins"


@stored()
@dataclass(frozen=True)
class AnyNumbers:
    """Counts moments of the columns that may be normal, and a grid of those that may not."""

    who: str
    columns: tuple[tuple[str, Rule], ...]

    needs_count_histogram: ClassVar[bool] = False
    ignores_prior: ClassVar[bool] = False

    @cached_property
    def rules(self) -> dict[str, Rule]:
        return dict(self.columns)

    @cached_property
    def normal(self) -> Index:
        return Index.of([name for name, rule in self.columns if isinstance(rule, Number)])

    @cached_property
    def gridded(self) -> Index:
        return Index.of([name for name, _ in self.columns])

    def empty(self, classes: Index, features: Any) -> ColumnCounts:
        moments = ExactSums.empty(classes.size, self.normal)
        return ColumnCounts(moments, Counts.empty("grid", classes.size, Grid(self.gridded)))

    def count(
        self, X: NumberColumns, codes: Array, classes: Index, features: Any, weight: Array | None
    ) -> ColumnCounts:
        rows = rows_per_class(codes, weight, classes.size)
        columns = dict(zip(X.names, X.arrays, strict=True))
        moments, infinite = ExactSums.counted(_named(columns, self.normal), codes, rows, self.normal, weight)
        faults = [] if infinite is None else [(infinite[1], X.names.index(self.normal.name(infinite[2])), infinite[0])]
        grid, found = _counted_grid(_named(columns, self.gridded), codes, classes.size, weight)
        faults += [(fault[1], X.names.index(self.gridded.name(j)), fault[0]) for j, fault in found]
        if faults:
            row, j, kind = min(faults)
            raise error_for((kind, row, 0), X.arrays[j][:, None], Index.of([X.names[j]]), self.who, "finite numbers")
        return ColumnCounts(moments, Counts("grid", rows, Grid(self.gridded), grid))

    def features_in(self, X: Any, rule: Any, ledger: PartLedger) -> Array | None:
        return None

    def restrict(self, X: Any, features: Array) -> Any:
        return X

    # --- weighing

    def decided(self, ledger: PartLedger, rule: Smoothing) -> list[Column]:
        """How each column is weighed, as its counts suggest."""
        kept: dict[Any, list[Column]] = ledger.__dict__.setdefault("_decided", {})  # made once for a ledger
        if (self, rule) not in kept:
            total = ledger.total
            total.moments.refuse_too_wide(ledger.classes)
            moments = total.moments.full()
            kept[self, rule] = [self._decided(name, rule, total.grid, moments) for name, _ in self.columns]
        return kept[self, rule]

    def _decided(self, name: str, smoothing: Smoothing, grid: Counts, moments: ExactSums) -> Column:
        rule = self.rules[name]
        cells, counts, grouped = grouped_counts(grid, self.gridded.lookup[name])
        if isinstance(rule, Kernel):
            at, bins, width = kernel_bins(rule, cells, counts)
            settled = smoothing.settle(Known)  # curves are smooth already
            logs = CodeCounts.of([bins], USUAL_BINS).logs(settled)
            return Column(name, rule, at, logs, None, bins, _alpha(settled), width)
        histogram = rule if isinstance(rule, Histogram) else Histogram()
        if isinstance(rule, Number) and too_close(moments, self.normal.lookup[name]):
            return Column(name, rule)
        rows = as_rows(counts)
        at = edges(histogram.bins, histogram.n_bins, cells, rows)
        at = at_groups(at, cells) if grouped else at
        losses = None
        if isinstance(rule, Number):
            table = binned(cells, rows, at)
            settled = smoothing.settle(lambda: CodeCounts.of([table]).urns().urns[0])
            losses = self._losses(self.normal.lookup[name], cells, rows, table, settled, moments)
            if losses[0] < losses[1]:
                return Column(name, rule, losses=losses)
        counted = CodeCounts.of([binned(cells, counts, at)])
        settled = smoothing.settle(lambda: counted.urns().urns[0])
        return Column(name, rule, at, counted.logs(settled), losses, counted.counts, _alpha(settled))

    def _losses(
        self, j: int, cells: Array, counts: Array, table: Array, settled: Settled, moments: ExactSums
    ) -> tuple[float, float]:
        """Log-loss of the labels by this column alone, each row left out in turn: by normal densities, and by bins."""
        alpha = max(_alpha(settled), 1e-3)
        own = moments.moments.at((slice(None), j))
        scale = counts.sum() / max(own.n.sum(), 1e-300)
        floor = max(_NORMAL.var_smoothing * float(moments.together.variance[0, j]), 1e-300)
        normal = loss_by_normal(starts(cells), counts, own.n * scale, own.mean, own.variance, floor)
        return normal, loss_by_bins(table, alpha)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> NumberTable:
        return self.table_of(ledger, self.decided(ledger, rule), prior)

    def table_of(self, ledger: PartLedger, columns: list[Column], prior: Array) -> NumberTable:
        """The table of columns for which it is decided how they are weighed."""
        normal = [column for column in columns if column.edges is None]
        bins = [column for column in columns if column.edges is not None]
        return NumberTable(
            self.who, ledger.classes, prior, tuple(columns), self._normal_table(ledger, normal, prior),
            _code_table(self.who, ledger.classes, bins, prior),
        )  # fmt: skip

    def _normal_table(self, ledger: PartLedger, columns: list[Column], prior: Array) -> Density | None:
        if not columns:
            return None
        sums = ledger.total.moments.full()
        at = slice(None), [self.normal.lookup[column.name] for column in columns]
        parameters = normal_parameters(sums.moments.at(at), sums.together.moments.at(at))
        names = Index.of([column.name for column in columns])
        return Density(self.who, ledger.classes, names, prior, _NORMAL, parameters)

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: NumberColumns, codes: Array, weight: Array | None
    ) -> Left:
        """Bins, bandwidths and the choice between them and the Gaussian stay as they are with all rows."""
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        tables = [self.table(ledger, rule, np.zeros(ledger.classes.size)) for rule in rules]
        numbers = [
            t._matrix(X, dict(zip(X.names, X.arrays, strict=True))) if t.normal is not None else None for t in tables
        ]

        def left_out(rows: slice) -> Left:
            part = NumberColumns(X.names, tuple(a[rows] for a in X.arrays), rows.stop - rows.start)
            return [
                self._left_out(ledger, table, rule, part, None if x is None else x[rows], codes[rows], each[rows])
                for table, rule, x in zip(tables, rules, numbers, strict=True)
            ]

        step = max(1, (1 << 19) // max(len(X.arrays) * ledger.classes.size, 1))
        parts = [left_out(slice(i, min(i + step, X.rows))) for i in range(0, X.rows, step)]
        return concat_rules(parts, len(rules), ledger.classes.size)

    def _left_out(
        self, ledger: PartLedger, table: NumberTable, rule: Smoothing, X: NumberColumns, x: Array | None,
        codes: Array, weight: Array,
    ) -> Logs:  # fmt: skip
        arrays = dict(zip(X.names, X.arrays, strict=True))
        parts: list[Logs] = [(np.zeros((X.rows, ledger.classes.size)), None)]
        if x is not None:
            at = [self.normal.lookup[column.name] for column in table.columns if column.edges is None]
            parts.append((self._normal_left_out(ledger.total.moments.full(), at, x, codes, weight), None))
        if table.bins is not None:
            columns = [column for column in table.columns if column.edges is not None]
            counts = [column.counts for column in columns if column.counts is not None]
            sizes = zip(counts, columns, strict=True)
            usual = np.array([len(bins) if column.width is None else USUAL_BINS for bins, column in sizes])
            found = table._codes(X, arrays).codes
            part = None
            if any(column.width is not None for column in columns):
                part = np.ones(found.shape)
                for j in [j for j, column in enumerate(columns) if column.width is not None]:
                    part[:, j] = own_part(arrays[columns[j].name], found[:, j], columns[j], codes)
            own = LeftOutCodes.of(CodeCounts.of(counts, usual), found, codes, weight, part)
            settled = rule.settle(lambda: Known(tuple(column.alpha for column in columns)))
            parts.append(own.left_out(table.bins, settled, found))
        return added(parts)

    def _normal_left_out(self, sums: ExactSums, at: list[int], x: Array, codes: Array, weight: Array) -> Array:
        """Return the log-densities of rows of the normal columns (`at`) by the moments without each row."""
        values = np.full((len(x), self.normal.size), np.nan)
        values[:, at] = x
        every = sums.together.without(values, np.zeros_like(codes), weight).at((slice(None), None, at))
        mine = sums.without(values, codes, weight).at((slice(None), None, at))
        scores, of_own = (
            log_densities(_NORMAL, x[:, None], normal_parameters(moments, every)).sum(axis=2)
            for moments in (sums.moments.at((None, slice(None), at)), mine)
        )
        scores[np.arange(len(x)), codes] = of_own[:, 0]
        return scores

    # --- the model

    def n_parameters(self, ledger: PartLedger) -> int:
        """Two numbers for each class and normal column, one less than there are bins for each other."""
        columns = self.decided(ledger, _LAPLACE)
        return ledger.classes.size * sum(2 if c.edges is None else len(c.edges) for c in columns)

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Bins in every combination, and for each of these a mean and a covariance of the normal columns."""
        columns = self.decided(ledger, _LAPLACE)
        bins = 1
        for column in columns:
            bins *= 1 if column.edges is None else len(column.edges) + 1
        d = sum(column.edges is None for column in columns)
        return ledger.classes.size * (bins - 1 + bins * (d + d * (d + 1) // 2))

    def sample(
        self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """A column of numbers for each: normal, or within a cell of the class that is drawn (for a kernel: a bin)."""
        drawn: dict[str, Array] = {}
        table = self.table(ledger, rule, np.zeros(ledger.classes.size))
        for column in table.columns:
            if column.edges is None:
                assert table.normal is not None
                j = table.normal.features.lookup[column.name]
                mean, variance = (values[klass, j] for values in table.normal.parameters)
                known = np.isfinite(variance)
                drawn[column.name] = rng.normal(mean, np.sqrt(variance), size) if known else np.full(size, np.nan)
            elif isinstance(column.rule, Kernel):
                drawn[column.name] = _drawn_bins(column, klass, size, rng)
            else:
                drawn[column.name] = _drawn_cells(ledger.total.grid, self.gridded.lookup[column.name], klass, size, rng)
        return drawn


_NORMAL = Gaussian()
_LAPLACE = Additive(1.0)
"""The alternative to bins where no rule is at hand."""


def _named(columns: dict[str, Array], names: Index) -> list[Array]:
    return [columns[names.name(j)] for j in range(names.size)]


def _counted_grid(
    columns: list[Array], codes: Array, n_classes: int, weight: Array | None
) -> tuple[Cells, list[tuple[int, Any]]]:
    """Cells of all columns, and what cannot be counted, with the column's number."""
    present = np.flatnonzero(np.bincount(codes, minlength=n_classes))
    local = codes if len(present) == n_classes else np.searchsorted(present, codes).astype(np.int32)
    size = len(codes) * len(columns)
    done = _core.count_grids(columns, local, len(present), weight, BITS, threads(size))
    faults = [(j, fault) for j, (_, fault) in enumerate(done) if fault is not None]
    counts = [cells for cells, _ in done if cells is not None]
    return (Cells.empty() if faults else _joined(counts, present)), faults


def _joined(counted: list[tuple[Array, Array, Array, Array]], present: Array) -> Cells:
    """Cells of single columns as those of all; what is missing goes behind the cells of its column."""
    feature: list[Array] = []
    klass: list[Array] = []
    values: list[Array] = []
    for j, (cell, of_class, value, lost) in enumerate(counted):
        value, lost = from_core(value), from_core(lost)
        of_missing = np.flatnonzero(nonzero(lost))
        feature += [cell | (j << CODE_BITS), np.full(len(of_missing), (j << CODE_BITS) | MISSING, np.int64)]
        klass += [present[of_class], present[of_missing]]
        values += [value, lost[of_missing]]
    if not feature:
        return Cells.empty()
    return Cells.sorted(np.concatenate(feature), np.concatenate(klass), np.concatenate(alike(values))[None])


_LARGEST = 1 << 21
"""Largest number of numbers (cells times classes) of a column; beyond that, neighbouring cells are joined."""
_FEWEST_CELLS = 16


def column_counts(grid: Counts, column: int) -> tuple[Array, Array]:
    """The cells of a column, ascending, and its counts, cells by classes."""
    return grouped_counts(grid, column)[:2]


def grouped_counts(grid: Counts, column: int) -> tuple[Array, Array, bool]:
    """The same, and whether a cell stands for its neighbours too, because cells and classes are many."""
    begin, end = np.searchsorted(grid.cells.feature, [column << CODE_BITS, (column << CODE_BITS) | MISSING])
    value, classes = grid.cells.values[0, begin:end], len(grid.rows)
    cells, at = np.unique(grid.cells.feature[begin:end] & MISSING, return_inverse=True)
    most = max(_FEWEST_CELLS, _LARGEST // max(classes, 1))
    grouped = len(cells) > most
    if grouped:
        first = np.concatenate([[0], by_frequency(np.bincount(at, value), most)])
        cells, at = cells[first], np.searchsorted(first, at, side="right") - 1
    size = len(cells) * classes
    counts = np.bincount(at * classes + grid.cells.klass[begin:end], value, minlength=size)
    return cells, counts.astype(np.float64).reshape(len(cells), classes), grouped


def at_groups(edges: Array, cells: Array) -> Array:
    """Edges moved to where groups of neighbouring cells begin, so that no bin ends within a group."""
    place = np.searchsorted(cells, edges)
    return np.unique(np.where(place < len(cells), cells[np.minimum(place, len(cells) - 1)], edges))


def as_rows(counts: Array) -> Array:
    """Counts as if of rows: weights below one on average are raised to one, so that bins can be cut."""
    many = np.count_nonzero(counts)
    total = counts.sum()
    return counts * (many / total) if 0 < total < many else counts


def too_close(moments: ExactSums, column: int) -> bool:
    """True if cells of the grid are too wide to separate the numbers of a column."""
    n, mean, variance = (part[:, column] for part in moments.moments)
    if not n.any() or not variance.any():
        return False
    deviation = np.sqrt(n @ variance / n.sum())
    far = np.sqrt((n * mean * mean).sum() / n.sum())
    return bool(far * 2.0**-BITS > deviation / 4)


def _alpha(settled: Settled) -> float:
    return float(np.max(settled.pseudo(None)))


def own_part(x: Array, code: Array, column: Column, codes: Array) -> Array:
    """How much of the curve about each number lies in the number's own bin."""
    assert column.edges is not None
    assert column.width is not None
    known = ~np.isnan(x)
    ends = np.concatenate([[-np.inf], starts(column.edges), [np.inf]])
    at = np.where(known, code, 0)
    centre = middles(cells_of(np.where(known, x, 0.0)))
    return np.where(known, curve_between(centre, column.width[codes], ends[at], ends[at + 1]), 0.0)


def normal_parameters(own: Moments, every: Moments) -> tuple[Array, ...]:
    """Return means and variances of columns; each column's variances are raised by a share of its own."""
    own, every = (m.at((..., None, None)) for m in (own, every))  # so that each column is the only one
    return tuple(values[..., 0] for values in fitted(_NORMAL, own, every, 0.0))


def _code_table(who: str, classes: Index, columns: list[Column], prior: Array) -> CodeTable | None:
    if not columns:
        return None
    logs = [column.logs for column in columns if column.logs is not None]
    sizes = np.array([len(finite) for finite, _ in logs], np.int64)
    finite = np.concatenate([finite for finite, _ in logs])
    impossible = None
    if any(never is not None for _, never in logs):
        impossible = np.concatenate([np.zeros_like(finite) if never is None else never for finite, never in logs])
    names = Categories(Index.of([c.name for c in columns]), tuple(Index(int(size)) for size in sizes))
    return code_table(who, classes, names, prior, sizes, (finite, impossible))


def _drawn_cells(grid: Counts, column: int, klass: int, size: int, rng: np.random.Generator) -> Array:
    cells, counts = column_counts(grid, column)
    weight = counts[:, klass] if counts[:, klass].any() else counts.sum(axis=1)
    if not weight.any():
        return np.full(size, np.nan)
    at = cells[rng.choice(len(cells), size, p=weight / weight.sum())]
    numbers = starts(cells)
    return starts(at) if (numbers == np.floor(numbers)).all() else within(at, rng.random(size))


def _drawn_bins(column: Column, klass: int, size: int, rng: np.random.Generator) -> Array:
    assert column.edges is not None
    assert column.logs is not None
    finite, impossible = column.logs
    if not len(column.edges):
        return np.full(size, np.nan)
    chance = np.exp(finite[:, klass]) * (1.0 if impossible is None else impossible[:, klass] <= 0)
    ends = starts(column.edges)
    ends = np.concatenate([ends[:1], ends, ends[-1:]])  # the outermost bins have no end: they stand for their edge
    at = rng.choice(len(chance), size, p=chance / chance.sum())
    return ends[at] + rng.random(size) * (ends[at + 1] - ends[at])


def _check_numbers(table: NumberTable) -> None:
    need(are(table.prior, "f8", table.classes.size), "the prior of numbers")
    plain = [column.name for column in table.columns if column.edges is None]
    binned = [column.name for column in table.columns if column.edges is not None]
    for column in table.columns:
        edges = column.edges
        need(edges is None or (are(edges, "i8", None) and (np.diff(edges) > 0).all()), "the bins of numbers")
    need((table.normal is not None) >= bool(plain) and (table.bins is not None) >= bool(binned), "columns of numbers")
    need(table.normal is None or table.normal.features.listed == plain, "columns of numbers")
    need(table.bins is None or table.bins.categories.columns.listed == binned, "bins of numbers")


@stored(check=_check_numbers, endless=NO_CLASS)
@dataclass(frozen=True, eq=False)
class NumberTable(Value):
    """Normal densities for some columns, bins for the others."""

    who: str
    classes: Index
    prior: Array
    columns: tuple[Column, ...]
    normal: Density | None
    bins: CodeTable | None

    @property
    def ignored(self) -> set[str]:
        """Columns that add the same to every class, whatever their value: of one bin, or of one value."""
        names = {column.name for column in self.columns if column.edges is not None and not len(column.edges)}
        if self.normal is not None:
            unknown = ~self.normal.known.any(axis=0)
            names |= {self.normal.features.name(j) for j in np.flatnonzero(unknown).tolist()}
        return names

    def codes(self, X: NumberColumns) -> dict[str, Array]:
        """For each column that has bins, the bin of each row (the lowest number of int32: missing)."""
        names = [column.name for column in self.columns if column.edges is not None]
        found = self._codes(X, dict(zip(X.names, X.arrays, strict=True))).codes if names else np.zeros((X.rows, 0))
        return dict(zip(names, found.T, strict=True))

    def score(self, X: NumberColumns) -> Scores:
        arrays = dict(zip(X.names, X.arrays, strict=True))
        parts: list[Scores] = []
        if self.normal is not None:
            parts.append(self.normal.score(self._matrix(X, arrays)))
        if self.bins is not None:
            parts.append(self.bins.score(self._codes(X, arrays)))
        if not parts:
            return sorted_scores(self.classes, np.zeros((X.rows, self.classes.size)), self.prior)
        return reduce(Scores.plus, parts)

    def coded(self, X: NumberColumns) -> tuple[CodeTable, CodeRows] | None:
        """The same as a table of codes, where there are only bins."""
        if self.normal is not None or self.bins is None:
            return None
        return self.bins, self._codes(X, dict(zip(X.names, X.arrays, strict=True)))

    def shares(self, X: NumberColumns) -> Shares:
        arrays = dict(zip(X.names, X.arrays, strict=True))
        parts: list[Shares] = []
        if self.normal is not None:
            parts.append(self.normal.shares(self._matrix(X, arrays)))
        if self.bins is not None:
            parts.append(self.bins.shares(self._codes(X, arrays)))
        return joined_shares(parts, self.classes.size)

    def _matrix(self, X: NumberColumns, arrays: dict[str, Array]) -> Array:
        names = [column.name for column in self.columns if column.edges is None]
        return interleaved([arrays[name] for name in names], X.rows, np.float64)

    def _codes(self, X: NumberColumns, arrays: dict[str, Array]) -> CodeRows:
        edges = {column.name: column.edges for column in self.columns if column.edges is not None}

        def refuse(fault: tuple[int, int, int]) -> Exception:
            kind, row, j = fault
            name = list(edges)[j]
            return error_for((kind, row, 0), arrays[name][:, None], Index.of([name]), self.who, "finite numbers")

        columns = [_core.Column.of_bins(arrays[name], at, BITS) for name, at in edges.items()]
        return CodeRows(columns, X.rows, refuse)
