"""Whole: whether a compressed file is all there.

DuckDB takes a file that was cut short for a shorter file, and does not look at checksums. So a compressed file is
read a second time beside it, on a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from naively.sources.formats import damaged
from naively.sources.reader import Part

_CHUNK = 1 << 20


@contextmanager
def checked(part: Part) -> Iterator[Callable[[], None]]:
    """Begin to check a file, and give what waits for the end of that and raises if the file is damaged."""
    if part.content.compression == "none":
        yield _nothing
        return
    stop = Event()
    with ThreadPoolExecutor(1) as pool:
        checking = pool.submit(check, part, stop)
        try:
            yield checking.result
        finally:
            stop.set()


def _nothing() -> None:
    pass


def check(part: Part, stop: Event | None = None) -> None:
    """Unpack a compressed file to its end, where its sums are, or until told to stop."""
    import pyarrow as pa

    if part.content.compression == "none":
        return
    try:
        with pa.input_stream(part.path, compression=part.content.compression) as stream:
            while stream.read(_CHUNK) and not (stop and stop.is_set()):
                pass
    except (OSError, pa.ArrowException) as error:
        raise damaged(part.path, error) from None
