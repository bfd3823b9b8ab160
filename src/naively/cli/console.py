"""What a command says: plain lines for people, one JSON document for machines.

Results go to standard output; notes, warnings and errors go to standard error. Whatever comes from data (labels, texts,
names of files) is shown with its control characters escaped, so that no text can drive the terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from naively.errors import naming

# Control characters, and marks that turn the direction of writing or break lines.
_BIDI = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_CONTROL = re.compile(f"[\x00-\x1f\x7f-\x9f{_BIDI}]")
_CONTROL_BUT_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}]")
_CONTROL_BUT_TABS = re.compile(f"[\x00-\x08\x0a-\x1f\x7f-\x9f{_BIDI}]")
_JSON_UNSAFE = re.compile(f"[\x7f-\x9f{_BIDI}\ud800-\udfff]")
_BYTES = re.compile("[\udc80-\udcff]+")
"""Bytes of a name that Python could not decode, as it keeps them in text."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

_STYLES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "33", "green": "42", "grey": "100"}


class Console:
    """Where a command speaks.

    json
        Only the document given to `result` goes to standard output.
    quiet
        Notes and progress are not shown; results, warnings and errors are.
    color
        True or False, or None for "where it is a terminal"; NO_COLOR and FORCE_COLOR in the environment are heeded.
    """

    def __init__(self, json: bool = False, quiet: bool = False, color: bool | None = None):
        self.json = json
        self.quiet = quiet
        self.rows_skipped = 0
        self.first_skipped = ""
        self._colored = {"out": _colored(sys.stdout, color), "err": _colored(sys.stderr, color)}
        self._warned: set[str] = set()
        self._on_interrupt: dict[str, str] = {}
        self._drawn = False
        self._answered = False

    @property
    def live(self) -> bool:
        """Whether progress can be drawn: standard error is a terminal that can move its cursor, and is wanted."""
        able = _is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb"
        return able and not self.quiet and not self.json

    def say(self, text: str = "") -> None:
        """A line, or a few, of the answer. For data inside of it that may hold line breaks, see `printable`."""
        if not self.json:
            self._write("out", _escaped(_CONTROL_BUT_LINES, text) + "\n")

    def lines(self, lines: Sequence[str]) -> None:
        """Many lines of data, one for each row, which may have tabs in them."""
        if self.json or not lines:
            return
        whole = "\n".join(lines)
        if _CONTROL_BUT_LINES.search(whole) or whole.count("\n") >= len(lines):
            whole = "\n".join(_escaped(_CONTROL_BUT_TABS, line) for line in lines)
        self._write("out", whole + "\n")

    def facts(self, pairs: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Names and values, one pair on a line, aligned."""
        known = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        broad = max((width(printable(name)) for name, _ in known), default=0)
        for name, value in known:
            named = self._styled("out", "dim", _padded(printable(name), broad, "l"))
            self._answer(f"{named}  {shown(value)}")

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None, align: str | None = None
    ) -> None:
        """Rows under a header, aligned; `align` has an "l" or "r" for each column, numbers are to the right.

        In a terminal long cells are cut, so that a row is a line; in a pipe nothing is cut.
        """
        if self.json:
            return
        raw = [list(row) for row in rows]
        sides = align or "".join("r" if _is_numeric(row[i] for row in raw) else "l" for i in range(len(columns)))
        body = list(zip(*(_column([row[i] for row in raw]) for i in range(len(columns))), strict=True))
        header = [printable(column) for column in columns]
        room = terminal_width(sys.stdout) if _is_terminal(sys.stdout) else None
        widths = _fitted([max(map(width, cells)) for cells in zip(header, *body, strict=True)], room)
        if title is not None:
            self._answer(self._styled("out", "bold", cut(printable(title), room)))
        self._answer(self._styled("out", "bold", cut(_row(header, widths, sides), room)))
        for cells in body:
            self._answer(cut(_row(cells, widths, sides), room))

    def result(self, document: Mapping[str, Any]) -> None:
        """The answer for machines, shown with --json only, and once."""
        if not self.json:
            return
        if self._answered:
            raise RuntimeError("a command gives one JSON document, and this is a second one")
        self._answered = True
        self._write("out", json_text(document, indent=2) + "\n")

    def documents(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Rows of results for machines, one JSON document on a line."""
        self._write("out", "".join(f"{json_text(document)}\n" for document in documents))

    def note(self, text: str) -> None:
        """What is good to know, but no part of the answer."""
        if not self.quiet:
            self._write("err", self._styled("err", "dim", _escaped(_CONTROL_BUT_LINES, text)) + "\n")

    def warn(self, text: str) -> None:
        """What may not be as it should; the same words are shown once."""
        text = printable(" ".join(text.splitlines()))
        if text not in self._warned:
            self._warned.add(text)
            self._write("err", f"naively: {self._styled('err', 'yellow', 'warning:')} {text}\n")

    def error(self, text: str) -> None:
        """Why it cannot go on. Raise an error rather than call this; further lines of it are indented."""
        first, *more = _escaped(_CONTROL_BUT_LINES, text).split("\n")
        lines = [f"naively: {self._styled('err', 'red', 'error:')} {first}", *(f"  {line}" for line in more)]
        self._write("err", "\n".join(lines) + "\n")

    def skipped(self, rows: int, first: str = "") -> None:
        """Bad rows were left out: the command ends with a warning, which tells of the first, and exit code 3."""
        if rows and not self.first_skipped:
            self.first_skipped = first
        self.rows_skipped += rows

    def on_interrupt(self, text: str) -> None:
        """What to say on Ctrl-C, in place of what was to be said before."""
        self._on_interrupt[""] = text

    def saved(self, path: str | os.PathLike[str]) -> None:
        """A file that will be there after Ctrl-C."""
        name = os.fspath(path)
        self._on_interrupt[name] = f"saved: {printable(name)}"

    def interrupted(self) -> None:
        """Say that Ctrl-C was seen, and what was saved."""
        lines = ["naively: interrupted", *(f"  {_escaped(_CONTROL_BUT_LINES, t)}" for t in self._on_interrupt.values())]
        self._write("err", "\n".join(line for line in lines if line.strip()) + "\n")

    def draw(self, line: str) -> None:
        """Put a line on the terminal that the next one will replace; see `naively.cli.progress`."""
        if sys.stderr is not None:
            self._drawn = True
            sys.stderr.write(f"\r{line}\x1b[K")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take away the line drawn last."""
        if self._drawn and sys.stderr is not None:
            self._drawn = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def flush(self) -> None:
        """See that all that was said is written, or fail."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                with naming(_named(stream)):
                    stream.flush()

    def styled_error(self, style: str, text: str) -> str:
        """A text for standard error with a style, where there is colour."""
        return self._styled("err", style, text)

    @property
    def colored_error(self) -> bool:
        """Whether standard error has colour."""
        return self._colored["err"]

    def _answer(self, line: str) -> None:
        if not self.json:
            self._write("out", line + "\n")

    def _styled(self, where: str, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text and self._colored[where] else text

    def _write(self, where: str, text: str) -> None:
        self.clear()
        write(sys.stdout if where == "out" else sys.stderr, text)


def write(stream: TextIO | None, text: str) -> None:
    """Write to a standard stream; to None, which Python has for one that is closed, nothing is written."""
    if stream is not None:
        with naming(_named(stream)):
            stream.write(text)


def _named(stream: TextIO) -> str:
    return "standard error" if stream is sys.stderr else "standard output"


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON, in which nothing can drive a terminal."""
    import json

    text = json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return _JSON_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def speak_utf8() -> None:
    """Write UTF-8 whatever the locale; what cannot be written is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def printable(text: object) -> str:
    r"""A text on one line, with its control characters shown as escapes.

    >>> print(printable("red: \x1b[31m, two\nlines"))
    red: \x1b[31m, two\nlines
    """
    return _escaped(_CONTROL, str(text))


def shown(value: Any) -> str:
    """A value for people.

    >>> [shown(v) for v in (100_000, 0.87345, 12345.6, True, None, "text", [1, 2])]
    ['100,000', '0.8734', '12,345.6', 'yes', '-', 'text', '1, 2']
    """
    value = _native(value)
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.1f}" if 1000 <= abs(value) < 1e15 else f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(shown, value))
    return printable(value)


def plain(value: Any) -> Any:
    """A value as JSON has it: NumPy's as Python's, numbers that are not finite as null, other things by name."""
    value = _native(value)
    if isinstance(value, Mapping):
        return {str(_native(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def cut(text: str, columns: int | None) -> str:
    """A text that takes no more than some columns; what is cut ends in "…".

    >>> cut("abcdef", 4), cut("abcdef", None)
    ('abc…', 'abcdef')
    """
    if columns is None or width(text) <= columns:
        return text
    taken = 0
    for end, char in enumerate(text):
        taken += _char_width(char)
        if taken > columns - 1:
            return text[:end] + "…" if columns > 0 else ""
    return text


def terminal_width(stream: TextIO | None) -> int:
    """Columns of the terminal a stream goes to, at this moment; COLUMNS, or 80, where it goes to none."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (OSError, ValueError, AttributeError):
        columns = 0
    given = os.environ.get("COLUMNS", "")
    return columns or (int(given) if given.isdecimal() and int(given) else 80)


def _escaped(unwanted: re.Pattern[str], text: str) -> str:
    if not text.isascii():
        text = _BYTES.sub(
            lambda found: found[0].encode("ascii", "surrogateescape").decode("utf-8", "backslashreplace"), text
        )
    return unwanted.sub(lambda found: _escape(found[0]), text)


def _escape(char: str) -> str:
    return _SHORT.get(char) or (f"\\x{ord(char):02x}" if char < "\u0100" else f"\\u{ord(char):04x}")


def _native(value: Any) -> Any:
    """NumPy's scalars and arrays as Python's numbers and lists, without a look at NumPy."""
    return value.tolist() if hasattr(value, "tolist") else value


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _colored(stream: TextIO | None, wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return _is_terminal(stream) and os.environ.get("TERM") != "dumb"


def _char_width(char: str) -> int:
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def _is_numeric(values: Iterable[Any]) -> bool:
    known = [value for value in map(_native, values) if value is not None]
    return bool(known) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known)


def _column(values: list[Any]) -> list[str]:
    """The cells of a column; its fractions have the same number of digits."""
    values = [_native(value) for value in values]
    fractions = [abs(value) for value in values if isinstance(value, float) and abs(value) < float("inf")]
    largest = max(fractions, default=0.0)
    digits = 4 if largest < 10 else 2 if largest < 1000 else 1
    if largest >= 1e15 or any(0 < value < 0.5 * 10**-digits for value in fractions):
        return [shown(value) for value in values]
    return [f"{value:,.{digits}f}" if isinstance(value, float) else shown(value) for value in values]


def _fitted(widths: list[int], room: int | None) -> list[int]:
    """Widths of columns, the widest of them narrowed until the row fits; no column gets narrower than 6."""
    widths = list(widths)
    while room is not None and widths and sum(widths) + 2 * (len(widths) - 1) > room and max(widths) > 6:
        widths[widths.index(max(widths))] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], sides: str) -> str:
    parts = (_padded(cut(cell, wide), wide, side) for cell, wide, side in zip(cells, widths, sides, strict=True))
    return "  ".join(parts).rstrip()


def _padded(text: str, columns: int, side: str) -> str:
    blank = " " * (columns - width(text))
    return blank + text if side == "r" else text + blank
