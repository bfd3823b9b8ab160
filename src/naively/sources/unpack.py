"""Unpacking: decompress files for DuckDB to read.

DuckDB takes a file that was cut short for a shorter file, and does not check checksums. So a compressed file is
unpacked here, on its own thread, and DuckDB reads from a pipe. On systems where a pipe has no path, DuckDB unpacks the
file itself, and it is only checked here.
"""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from threading import Event
from typing import Any

from naively.sources.formats import unpacked
from naively.sources.reader import Part
from naively.store.remote import is_remote

try:
    import fcntl
except ImportError:  # on Windows, where the size of a pipe cannot be set
    fcntl = None  # type: ignore[assignment]

_PIPE = 1 << 20
_AHEAD = 4 << 20
"""Bytes that are unpacked while DuckDB works on those that it has read."""
_MOMENT = 0.1


@dataclass(frozen=True)
class Stream:
    """The path at which DuckDB reads a file, its compression there, and a function that raises if it is damaged."""

    path: str
    compression: str
    confirm: Callable[[], None]


@contextmanager
def unpacking(part: Part) -> Iterator[Stream]:
    """Start to unpack a file, or to fetch one; `confirm` waits until it is read to its end."""
    packed = part.content.compression
    if packed == "none" and not is_remote(part.place):
        yield Stream(part.place, packed, _do_nothing)
        return
    stop = Event()
    with ThreadPoolExecutor(1) as pool, ExitStack() as closing:
        closing.callback(stop.set)
        pipe = _pipe()
        if pipe is None:
            yield Stream(part.place, packed, pool.submit(_read_to_end, part, stop).result)
            return
        reading = closing.enter_context(open(pipe[0], "rb", 0))
        feeding = pool.submit(_feed, part, pipe[1], stop)
        yield Stream(_path(pipe[0]), "none", lambda: _confirm(reading, feeding))


def chunks(part: Part, size: int = 1 << 20) -> Iterator[tuple[bytes, int]]:
    """Yield the unpacked bytes of a file to its end, where its checksum is; each with the bytes on disk read so far."""
    with unpacked(part.place, part.content.compression, part.path, part.content.member) as (stream, raw):
        while chunk := stream.read(size):
            yield chunk, raw.tell()


def check(part: Part) -> None:
    """Unpack a compressed file to its end, and raise if it is damaged."""
    if part.content.compression != "none":
        _read_to_end(part, Event())


def _read_to_end(part: Part, stop: Event) -> None:
    for _ in chunks(part):
        if stop.is_set():
            return


def _do_nothing() -> None:
    pass


def _path(end: int) -> str:
    return f"/dev/fd/{end}"


def _pipe() -> tuple[int, int] | None:
    """Open a pipe and return its ends, to read from and to write to; None if pipes have no paths."""
    reading, writing = os.pipe()
    if not os.path.exists(_path(reading)):
        os.close(reading)
        os.close(writing)
        return None
    with suppress(AttributeError, OSError):  # some systems let pipes be larger than others
        fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, _PIPE)
    os.set_blocking(writing, False)
    return reading, writing


def _feed(part: Part, pipe: int, stop: Event) -> None:
    """Write the unpacked bytes of a file to a pipe while it has a reader; unpack to the end of the file in any case."""
    with open(pipe, "wb", 0) as file, selectors.DefaultSelector() as room:
        room.register(file, selectors.EVENT_WRITE)
        wanted = True
        for chunk, _ in chunks(part, _AHEAD):
            wanted = wanted and _write(chunk, file, room, stop)
            if stop.is_set():
                return


def _write(chunk: bytes, file: Any, room: Any, stop: Event) -> bool:
    """Write a chunk to a pipe; return False if nobody reads from it any more."""
    left = memoryview(chunk)
    try:
        while left and not stop.is_set():
            if room.select(_MOMENT):
                left = left[file.write(left) or 0 :]
    except BrokenPipeError:
        return False
    return True


def _confirm(reading: Any, feeding: Future[None]) -> None:
    reading.close()  # otherwise the writer would wait for a reader
    feeding.result()
