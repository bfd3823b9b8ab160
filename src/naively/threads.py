"""Threads: how many to use, and running work on them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from naively.errors import InputError

T = TypeVar("T")
R = TypeVar("R")

_HERE = threading.local()
"""Per thread: is it one of several that run work, so that it must not start more?"""
_MUCH = 1 << 19
"""Threads started from Python cost more than those of the core, so work must be larger to repay them."""
SMALL = 1 << 16
"""Work on fewer numbers than this is done on one thread, as in the compiled core."""


def threads(numbers: int = SMALL) -> int:
    """Return the number of threads to use for work on this many numbers.

    `NAIVELY_THREADS` sets it, else `OMP_NUM_THREADS` (as joblib does in its workers), else it is the number of cores.
    """
    if numbers < SMALL or getattr(_HERE, "spread", False):
        return 1
    for name in ("NAIVELY_THREADS", "OMP_NUM_THREADS"):
        given = os.environ.get(name, "").split(",")[0].strip()
        if given:
            if not given.isdigit() or int(given) < 1:
                raise InputError(f"{name} must be a whole number above 0, got {given!r}")
            return int(given)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread for what is called here, unless `NAIVELY_THREADS` says how many."""
    before = getattr(_HERE, "spread", False)
    _HERE.spread = before or "NAIVELY_THREADS" not in os.environ
    try:
        yield
    finally:
        _HERE.spread = before


def on_threads(work: Callable[[T], R], items: Sequence[T], numbers: int) -> list[R]:
    """Return the result of the work for each item, in order; several threads work if there are enough numbers."""
    many = min(threads(numbers), len(items))
    if many < 2 or numbers < _MUCH:
        return [work(item) for item in items]

    def alone(item: T) -> R:
        _HERE.spread = True
        return work(item)

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(alone, items))
