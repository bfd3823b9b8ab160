"""Arrow files and streams, read through a memory map.

Pages that have been read are given back to the system now and then, so that even a file of a single batch takes little
memory. Values are validated before they are handed on, because the code that reads them trusts their offsets.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_column, plain_columns
from naively.sources.duck import Engine, failures
from naively.sources.errors import SourceError, plain
from naively.sources.formats import damaged
from naively.sources.reader import Part, Progress, check_names, check_unique

_MAGIC = b"ARROW1"
_PIECE_ROWS = 4096
_MAPPED_BYTES = 32 << 20


@dataclass(frozen=True)
class Arrow:
    """The rows of Arrow files and streams."""

    engine: Engine
    parts: tuple[Part, ...]

    live = False

    @cached_property
    def columns(self) -> Mapping[str, str]:
        return {field.name: self._type_name(field) for field in self._schema}

    @cached_property
    def rows(self) -> int | None:
        counts = [_count(part) for part in self.parts]
        return None if None in counts else sum(count or 0 for count in counts)

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        before = 0
        for part in self.parts:
            for piece, share in _slices(part):
                progress.reached(before + int(part.file.size * share))
                yield self._conformed(piece, columns, part)
            before += part.file.size
            progress.reached(before)

    @cached_property
    def _schema(self) -> Any:
        """The columns of the first file, with types wide enough for all files."""
        import pyarrow as pa

        schemas = [_plain_schema(part) for part in self.parts]
        first = dict.fromkeys(schemas[0].names, "")
        for part, schema in zip(self.parts, schemas, strict=True):
            check_names(first, dict.fromkeys(schema.names, ""), part.path, self.parts[0].path)
        try:
            together = pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowException as error:
            raise SourceError(f"the files have columns of different types: {plain(str(error))}") from None
        return pa.schema([together.field(name) for name in schemas[0].names])

    def _type_name(self, field: Any) -> str:
        """Return DuckDB's name for the type of a column, or Arrow's name if DuckDB has no such type."""
        import pyarrow as pa

        try:
            with self.engine.cursor() as cursor:
                return str(cursor.from_arrow(pa.schema([field]).empty_table()).types[0])
        except failures():
            return str(field.type)

    def _conformed(self, piece: Any, columns: Sequence[str], part: Part) -> Any:
        import pyarrow as pa

        try:
            chosen = piece.select(list(columns))
            chosen.validate(full=True)
            wanted = [self._schema.field(name).type for name in columns]
            arrays = [
                column if column.type == kind else column.cast(kind)
                for column, kind in zip(plain_columns(chosen).columns, wanted, strict=True)
            ]
        except pa.ArrowException as error:
            raise damaged(part.path, error) from None
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _slices(part: Part) -> Iterator[tuple[Any, float]]:
    """Yield the rows of a file, a few thousand at a time, each with the share of the file read so far."""
    import pyarrow as pa

    try:
        mapped = _mapped(part.place)
        since = 0
        for batch, start, end in _record_batches(mapped, part.path):
            for first in range(0, len(batch), _PIECE_ROWS):
                piece = batch.slice(first, _PIECE_ROWS)
                yield piece, start + (end - start) * (first + len(piece)) / len(batch)
                since += piece.nbytes
                if since > _MAPPED_BYTES:
                    _release_pages(mapped)
                    since = 0
    except (OSError, pa.ArrowException) as error:
        raise damaged(part.path, error) from None


def _record_batches(mapped: mmap.mmap, path: str) -> Iterator[tuple[Any, float, float]]:
    """Yield the batches as they were written, each with the shares of the file at which it starts and ends."""
    import pyarrow as pa

    source = pa.BufferReader(pa.py_buffer(mapped))
    if mapped[: len(_MAGIC)] == _MAGIC:
        reader = pa.ipc.open_file(source)
        number = reader.num_record_batches
        for index in range(number):
            yield reader.get_batch(index), index / number, (index + 1) / number
    else:
        start = 0.0
        with pa.ipc.open_stream(source) as reader:
            for batch in reader:
                end = source.tell() / len(mapped)
                yield batch, start, end
                start = end


def _mapped(path: str) -> mmap.mmap:
    with open(path, "rb") as stream:
        return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)


def _release_pages(mapped: mmap.mmap) -> None:
    """Release the mapped pages; the system reads a page again when it is needed again."""
    if hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _plain_schema(part: Part) -> Any:
    import pyarrow as pa

    try:
        source = pa.BufferReader(pa.py_buffer(_mapped(part.place)))
        is_file = source.read(len(_MAGIC)) == _MAGIC
        source.seek(0)
        schema = (pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)).schema
        check_unique(schema.names, part.path, "name them apart when writing the file")
        return pa.schema([(field.name, plain_column(pa.nulls(0, field.type)).type) for field in schema])
    except (OSError, pa.ArrowException) as error:
        raise damaged(part.path, error) from None


def _count(part: Part) -> int | None:
    """Return the number of rows; None for a stream, which does not store it."""
    import pyarrow as pa

    source = pa.BufferReader(pa.py_buffer(_mapped(part.place)))
    if source.read(len(_MAGIC)) != _MAGIC:
        return None
    try:
        source.seek(0)
        reader = pa.ipc.open_file(source)
        return int(reader.count_rows()) if hasattr(reader, "count_rows") else None
    except (OSError, pa.ArrowException) as error:
        raise damaged(part.path, error) from None
