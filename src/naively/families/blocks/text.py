"""A column of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.families.base import remainder
from naively.families.blocks.base import TableBlock, WholeBlock, changed, checked, nothing
from naively.families.words.block import Words, without_unseen_words
from naively.families.words.table import TextTable
from naively.names import Index
from naively.read.columns import CATEGORY, NUMBER, TEXT, is_text, missing
from naively.read.frame import Frame
from naively.read.texts import Texts
from naively.score.table import Shares
from naively.smooth.rules import Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class TextBlock(TableBlock):
    """One column of texts with its own vocabulary; `given` is its smoothing if that is not the model's."""

    source: str
    family: Words
    given: Smoothing | None = None

    tables = (TextTable,)

    @property
    def name(self) -> str:
        return f"text {self.source}"

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.source,)

    def no_features(self) -> Any:
        return self.family.no_words()

    def count(self, frame: Frame, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
        return self.family.count(self.read(frame, features), codes, classes, features, weight)

    def read(self, frame: Frame, features: Any) -> Texts:
        values, kind = checked(self.source, frame.get(self.source), (TEXT, CATEGORY), "text")
        if kind == CATEGORY and not is_text(values.type.value_type):
            if not missing(values).all():
                raise changed(self.source, "text", NUMBER)
            values = nothing(len(values))
        return self.family.tokens.texts(values)

    def rule(self, smoothing: Smoothing) -> Smoothing:
        return smoothing if self.given is None else self.given

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array:
        return remainder(rows, ledger.rows)[None]

    def factor(self, word: str) -> str:
        """Return the name of a word in an explanation."""
        return f"{self.source}: {word}"

    def shares(self, table: Any, rows: Any) -> Shares:
        words, shares, impossible = table.shares(rows)
        return [self.factor(word) for word in words], shares, impossible

    def columns_of(self, drawn: list[str], features: Any) -> dict[str, Any]:
        return {self.source: drawn}

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        return without_unseen_words(ledger, forgotten, self.family)


@stored()
@dataclass(frozen=True)
class TextsBlock(WholeBlock):
    """Texts that are whole rows; `part` is the name of their counts."""

    family: Words
    part: str = "words"

    tables = (TextTable,)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.part

    def no_features(self) -> Any:
        return self.family.no_words()

    def features_of(self, table: Any) -> Any:
        return table.features.words

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        return without_unseen_words(ledger, forgotten, self.family)
