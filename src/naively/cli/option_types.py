"""Types of options: functions that parse the text of an option."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def at_least(low: int, high: int | None = None) -> Callable[[str], int]:
    """Return a parser of whole numbers from `low` to `high`."""
    wanted = f"a whole number from {low}{f' to {high}' if high is not None else ' on'}"

    def whole(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if number < low or (high is not None and number > high):
            raise argparse.ArgumentTypeError(f"expected {wanted}, got {text!r}")
        return number

    return whole


def _between(text: str, low: float, high: float, wanted: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise argparse.ArgumentTypeError(f"expected {wanted}, got {text!r}")
    return number


def probability(text: str) -> float:
    """Parse a number from 0 to 1."""
    return _between(text, 0, 1, "a number from 0 to 1")


def seconds(text: str) -> float:
    """Parse a number of seconds."""
    return _between(text, 0, 1e9, "a number of seconds")


def alpha(text: str) -> float | str:
    """Parse a smoothing parameter: a number from 0 on, or "auto"."""
    return "auto" if text == "auto" else _between(text, 0, 1e300, "a number from 0 on, or 'auto'")


def ngrams(text: str) -> tuple[int, int] | str:
    """Parse a range of n-gram lengths: "2" is 1 to 2, "2-3" is 2 to 3; or "auto".

    >>> ngrams("2"), ngrams("2-3")
    ((1, 2), (2, 3))
    """
    if text == "auto":
        return text
    low, dash, high = text.partition("-")
    if not dash:
        low, high = "1", low
    if not (low.isdecimal() and high.isdecimal() and 1 <= int(low) <= int(high)):
        raise argparse.ArgumentTypeError(f"expected a number like 2, a range like 2-3 or 'auto', got {text!r}")
    return int(low), int(high)


def names(text: str) -> list[str]:
    """Parse names of columns, separated by commas; a name that contains a comma is put in double quotes.

    >>> names('age,"city, state"')
    ['age', 'city, state']
    """
    import csv

    found = [name for line in csv.reader([text], skipinitialspace=True) for name in line]
    if not found or "" in found:
        raise argparse.ArgumentTypeError(f"expected names with commas between them, got {text!r}")
    return found


def row(text: str) -> dict[str, Any]:
    """Parse a row, a JSON object."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as failure:
        raise argparse.ArgumentTypeError(f"expected a JSON object, got {text!r}: {failure}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f'expected a JSON object like {{"age": 39}}, got {text!r}')
    return value
