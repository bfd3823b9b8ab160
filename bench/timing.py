"""Timing side by side: both are run in turns in one process, and medians are compared."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def medians(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median time of each, taken in turns so that noise falls on all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            times[name].append(seconds(work))
    return {name: statistics.median(taken) for name, taken in times.items()}


def resident() -> int:
    """Bytes of memory this process holds now."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def peak_added(work: Callable[[], Any]) -> tuple[float, int]:
    """How long the work takes, and how many bytes it holds at most beyond what was held before."""
    before, most, done = resident(), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.is_set():
            most = max(most, resident())
            done.wait(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        taken = seconds(work)
        most = max(most, resident())
    finally:
        done.set()
        watcher.join()
    return taken, max(0, most - before)
