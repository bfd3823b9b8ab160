"""Errors that say where data cannot be read, and rows that were left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from naively.errors import InputError

_MAX_LENGTH = 200

_CSV = re.compile(
    r"CSV Error on Line: (\d+)\s*\n(?:Original Line: ?(.*?)\n)??"
    r"((?:Expected Number|Value with|Error when|Invalid unicode|Maximum line|The CSV)[^\n]*)",
    re.DOTALL,
)
_CONVERTING = re.compile(r"Error when converting column \"(.*)\"\. (.*)")
_JSON = re.compile(r"(?:Malformed JSON|JSON transform error) in file .*?in (line|record/value) (\d+): (.*)")
_KIND = re.compile(r"^(?:[A-Z][A-Za-z-]*(?: [A-Za-z/]+)* Error: )+")
_NESTED = re.compile(r"^.*closed pending query result\s*Error: ", re.DOTALL)


class SourceError(InputError):
    """Raised when data cannot be read; says which file, line and column, and what to do."""

    def __init__(
        self, problem: str, *, file: str | None = None, line: int | None = None, column: str | None = None
    ) -> None:
        self.file, self.line, self.column = file, line, column
        where = place(file, line, column)
        super().__init__(f"{where}: {problem}" if where else problem)


@dataclass(frozen=True)
class BadRow:
    """A row that was left out: its place, what is wrong with it, and its first characters."""

    file: str | None
    line: int | None
    column: str | None
    problem: str
    text: str

    def __str__(self) -> str:
        return f"{place(self.file, self.line, self.column)}: {self.problem}" + (f": {self.text}" if self.text else "")

    def error(self, advice: str) -> SourceError:
        """Return this row as an error with a piece of advice."""
        return SourceError(f"{self.problem}; {advice}", file=self.file, line=self.line, column=self.column)


def place(file: str | None, line: int | None, column: str | None) -> str:
    """Format a file, line and column for a message.

    >>> place("x.csv", 17, "age")
    "x.csv, line 17, column 'age'"
    """
    parts = [file, f"line {line}" if line is not None else None, f"column {column!r}" if column is not None else None]
    return ", ".join(part for part in parts if part)


def shortened(text: str) -> str:
    """Cut a text to a length that fits in a message.

    >>> len(shortened("ab" * 1000))
    201
    """
    return text if len(text) <= _MAX_LENGTH else text[:_MAX_LENGTH] + "…"


def bad_csv_row(message: str, file: str) -> BadRow | None:
    """Parse DuckDB's message about a bad row of a CSV file; None if it is another message."""
    found = _CSV.search(message)
    if found is None:
        return None
    line, text, problem = int(found[1]), found[2] or "", found[3]
    column, problem = csv_problem(problem)
    return BadRow(file, line, column, problem, shortened(text))


def csv_problem(message: str) -> tuple[str | None, str]:
    """Parse the column and the problem from DuckDB's message about a value or a row.

    >>> csv_problem("Error when converting column \\"age\\". Could not convert string \\"abc\\" to 'BIGINT'")
    ('age', 'could not convert string "abc" to \\'BIGINT\\'')
    """
    first = message.strip().splitlines()[0] if message.strip() else "the row cannot be read"
    found = _CONVERTING.search(first)
    column, problem = (found[1], found[2]) if found else (None, first)
    problem = problem.replace("Expected Number of Columns:", "expected fields:").replace("Found:", "found:")
    return column, problem[:1].lower() + problem[1:].rstrip(". ")


def bad_json_record(message: str) -> tuple[str, int, str] | None:
    """Parse DuckDB's message about bad JSON: "line" or "record/value", the number of the bad one, and the problem."""
    found = _JSON.search(message)
    return (found[1], int(found[2]), found[3].strip().rstrip(".")) if found else None


def rounding(
    file: str, column: str, line: int | None = None, text: str = "a whole number", double: float | None = None
) -> SourceError:
    """Return the error for a whole number among decimals that no double holds.

    >>> str(rounding("x.csv", "n", 3, "9007199254740993", 9007199254740992.0)).split(":")[:2]
    ["x.csv, line 3, column 'n'", ' 9007199254740993 would be rounded, to 9007199254740992']
    """
    nearest = "" if double is None else f", to {int(double)}"
    problem = f"{text} would be rounded{nearest}: the column has decimals, so it is read as doubles"
    advice = f"write a number that a double holds, or leave the column out (--drop {column})"
    return SourceError(f"{problem}; {advice}", file=file, line=line, column=column)


def plain(message: str) -> str:
    """Strip DuckDB's or Arrow's message of the name of its class and of its advice to programmers.

    >>> plain("Invalid Input Error: No magic bytes found at end of file 'x.parquet'\\n\\nLINE 1: from ...")
    "No magic bytes found at end of file 'x.parquet'"
    """
    whole = _NESTED.sub("", message.strip())
    first = whole.split("\n\n")[0].split("\nPossible")[0]
    return shortened(_KIND.sub("", first).strip().rstrip("."))
