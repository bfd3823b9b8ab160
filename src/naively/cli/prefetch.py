"""Reading ahead: the next batch is fetched while this one is worked on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ahead(Generic[T]):
    """The same items in the same order, of which one is always on its way; errors come where they would have come.

    >>> list(ahead(range(5)))
    [0, 1, 2, 3, 4]

    Fetching begins at once. Close it when done: a fetcher that waits for what never comes is left behind then.
    """

    def __init__(self, items: Iterable[T]):
        self._ready: Queue[tuple[str, Any]] = Queue(1)
        self._stop = threading.Event()
        task = (items, self._ready, self._stop)
        self._fetcher = threading.Thread(target=_fetch, args=task, name="naively: reading ahead", daemon=True)
        self._fetcher.start()

    def __iter__(self) -> Iterator[T]:
        while not self._stop.is_set():
            what, item = self._ready.get()
            if what == "end":
                return
            if what == "error":
                raise item
            yield item

    def close(self) -> None:
        """Fetch no more."""
        self._stop.set()
        _empty(self._ready)
        self._fetcher.join(0.2)


def _fetch(items: Iterable[Any], ready: Queue[tuple[str, Any]], stop: threading.Event) -> None:
    try:
        for item in items:
            _put(ready, ("item", item), stop)
            if stop.is_set():
                break
        _put(ready, ("end", None), stop)
    except BaseException as error:
        _put(ready, ("error", error), stop)


def _put(ready: Queue[tuple[str, Any]], told: tuple[str, Any], stop: threading.Event) -> None:
    """Wait for room, unless nobody will make any."""
    while not stop.is_set():
        try:
            ready.put(told, timeout=0.1)
            return
        except Full:
            continue


def _empty(ready: Queue[tuple[str, Any]]) -> None:
    try:
        while True:
            ready.get_nowait()
    except Empty:
        return
