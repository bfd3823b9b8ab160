"""Source: the columns of opened data, and its rows in batches."""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from naively.errors import nearest
from naively.sources.batches import cut
from naively.sources.duck import Engine
from naively.sources.errors import BadRow, SourceError
from naively.sources.files import File
from naively.sources.reader import KEPT, Peekable, Progress, Reader, Untyped
from naively.sources.request import Request

if TYPE_CHECKING:
    import pyarrow as pa

_LISTED_FILES = 1000
_LABELS = {"folder": "label", "fasttext": "label"}
_TEXTS = {"folder": "text", "fasttext": "text", "lines": "text"}


@dataclass(frozen=True)
class Opened:
    """The reader of a request, and the files that it reads."""

    reader: Reader
    format: str
    files: tuple[File, ...] = ()
    size: int | None = None
    left_out: tuple[BadRow, ...] = ()


class Source:
    """Rows from files, standard input or a query. Close it when done, or use it in a `with` statement."""

    def __init__(self, request: Request, opened: Opened, engine: Engine, batch_rows: int, batch_bytes: int) -> None:
        self._request, self._opened, self._reader = request, opened, opened.reader
        self._rows_per_batch, self._bytes_per_batch = batch_rows, batch_bytes
        self._used = False
        self._close = weakref.finalize(self, engine.close)
        self.format = opened.format
        self.size = opened.size
        _ = self.columns  # which opens the files, and raises if they cannot be read
        self.rows: int | None = opened.reader.rows
        self.label: str | None = _LABELS.get(opened.format)
        self.text: str | None = _TEXTS.get(opened.format)
        self._progress = self._start()

    @property
    def columns(self) -> dict[str, str]:
        """The columns and their types; those of a text file are detected in its first rows, exact once it is read."""
        return dict(self._reader.columns)

    @property
    def files(self) -> tuple[str, ...]:
        """The files in the order in which they are read; none for a query and for standard input."""
        return tuple(file.path for file in self._opened.files)

    @property
    def fingerprint(self) -> dict[str, Any]:
        """Identifies the data and its batches: equal fingerprints mean the same rows. It can be written as JSON."""
        listed = [[os.path.abspath(file.path), file.size, file.mtime_ns] for file in self._opened.files]
        request = {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self._request).items()
        }
        several: dict[str, Any] = {"files": listed}
        if len(listed) > _LISTED_FILES:
            several = {"files": len(listed), "digest": hashlib.sha256(json.dumps(listed).encode()).hexdigest()}
        batch = {"rows": self._rows_per_batch, "bytes": self._bytes_per_batch}
        return {"request": request, "format": self.format, "batch": batch, **several}

    @property
    def first_line(self) -> str | None:
        """The first line of standard input that is read by lines (this waits for it); None for other sources."""
        return self._reader.first_line if isinstance(self._reader, Peekable) and self._reader.live else None

    @property
    def done(self) -> float:
        """The share that has been read so far, from 0 to 1; 0 if it is not known."""
        return self._progress.share

    @property
    def read_bytes(self) -> int:
        """Approximate number of bytes that have been read so far."""
        return self._progress.read

    @property
    def bad_rows(self) -> int:
        """Number of rows that were left out. Those of a CSV file are counted when its end is reached."""
        return self._progress.bad_rows

    @property
    def bad(self) -> list[BadRow]:
        """The first rows that were left out."""
        return list(self._progress.bad)

    def column(self, name: str) -> str:
        """Return this name if a column has it; otherwise raise an error with the nearest names."""
        if name in self.columns:
            return name
        folded = [known for known in self.columns if known.lower() == name.lower()]
        close = f"; did you mean {folded[0]!r}?" if folded else nearest(name, self.columns) or "."
        listed = ", ".join(map(repr, list(self.columns)[:20])) + (", ..." if len(self.columns) > 20 else "")
        raise SourceError(f"no column {name!r} in {self.called}{close} It has: {listed}{self._why_so_named()}")

    def _why_so_named(self) -> str:
        if self._reader.live:
            return ". Standard input is read as lines of text, unless --format (Python: format) says otherwise"
        if self.format in ("csv", "tsv") and "column0" in self.columns and not self._request.no_header:
            return ". Its first line looks like a row, so that its columns have no names"
        return ""

    def as_text(self, names: Sequence[str]) -> None:
        """Read these columns as text, if the format has no types of its own (CSV, TSV)."""
        if isinstance(self._reader, Untyped):
            self._reader = self._reader.as_text(names)

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows in batches, always the same rows in the same order and the same batches.

        Only standard input that is read line by line is different: its batches depend on when lines arrive, and it can
        be read once only.
        """
        chosen = list(self.columns) if columns is None else [self.column(name) for name in columns]
        if not chosen:
            raise SourceError("name at least one column to read")
        self._check_open()
        if self._reader.live and self._used:
            raise SourceError("standard input can be read once only; write it to a file first")
        self._used = True
        self._progress = self._start()
        return self._cut(self._reader.pieces(chosen, self._progress))

    def close(self) -> None:
        """Close files and remove temporary ones; a second call does nothing."""
        self._close()

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        rows = "" if self.rows is None else f"{self.rows:_} rows, "
        return f"Source({self.called}: {self.format}, {rows}{len(self.columns)} columns)"

    @property
    def called(self) -> str:
        """Name of this source in a message."""
        if self._request.sql is not None:
            return "the query"
        if not self._opened.files:
            return "standard input"
        more = f" and {len(self._opened.files) - 1} more" if len(self._opened.files) > 1 else ""
        return self._opened.files[0].path + more

    def _start(self) -> Progress:
        left_out = self._opened.left_out
        return Progress(self.size, self._request.skips, bad_rows=len(left_out), bad=list(left_out[:KEPT]))

    def _check_open(self) -> None:
        if not self._close.alive:
            raise SourceError(f"{self.called} was closed; open it again")

    def _cut(self, pieces: Iterator[Any]) -> Iterator[Any]:
        for together in ([piece] for piece in pieces) if self._reader.live else [pieces]:
            for batch in cut(together, self._rows_per_batch, self._bytes_per_batch):
                self._check_open()
                yield batch
