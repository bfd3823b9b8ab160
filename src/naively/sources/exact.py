"""Exact types: columns of whole numbers and dates, looked through to the last row before any row is handed on.

The first rows of a text file show what its columns look like. DuckDB would round a later 0.4 to the type that it was
given, and cut the time off a later date. So each such column is read once as doubles (or timestamps) and summed up,
which takes no memory, and gets the type that holds all of its values:

    whole numbers                               BIGINT; where they are larger, UBIGINT or HUGEINT
    decimals among them, or beyond 38 digits    DOUBLE
    dates, some of them with a time             TIMESTAMP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from naively.sources.duck import identifier

WHOLE = ("BIGINT", "UBIGINT", "HUGEINT")
_EXACT_DOUBLE = 2.0**53
_DIGITS = r"\s*[+-]?[0-9]+\s*"

Look = Callable[[Mapping[str, str], Sequence[str]], Sequence[Sequence[float]]]
"""Reads columns with the given types and returns, for each file, the values of the given aggregates."""


def inexact(types: Mapping[str, str]) -> dict[str, str]:
    """The columns whose type must be confirmed by their later rows."""
    return {name: kind for name, kind in types.items() if kind in WHOLE or kind == "DATE"}


def exact_types(types: Mapping[str, str], look: Look) -> dict[str, str]:
    """Types that hold every value of these columns, which look like whole numbers or dates."""
    read_as = {name: "TIMESTAMP" if kind == "DATE" else "DOUBLE" for name, kind in types.items()}
    found = _largest(look(read_as, [part for name, kind in read_as.items() for part in _first_look(name, kind)]))
    odd, size = dict(zip(types, found[::2], strict=True)), dict(zip(types, found[1::2], strict=True))
    exact = {name: read_as[name] if odd[name] else kind for name, kind in types.items()}
    long = [name for name in types if not odd[name] and size[name] >= _EXACT_DOUBLE]
    if long:
        doubtful = [part for name in long for part in _second_look(name)]
        misfits = _largest(look(dict.fromkeys(long, "VARCHAR"), doubtful))
        for number, name in enumerate(long):
            each = misfits[len(WHOLE) * number : len(WHOLE) * (number + 1)]
            exact[name] = next((kind for kind, misfit in zip(WHOLE, each, strict=True) if not misfit), "DOUBLE")
    return {name: "BIGINT" if kind in WHOLE and name not in long else kind for name, kind in exact.items()}


def _largest(files: Sequence[Sequence[float]]) -> list[float]:
    return [max(values) for values in zip(*files, strict=True)]


def _first_look(name: str, kind: str) -> list[str]:
    """Whether a column has values that do not fit, and how large they are."""
    column = identifier(name)
    if kind == "TIMESTAMP":
        return [f"coalesce(bool_or({column} <> date_trunc('day', {column})), false)", "0"]
    return [
        f"coalesce(bool_or(not isfinite({column}) or {column} <> trunc({column})), false)",
        f"coalesce(max(abs({column})), 0)",
    ]


def _second_look(name: str) -> list[str]:
    """Whether a column of digits has values that do not fit each of the types of whole numbers."""
    column = identifier(name)
    digits = f"regexp_full_match({column}, '{_DIGITS}')"
    return [f"coalesce(bool_or(not {digits} or try_cast({column} as {kind}) is null), false)" for kind in WHOLE]
