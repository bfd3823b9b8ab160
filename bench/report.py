"""Tables of benchmarks: ours and theirs side by side, with what is wanted and whether it was reached."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from rich.console import Console
from rich.table import Table
from timing import medians

import naively
from naively.threads import threads


@dataclass(frozen=True)
class Line:
    """One line of the table."""

    work: str
    mine: str
    other: str
    ratio: str
    wanted: str
    reached: bool

    @property
    def cells(self) -> tuple[str, ...]:
        return self.work, self.mine, self.other, self.ratio, self.wanted


def faster(work: str, mine: Callable[[], Any], other: Callable[[], Any], wanted: float, repeats: int) -> Line:
    taken = medians({"mine": mine, "other": other}, repeats)
    ratio = taken["other"] / taken["mine"]
    return Line(work, clock(taken["mine"]), clock(taken["other"]), f"{ratio:,.1f}×", f"≥ {wanted:,g}×", ratio >= wanted)


def clock(taken: float) -> str:
    return f"{taken * 1e6:.0f} µs" if taken < 1e-3 else f"{taken * 1e3:.1f} ms" if taken < 1 else f"{taken:.2f} s"


def report(what: str, lines: Iterable[Line], *, markdown: bool) -> None:
    """Prints lines as they are measured, then the table of all."""
    title = f"naively {naively.__version__} beside scikit-learn {sklearn.__version__}: {what}, {threads()} threads"
    table = Table(title=title)
    for heading in ("work", "naively", "other", "ratio", "wanted", ""):
        table.add_column(heading, justify="left" if heading == "work" else "right")
    console = Console(width=150)
    console.print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    done: list[Line] = []
    for line in lines:
        table.add_row(*line.cells, "reached" if line.reached else "missed")
        done.append(line)
        console.print(f"… {line.work}: {line.mine} against {line.other}")
    console.print(table)
    if markdown:
        print("| work | naively | other | ratio | wanted |")
        print("|---|---:|---:|---:|---:|")
        for line in done:
            print("| " + " | ".join(line.cells) + " |")
