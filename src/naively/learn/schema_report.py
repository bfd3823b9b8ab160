"""The schema of a fitted model as a table for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.count.ledger import Ledger
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.categories import CategoryBlock, CategoryColumn
from naively.families.blocks.density_columns import DensityBlock
from naively.families.blocks.number_columns import NumberBlock
from naively.families.blocks.text import TextBlock
from naively.families.columns.declared import Refitted, Undeclared
from naively.learn.schema import Schema
from naively.names import Index
from naively.report import RowReport, Sheet
from naively.score.table import Table
from naively.smooth.rules import Smoothing

IGNORED = "ignored"
"""Name for the family of a column that adds the same to every class, whatever its value."""


@dataclass(frozen=True)
class SchemaRow:
    """One column as it is now: its family, the reason for it, and the number of missing values.

    A column is "ignored" while it adds the same to every class: one bin, one category, or one value in all rows.
    """

    column: str
    type: str
    taken_as: str
    why: str
    missing: float | None


@dataclass(frozen=True)
class SchemaTable(RowReport):
    """The schema of a fitted model, which prints as a table."""

    rows: tuple[SchemaRow, ...]

    @classmethod
    def of(cls, schema: Schema, blocks: Blocks, ledger: Ledger, rule: Smoothing, table: Table | None) -> SchemaTable:
        """Return the schema; `table` is given for a frozen model alone, whose table cannot be made from counts."""
        details = _details(blocks, ledger, rule, table)
        missing_by_column = {} if ledger.parts is None else _missing_values(blocks, ledger)
        rows = []
        for column in schema.columns:
            if column.rule is None or (isinstance(column.rule, Refitted) and column.rule.family is None):
                rows.append(SchemaRow(column.name, column.type, "left out", column.why, None))
                continue
            family, why = details.get(column.name, (column.rule.label, ""))
            rows.append(
                SchemaRow(column.name, column.type, family, column.why + why, missing_by_column.get(column.name))
            )
        return cls(tuple(rows))

    def __getitem__(self, column: str) -> SchemaRow:
        for row in self.rows:
            if row.column == column:
                return row
        raise KeyError(column)

    def _sheets(self) -> tuple[Sheet, ...]:
        head = ("column", "type", "taken as", "missing", "why")
        cells = tuple(
            (r.column, r.type, r.taken_as, "" if not r.missing else f"{r.missing:,.0f}", r.why) for r in self.rows
        )
        return (Sheet(head, cells, align="lllrl"),)

    __repr__ = RowReport.__str__


def _missing_values(blocks: Blocks, ledger: Ledger) -> dict[str, float]:
    """Return the number of missing values of each column."""
    result: dict[str, float] = {}
    for block in blocks.blocks:
        counts = block.missing_counts(ledger.counted[block.name], ledger.rows)
        if counts is not None:
            result |= dict(zip(block.sources, counts.sum(axis=1).tolist(), strict=True))
    return result


def _details(blocks: Blocks, ledger: Ledger, rule: Smoothing, table: Table | None) -> dict[str, tuple[str, str]]:
    """Return for each column its present family, and a note on the reason."""
    result: dict[str, tuple[str, str]] = {}
    name = f"{IGNORED}, but for being missing" if blocks.informative else IGNORED
    nothing = np.zeros(ledger.classes.size)
    for block in blocks.blocks:
        part = None if table is not None else ledger.counted[block.name]
        made: Any = None if table is None else table.blocks[block.name]
        if isinstance(block, CategoryBlock):
            for column, known in zip(
                block.columns, (part.features if part else block.features_of(made)).values, strict=True
            ):
                if known.size > 1:
                    result[column.source] = _category_detail(column, known, result.get(column.source)), ""
                else:
                    result[column.source] = name, ", one category"
        elif isinstance(block, NumberBlock):
            own: Any = made if part is None else block.family.table(part, rule, nothing)
            rules = dict(block.columns)
            for decided in own.columns:
                declared = "" if isinstance(rules[decided.name], Undeclared) or not decided.why else ", "
                why = f"{declared}{decided.why}" + (f", {decided.ignored}" if decided.ignored else "")
                result[decided.name] = name if decided.ignored else decided.description, why
        elif isinstance(block, DensityBlock):
            densities: Any = made if part is None else block.family.table(part, rule, nothing)
            result |= dict.fromkeys(block.ignored(densities), (name, ", one value"))
        elif isinstance(block, TextBlock) and part is not None:
            result[block.source] = f"text, {len(block.family.kept(part.total)):,} words", ""
    return result


def _category_detail(column: CategoryColumn, known: Index, before: tuple[str, str] | None) -> str:
    if column.part is not None:
        return f"{before[0]}, {column.part}" if before else f"categorical: {column.part}"
    if column.threshold is not None:
        return "bernoulli"
    return f"categorical, {known.size:,} categories"
