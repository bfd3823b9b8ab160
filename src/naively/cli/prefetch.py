"""Prefetch: read the next batch on another thread while the current one is processed."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from queue import Empty, Full, Queue
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Prefetch(Generic[T]):
    """Iterates over items while a thread fetches the next one; errors are raised in the same place as without it.

    >>> list(Prefetch(range(5)))
    [0, 1, 2, 3, 4]

    Fetching begins at once. Close it when done: this stops the thread, or abandons it if it waits for input.
    """

    def __init__(self, items: Iterable[T]):
        self._queue: Queue[tuple[str, Any]] = Queue(1)
        self._stop = threading.Event()
        task = (items, self._queue, self._stop)
        self._fetcher = threading.Thread(target=_fetch, args=task, name="naively: prefetch", daemon=True)
        self._fetcher.start()

    def __iter__(self) -> Iterator[T]:
        while not self._stop.is_set():
            kind, item = self._queue.get()
            if kind == "end":
                return
            if kind == "error":
                raise item
            yield item

    def close(self) -> None:
        """Stop fetching."""
        self._stop.set()
        _empty(self._queue)
        self._fetcher.join(0.2)


def _fetch(items: Iterable[Any], queue: Queue[tuple[str, Any]], stop: threading.Event) -> None:
    try:
        for item in items:
            _put(queue, ("item", item), stop)
            if stop.is_set():
                break
        _put(queue, ("end", None), stop)
    except BaseException as error:
        _put(queue, ("error", error), stop)


def _put(queue: Queue[tuple[str, Any]], message: tuple[str, Any], stop: threading.Event) -> None:
    """Put a message into the queue when it has room; give up if `stop` is set."""
    while not stop.is_set():
        try:
            queue.put(message, timeout=0.1)
            return
        except Full:
            continue


def _empty(queue: Queue[tuple[str, Any]]) -> None:
    try:
        while True:
            queue.get_nowait()
    except Empty:
        return
