"""Reports: show results as tables in plain text, terminals and notebooks, as frames and plots; and progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, fields
from html import escape
from importlib import import_module
from importlib.util import find_spec
from time import monotonic
from typing import Any, TypeVar

from naively.errors import InputError
from naively.layout import cut, is_terminal, table_lines, terminal_width, width


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


class Progress:
    """Progress of a loop: a line on standard error that rich draws, or plain text without rich; cleared at the end.

    with Progress("counting", size_bytes=file_size) as progress:
        for batch in batches:
            ...
            progress.update(rows=len(batch), bytes=batch_bytes)

    `rows` and `size_bytes` are the totals, if known; a bar and the time left are drawn if one of them is. `unit` names
    what is counted ("": nothing that is worth a number). Without a terminal, or for less than half a second, nothing
    is drawn; `erase` clears the line before something else is written.
    """

    def __init__(
        self,
        label: str,
        *,
        rows: int | None = None,
        size_bytes: int | None = None,
        unit: str = "rows",
        show: bool = True,
        color: bool | None = None,
    ):
        self.rows = 0
        self.bytes = 0
        self._label, self._unit, self._color = label, unit, color
        self._total = rows or size_bytes
        self._by_rows = bool(rows) or not size_bytes
        self._live = show and is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        self._line: _RichLine | _PlainLine | None = None

    def __enter__(self) -> Progress:
        self._next = monotonic() + _FIRST
        return self

    def __exit__(self, *failure: object) -> None:
        self.erase()

    def update(self, rows: int = 0, bytes: int = 0) -> None:
        """Add rows and bytes that are done, and redraw the line if it is time to."""
        self.rows += rows
        self.bytes += bytes
        if self._live and monotonic() >= self._next:
            self._next = monotonic() + _BETWEEN
            if self._line is None:
                kind = _PlainLine if find_spec("rich") is None else _RichLine
                self._line = kind(self._label, self._total, self._color)
            self._line.draw(self._done, self._amounts)

    def erase(self) -> None:
        """Clear the line; the next update may draw it again."""
        if self._line is not None:
            self._line.erase()

    @property
    def _done(self) -> int:
        return self.rows if self._by_rows else self.bytes

    def _amounts(self, speed: float | None, room: int) -> str:
        """Return the rows that are done, and speeds if known, as far as there is room.

        `speed` is that of rows, or of bytes if their number alone is known beforehand.
        """
        texts = [f"{self.rows:,} {self._unit}"] if self.rows and self._unit else []
        if speed is not None and self._done:
            each_second = speed / self._done
            texts += [f"{self.rows * each_second:,.0f} {self._unit}/s"] if texts else []
            texts += [f"{megabytes(self.bytes * each_second)}/s"] if self.bytes else []
        while len("  ".join(texts)) > room and texts:
            texts.pop()
        return "  ".join(texts)


_FIRST = 0.5  # seconds until a line is drawn: importing rich takes a tenth of that
_BETWEEN = 0.1  # seconds between two drawings
_BAR = 24  # columns for the bar, the share and the time
Amounts = Callable[[float | None, int], str]


class _RichLine:
    """A line that rich draws: label, bar, share, amounts and time."""

    def __init__(self, label: str, total: int | None, color: bool | None):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
        from rich.progress import TimeRemainingColumn as TimeLeftColumn
        from rich.table import Column

        def text(template: str) -> Any:
            return TextColumn(template, markup=False, table_column=Column(no_wrap=True))

        columns = [text("{task.description}"), text("{task.fields[amounts]}"), TimeElapsedColumn(Column(no_wrap=True))]
        if total is not None:
            columns[1:1] = [BarColumn(None, table_column=Column(ratio=1)), TaskProgressColumn()]
            columns[-1] = TimeLeftColumn(compact=True, table_column=Column(no_wrap=True))
        console = Console(file=sys.stderr, color_system=None if color is False else "auto", highlight=False)
        self._bar = Progress(
            *columns, console=console, expand=total is not None, auto_refresh=False, transient=True,
            redirect_stdout=False,
        )  # fmt: skip
        self._task = self._bar.add_task(label, total=total, amounts="")
        self._others = width(label) + _BAR

    def draw(self, done: int, amounts: Amounts) -> None:
        self._bar.update(self._task, completed=done)
        room = terminal_width(sys.stderr) - self._others
        self._bar.update(self._task, amounts=amounts(self._bar.tasks[0].speed, room))
        self._bar.start()
        self._bar.refresh()

    def erase(self) -> None:
        self._bar.stop()


class _PlainLine:
    """A line of plain text: label, share and amounts."""

    def __init__(self, label: str, total: int | None, color: bool | None):
        self._label, self._total, self._drawn = label, total, False

    def draw(self, done: int, amounts: Amounts) -> None:
        share = f"{min(done / self._total, 1.0):.0%}" if self._total else ""
        room = terminal_width(sys.stderr) - 1  # some terminals wrap once the last column is written
        self._write(cut("  ".join(filter(None, (self._label, share, amounts(None, room)))), room))
        self._drawn = True

    def erase(self) -> None:
        if self._drawn:
            self._write("")
        self._drawn = False

    def _write(self, text: str) -> None:
        if sys.stderr is not None:
            sys.stderr.write(f"\r{text}\x1b[K")
            sys.stderr.flush()


def megabytes(size: float) -> str:
    """Format a number of bytes.

    >>> megabytes(12_300), megabytes(91_234_000), megabytes(1.5e9)
    ('12 kB', '91.2 MB', '1.5 GB')
    """
    if size < 1e6:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


T = TypeVar("T")


def tracked(items: Iterable[T], description: str, total: int | None = None, show: bool = True) -> Iterator[T]:
    """Yield the items, and show the progress.

    >>> list(tracked([1, 2, 3], "counting"))
    [1, 2, 3]
    """
    if total is None and isinstance(items, Sized):
        total = len(items)
    with Progress(description, rows=total, unit="", show=show) as progress:
        for item in items:
            yield item
            progress.update(1)
