"""Archives: the file in a zip archive that is read, and streams that were packed by bzip2 or xz."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

from naively.sources.errors import SourceError
from naively.sources.tables import chosen

FAULTS = (EOFError, zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError)
"""The exceptions for archives that are damaged, besides OSError."""
_KNOWN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_WORKBOOK = "xl/workbook.xml"
_READ = 1 << 16
_MOST_MEMORY = 1 << 30
"""Bytes that a file may make xz use; its own highest setting takes 65 MB."""


def is_workbook(path: str) -> bool:
    """True if a zip archive is an Excel workbook."""
    with zipfile.ZipFile(path) as archive:
        return _WORKBOOK in archive.namelist()


def member(path: str, wanted: str | None) -> str:
    """Return the file of a zip archive that is read: the wanted one, or the only one."""
    with zipfile.ZipFile(path) as archive:
        files = [one for one in archive.infolist() if not one.is_dir() and not _is_hidden(one.filename)]
        found = chosen(wanted, [one.filename for one in files], "file", path)
        info = archive.getinfo(found)
    if info.flag_bits & 1:
        raise SourceError(f"its file {found!r} is encrypted; unpack it with its password first", file=path)
    if info.compress_type not in _KNOWN:
        method = zipfile.compressor_names.get(info.compress_type, info.compress_type)  # type: ignore[attr-defined]
        raise SourceError(f"its file {found!r} is packed by {method!r}, which cannot be read; unpack it", file=path)
    if info.file_size == 0:
        raise SourceError(f"its file {found!r} is empty; there is nothing to read", file=path)
    return found


def unpacked_stream(raw: Any, compression: str, member: str | None) -> Any:
    """Return a stream of the unpacked bytes of a file that is open; errors in it are `FAULTS` or OSError."""
    if compression == "zip":
        return zipfile.ZipFile(raw).open(str(member))
    return io.BufferedReader(_Unpacked(raw, _decompressor(compression)), _READ)


def _decompressor(compression: str) -> Callable[[], Any]:
    """Return a function that starts to unpack a stream; Python may have been built without it."""
    try:
        if compression == "bzip2":
            from bz2 import BZ2Decompressor

            return BZ2Decompressor
        import lzma
    except ImportError:
        raise SourceError(f"this Python was built without {compression}; unpack the file first") from None
    return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)


class _Unpacked(io.RawIOBase):
    """Unpacks streams that follow each other to the end of the file; zeros behind a stream are padding.

    The classes of the standard library take a damaged second stream for the end of the file.
    """

    def __init__(self, raw: Any, start: Callable[[], Any]) -> None:
        self._raw, self._start, self._stream = raw, start, start()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            packed = b""
            if self._stream.eof:
                packed = self._next_stream(self._stream.unused_data)
                if not packed:
                    return 0
                self._stream = self._start()
            elif self._stream.needs_input:
                packed = self._raw.read(_READ)
                if not packed:
                    raise EOFError("it ends within packed data")
            try:
                data = self._stream.decompress(packed, len(buffer))
            except Exception as error:  # that of lzma is known to lzma alone
                raise OSError(str(error)) from None
            if data:
                buffer[: len(data)] = data
                return len(data)

    def _next_stream(self, rest: bytes) -> bytes:
        """Return the first bytes of the next stream; none at the end of the file."""
        while not (rest := rest.lstrip(b"\0")):
            rest = self._raw.read(_READ)
            if not rest:
                break
        return rest


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))
