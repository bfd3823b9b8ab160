"""The state of a model of several blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Uncounted
from naively.families.blocks import BlockLedger
from naively.families.blocks.block_sum import BlockSum
from naively.families.blocks.mixed import PART
from naively.learn.model import Model
from naively.learn.schema import Schema
from naively.read.frame import Frame
from naively.read.matrix import RowError
from naively.score.scores import Scores
from naively.threads import on_threads, threads

_SCORED = 1 << 19
"""How many scores are made at a time."""


@dataclass(eq=False)
class BlockModel(Model):
    """One state of a mixed model: each block has a state of its own."""

    schema: Schema = field(kw_only=True)
    _parts: dict[str, Model] = field(default_factory=dict)
    _kept_presence: Any = None
    _scored_by: Any = None  # the rules that there are tables for

    def __post_init__(self) -> None:
        self._parts = {name: Model(ledger) for name, ledger in self.ledger.parts.items()}
        self._nothing = np.zeros(self.ledger.classes.size)

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self.ledger, Uncounted):
            return super().__getstate__()
        return self.after(BlockLedger.of(self.ledger.total)).__dict__

    def keep(self, table: Any, family: Any, rule: Any, prior: Array) -> None:
        self._tables = {(rule, prior.tobytes(), family.informative): table}
        for block in family.blocks:
            self._parts[block.name].keep(table.tables[block.name], block.family, block.rule(rule), self._nothing)
        self._kept_presence = (family.informative, rule), table.presence

    def after(self, ledger: Any) -> BlockModel:
        told = self.dtype, self.declared, self.counted, self.chosen, self.judged
        return BlockModel(ledger, *told, schema=self.schema)

    def without_classes(self, gone: Array) -> BlockModel:
        return self.after(BlockLedger.of(self.ledger.total.without_classes(gone)))

    def table(self, family: Any, rule: Any, prior: Array) -> Any:
        key = (rule, prior.tobytes(), family.informative)
        found = self._tables.get(key)
        if found is None:
            found = family.table(self.ledger, rule, prior)
            self._tables = {key: found}
        return found

    def scores(self, family: Any, rule: Any, prior: Array, X: Frame) -> Scores:
        return self._summed(family, rule, prior, X).scores()

    def _summed(self, family: Any, rule: Any, prior: Array, X: Frame) -> BlockSum:
        """Block by block, each of which may do with a table of what the rows touch."""

        def weigh(block: Any, rows: Any) -> tuple[Any, Any]:
            return self._parts[block.name].weighed(block.family, block.rule(rule), self._nothing, rows)

        return family.summed(X, self.ledger, prior, weigh, self._presence(family, rule))

    def _presence(self, family: Any, rule: Any) -> Any:
        kept = self._kept_presence
        if kept is None or kept[0] != (family.informative, rule):
            kept = (family.informative, rule), family.presence(self.ledger, rule)
            self._kept_presence = kept
        return kept[1]

    def in_parts(self, family: Any, rule: Any, prior: Array, X: Frame, use: Callable[[BlockSum], Any]) -> list[Any]:
        """What is made of one run of rows after another; an error names the row as it stands in all."""

        def score(task: tuple[int, Frame]) -> Any:
            begin, part = task
            try:
                return use(self._summed(family, rule, prior, part))
            except RowError as error:
                raise error.offset(begin) from None

        numbers = X.rows * len(X.columns)
        size = max(1, min(PART, _SCORED // max(self.ledger.classes.size, 1)))
        parts = list(X.parts(size)) if len(X) else [(0, X)]
        key = rule, prior.tobytes(), family.informative
        if self._scored_by == key:
            return self._each(score, parts, numbers)
        first = score(parts[0])  # makes the tables
        self._scored_by = key
        return [first, *self._each(score, parts[1:], numbers)]

    @staticmethod
    def _each(score: Callable[[tuple[int, Frame]], Any], parts: list[tuple[int, Frame]], numbers: int) -> list[Any]:
        """On a thread each; where there are more threads than parts, one after another, and each on all of them."""
        return on_threads(score, parts, numbers) if len(parts) >= threads(numbers) else [score(part) for part in parts]

    def decide(self, family: Any, rule: Any, prior: Array, X: Frame) -> Array:
        parts = self.in_parts(family, rule, prior, X, BlockSum.decide)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
