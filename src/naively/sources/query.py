"""Query: the rows of any SQL query that DuckDB can run.

It runs on one thread: the order of joins and groups depends on the number of threads, and training that is resumed
must read the same rows in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_columns
from naively.sources.duck import Engine, failures
from naively.sources.errors import SourceError
from naively.sources.reader import Progress, check_unique

_MAX_LENGTH = 1000


@dataclass(frozen=True)
class Query:
    """Reader of the rows of a query, in the order in which one thread finds them."""

    engine: Engine
    sql: str

    rows = None
    live = False

    @cached_property
    def columns(self) -> Mapping[str, str]:
        _ = self.engine.folder  # create it private: sorting and joining may write there what does not fit in memory
        try:
            with self.engine.cursor() as cursor:
                statements = cursor.extract_statements(self.sql)
                if len(statements) != 1 or str(statements[0].type).rpartition(".")[2] not in ("SELECT", "MULTI"):
                    raise SourceError(
                        f"expected one query that returns rows, got {self.sql!r}; write select ... from ..."
                    )
                relation = cursor.sql(self.sql)
                names, types = list(relation.columns), [str(kind) for kind in relation.types]
        except failures() as error:
            raise _explained(error) from None
        check_unique(names, None, "give each a name of its own: select a as first, b as second")
        return dict(zip(names, types, strict=True))

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""

        def report(cursor: Any) -> None:
            progress.share = max(progress.share, min(1.0, cursor.query_progress() / 100))

        try:
            for piece in self.engine.stream(self.sql, on_batch=report):
                yield plain_columns(piece.select(list(columns)))
        except failures() as error:
            raise _explained(error) from None
        progress.share = 1.0


def _explained(error: Exception) -> SourceError:
    return SourceError(f"the query failed: {str(error).strip()[:_MAX_LENGTH]}")
