"""Model: one state of an estimator, and the tables made from it so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.counts import Counts
from naively.count.ledger import Ledger
from naively.families.base import Family
from naively.families.blocks.blocks import MISSING_VALUES, Blocks
from naively.names import Index
from naively.read.frame import Frame
from naively.read.matrix import RowError
from naively.score.scores import Scores
from naively.score.table import Table
from naively.threads import on_threads, threads

NO_CLASSES = Index(0)
_WORTH_A_TABLE = 8
"""A table of all features is made once small tables have used 1 / 8 of its cells."""


class TableCache:
    """The tables of one block of a model.

    Small batches get a table of the features they touch, so that the cost of a row is that of its features. Once
    small tables have cost as much as a whole one, the whole table is made and kept.
    """

    def __init__(self, ledger: Ledger, name: str):
        self._ledger, self._name = ledger, name
        self._tables: dict[Any, Any] = {}
        self._latest: tuple[Any, Any, Any] = (None, None, None)
        self._touched = 0

    @property
    def kept_table(self) -> Any:
        """The table that was kept; None if none was made."""
        return next(iter(self._tables.values()), None)

    def keep(self, table: Any, family: Family, rule: Any) -> None:
        """Keep a table that was read from a file, in place of one made from the counts by these rules."""
        self._tables = {(family, rule): table}

    def table(self, family: Family, rule: Any) -> Any:
        """Return the table of all features."""
        found = self._tables.get((family, rule))
        if found is None:
            found = family.table(self._part, rule, self._no_prior)
            self._tables = {(family, rule): found}
        self._latest = family, rule, found
        return found

    def weighed(self, family: Family, rule: Any, rows: Any) -> tuple[Any, Any]:
        """Return the table that scores these rows, and the rows as it takes them."""
        latest = self._latest
        if latest[0] is family and latest[1] is rule:
            return latest[2], rows
        features = self._needed_features(family, rule, rows)
        if features is None:
            return self.table(family, rule), rows
        return family.table(self._part, rule, self._no_prior, features), family.restrict(rows, features)

    @property
    def _part(self) -> Any:
        return self._ledger.counted[self._name]

    @property
    def _no_prior(self) -> Array:
        return np.zeros(self._ledger.classes.size)

    def _needed_features(self, family: Family, rule: Any, rows: Any) -> Array | None:
        """Return the features that these rows hold, if a table of them alone pays; None: make it of all features."""
        if self._tables and (family, rule) in self._tables:
            return None
        part = self._part
        entries = rows.nnz if hasattr(rows, "nnz") else rows.size
        if not isinstance(part.levels[0], Counts) or entries * _WORTH_A_TABLE > part.size:
            return None
        self._touched += _WORTH_A_TABLE * (entries + part.classes.size)
        if self._touched > part.size or (family.needs_count_histogram and part.count_histogram is None):
            return None
        return family.features_in(rows, rule, part)


@dataclass(eq=False)
class Weighing:
    """The blocks, smoothing, prior and calibration of a model for the present parameters of its estimator."""

    parameters: list[Any]
    blocks: Blocks
    rule: Any
    prior: Array
    calibration: Any = None
    knows_calibration: bool = False  # whether `calibration` was found already


@dataclass(eq=False)
class Model:
    """One state of an estimator: the ledger never changes, tables are made when first needed."""

    ledger: Ledger
    dtype: Any = np.float64
    declared: Index = NO_CLASSES  # classes named in advance, which stay though they have no rows
    counted: Any = None  # what the counting depended on, which cannot be changed afterwards
    chosen: Any = None  # what was chosen for parameters that are "auto"
    calibrated: Any = None  # how probabilities were calibrated by other rows than the sample
    schema: Any = None  # the block and family of each column of a table
    sample: Any = None  # rows that recipe and calibration are learnt from; never in a saved model
    began: float = 0.0  # number of rows that were counted before the sample was begun
    decided: Any = field(default=None, init=False)  # this state with what was decided from its counts and its sample
    fitted: Any = field(default=None, init=False)  # the calibration that was fitted on the sample
    weighing: Weighing | None = field(default=None, init=False)
    _caches: dict[str, TableCache] = field(default_factory=dict, init=False)
    _missingness: tuple[Any, Any, Any] = field(default=(None, None, None), init=False)
    _scored_by: Any = field(default=None, init=False)  # the weighing that there are tables for

    def __getstate__(self) -> dict[str, Any]:
        if self.ledger.parts is None:  # the tables of a model without counts cannot be made again
            return {**self.__dict__, "weighing": None, "_scored_by": None, "decided": None}
        return self.after(Ledger.of(self.ledger.total)).__dict__

    @cached_property
    def features(self) -> dict[str, Any]:
        """The features of each block; of a model without counts, none."""
        return {} if self.ledger.parts is None else self.ledger.features

    def cache(self, name: str) -> TableCache:
        """Return the tables of one block."""
        found = self._caches.get(name)
        return found or self._caches.setdefault(name, TableCache(self.ledger, name))

    def keep(self, table: Table, blocks: Blocks, rule: Any) -> None:
        """Keep a table that was read from a file, in place of one made from the ledger by these rules."""
        for block in blocks.blocks:
            self.cache(block.name).keep(table.blocks[block.name], block.family, block.rule(rule))
        if blocks.informative:
            self._missingness = blocks, rule, table.missingness

    def after(self, ledger: Ledger) -> Model:
        """Return the same state with another ledger."""
        fields = self.declared, self.counted, self.chosen, self.calibrated, self.schema, self.sample, self.began
        return Model(ledger, self.dtype, *fields)

    @property
    def learns_from_sample(self) -> bool:
        """True if the rows of the sample's time are as many as those before, or more."""
        return self.sample is not None and float(self.ledger.rows.sum()) >= 2 * self.began

    def tidied(self) -> Model:
        """Drop the classes whose last row was forgotten, unless they were named in advance."""
        names = self.ledger.classes.names
        if self.ledger.rows.all():
            return self
        assert names is not None
        empty = (self.ledger.rows == 0) & (self.declared.locate(names) < 0)
        return self if not empty.any() or empty.all() else self.after(self.ledger.without_classes(empty))

    def decayed(self, factor: float) -> Model:
        """Return the state in which all rows count `factor` times as much as they did."""
        left = self.after(Ledger.of(self.ledger.total * factor))
        left.began *= factor
        left.sample = None if self.sample is None else self.sample.scaled(factor)
        if self.calibrated is not None:
            left.calibrated = replace(self.calibrated, counted=self.calibrated.counted * factor)
        return left.tidied()

    # --- scoring

    def table(self, blocks: Blocks, rule: Any, prior: Array) -> Table:
        """Return the table of all features."""
        tables = {block.name: self.cache(block.name).table(block.family, block.rule(rule)) for block in blocks.blocks}
        return Table(self.ledger.classes, prior, tables, self._missing_table(blocks, rule))

    def scores(self, weighing: Weighing, frame: Frame) -> Scores:
        """Return the scores of all rows."""
        parts = self._in_batches(weighing, frame, lambda table, rows, n: table.score(rows, n))
        return parts[0] if len(parts) == 1 else Scores.joined(parts)

    def decide(self, weighing: Weighing, frame: Frame, prior: Array) -> Array:
        """Return the labels of all rows under this prior, without keeping their scores."""

        def decide(table: Table, rows: Any, n_rows: int) -> Array:
            return (table if prior is table.prior else replace(table, prior=prior)).decide(rows, n_rows)

        parts = self._in_batches(weighing, frame, decide)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _weighed(self, weighing: Weighing, frame: Frame) -> tuple[Table, dict[str, Any]]:
        """Return a table of the features that these rows need, and the rows as it takes them."""
        blocks, rule = weighing.blocks, weighing.rule
        tables, rows, features = {}, {}, self.features
        for block in blocks.blocks:
            name, cache = block.name, self.cache(block.name)
            known = features[name] if features else block.features_of(cache.kept_table)
            tables[name], rows[name] = cache.weighed(block.family, block.rule(rule), block.read(frame, known))
        missing = self._missing_table(blocks, rule)
        if missing is not None:
            rows[MISSING_VALUES] = missing.codes(frame)
        return Table(self.ledger.classes, weighing.prior, tables, missing), rows

    def coded(self, weighing: Weighing, frame: Frame) -> list[tuple[Any, Any]]:
        """Return the tables of codes, each with the columns that it scores."""
        table, rows = self._weighed(weighing, frame)
        return table.split(rows)[0]

    def _missing_table(self, blocks: Blocks, rule: Any) -> Any:
        if not blocks.informative:
            return None
        found = self._missingness
        if found[0] != blocks or found[1] != rule:
            self._missingness = found = blocks, rule, blocks.missingness(self.ledger, rule)
        return found[2]

    def _in_batches(
        self, weighing: Weighing, frame: Frame, use: Callable[[Table, dict[str, Any], int], Any]
    ) -> list[Any]:
        """Return `use` of one batch of rows after another; an error names the row by its place among all."""

        def score(task: tuple[int, Frame]) -> Any:
            begin, part = task
            try:
                table, rows = self._weighed(weighing, part)
                return use(table, rows, len(part))
            except RowError as error:
                raise error.offset(begin) from None

        size = frame.batch_size(self.ledger.classes.size)
        if frame.whole is not None and len(frame) <= size:
            return [score((0, frame))]
        parts = list(frame.parts(size)) if len(frame) else [(0, frame)]
        if frame.whole is not None:
            return [score(part) for part in parts]
        first = [] if self._scored_by is weighing else [score(parts[0])]  # this makes the tables
        self._scored_by = weighing
        rest, n_values = parts[len(first) :], frame.entries
        # With more threads than parts, parts are scored one after another, each on all threads.
        return first + (on_threads(score, rest, n_values) if len(rest) >= threads(n_values) else list(map(score, rest)))
