"""Model: the ledger of an estimator and the tables made from it so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger, Uncounted
from naively.count.tally import Tally
from naively.families.base import Family
from naively.names import Index
from naively.read.matrix import Rows, in_blocks
from naively.score.scores import Scores

NO_CLASSES = Index(0)
_WORTH_A_TABLE = 8
"""A table of all features is made once this share of its cells was asked for piece by piece."""


@dataclass(eq=False)
class Model:
    """One state of an estimator: the ledger never changes, tables are made when first needed.

    Small batches get a table of the features they touch, so that a row costs what it holds. Once that has come to
    as much as a whole table, one is made and kept.
    """

    ledger: Any
    dtype: Any = np.float64
    declared: Index = NO_CLASSES  # classes named in advance, which stay though they have no rows
    counted: Any = None  # what the counting depended on, which cannot be changed afterwards
    chosen: Any = None  # what was chosen for parameters that are "auto"
    judged: Any = None  # how probabilities are calibrated
    decided: Any = None  # rules made of an estimator's parameters, for as long as these stay the same
    _tables: dict[Any, Any] = field(default_factory=dict)
    _latest: tuple[Any, ...] = (None, None, None, None)
    _touched: int = 0

    def __getstate__(self) -> dict[str, Any]:
        if isinstance(self.ledger, Uncounted):  # its tables cannot be made again
            return {**self.__dict__, "decided": None}
        return self.after(Ledger((self.ledger.total,))).__dict__

    def keep(self, table: Any, family: Family, rule: Any, prior: Array) -> None:
        """Take a table that was made elsewhere for the one that the ledger and these rules make."""
        self._tables = {(family, rule, prior.tobytes()): table}

    def after(self, ledger: Ledger) -> Model:
        """The state that follows when the ledger has changed."""
        return Model(ledger, self.dtype, self.declared, self.counted, self.chosen, self.judged)

    def tidied(self) -> Model:
        """Without the classes whose last row was forgotten, unless they were named in advance."""
        names = self.ledger.classes.names
        assert names is not None
        gone = (self.ledger.rows == 0) & (self.declared.locate(names) < 0)
        if not gone.any() or gone.all():
            return self
        return self.without_classes(gone)

    def without_classes(self, gone: Array) -> Model:
        """Without some classes (a mask), of which nothing is left."""
        return self.after(Ledger((self.ledger.total.without_classes(gone),)))

    def table(self, family: Family, rule: Any, prior: Array) -> Any:
        """The table of all features."""
        key = (family, rule, prior.tobytes())
        found = self._tables.get(key)
        if found is None:
            self.ledger = self.ledger.collapsed()
            found = family.table(self.ledger, rule, prior)
            self._tables = {key: found}
        self._latest = family, rule, prior, found
        return found

    def scores(self, family: Family, rule: Any, prior: Array, X: Rows) -> Scores:
        table, rows = self.weighed(family, rule, prior, X)
        return table.score(rows)

    def weighed(self, family: Family, rule: Any, prior: Array, X: Rows) -> tuple[Any, Rows]:
        """The table that scores these rows, and the rows as it takes them."""
        latest = self._latest
        if latest[0] is family and latest[1] is rule and latest[2] is prior:
            return latest[3], X
        features = self._few_features(family, rule, prior, X)
        if features is None:
            return self.table(family, rule, prior), X
        return family.table(self.ledger, rule, prior, features), family.restrict(X, features)

    def _few_features(self, family: Family, rule: Any, prior: Array, X: Rows) -> Array | None:
        """The features that these rows touch, where they are few beside those of the ledger."""
        ledger = self.ledger
        if self._tables and (family, rule, prior.tobytes()) in self._tables:
            return None
        entries = X.nnz if hasattr(X, "nnz") else X.size
        if not isinstance(ledger.levels[0], Tally) or entries * _WORTH_A_TABLE > ledger.size:
            return None
        self._touched += _WORTH_A_TABLE * (entries + ledger.classes.size)
        if self._touched > ledger.size:
            return None
        if family.needs_count_histogram:
            self.ledger = ledger = ledger.with_count_histogram()
            if ledger.count_histogram is None:
                return None
        return family.features_in(X, rule, ledger)

    def decide(self, family: Family, rule: Any, prior: Array, X: Rows) -> Array:
        """Labels, block by block, so that no array of all rows by all classes is made."""
        parts = in_blocks(
            X, self.ledger.classes.size, lambda part, _: self.scores(family, rule, prior, part).decide(), 1 << 19
        )
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
