"""Sniffing: the beginning of a text file, unpacked."""

from __future__ import annotations

import os
from dataclasses import dataclass

from naively.sources.formats import unpacked
from naively.sources.reader import Part
from naively.sources.spool import MARK

_SIZE = 1 << 20


@dataclass(frozen=True)
class Sample:
    """The first bytes of a text file, and the mean number of bytes on disk per line."""

    start: bytes
    line_size: float
    marked: bool = False  # True if the file begins with a byte-order mark, which `start` leaves out

    @classmethod
    def of(cls, part: Part) -> Sample:
        """Read the first megabyte of a file."""
        with unpacked(part.place, part.content.compression, part.path, part.content.member) as (stream, raw):
            start = bytes(stream.read(_SIZE))
            share_read = raw.tell() / max(1, os.path.getsize(part.openable))
        line_size = part.file.size * share_read / max(1, start.count(b"\n"))
        return cls(start.removeprefix(MARK), line_size, start.startswith(MARK))

    @property
    def is_whole(self) -> bool:
        """True if the file ends with these bytes."""
        return len(self.start) < _SIZE - 3

    @property
    def unpacked_line(self) -> float:
        """Mean number of bytes per line, unpacked."""
        return max(1, len(self.start)) / max(1, self.start.count(b"\n"))

    @property
    def first_line(self) -> str:
        """The first line that is not empty."""
        lines = self.start.decode("utf-8", "replace").replace("\r", "\n").split("\n")
        return next((line for line in lines if line.strip()), "")
