"""Progress: how far long work has come, for whoever watches."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

T = TypeVar("T")


def tracked(items: Iterable[T], description: str, total: int | None = None, show: bool = True) -> Iterator[T]:
    """The items, with a bar on stderr while they are worked on, which goes when they are done.

    >>> list(tracked([1, 2, 3], "counting"))
    [1, 2, 3]

    There is no bar where stderr is no terminal.
    """
    if not show or sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import Progress

    if total is None and isinstance(items, Sized):
        total = len(items)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, total=total, description=description)
