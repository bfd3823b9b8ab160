"""Opening: turn a request into a source that can be read."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace

from naively.sources import files, formats
from naively.sources.duck import Engine
from naively.sources.errors import BadRow, SourceError
from naively.sources.files import File
from naively.sources.known import FORMATS
from naively.sources.reader import Part, Reader
from naively.sources.request import Request
from naively.sources.sniff import Sample
from naively.sources.source import Opened, Source
from naively.sources.spool import decoded_copy, no_room, unpacked_copy, without_mark

BATCH_ROWS, BATCH_BYTES = 1 << 13, 8 << 20
"""The size of a batch: so large that merging the counts of a batch costs little beside counting it."""

_BY_LINE = ("lines", "fasttext")
_ON_ONE_THREAD = ("parquet", "sql", "duckdb")
_STREAMED = ("none", "gzip", "zstd")
"""Compressions that DuckDB unpacks too; files of others are copied unpacked, unless they are read by lines."""
_SPLIT = re.compile("(train|test|validation|valid|val|dev)([-_.]|$)", re.IGNORECASE)


def open_source(
    request: Request, *, batch_rows: int = BATCH_ROWS, batch_bytes: int = BATCH_BYTES, threads: int | None = None
) -> Source:
    r"""Find the files, detect their format and columns, and return a source that reads them.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "mail.csv"
    ...     _ = path.write_text("label,text\nspam,win a prize\nham,see you at noon\n")
    ...     with open_source(Request(paths=(str(path),))) as source:
    ...         print(source.columns, [batch.num_rows for batch in source.batches()])
    {'label': 'VARCHAR', 'text': 'VARCHAR'} [2]
    """
    for name, value in (("batch_rows", batch_rows), ("batch_bytes", batch_bytes), ("threads", threads)):
        if value is not None and value < 1:
            raise SourceError(f"{name} must be at least 1, got {value}")
    engine = Engine(threads)
    try:
        return Source(request, _opened(request, engine), engine, batch_rows, batch_bytes)
    except BaseException:
        engine.close()
        raise


def _opened(request: Request, engine: Engine) -> Opened:
    if request.sql is not None:
        return Opened(_reader("sql", (), request, engine), "sql")
    if request.from_standard_input:
        return _standard_input(request, engine)
    matches = [files.matching(given) for given in request.paths]
    for several in matches:
        if len(several) > 1:
            place = os.path.commonpath(list(map(os.path.dirname, several)))
            _refuse_splits(place, [os.path.relpath(path, place or ".") for path in several])
    paths = files.unique(path for several in matches for path in several)
    if _are_labelled_folders(paths, request.format):
        from naively.sources.folders import Folder

        for path in paths:
            names = files.sub_folders(path)
            if all(map(_split, names)):  # otherwise they are labels, "test" and "dev" among them
                _refuse_splits(path, (os.path.join(name, "") for name in names))
        folder = Folder.of(paths, request.encoding)
        found = tuple(file for _, file in folder.texts)
        return Opened(folder, "folder", found, sum(file.size for file in found))
    parts, left_out = _parts(_without_folders(paths, request.format), request, engine)
    format = parts[0].content.format
    found = tuple(part.file for part in parts)
    return Opened(_reader(format, parts, request, engine), format, found, sum(file.size for file in found), left_out)


def _reader(format: str, parts: tuple[Part, ...], request: Request, engine: Engine) -> Reader:
    """Create the reader of a format; the modules of other formats are not imported, so that a command starts fast."""
    if format in _ON_ONE_THREAD:
        engine.threads = 1
    if request.sql is not None:
        from naively.sources.query import Query

        return Query(engine, request.sql)
    if format in ("csv", "tsv"):
        from naively.sources.delimited import Delimited

        return Delimited(engine, parts, request.sep, request.no_header, request.decimal, request.skips)
    if format in ("json", "jsonl"):
        from naively.sources.json_lines import Records

        return Records(engine, parts, request.skips)
    if format == "parquet":
        from naively.sources.parquet import Parquet

        return Parquet(engine, parts)
    if format == "arrow":
        from naively.sources.arrow_ipc import Arrow

        return Arrow(engine, parts)
    table = None if parts and parts[0].content.member else request.table  # that of an archive is a file in it
    if format == "sqlite":
        from naively.sources.sqlite import Sqlite

        return Sqlite(parts, table)
    if format == "excel":
        from naively.sources.excel import workbook_reader

        return workbook_reader(parts, table, engine)
    if format == "duckdb":
        from naively.sources.duck_file import DuckFile

        return DuckFile(engine, parts, table)
    from naively.sources.lines import Lines

    return Lines(parts, format == "fasttext", request.encoding)


def _standard_input(request: Request, engine: Engine) -> Opened:
    """Open standard input: lines are read as they arrive, other formats are first written to a temporary file."""
    format = request.format or ("csv" if request.of_delimited_files else "lines")
    if sys.stdin is None:
        raise SourceError("standard input is closed; pipe the data in, or name a file")
    if format == "folder":
        raise SourceError("standard input cannot be a folder; pass the path of the folder")
    if format in _BY_LINE:
        return Opened(_reader(format, (), request, engine), format)
    path = os.path.join(engine.folder, "standard input")
    try:
        with open(path, "wb") as spool:
            shutil.copyfileobj(sys.stdin.buffer, spool, 1 << 20)
    except OSError as error:
        raise no_room("standard input", error) from None
    part = _part(path, format, request, engine)
    part = replace(part, file=replace(part.file, path="standard input"), stored=part.place)
    return Opened(_reader(format, (part,), request, engine), format, (), part.file.size)


def _part(path: str, format: str | None, request: Request, engine: Engine) -> Part:
    """Return a file with its format, and with a copy of it if it cannot be read as it is."""
    file = File.at(path)
    named = formats.known_by_name(path)[0]
    if request.of_delimited_files and format is None:
        if named not in (None, "csv", "tsv"):
            raise SourceError(f"is named as {named}; no_header, sep and decimal are for csv and tsv", file=path)
        format = named or "csv"
    part = Part(file, formats.content(file, format, request.encoding, request.table))
    if request.table is not None and not FORMATS[part.content.format].tables and part.content.member is None:
        raise SourceError(f"is {part.content.format}, which has no tables in it; leave table out", file=path)
    if request.encoding is not None:
        if FORMATS[part.content.format].binary:
            raise SourceError(f"is {part.content.format}, which has no encoding of its own; leave it out", file=path)
        return decoded_copy(part, request.encoding, engine)
    if part.content.format in ("json", "jsonl") and Sample.of(part).marked:
        return without_mark(part, engine)
    is_read_by_parts = part.content.format in _BY_LINE or part.content.compression == "none"
    if not is_read_by_parts and (part.content.compression not in _STREAMED or FORMATS[part.content.format].binary):
        return unpacked_copy(part, engine)
    return part


def _parts(paths: Sequence[str], request: Request, engine: Engine) -> tuple[tuple[Part, ...], tuple[BadRow, ...]]:
    """Return the files with their one format, and the empty files, which are left out if bad rows are."""
    empty = [path for path in paths if os.path.isfile(path) and os.path.getsize(path) == 0]
    left_out: tuple[BadRow, ...] = ()
    if request.skips and len(empty) < len(paths):
        left_out = tuple(BadRow(path, None, None, "is empty", "") for path in empty)
        paths = [path for path in paths if path not in set(empty)]
    parts = tuple(_part(path, request.format, request, engine) for path in paths)
    first = parts[0]
    for part in parts:
        if part.content.format != first.content.format:
            one, other = first.content.format, part.content.format
            raise SourceError(
                f"{first.path} is {one}, but {part.path} is {other}; read files of one format at a time, or pass format"
            )
    return parts, left_out


def _are_labelled_folders(paths: Sequence[str], format: str | None) -> bool:
    """True if these are folders with one sub-folder of texts per label: by request, or if they hold no data files."""
    folders = [path for path in paths if os.path.isdir(path)]
    if format == "folder":
        if len(folders) < len(paths):
            raise SourceError("is not a folder, so its texts have no labels", file=min(set(paths) - set(folders)))
        return True
    return (
        format is None
        and bool(folders)
        and len(folders) == len(paths)
        and all(files.sub_folders(folder) for folder in folders)
        and any(formats.known_by_name(path)[0] is None for folder in folders for path in _below_sub_folders(folder))
    )


def _below_sub_folders(folder: str) -> Iterable[str]:
    return (path for name in files.sub_folders(folder) for path in files.under(os.path.join(folder, name)))


def _without_folders(paths: Sequence[str], format: str | None) -> list[str]:
    """Replace each folder by the data files in it."""
    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found += _data_files(path, format)
        else:
            found.append(path)
    return files.unique(found)


def _refuse_splits(folder: str, names: Iterable[str]) -> None:
    """Refuse a folder or glob with several splits of a data set, such as train-*.parquet beside test-*.parquet."""
    splits = dict(found for name in names if (found := _split(name)))
    if len(splits) > 1:
        one = os.path.join(folder, splits.get("train", min(splits.values())))
        known = ", ".join(sorted(splits))
        raise SourceError(f"has several splits ({known}), which are not read together; name one: '{one}'", file=folder)


def _split(name: str) -> tuple[str, str] | None:
    """Return the split of a data set that a path names, and a path or glob for all files of that split.

    >>> _split("data/train-00000-of-00001.parquet"), _split("test/a.csv"), _split("trains.csv")
    (('train', 'data/train-*'), ('test', 'test'), None)
    """
    parts = name.split(os.sep)
    for number, part in enumerate(parts):
        if found := _SPLIT.match(part):
            is_file = number == len(parts) - 1
            return found[1].lower(), os.path.join(*parts[:number], f"{found[0]}*" if is_file else part)
    return None


def _data_files(folder: str, format: str | None) -> list[str]:
    paths = files.under(folder)
    if not paths:
        raise SourceError("has no files in it", file=folder)
    _refuse_splits(folder, (os.path.relpath(path, folder) for path in paths))
    for path in paths:
        if any("=" in part for part in os.path.relpath(path, folder).split(os.sep)[:-1]):
            query = "select * from read_parquet('.../**/*.parquet', hive_partitioning = true)"
            raise SourceError(f"has columns in the names of its folders; read it with a query: {query}", file=folder)
    alike = [path for path in paths if format is None or formats.known_by_name(path)[0] == format]
    return alike or paths
