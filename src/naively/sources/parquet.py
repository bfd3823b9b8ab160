"""Parquet, read by DuckDB.

DuckDB is faster than pyarrow here, and takes the same memory for ten times the data once prefetching of whole row
groups is off. One thread reads, because each further one holds a row group of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_columns
from naively.sources.duck import Engine, exactly, failures, identifier
from naively.sources.formats import damaged
from naively.sources.reader import Part, Progress, widest


@dataclass(frozen=True)
class Parquet:
    """Reader of Parquet files."""

    engine: Engine
    parts: tuple[Part, ...]

    live = False

    @cached_property
    def columns(self) -> Mapping[str, str]:
        return widest([(part.path, types) for part, types in zip(self.parts, self._types, strict=True)])

    @cached_property
    def rows(self) -> int:
        return sum(self._counts)

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        before = 0
        for part, types, count in zip(self.parts, self._types, self._counts, strict=True):
            yield from self._rows(part, types, count, columns, progress, before)
            before += part.file.size
            progress.reached(before)

    def _rows(
        self,
        part: Part,
        types: Mapping[str, str],
        count: int,
        columns: Sequence[str],
        progress: Progress,
        before: int,
    ) -> Iterator[Any]:
        chosen = ", ".join(self._cast(name, types[name]) for name in columns)
        rows = 0
        try:
            for piece in self.engine.stream(f"select {chosen} from read_parquet(?)", [exactly(part.place)]):
                rows += len(piece)
                progress.reached(before + part.file.size * rows // max(1, count))
                yield plain_columns(piece)
        except failures() as error:
            raise damaged(part.path, error) from None

    def _cast(self, name: str, kind: str) -> str:
        """Return the SQL that casts a column to its type in the whole source."""
        wanted, column = self.columns[name], identifier(name)
        return column if kind == wanted else f"cast({column} as {wanted}) as {column}"

    @cached_property
    def _types(self) -> list[dict[str, str]]:
        return [self._described(part) for part in self.parts]

    @cached_property
    def _counts(self) -> list[int]:
        return [self._count(part) for part in self.parts]

    def _described(self, part: Part) -> dict[str, str]:
        try:
            return self.engine.described("select * from read_parquet(?)", [exactly(part.place)])
        except failures() as error:
            raise damaged(part.path, error) from None

    def _count(self, part: Part) -> int:
        ((rows,),) = self.engine.rows("select num_rows from parquet_file_metadata(?)", [exactly(part.place)])
        return int(rows)
