"""Blocks: all blocks of a model over the same rows; their scores add up."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.adding import add_all
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.families.base import rows_per_class
from naively.families.blocks.base import Block
from naively.families.columns.missingness import Missingness
from naively.families.counts_left_out import Left
from naively.names import Index
from naively.read.frame import Frame
from naively.read.matrix import RowError
from naively.score.table import Shares, Table, joined_shares
from naively.smooth.logs import added
from naively.smooth.rules import Smoothing
from naively.store.registry import stored
from naively.threads import on_threads

COUNTED = 1 << 18
"""Number of rows of a table that are counted at a time."""


@stored()
@dataclass(frozen=True)
class Blocks:
    """All blocks of a model over the same rows. `informative`: a missing value counts as evidence."""

    who: str
    blocks: tuple[Block, ...]
    informative: bool = False

    @property
    def ignores_prior(self) -> bool:
        """True if scores leave out the class prior."""
        return any(block.ignores_prior for block in self.blocks)

    # --- counting

    def no_features(self) -> dict[str, Any]:
        """The features of each block before any row is counted."""
        return {block.name: block.no_features() for block in self.blocks}

    def empty(self, classes: Index, features: Mapping[str, Any]) -> Tally:
        """A tally of nothing."""
        parts = {block.name: block.family.empty(classes, features[block.name]) for block in self.blocks}
        return Tally(classes, np.zeros(classes.size, np.int64), parts)

    def count(self, X: Frame, codes: Array, classes: Index, features: Mapping[str, Any], weight: Array | None) -> Tally:
        """The tally of these rows; `codes` are the numbers of their classes."""
        if X.whole is not None:
            return self._count_part(X, codes, classes, features, weight)

        def count(task: tuple[int, Frame]) -> Tally:
            begin, part = task
            rows = slice(begin, begin + len(part))
            try:
                return self._count_part(part, codes[rows], classes, features, None if weight is None else weight[rows])
            except RowError as error:
                raise error.offset(begin) from None

        tallies = on_threads(count, list(X.parts(COUNTED)), X.rows * len(X.columns))
        return add_all(tallies) if tallies else self.empty(classes, features)

    def _count_part(
        self, X: Frame, codes: Array, classes: Index, features: Mapping[str, Any], weight: Array | None
    ) -> Tally:
        try:
            parts = {
                block.name: block.count(X, codes, classes, features.get(block.name, block.no_features()), weight)
                for block in self.blocks
            }
        except OverflowError as error:
            raise InputError(str(error)) from None
        return Tally(classes, rows_per_class(codes, weight, classes.size), parts)

    def tidied(self, ledger: Ledger, forgotten: Tally) -> Ledger:
        """Return the ledger without categories and words that only forgotten rows had."""
        parts = {b.name: b.tidied(ledger.counted[b.name], forgotten.parts[b.name]) for b in self.blocks}
        return replace(ledger, parts=parts)

    # --- scoring

    def table(self, ledger: Ledger, rule: Smoothing, prior: Array) -> Table:
        """The table of all features."""
        nothing = np.zeros(ledger.classes.size)
        tables = {b.name: b.family.table(ledger.counted[b.name], b.rule(rule), nothing) for b in self.blocks}
        return self.with_missingness(tables, ledger, rule, prior)

    def with_missingness(self, tables: dict[str, Any], ledger: Ledger, rule: Smoothing, prior: Array) -> Table:
        """The table of a model from the tables of its blocks."""
        return Table(ledger.classes, prior, tables, self.missingness(ledger, rule) if self.informative else None)

    def rows(self, X: Frame, features: Mapping[str, Any]) -> dict[str, Any]:
        """The rows of each block, as its tables take them."""
        return {block.name: block.read(X, features[block.name]) for block in self.blocks}

    def rows_for(self, table: Table, X: Frame) -> dict[str, Any]:
        """Return the rows of each block, and codes of missing values, in the form that this table takes."""
        rows = {block.name: block.read(X, block.features_of(table.blocks[block.name])) for block in self.blocks}
        return rows if table.missingness is None else {**rows, MISSING_VALUES: table.missingness.codes(X)}

    def shares(self, table: Table, X: Frame) -> Shares:
        """Return for one row the names of its features, their shares by class, and impossible factors."""
        rows = self.rows_for(table, X)
        parts = [block.shares(table.blocks[block.name], rows[block.name]) for block in self.blocks]
        if table.missingness is not None:
            parts.append(table.missingness.shares(rows[MISSING_VALUES]))
        return joined_shares(parts, table.classes.size)

    def ignored(self, table: Table) -> list[str]:
        """Columns that add the same to every class, whatever their value: of one bin, one category or one number."""
        return [name for block in self.blocks for name in sorted(block.ignored(table.blocks[block.name]))]

    def missingness(self, ledger: Ledger, rule: Smoothing) -> Missingness | None:
        """Return the table of missing values; None if they are not informative."""
        if not self.informative:
            return None
        names: list[str] = []
        missing_counts: list[Array] = []
        for block in self.blocks:
            counts = block.missing_counts(ledger.counted[block.name], ledger.rows)
            if counts is not None:
                names += block.sources
                missing_counts += list(counts)
        return Missingness.of(self.who, ledger.classes, ledger.rows, names, missing_counts, rule)

    def left_out(
        self, ledger: Ledger, rules: Sequence[Smoothing], X: Frame, codes: Array, weight: Array | None
    ) -> Left:
        """Return for each rule the scores of these rows, each by the counts without it: the sum of the blocks."""
        parts: list[Left] = []
        for block in self.blocks:
            part = ledger.counted[block.name]
            rows, of_block = block.read(X, part.features_or_none), [block.rule(rule) for rule in rules]
            parts.append(block.family.left_out(part, of_block, rows, codes, weight))
        if self.informative:
            tables = [self.missingness(ledger, rule) for rule in rules]
            parts.append([table.left_out(X, ledger.rows, codes, weight) for table in tables if table is not None])
        if len(parts) == 1:
            return parts[0]
        parts.append([(np.zeros((len(X), ledger.classes.size)), None) for _ in rules])
        return [added(of_rule) for of_rule in zip(*parts, strict=True)]

    # --- the model

    def n_parameters(self, ledger: Ledger) -> int:
        return sum(block.family.n_parameters(ledger.counted[block.name]) for block in self.blocks)

    def n_parameters_joint(self, ledger: Ledger) -> int | float:
        """Return the number of combinations of features; infinity if a column holds numbers of events."""
        classes = ledger.classes.size
        each = [block.family.n_parameters_joint(ledger.counted[block.name]) for block in self.blocks]
        if math.inf in each:
            return math.inf
        return classes * (math.prod(int(joint) // classes + 1 for joint in each) - 1)

    def sample(
        self, ledger: Ledger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Columns drawn from one class."""
        columns: dict[str, Any] = {}
        for block in self.blocks:
            part = ledger.counted[block.name]
            drawn = block.family.sample(part, block.rule(rule), klass, size, rng)
            columns |= block.columns_of(drawn, part.features_or_none)
        return columns


MISSING_VALUES = "missing values"
"""The name of the codes of missing values among the rows of a table."""
