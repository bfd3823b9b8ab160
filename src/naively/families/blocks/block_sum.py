"""BlockSum: what the blocks of a model make of some rows, not added up yet."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.families.columns.numeric import NumberTable
from naively.names import Index
from naively.read.codes import CodeRows, highest
from naively.score.scores import Scores
from naively.score.table import Coded, CodeTable, code_scores, sorted_scores


@dataclass(frozen=True, eq=False)
class BlockSum:
    """The prior, and the table of each block with the rows that it weighs."""

    rows: int
    classes: Index
    prior: Array
    parts: list[tuple[Any, Any]]

    def scores(self) -> Scores:
        """The prior and the sum of all blocks; columns of codes are gone through together."""
        coded, others = self._split()
        parts = [code_scores(coded)] if coded else []
        parts += [table.score(rows) for table, rows in others]
        empty = sorted_scores(self.classes, np.zeros((0, self.classes.size)), self.prior)
        if not parts:
            return replace(empty, likelihood=np.zeros((self.rows, self.classes.size)))
        return replace(reduce(Scores.plus, parts), prior=empty.prior)

    def decide(self) -> Array:
        """The label of each row; where there are only columns of codes, their scores are kept nowhere."""
        coded, others = self._split()
        impossible = any(table.impossible is not None for table, _ in coded)
        if others or not coded or impossible or self.classes.order is not None or self.classes.names is None:
            return self.scores().decide()
        return self.classes.names[highest([table.weighed(columns) for table, columns in coded], self.prior)]

    def _split(self) -> tuple[Coded, list[tuple[Any, Any]]]:
        """Tables of codes with their columns, and the others with their rows."""
        coded: Coded = []
        others: list[tuple[Any, Any]] = []
        for table, rows in self.parts:
            found = table.coded(rows) if isinstance(table, NumberTable) else None
            if found is not None:
                coded.append(found)
            elif isinstance(table, CodeTable) and isinstance(rows, CodeRows):
                coded.append((table, rows))
            else:
                others.append((table, rows))
        return coded, others
