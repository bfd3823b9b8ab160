"""Columns of numbers with densities of one family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.families.base import remainder
from naively.families.blocks.matrix import MatrixBlock
from naively.families.densities.columns import Densities
from naively.names import Index
from naively.read.frame import Frame
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class DensityBlock(MatrixBlock):
    """Columns with densities of one family."""

    family: Densities

    def no_features(self) -> Index:
        return self.family.feature_index(self.sources)

    def count(self, frame: Frame, codes: Array, classes: Index, features: Index, weight: Array | None) -> Any:
        return self.family.count(self.columns_in(frame), codes, classes, features, weight)

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array:
        known = ledger.total.full().n[:, : len(self.sources)]
        return remainder(ledger.total.rows[:, None], known).T

    def ignored(self, table: Any) -> set[str]:
        """Columns of one value, or of none."""
        return {self.sources[j] for j in np.flatnonzero(~table.known.any(axis=0)).tolist()}
