"""Progress of a long command: one line on the terminal, redrawn in place; nothing if there is no terminal."""

from __future__ import annotations

import sys
from math import exp
from time import monotonic
from types import TracebackType

from naively.cli.console import Console, printable, terminal_width
from naively.layout import cut, width

_BETWEEN = 0.1  # seconds between two drawings
_MEMORY = 4.0  # seconds over which speed is averaged
_BAR = (8, 32)  # columns of the bar, from and to


class Progress:
    """Shows the progress of a loop over batches, in rows and bytes.

    with Progress(console, "counting", size_bytes=file_size) as progress:
        for batch in batches:
            ...
            progress.update(rows=len(batch), bytes=batch_bytes)

    `rows` and `size_bytes` are the totals, if known; a bar and the time left are drawn if one of them is. `unit` names
    what is counted ("": nothing that is worth a number). The line is cleared at the end, also on Ctrl-C. Without a
    terminal an update costs two additions.
    """

    def __init__(
        self, console: Console, label: str, size_bytes: int | None = None, rows: int | None = None, unit: str = "rows"
    ):
        self._unit = unit
        self.rows = 0
        self.bytes = 0
        self._console = console
        self._label = printable(label)
        self._rows_in_all = rows
        self._bytes_in_all = size_bytes
        self._live = console.live

    def __enter__(self) -> Progress:
        now = monotonic()
        self._begin = now
        self._next = now + _BETWEEN
        self._row_speed = Speed(now)
        self._byte_speed = Speed(now)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._console.clear()

    def update(self, rows: int = 0, bytes: int = 0) -> None:
        """Add rows and bytes that are done, and redraw the line if it is time to."""
        self.rows += rows
        self.bytes += bytes
        if self._live:
            now = monotonic()
            if now >= self._next:
                self._next = now + _BETWEEN
                self._draw(now)

    def _draw(self, now: float) -> None:
        self._row_speed.see(self.rows, now)
        self._byte_speed.see(self.bytes, now)
        # The last column stays empty: some terminals wrap as soon as it is written.
        self._console.draw(self._line(terminal_width(sys.stderr) - 1, now))

    def _line(self, room: int, now: float) -> str:
        """Format the line: label, bar, percentage, rows, speeds and time left; parts that do not fit are left out."""
        share = self._share()
        time_left = f"{clock(self._seconds_left())} left" if share is not None else clock(now - self._begin)
        rows_done = f"{self.rows:,} {self._unit}" if self.rows and self._unit else ""
        row_speed = f"{self._row_speed.value:,.0f} {self._unit}/s" if self.rows and self._unit else ""
        byte_speed = f"{megabytes(self._byte_speed.value)}/s" if self.bytes else ""
        percent = f"{100 * share:3.0f}%" if share is not None else ""
        label = cut(self._label, room)
        kept = _kept([label, percent, time_left, rows_done, row_speed, byte_speed], room)
        order = [part for part in (percent, rows_done, row_speed, byte_speed, time_left) if part and part in kept]
        spare = room - sum(width(part) + 2 for part in [label, *order])
        bar = self._bar(share, min(spare, _BAR[1])) if share is not None and spare >= _BAR[0] else ""
        return "  ".join(part for part in (label, bar, *order) if part)

    def _share(self) -> float | None:
        """Return the share that is done, from 0 to 1; None if the total is not known."""
        done, in_all = (self.rows, self._rows_in_all) if self._rows_in_all else (self.bytes, self._bytes_in_all)
        return min(done / in_all, 1.0) if in_all else None

    def _seconds_left(self) -> float | None:
        if self._rows_in_all:
            return self._row_speed.seconds(self._rows_in_all - self.rows)
        return self._byte_speed.seconds((self._bytes_in_all or 0) - self.bytes)

    def _bar(self, share: float, columns: int) -> str:
        """Draw a bar of coloured blanks, or of ASCII signs without colour: its width is the same on every terminal."""
        if self._console.colored_error:
            done = round(share * columns)
            filled = self._console.styled_error("green", " " * done)
            return filled + self._console.styled_error("grey", " " * (columns - done))
        done = round(share * (columns - 2))
        return f"[{'#' * done}{'.' * (columns - 2 - done)}]"


class Speed:
    """Items per second, as a moving average over the last seconds."""

    def __init__(self, now: float):
        self._seen = 0
        self._when = now
        self._sum = 0.0
        self._weight = 0.0

    @property
    def value(self) -> float:
        """Items per second."""
        return self._sum / self._weight if self._weight else 0.0

    def see(self, done: int, now: float) -> None:
        """Update the average: `done` items in all are done at the time `now`."""
        passed = now - self._when
        if passed <= 0:
            return
        fades = exp(-passed / _MEMORY)
        self._sum = fades * self._sum + (1 - fades) * (done - self._seen) / passed
        self._weight = fades * self._weight + (1 - fades)
        self._seen, self._when = done, now

    def seconds(self, more: int) -> float | None:
        """Estimate the seconds that `more` items will take; None if the speed is not known yet."""
        return max(more, 0) / self.value if self.value > 0 else None


def clock(seconds: float | None) -> str:
    """Format seconds as minutes and hours.

    >>> clock(75), clock(3725), clock(None)
    ('1:15', '1:02:05', '-:--')
    """
    if seconds is None or seconds > 360_000:
        return "-:--"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def megabytes(size: float) -> str:
    """Format a number of bytes.

    >>> megabytes(12_300), megabytes(91_234_000), megabytes(1.5e9)
    ('12 kB', '91.2 MB', '1.5 GB')
    """
    if size < 1e6:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def _kept(parts: list[str], room: int) -> list[str]:
    """Return the first parts, as many as fit into a line."""
    used, kept = -2, []
    for part in parts:
        if part:
            used += width(part) + 2
            if used > room:
                break
            kept.append(part)
    return kept
