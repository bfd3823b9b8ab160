"""The formats that can be read: names, endings of file names, first bytes. Help lists them, so this imports little."""

from __future__ import annotations

from typing import NamedTuple


class Format(NamedTuple):
    """A format of files; its files are recognised by their endings, or else by their first bytes (`starts`).

    `binary`: it is not text. `tables`: a file may hold several tables.
    """

    title: str
    endings: tuple[str, ...] = ()
    starts: tuple[bytes, ...] = ()
    binary: bool = False
    tables: bool = False


FORMATS = {
    "csv": Format("CSV", ("csv",)),
    "tsv": Format("TSV", ("tsv", "tab")),
    "json": Format("JSON", ("json",)),
    "jsonl": Format("JSON Lines", ("jsonl", "ndjson")),
    "parquet": Format("Parquet", ("parquet", "pq"), (b"PAR1",), binary=True),
    "arrow": Format("Arrow", ("arrow", "arrows", "feather", "ipc"), (b"ARROW1", b"\xff\xff\xff\xff"), binary=True),
    "excel": Format("Excel", ("xlsx", "xlsm"), binary=True, tables=True),
    "sqlite": Format("SQLite", ("sqlite", "sqlite3"), (b"SQLite format 3\0",), binary=True, tables=True),
    "duckdb": Format("DuckDB", ("duckdb",), binary=True, tables=True),
    "fasttext": Format("fasttext", ("ft", "fasttext")),
    "folder": Format("folder"),
    "lines": Format("lines"),
}
"""All formats by name. The reader of each is made in `open`."""
