"""Unpacking: what is in a compressed file, for DuckDB to read.

DuckDB takes a file that was cut short for a shorter file, and does not look at checksums. So a compressed file is
unpacked here, on a thread of its own, and DuckDB reads from a pipe. Where a pipe has no path, DuckDB unpacks the file
itself, and here it is only checked.
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

try:
    import fcntl
except ImportError:  # where pipes are as large as they are
    fcntl = None  # type: ignore[assignment]

_PIPE = 1 << 20
_AHEAD = 4 << 20
"""So much is unpacked while DuckDB is at work on what it has read, which is as much."""
_MOMENT = 0.1


@dataclass(frozen=True)
class Stream:
    """Where DuckDB finds the bytes of a file, how they are compressed there, and what raises if it is damaged."""

    path: str
    compression: str
    confirm: Callable[[], None]


@contextmanager
def unpacking(part: Part) -> Iterator[Stream]:
    """Begin to unpack a file. To `confirm`, when all was read that is wanted of it, waits for its end."""
    packed = part.content.compression
    if packed == "none":
        yield Stream(part.place, packed, _nothing)
        return
    stop = Event()
    with ThreadPoolExecutor(1) as pool, ExitStack() as closing:
        closing.callback(stop.set)
        pipe = _pipe()
        if pipe is None:
            yield Stream(part.place, packed, pool.submit(_look_through, part, stop).result)
            return
        reading = closing.enter_context(open(pipe[0], "rb", 0))
        feeding = pool.submit(_feed, part, pipe[1], stop)
        yield Stream(_path(pipe[0]), "none", lambda: _confirm(reading, feeding))


def chunks(part: Part, size: int = 1 << 20) -> Iterator[tuple[bytes, int]]:
    """What is in a file, compressed or not, to its end, where its sums are; and how much of it was read so far."""
    with unpacked(part.place, part.content.compression, part.path) as (stream, raw):
        while chunk := stream.read(size):
            yield chunk, raw.tell()


def check(part: Part) -> None:
    """Unpack a compressed file to its end."""
    if part.content.compression != "none":
        _look_through(part, Event())


def _look_through(part: Part, stop: Event) -> None:
    for _ in chunks(part):
        if stop.is_set():
            return


def _nothing() -> None:
    pass


def _path(end: int) -> str:
    return f"/dev/fd/{end}"


def _pipe() -> tuple[int, int] | None:
    """The ends of a pipe, to read from and to write to; None where pipes have no paths."""
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
    """Write what is in a file to a pipe, as long as there is a reader, and go on to the end of the file."""
    with open(pipe, "wb", 0) as file, selectors.DefaultSelector() as room:
        room.register(file, selectors.EVENT_WRITE)
        wanted = True
        for chunk, _ in chunks(part, _AHEAD):
            wanted = wanted and _written(chunk, file, room, stop)
            if stop.is_set():
                return


def _written(chunk: bytes, file: Any, room: Any, stop: Event) -> bool:
    """Whether somebody wanted it."""
    left = memoryview(chunk)
    try:
        while left and not stop.is_set():
            if room.select(_MOMENT):
                left = left[file.write(left) or 0 :]
    except BrokenPipeError:
        return False
    return True


def _confirm(reading: Any, feeding: Future[None]) -> None:
    reading.close()  # or what nobody reads any more would wait for a reader
    feeding.result()
