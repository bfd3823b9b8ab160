"""Factors: the values of a row behind the shares of its explanation, and the counts that these come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, cast

import numpy as np

from naively.arrays import Array
from naively.count.columns import CODE_BITS, MISSING
from naively.count.ledger import Ledger, PartLedger
from naively.families.bernoulli import Bernoulli
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.categories import CategoryBlock, CategoryColumn
from naively.families.blocks.category_array import CategoryArrayBlock
from naively.families.blocks.matrix import ArrayBlock, MatrixBlock
from naively.families.blocks.number_columns import NumberBlock
from naively.families.blocks.text import TextBlock, TextsBlock
from naively.families.columns import declared
from naively.families.columns.number_table import NumberTable
from naively.families.complement import Complement
from naively.families.poisson import Poisson
from naively.families.words.block import Words
from naively.names import Index
from naively.read.frame import Frame
from naively.score.density import Density
from naively.score.table import CovarianceTable, Table, missing_codes

Counted = Callable[[int], str]
"""The counts behind a factor, by the number of a class."""


@dataclass(frozen=True)
class Factor:
    """One factor of a score: the value of the row (with its bin), and the counts behind it for each class."""

    value: str
    counted: Counted


@dataclass(frozen=True, eq=False)
class RowCounts:
    """The counts behind the factors of one row, as text; a frozen model has only those in its table."""

    blocks: Blocks
    table: Table
    ledger: Ledger
    frame: Frame
    factors: Mapping[str, Factor] = field(default_factory=dict)  # of the columns of a table
    prior_by_rows: bool = True  # the prior is computed from the rows of each class

    def __call__(self, name: Any) -> Sequence[str]:
        """Return the counts behind a factor (None: the prior) for each class, the classes sorted by name."""
        classes = self.ledger.classes
        counted = self._of_prior if name is None else self._of_factor(name)
        return tuple(map(counted, range(classes.size) if classes.order is None else classes.order.tolist()))

    def _of_prior(self, klass: int) -> str:
        rows = self.ledger.rows
        return f"{amount(rows[klass])} of {amount(rows.sum())}" if self.prior_by_rows else ""

    def _of_factor(self, name: Any) -> Counted:
        if name in self.factors:
            return self.factors[name].counted
        return _nothing if self.ledger.parts is None else self._of_feature(name)

    @cached_property
    def _of_feature(self) -> Callable[[Any], Counted]:
        [block, *others] = self.blocks.blocks
        if isinstance(block, ArrayBlock) and not others:
            return array_counts(block, self.table.blocks[block.name], self.ledger.counted[block.name], self.frame)
        return words_counted(self.blocks, self.ledger)


def row_factors(blocks: Blocks, table: Table, ledger: Ledger, frame: Frame) -> dict[str, Factor]:
    """The factors of a row of a table, by column; the words of texts are not among them (see `words_counted`)."""
    parts = ledger.parts or {}
    found: dict[str, Factor] = {}
    for block in blocks.blocks:
        part, own = parts.get(block.name), cast(Any, table.blocks[block.name])
        if isinstance(block, CategoryBlock):
            found |= _categories(block, part, block.features_of(own), frame)
        elif isinstance(block, NumberBlock):
            found |= _numbers(block, own, frame)
        elif isinstance(block, MatrixBlock):
            found |= _matrix(block, own, part, frame)
    missing = table.missingness
    if missing is not None:
        for j, code in enumerate(missing.codes(frame)[0].tolist()):
            counts = missing.counts[2 * j + code]
            found[missing.table.categories.columns.name(j)] = Factor("yes" if code else "no", _of(counts, ledger.rows))
    return found


def words_counted(blocks: Blocks, ledger: Ledger) -> Callable[[str], Counted]:
    """The counts of the words of all columns of texts, by the names that explanations have for them."""
    each: dict[str, Callable[[str], Counted]] = {}
    for block in blocks.blocks:
        if isinstance(block, (TextBlock, TextsBlock)):
            prefix = block.factor("") if isinstance(block, TextBlock) else ""
            each[prefix] = word_counts(block.family, ledger.counted[block.name])

    def counted(name: str) -> Counted:
        for prefix, words in each.items():
            if name.startswith(prefix):
                return words(name.removeprefix(prefix))
        return _nothing

    return counted


def _nothing(klass: int) -> str:
    return ""


def _of(counts: Array, totals: Array) -> Counted:
    return lambda k: f"{amount(counts[k])} of {amount(totals[k])}"


def amount(value: float) -> str:
    """A count, with a fraction only where weights or curves have one.

    >>> amount(1234.0), amount(1.75), amount(0.0321)
    ('1,234', '1.8', '0.032')
    """
    if abs(value - round(value)) < 1e-9 * max(value, 1.0):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if value >= 1 else f"{value:.2g}"


def number(value: Any) -> str:
    """Format a value of a row, with the digits that its type holds."""
    return f"{value:.7g}" if value.dtype == np.float32 else f"{value:.10g}"


def _categories(block: CategoryBlock, ledger: PartLedger | None, features: Any, frame: Frame) -> dict[str, Factor]:
    codes = block.read(frame, features).codes[0]
    found: dict[str, Factor] = {}
    for j in np.flatnonzero(~missing_codes(codes)).tolist():
        column, known, code = block.columns[j], features.values[j], int(codes[j])
        if code >= known.size:
            raw = frame.get(column.source)[0]
            found[column.name] = Factor(str(raw.as_py() if hasattr(raw, "as_py") else raw), lambda k: "never seen")
        else:
            counted = _nothing if ledger is None else category_counts(ledger, j, code)
            found[column.name] = Factor(_category(column, known, code, frame), counted)
    return found


def _category(column: CategoryColumn, known: Index, code: int, frame: Frame) -> str:
    if column.threshold is None or column.boolean:
        return str(known.name(code))
    raw = frame.get(column.source)[0]
    value = raw.as_py() if hasattr(raw, "as_py") else raw
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    return f"{float(value):.10g} ({'above' if code else 'not above'} {column.threshold:g})"


def category_counts(ledger: PartLedger, column: int, code: int) -> Counted:
    """Return a function that states, for a class, the number of rows with a category, of its rows with a value."""
    cells = ledger.total.cells

    @cache
    def totals() -> Array:
        begin, end = np.searchsorted(cells.feature, [column << CODE_BITS, (column << CODE_BITS) | MISSING])
        return np.bincount(cells.klass[begin:end], cells.values[0, begin:end], ledger.classes.size)

    def counted(klass: int) -> str:
        hits = cells.look_up(np.array([(column << CODE_BITS) | code]), np.array([klass], np.int32))[0, 0]
        return f"{amount(hits)} of {amount(totals()[klass])}"

    return counted


def _numbers(block: NumberBlock, table: NumberTable, frame: Frame) -> dict[str, Factor]:
    rows = block.read(frame, None)
    codes = table.codes_of(rows)
    columns = {column.name: column for column in table.columns if not column.ignored}
    found: dict[str, Factor] = {}
    for name, array in zip(rows.names, rows.arrays, strict=True):
        if name not in columns or np.isnan(array[0]):
            continue
        column, value = columns[name], number(array[0])
        if column.density is not None:
            found[name] = Factor(value, density(*table.density_of(name)))
            continue
        assert column.counts is not None
        code = int(codes[name][0])
        if code >= len(column.counts):
            found[name] = Factor(value, lambda k: "never seen")
            continue
        is_category = isinstance(column.family, (declared.Bernoulli, declared.Categorical))
        title = column.code_name(code) if is_category else f"{value} ({column.code_name(code)})"
        found[name] = Factor(title, _of(column.counts[code], column.counts.sum(axis=0)))
    return found


def density(table: Any, column: int) -> Counted:
    """Return a function that describes the density of a column in a class."""

    def counted(klass: int) -> str:
        if isinstance(table, Density):
            return table.described(klass, column)
        variance = table.covariance[klass if len(table.covariance) > 1 else 0][column, column]
        return f"mean {table.mean[klass, column]:.4g}, sd {np.sqrt(variance):.4g}"

    return counted


def _matrix(block: MatrixBlock, table: Any, ledger: PartLedger | None, frame: Frame) -> dict[str, Factor]:
    row = block.read(frame, block.no_features())[0]
    known = np.flatnonzero(~np.isnan(row)).tolist()
    return {block.sources[j]: Factor(number(row[j]), group_counts(block, table, ledger, j)) for j in known}


def group_counts(block: ArrayBlock | MatrixBlock, table: Any, ledger: PartLedger | None, column: int) -> Counted:
    """Return a function that states the counts, or mean and deviation, behind one column of a group."""
    if isinstance(table, (Density, CovarianceTable)):
        return density(table, column)
    if ledger is None:
        return _nothing
    tally, n_classes = ledger.total, ledger.classes.size
    each = tally.cells.look_up(np.full(n_classes, column), np.arange(n_classes, dtype=np.int32))
    counts, totals = each[0], tally.totals[0]
    if isinstance(block.family, (Bernoulli, Poisson)):
        rows = tally.rows - each[1]
        if isinstance(block.family, Bernoulli):
            return _of(counts, rows)
        return lambda k: f"{amount(counts[k])} in {amount(rows[k])} rows"
    if isinstance(block.family, Complement):
        return _elsewhere(counts.sum() - counts, totals.sum() - totals)
    return _of(counts, totals)


def array_counts(block: ArrayBlock, table: Any, ledger: PartLedger, frame: Frame) -> Callable[[Any], Counted]:
    """Return a function of a column of an array, by name or number, that gives the counts behind its share."""

    def counted(name: Any) -> Counted:
        column = name if isinstance(block.columns, int) else block.columns.index(name)
        if not isinstance(block, CategoryArrayBlock):
            return group_counts(block, table, ledger, column)
        code = block.read(frame, block.features_of(table))[0, column]
        return category_counts(ledger, column, int(code))

    return counted


def _elsewhere(counts: Array, totals: Array) -> Counted:
    counted = _of(counts, totals)
    return lambda k: f"elsewhere {counted(k)}"


def word_counts(family: Words, ledger: PartLedger) -> Callable[[str], Counted]:
    """Return a function of a word; its result states the count of the word in a class, of all words (or texts)."""
    tally = ledger.total
    n_classes = ledger.classes.size

    @cache
    def totals() -> Array:
        return ledger.rows if family.family == "bernoulli" else family.totals(ledger)

    def of_word(word: str) -> Counted:
        if not hasattr(tally.features, "locate"):
            return _nothing  # a bucket of a hash may hold several words
        feature = np.repeat(tally.features.locate([word], split=family.split), n_classes)
        cells = tally.cells.look_up(feature, np.arange(n_classes, dtype=np.int32))
        counts = family.counted(cells)
        if family.family == "complement":
            return _elsewhere(counts.sum() - counts, totals().sum() - totals())
        return _of(counts, totals())

    return of_word
