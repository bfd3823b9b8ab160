"""Read a source batch by batch, with progress, and warn of the rows that are left out."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

from naively.cli.console import Console
from naively.cli.prefetch import Prefetch
from naively.sources.source import Source


def read_batches(source: Source, columns: Any, console: Console, label: str) -> Generator[Any, None, None]:
    """Yield the batches of a source; `columns` are the names of those to read (None: all)."""
    batches = Prefetch(source.batches(columns))
    with closing(batches), console.progress(label, rows=source.rows, size_bytes=source.size) as progress:
        for batch in batches:
            yield batch
            progress.update(batch.num_rows, source.read_bytes - progress.bytes)
    warn_of_bad_rows(source, console)


def warn_of_bad_rows(source: Source, console: Console) -> None:
    """Warn of the first rows that were left out because they cannot be read."""
    for bad in source.bad[:5]:
        console.warn(f"left out: {bad}")
    console.skipped(source.bad_rows, str(source.bad[0]) if source.bad else "")


def warn_of_unlabelled(unlabelled: int, rows: int, console: Console) -> None:
    """Warn of the rows, of all that were read, that have no label."""
    if unlabelled:
        console.warn(f"{unlabelled:,} of {rows:,} rows have no label: left out")
