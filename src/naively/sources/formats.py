"""Formats: detect the format of a file by its name, or else by its first bytes."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from naively.sources import archives
from naively.sources.errors import SourceError, plain
from naively.sources.files import File, unreadable
from naively.sources.known import FORMATS

_HEAD = _READ = 1 << 16

_COMPRESSED = {"gz": "gzip", "zst": "zstd", "bz2": "bzip2", "xz": "xz", "zip": "zip"}
_ZIP = b"PK\x03\x04"
_COMPRESSION_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    _ZIP: "zip",
    b"PK\x05\x06": "zip",  # without files in it
}
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")  # after "BZh" and a digit: the start of a block, or the end
_FOREIGN = {
    b"FEA1": "the first version of Feather; write it again as an Arrow file",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook (.xls) or one with a password; save it as .xlsx without a password",
    b"\xff\xfe\0\0": "UTF-32; pass --encoding utf-32 (Python: encoding='utf-32')",
    b"\0\0\xfe\xff": "UTF-32; pass --encoding utf-32 (Python: encoding='utf-32')",
    b"\xff\xfe": "UTF-16; pass --encoding utf-16 (Python: encoding='utf-16')",
    b"\xfe\xff": "UTF-16; pass --encoding utf-16 (Python: encoding='utf-16')",
}
_MODEL = b'{"__metadata__":{"format":"naively"'  # after the eight bytes of a length


@dataclass(frozen=True)
class Content:
    """The format of a file, its compression ("gzip", "zstd", "bzip2", "xz", "zip" or "none"), and its name in a zip."""

    format: str
    compression: str
    member: str | None = None


def known_by_name(path: str) -> tuple[str | None, str]:
    """Return the format and the compression that the name of a file promises.

    >>> known_by_name("a/reviews.csv.gz"), known_by_name("notes.txt")
    (('csv', 'gzip'), (None, 'none'))
    """
    stem, _, last = os.path.basename(path).lower().rpartition(".")
    compression = _COMPRESSED.get(last, "none")
    ending = stem.rpartition(".")[2] if compression != "none" else last
    return next((name for name, known in FORMATS.items() if ending in known.endings), None), compression


def content(file: File, requested: str | None, encoding: str | None = None, table: str | None = None) -> Content:
    """Detect what is in a file: the requested format, else by its name, else by its first bytes; all must agree.

    `table` chooses one of the files of a zip archive.
    """
    if file.size == 0:
        raise SourceError("is empty; there is nothing to read", file=file.path)
    named, promised = known_by_name(file.path)
    start = _start(file.path)
    compression, member = _compression(start), None
    if compression == "zip":
        compression, member = _archived(file, table)
    if promised not in ("none", compression):
        raise SourceError(f"is named as compressed by {promised}, but is not", file=file.path)
    if named and promised != compression:
        ending = next(ending for ending, how in _COMPRESSED.items() if how == compression)
        raise SourceError(f"is compressed by {compression}; give it a name that ends in .{ending}", file=file.path)
    head = start if compression == "none" else _first_bytes(file, compression, member)
    if compression != "none" and (inner := _compression(head)) not in ("none", "zip"):
        raise SourceError(f"is compressed twice, by {compression} after {inner}; unpack it first", file=file.path)
    if encoding is not None:
        head = head.decode(encoding, "ignore").encode("utf-8", "ignore")
    if member is not None:
        named = known_by_name(member)[0] or named
    seen = _by_content(head, member or file.path, file.path)
    wanted = requested or named or seen
    if wanted is None:
        raise SourceError("its name does not say what it holds; pass format (csv, tsv, lines, ...)", file=file.path)
    _check_agreement(wanted, seen, file.path, requested)
    return Content(wanted, compression, member)


def _compression(start: bytes) -> str:
    """Detect a compression by the first bytes.

    >>> _compression(b"BZh91AY&SY"), _compression(b"BZhang,Li")
    ('bzip2', 'none')
    """
    if start.startswith(b"BZh") and start[4:10] in _BZIP2:
        return "bzip2"
    return next((how for magic, how in _COMPRESSION_MAGIC.items() if start.startswith(magic)), "none")


def _archived(file: File, table: str | None) -> tuple[str, str | None]:
    """Return the compression of a zip archive and the file in it that is read; a workbook is read as it is."""
    try:
        if archives.is_workbook(file.path):
            return "none", None
        return "zip", archives.member(file.path, table)
    except (OSError, *archives.FAULTS) as error:
        raise damaged(file.path, error) from None


@contextmanager
def unpacked(place: str, compression: str, name: str, member: str | None = None) -> Iterator[tuple[Any, Any]]:
    """Open a file as a stream of unpacked bytes, and its raw stream, which knows how many bytes were read.

    `member` is the file that is read of a zip archive. Zeros after gzip data, as tapes have them, end the file.
    Anything else that cannot be read is damage.
    """
    import pyarrow as pa

    faults: tuple[type[Exception], ...] = (OSError, pa.ArrowException, *archives.FAULTS)
    if compression == "gzip":
        from isal import igzip, isal_zlib

        faults = (*faults, OverflowError, isal_zlib.error)
    try:
        with pa.OSFile(place) as raw:
            if compression == "gzip":
                yield igzip.IGzipFile(fileobj=_SmallReads(raw)), raw
            elif compression in ("bzip2", "xz", "zip"):
                yield archives.unpacked_stream(raw, compression, member), raw
            else:
                yield raw if compression == "none" else pa.CompressedInputStream(raw, compression), raw
    except faults as error:
        raise damaged(name, error) from None


class _SmallReads(io.RawIOBase):
    """Reads little at a time from a stream, so that its position stays close to the bytes that have been unpacked."""

    def __init__(self, stream: Any):
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return int(self._stream.readinto(memoryview(buffer)[:_READ]))


def _first_bytes(file: File, compression: str, member: str | None) -> bytes:
    with unpacked(file.native, compression, file.path, member) as (stream, _):
        return bytes(stream.read(_HEAD))


def damaged(path: str, error: Exception) -> SourceError:
    """Return the error for a file that cannot be read to its end."""
    return SourceError(f"cannot be read to its end ({plain(str(error))}); it may be damaged or cut short", file=path)


def _start(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_HEAD)
    except OSError as error:
        raise unreadable(path, error) from None


def _by_content(head: bytes, name: str, path: str) -> str | None:
    """Detect a format by the first bytes; None for text that could be anything. A .txt file is lines or fastText."""
    if head.startswith(_ZIP):
        return "excel"  # other archives are unpacked before
    if head[8:12] == b"DUCK" and b"\0" in head[12:20]:
        return "duckdb"
    if head[8:].startswith(_MODEL):
        raise SourceError("is a model of naively, not data", file=path)
    for magic, description in _FOREIGN.items():
        if head.startswith(magic):
            raise SourceError(f"is {description}", file=path)
    for format, known in FORMATS.items():
        if head.startswith(known.starts):
            return format
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"__label__"):
        return "fasttext"
    if _is_plain_text(name) or _is_plain_text(path):
        return "lines"
    if text.startswith(b"{"):
        return "jsonl" if _is_json(text.partition(b"\n")[0]) else "json"
    if text.startswith(b"[") and text[1:].lstrip()[:1] in (b"{", b"]"):
        return "json"
    return None


def _is_plain_text(name: str) -> bool:
    stem, _, last = name.lower().rpartition(".")
    return (stem if last in _COMPRESSED else name.lower()).endswith(".txt")


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _check_agreement(wanted: str, seen: str | None, path: str, requested: str | None) -> None:
    """Raise if a file is not of the binary or JSON format that was expected, or is binary and would be read as text."""
    contradicts = wanted != seen and (FORMATS[wanted].binary or (seen is not None and FORMATS[seen].binary))
    if not contradicts and not (wanted in ("json", "jsonl") and seen not in ("json", "jsonl")):
        return
    title = FORMATS[wanted].title
    claim = f"was to be read as {title}" if requested else f"is named as {title}"
    holds = f"holds {FORMATS[seen].title}" if seen else "does not begin like it"
    encrypted = ", or decrypt it, as it may be encrypted" if wanted == "sqlite" and not seen else ""
    raise SourceError(f"{claim}, but {holds}; rename it or pass the format that it has{encrypted}", file=path)
