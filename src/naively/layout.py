"""Text tables: aligned lines for terminals and files, where some characters take two columns and others none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TextIO


def table_lines(cells: Sequence[Sequence[str]], align: str, room: int | None = None) -> list[str]:
    """Return the lines of a table, with two blanks between its columns.

    `align` has an "l" or "r" for each column; its last letter is for all columns that follow. With `room`, wide cells
    are cut so that each row fits into that many terminal columns.
    """
    sides = align + align[-1:] * len(cells[0])
    widths = _fitted([max(map(width, column)) for column in zip(*cells, strict=True)], room)
    return [cut(_row(row, widths, sides), room) for row in cells]


def width(text: str) -> int:
    """Return the number of terminal columns that a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def cut(text: str, columns: int | None) -> str:
    """Cut a text to a number of terminal columns; a text that was cut ends in "…".

    >>> cut("abcdef", 4), cut("abcdef", None)
    ('abc…', 'abcdef')
    """
    if columns is None or width(text) <= columns:
        return text
    used = 0
    for end, char in enumerate(text):
        used += _char_width(char)
        if used > columns - 1:
            return text[:end] + "…" if columns > 0 else ""
    return text


def is_terminal(stream: TextIO | None) -> bool:
    """True if a stream goes to a terminal; a stream may be None or closed."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def terminal_width(stream: TextIO | None) -> int:
    """Return the current width of the terminal that a stream goes to; COLUMNS or 80 if it is no terminal."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError, AttributeError):
        columns = 0
    given = os.environ.get("COLUMNS", "")
    return columns or (int(given) if given.isdecimal() and int(given) else 80)


def padded(text: str, columns: int, side: str) -> str:
    blank = " " * (columns - width(text))
    return blank + text if side == "r" else text + blank


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _fitted(widths: list[int], room: int | None) -> list[int]:
    """Narrow the widest columns until a row fits; no column gets narrower than 6."""
    widths = list(widths)
    while room is not None and widths and sum(widths) + 2 * (len(widths) - 1) > room and max(widths) > 6:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], sides: str) -> str:
    parts = (padded(cut(cell, wide), wide, side) for cell, wide, side in zip(cells, widths, sides, strict=False))
    return "  ".join(parts).rstrip()
