"""Block: the protocol of blocks, the groups of columns that are counted together."""

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
        """The name of the block in a model."""

    @property
    def family(self) -> Family:
        """The family that counts and weighs the columns of the block."""

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of the table that the block reads."""

    def no_features(self) -> Any:
        """Return the features before any row is counted."""

    def count(self, frame: Frame, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
        """Return the part of these rows; `codes` are the numbers of their classes."""

    def read(self, frame: Frame, features: Any) -> Any:
        """Return the rows in the form that tables of the family take."""

    def rule(self, smoothing: Smoothing) -> Any:
        """Return the smoothing of the family in a model with this smoothing."""

    @property
    def tables(self) -> tuple[type, ...]:
        """The Python classes that its tables may have."""

    @property
    def ignores_prior(self) -> bool:
        """True if scores of a model of this block alone leave out the prior."""

    def features_of(self, table: Any) -> Any:
        """Return the features of a table."""

    def shares(self, table: Any, rows: Any) -> Shares:
        """Return the shares of one row by name, without those of ignored columns."""

    def ignored(self, table: Any) -> set[str]:
        """Return the columns that add the same to every class, whatever their value."""

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array | None:
        """Return the weight of missing values, columns by classes (None: not counted); `rows` are all rows."""

    def columns_of(self, drawn: Any, features: Any) -> dict[str, Any]:
        """Return rows that its family has drawn as columns of a table."""

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        """Return the part without features that only forgotten rows had."""


class TableBlock:
    """Base of most blocks of a table."""

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
        listed = [i for i, name in enumerate(names) if name not in ignored]
        return [names[i] for i in listed], shares[listed], None if impossible is None else impossible[listed]

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        return ledger


class WholeBlock:
    """Base of blocks that read whole rows; a model has no other block then."""

    family: Any
    name: ClassVar[str]
    sources: ClassVar[tuple[str, ...]] = ()

    @property
    def ignores_prior(self) -> bool:
        return self.family.ignores_prior

    def count(self, frame: Frame, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
        return self.family.count(frame.whole, codes, classes, features, weight)

    def read(self, frame: Frame, features: Any) -> Any:
        return frame.whole

    def rule(self, smoothing: Any) -> Any:
        return smoothing

    def shares(self, table: Any, rows: Any) -> Shares:
        return table.shares(rows)

    def ignored(self, table: Any) -> set[str]:
        return set()

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array | None:
        return None

    def columns_of(self, drawn: Any, features: Any) -> dict[str, Any]:
        return {self.name: drawn}

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        return ledger


def checked(name: str, values: Any, kinds: tuple[str, ...], expected: str) -> tuple[Any, str]:
    """Return a column and its kind, one of these; a column without any value is NOTHING, whatever its type."""
    kind = kind_of(name, values)
    if kind == NOTHING or kind in kinds:
        return values, kind
    if missing(values).all():
        return nothing(len(values)), NOTHING
    raise changed(name, expected, kind)


def nothing(rows: int) -> Any:
    """Return a column that is missing in every row."""
    import pyarrow as pa

    return pa.nulls(rows)


def changed(name: str, before: str, now: str) -> InputError:
    return InputError(
        f"column {name!r}: was taken for {before}, now it holds {_PLURAL.get(now, now)}; "
        "convert it, or say what it is (columns=) and fit again"
    )


_PLURAL = {"number": "numbers", "category": "categories", "time": "points in time", "boolean": "true and false"}
