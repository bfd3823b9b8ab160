"""Reports: show results as tables in plain text, terminals and notebooks, as frames and plots; and progress bars."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from html import escape
from importlib import import_module
from typing import Any, TypeVar

from naively.errors import InputError
from naively.layout import table_lines


@dataclass(frozen=True)
class Sheet:
    """A table of texts under a head; `best` rows are bold.

    `align` has an "l" or "r" for each column; its last letter is for all columns that follow. `shades` has a number
    from -1 to 1 for each row, by which HTML colours its first text, from red to green.

    >>> print(Sheet(("class", "f1"), (("spam", "0.9"), ("ham", "0.75"))))
    class    f1
    spam    0.9
    ham    0.75
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    align: str = "lr"
    best: frozenset[int] = frozenset()
    shades: tuple[float, ...] = ()

    def __str__(self) -> str:
        lines = table_lines([self.head, *self.rows], self.align)
        return "\n".join([self.title, *lines] if self.title else lines)

    def rich(self) -> Any:
        """Return the sheet as a table of rich; its texts are not parsed as markup."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title) if self.title else None, title_justify="left")
        sides = self.align + self.align[-1:] * len(self.head)
        for name, side in zip(self.head, sides, strict=False):
            table.add_column(Text(name), justify="left" if side == "l" else "right")
        for i, row in enumerate(self.rows):
            table.add_row(*map(Text, row), style="bold" if i in self.best else None)
        return table

    def html(self) -> str:
        """Return the sheet as a table of HTML; its texts are escaped."""
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        head = "".join(f'<th style="{self._side(j)}">{escape(text)}</th>' for j, text in enumerate(self.head))
        rows = (f"<tr>{''.join(self._cell(i, j) for j in range(len(row)))}</tr>" for i, row in enumerate(self.rows))
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"

    def _cell(self, i: int, j: int) -> str:
        text, shade = escape(self.rows[i][j]), ""
        if j == 0 and i < len(self.shades):
            red, green, blue = _GREEN if self.shades[i] > 0 else _RED
            shade = f"; background: rgba({red}, {green}, {blue}, {abs(self.shades[i]):.2f})"
        return f'<td style="{self._side(j)}{shade}">{f"<b>{text}</b>" if i in self.best else text}</td>'

    def _side(self, column: int) -> str:
        side = self.align[min(column, len(self.align) - 1)]
        return f"text-align: {'left' if side == 'l' else 'right'}"


_GREEN, _RED = (60, 170, 90), (220, 80, 70)


class Report:
    """A result that prints as tables, also in notebooks and in consoles of rich."""

    def _sheets(self) -> Sequence[Sheet]:
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n\n".join(map(str, self._sheets()))

    def __rich__(self) -> Any:
        from rich.console import Group

        return Group(*(sheet.rich() for sheet in self._sheets()))

    def _repr_html_(self) -> str:
        return "".join(sheet.html() for sheet in self._sheets())


class RowReport(Report):
    """A report that is a sequence of rows, each a dataclass."""

    rows: Any

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        return frame_of({f.name: [getattr(row, f.name) for row in self.rows] for f in fields(self.rows[0])})


def number(value: Any) -> str:
    """Format a float to four places, None as an empty text, and anything else by `str`."""
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def frame_of(columns: dict[str, Any], index: Any = None, name: str | None = None) -> Any:
    """Return columns as a pandas DataFrame."""
    pandas = needed("pandas", "a frame", "pip install pandas")
    return pandas.DataFrame(columns, index=None if index is None else pandas.Index(index, name=name))


def axes_of(ax: Any) -> Any:
    """Return the axes to draw on: those given, or new ones."""
    pyplot = needed("matplotlib.pyplot", "a plot", 'pip install "naively[plot]"')
    return pyplot.subplots()[1] if ax is None else ax


def needed(module: str, what: str, advice: str) -> Any:
    """Import an optional library, or raise an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f"{what} needs {module.partition('.')[0]}, which is not there: {advice}") from error


T = TypeVar("T")


def tracked(items: Iterable[T], description: str, total: int | None = None, show: bool = True) -> Iterator[T]:
    """Yield the items, with a progress bar on stderr that disappears when they are done.

    >>> list(tracked([1, 2, 3], "counting"))
    [1, 2, 3]

    There is no bar if stderr is not a terminal.
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
