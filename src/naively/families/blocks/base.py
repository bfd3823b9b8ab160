"""What all blocks can do."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.errors import InputError
from naively.families.base import Family
from naively.names import Index
from naively.read.columns import NOTHING, kind_of, missing
from naively.read.frame import Frame
from naively.score.table import Shares
from naively.smooth.rules import Smoothing


class Block(Protocol):
    """A group of columns with one family."""

    @property
    def name(self) -> str:
        """What it is called among the blocks of a model."""

    @property
    def family(self) -> Family:
        """Counts and weighs what the block reads."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it reads."""

    def no_features(self) -> Any:
        """Its features before anything was seen."""

    def count(self, frame: Frame, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
        """The tally of these rows; `codes` are the numbers of their classes."""

    def read(self, frame: Frame, features: Any) -> Any:
        """Its rows as its family's tables take them."""

    def rule(self, smoothing: Smoothing) -> Any:
        """What its family is smoothed by, where the model is smoothed by this."""

    @property
    def ignores_prior(self) -> bool:
        """Whether scores of a model of this block alone leave out the prior."""

    def features_of(self, table: Any) -> Any:
        """Its features, as its table has them."""

    def shares(self, table: Any, rows: Any) -> Shares:
        """The factors of one row by name, without those of ignored columns."""

    def ignored(self, table: Any) -> set[str]:
        """Columns that add the same to every class, whatever their value."""

    def lost(self, ledger: PartLedger, rows: Array) -> Array | None:
        """How much is missing, columns by classes (None: not known); `rows` are those of the model."""

    def columns_of(self, drawn: Any, features: Any) -> dict[str, Any]:
        """Rows drawn by its family as columns of a table."""

    def tidied(self, ledger: PartLedger, gone: Any) -> PartLedger:
        """Without what only rows just forgotten had brought along."""


class TableBlock:
    """What most blocks of a table have in common."""

    ignores_prior: ClassVar[bool] = False

    def features_of(self, table: Any) -> Any:
        return None

    def ignored(self, table: Any) -> set[str]:
        return set()

    def shares(self, table: Any, rows: Any) -> Shares:
        names, shares, impossible = table.shares(rows)
        ignored = self.ignored(table)
        if not ignored:
            return names, shares, impossible
        kept = [i for i, name in enumerate(names) if name not in ignored]
        return [names[i] for i in kept], shares[kept], None if impossible is None else impossible[kept]

    def tidied(self, ledger: PartLedger, gone: Any) -> PartLedger:
        return ledger


def checked(name: str, values: Any, kinds: tuple[str, ...], taken: str) -> tuple[Any, str]:
    """A column and its kind, which must be one of these; one without any value holds nothing, whatever its type."""
    kind = kind_of(name, values)
    if kind == NOTHING or kind in kinds:
        return values, kind
    if missing(values).all():
        return nothing(len(values)), NOTHING
    raise changed(name, taken, kind)


def nothing(rows: int) -> Any:
    """A column that is missing in every row."""
    import pyarrow as pa

    return pa.nulls(rows)


def changed(name: str, before: str, now: str) -> InputError:
    return InputError(
        f"column {name!r}: was taken for {before}, now it holds {_PLURAL.get(now, now)}; "
        "convert it, or say what it is (columns=) and fit again"
    )


_PLURAL = {"number": "numbers", "category": "categories", "time": "points in time", "boolean": "true and false"}
