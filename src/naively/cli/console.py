"""Console: writes the output of a command, as plain lines for people or one JSON document for machines.

Results go to standard output; notes, warnings and errors go to standard error. Whatever comes from data (labels, texts,
names of files) is printed with its control characters escaped, so that no text can drive the terminal.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from naively.errors import naming
from naively.layout import cut, is_terminal, padded, table_lines, terminal_width, width

if TYPE_CHECKING:
    from naively.report import Progress

# Control characters, and marks that turn the direction of writing or break lines.
_BIDI = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
_CONTROL = re.compile(f"[\x00-\x1f\x7f-\x9f{_BIDI}]")
_CONTROL_BUT_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_BIDI}]")
_CONTROL_BUT_TABS = re.compile(f"[\x00-\x08\x0a-\x1f\x7f-\x9f{_BIDI}]")
_JSON_UNSAFE = re.compile(f"[\x7f-\x9f{_BIDI}\ud800-\udfff]")
_BYTES = re.compile("[\udc80-\udcff]+")
"""Bytes of a name that Python could not decode, as surrogates."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

_STYLES = {"bold": "1", "dim": "2", "red": "1;31", "yellow": "33"}


class Console:
    """Writes the results, notes, warnings and errors of a command.

    json
        Only the document given to `result` goes to standard output.
    quiet
        Leave out notes and progress; print results, warnings and errors.
    color
        True or False; None: colour on terminals, unless NO_COLOR or FORCE_COLOR in the environment says otherwise.
    """

    def __init__(self, json: bool = False, quiet: bool = False, color: bool | None = None):
        self.json = json
        self.quiet = quiet
        self.rows_skipped = 0
        self.first_skipped = ""
        self._colored = {"out": _colored(sys.stdout, color), "err": _colored(sys.stderr, color)}
        self._warned: set[str] = set()
        self._on_interrupt: dict[str, str] = {}
        self._progress: Progress | None = None
        self._answered = False

    @property
    def live(self) -> bool:
        """True if progress is drawn on a terminal: without --quiet and --json."""
        return not self.quiet and not self.json

    def say(self, text: str = "") -> None:
        """Write one or several lines of the result; apply `printable` to data in it that may hold line breaks."""
        if not self.json:
            self._write("out", _escaped(_CONTROL_BUT_LINES, text) + "\n")

    def lines(self, lines: Sequence[str]) -> None:
        """Write lines of data, one for each row; they may contain tabs."""
        if self.json or not lines:
            return
        whole = "\n".join(lines)
        if _CONTROL_BUT_LINES.search(whole) or whole.count("\n") >= len(lines):
            whole = "\n".join(_escaped(_CONTROL_BUT_TABS, line) for line in lines)
        self._write("out", whole + "\n")

    def facts(self, pairs: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> None:
        """Write names and values, one pair per line, aligned."""
        known = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        broad = max((width(printable(name)) for name, _ in known), default=0)
        for name, value in known:
            named = self._styled("out", "dim", padded(printable(name), broad, "l"))
            self._answer(f"{named}  {format_value(value)}")

    def table(
        self, columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None, align: str | None = None
    ) -> None:
        """Write an aligned table; `align` has an "l" or "r" for each column, by default "r" for numbers.

        On a terminal long cells are cut, so that each row fits on a line; in a pipe nothing is cut.
        """
        if self.json:
            return
        raw = [list(row) for row in rows]
        sides = align or "".join("r" if _is_numeric(row[i] for row in raw) else "l" for i in range(len(columns)))
        body = list(zip(*(_column([row[i] for row in raw]) for i in range(len(columns))), strict=True))
        room = terminal_width(sys.stdout) if is_terminal(sys.stdout) else None
        header, *lines = table_lines([list(map(printable, columns)), *body], sides, room)
        if title is not None:
            self._answer(self._styled("out", "bold", cut(printable(title), room)))
        self._answer(self._styled("out", "bold", header))
        for line in lines:
            self._answer(line)

    def result(self, document: Mapping[str, Any]) -> None:
        """Write the JSON document of a command, once; only with --json."""
        if not self.json:
            return
        if self._answered:
            raise RuntimeError("a command gives one JSON document, and this is a second one")
        self._answered = True
        self._write("out", json_text(document, indent=2) + "\n")

    def documents(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Write rows of results as JSON Lines."""
        self._write("out", "".join(f"{json_text(document)}\n" for document in documents))

    def note(self, text: str) -> None:
        """Write a note to standard error, unless --quiet was given."""
        if not self.quiet:
            self._write("err", self._styled("err", "dim", _escaped(_CONTROL_BUT_LINES, text)) + "\n")

    def warn(self, text: str) -> None:
        """Write a warning; the same text is written only once."""
        text = printable(" ".join(text.splitlines()))
        if text not in self._warned:
            self._warned.add(text)
            self._write("err", f"naively: {self._styled('err', 'yellow', 'warning:')} {text}\n")

    def error(self, text: str) -> None:
        """Write an error, with further lines indented; commands raise an exception instead of calling this."""
        first, *more = _escaped(_CONTROL_BUT_LINES, text).split("\n")
        lines = [f"naively: {self._styled('err', 'red', 'error:')} {first}", *(f"  {line}" for line in more)]
        self._write("err", "\n".join(lines) + "\n")

    def skipped(self, rows: int, first: str = "") -> None:
        """Count bad rows that were left out; the command ends with a warning that quotes the first, and exit code 3."""
        if rows and not self.first_skipped:
            self.first_skipped = first
        self.rows_skipped += rows

    def on_interrupt(self, text: str) -> None:
        """Set the message for Ctrl-C; it replaces the one before."""
        self._on_interrupt[""] = text

    def saved(self, path: str | os.PathLike[str]) -> None:
        """Add a saved file to the message for Ctrl-C."""
        name = os.fspath(path)
        self._on_interrupt[name] = f"saved: {printable(name)}"

    def interrupted(self) -> None:
        """Write that the command was interrupted, and what was saved."""
        lines = ["naively: interrupted", *(f"  {_escaped(_CONTROL_BUT_LINES, t)}" for t in self._on_interrupt.values())]
        self._write("err", "\n".join(line for line in lines if line.strip()) + "\n")

    def progress(
        self, label: str, *, rows: int | None = None, size_bytes: int | None = None, unit: str = "rows"
    ) -> Progress:
        """Return the progress of a loop, to be entered; it is drawn without --quiet and --json."""
        from naively.report import Progress

        color = self._colored["err"]
        self._progress = Progress(
            printable(label), rows=rows, size_bytes=size_bytes, unit=unit, show=self.live, color=color
        )
        return self._progress

    def clear(self) -> None:
        """Erase the line of progress."""
        if self._progress is not None:
            self._progress.erase()

    def flush(self) -> None:
        """Flush all output, or raise an error that names the stream."""
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                with naming(_named(stream)):
                    stream.flush()

    def _answer(self, line: str) -> None:
        if not self.json:
            self._write("out", line + "\n")

    def _styled(self, where: str, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if text and self._colored[where] else text

    def _write(self, where: str, text: str) -> None:
        self.clear()
        write(sys.stdout if where == "out" else sys.stderr, text)


def write(stream: TextIO | None, text: str) -> None:
    """Write to a standard stream; do nothing if it is None, as closed streams are in Python."""
    if stream is not None:
        with naming(_named(stream)):
            stream.write(text)


def _named(stream: TextIO) -> str:
    return "standard error" if stream is sys.stderr else "standard output"


def json_text(value: Any, indent: int | None = None) -> str:
    """Convert a value to JSON with control characters escaped, so that it cannot drive a terminal."""
    import json

    text = json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
    return _JSON_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def use_utf8() -> None:
    """Make the standard streams write UTF-8 in any locale, with escapes for what cannot be encoded."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def printable(text: object) -> str:
    r"""Return a text on one line, with its control characters escaped.

    >>> print(printable("red: \x1b[31m, two\nlines"))
    red: \x1b[31m, two\nlines
    """
    return _escaped(_CONTROL, str(text))


def format_value(value: Any) -> str:
    """Format a value for people.

    >>> [format_value(v) for v in (100_000, 0.87345, 12345.6, True, None, "text", [1, 2])]
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
        return ", ".join(map(format_value, value))
    return printable(value)


def plain(value: Any) -> Any:
    """Convert a value to types of JSON: NumPy's to Python's, numbers that are not finite to None, others to str."""
    value = _native(value)
    if isinstance(value, Mapping):
        return {str(_native(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _escaped(unwanted: re.Pattern[str], text: str) -> str:
    if not text.isascii():
        text = _BYTES.sub(
            lambda found: found[0].encode("ascii", "surrogateescape").decode("utf-8", "backslashreplace"), text
        )
    return unwanted.sub(lambda found: _escape(found[0]), text)


def _escape(char: str) -> str:
    return _SHORT.get(char) or (f"\\x{ord(char):02x}" if char < "\u0100" else f"\\u{ord(char):04x}")


def _native(value: Any) -> Any:
    """Convert NumPy scalars and arrays to Python numbers and lists, without importing NumPy."""
    return value.tolist() if hasattr(value, "tolist") else value


def _colored(stream: TextIO | None, wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return is_terminal(stream) and os.environ.get("TERM") != "dumb"


def _is_numeric(values: Iterable[Any]) -> bool:
    known = [value for value in map(_native, values) if value is not None]
    return bool(known) and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in known)


def _column(values: list[Any]) -> list[str]:
    """Format the cells of a column, with the same number of digits for all fractions."""
    values = [_native(value) for value in values]
    fractions = [abs(value) for value in values if isinstance(value, float) and abs(value) < float("inf")]
    largest = max(fractions, default=0.0)
    digits = 4 if largest < 10 else 2 if largest < 1000 else 1
    if largest >= 1e15 or any(0 < value < 0.5 * 10**-digits for value in fractions):
        return [format_value(value) for value in values]
    return [f"{value:,.{digits}f}" if isinstance(value, float) else format_value(value) for value in values]
