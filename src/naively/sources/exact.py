"""Exact types: read columns of numbers, dates, times and booleans to the last row before any row is handed on.

Types are first detected in the first rows of a text file. DuckDB would round a later 0.4 to a whole number, cut the
time off a later date, and take a later "yes" for true. So each such column is read once as doubles (or timestamps, or
text) and aggregated, which takes no memory, and gets the type that holds all of its values:

    whole numbers                               BIGINT; where they are larger, UBIGINT or HUGEINT
    decimals among them, or beyond 38 digits    DOUBLE
    dates, some of them with a time             TIMESTAMP
    times finer than a microsecond              TIMESTAMP_NS
    times with an offset from UTC               TIMESTAMP WITH TIME ZONE
    booleans, written in several ways           VARCHAR

A column with decimals holds doubles. A whole number in it that no double holds (`nearest_double`) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from naively.sources.duck import identifier

WHOLE = ("BIGINT", "UBIGINT", "HUGEINT")
_NUMBERS = (*WHOLE, "DOUBLE")
_EXACT_DOUBLE = 2.0**53
_DIGITS = r"\s*[+-]?[0-9]+\s*"
_MOST_DIGITS = 300
"""Longer numbers are no finite doubles."""
_ZONED = "TIMESTAMP WITH TIME ZONE"
_TIMES = ("DATE", "TIMESTAMP", _ZONED, "TIME")
_FINE = r".*:[0-9]{2}\.[0-9]{6}[0-9]*[1-9].*"
_OFFSET = r".*:[0-9]{2}[0-9.]*\s*([zZ]|[+-][0-9:]+|[A-Za-z][A-Za-z_/+-]{2,}[0-9]*)\s*"
_SPELLINGS = (("true", "t", "yes", "y"), ("false", "f", "no", "n"))
_NUMBER = r"\s*[+-]?[0-9.]+([eE][+-]?[0-9]+)?\s*"

Look = Callable[[Mapping[str, str], Sequence[str]], Sequence[Sequence[float]]]
"""Reads columns with the given types and returns, for each file, the values of the given aggregates."""


def exact_types(types: Mapping[str, str], seen_whole: Callable[[], bool], look: Look) -> dict[str, str]:
    """Find, for columns of numbers, dates, times and booleans, the types that hold all of their values.

    Columns of doubles may be left out of `types` unless they have long numbers, which may be whole in all rows.

    If the types were detected from all rows (`seen_whole`), those of whole numbers and dates are exact already.
    """
    exact = {name: kind for name, kind in types.items() if kind in (*_NUMBERS, *_TIMES, "BOOLEAN")}
    if exact and seen_whole():
        exact = {name: kind for name, kind in exact.items() if kind not in (*WHOLE, "DATE")}
    types = dict(exact)
    numbers_and_dates = {name: kind for name, kind in types.items() if kind in (*_NUMBERS, "DATE")}
    read_as = {name: "TIMESTAMP" if kind == "DATE" else "DOUBLE" for name, kind in numbers_and_dates.items()}
    found = _largest(look, read_as, {name: _number_misfits(name, kind) for name, kind in read_as.items()})
    texts = [name for name in types if name not in read_as or types[name] == "DATE"]
    for name, (misfit, size) in found.items():
        if misfit:
            exact[name] = read_as[name]
        elif types[name] in _NUMBERS:
            exact[name] = "BIGINT" if types[name] in WHOLE else "DOUBLE"
            texts += [name] if size >= _EXACT_DOUBLE else []
    found = _largest(look, dict.fromkeys(texts, "VARCHAR"), {name: _text_misfits(name, types[name]) for name in texts})
    for name, misfits in found.items():
        exact[name] = _type_of_texts(exact[name], misfits)
    return exact


def nearest_double(text: str) -> float | None:
    """Return the nearest double of a whole number that no double holds, and None for any other text.

    A double holds a number that is equal to it, and the one that it is printed as.

    >>> nearest_double("9007199254740993"), nearest_double("9007199254740994"), nearest_double("1" + "0" * 23)
    (9007199254740992.0, None, None)
    """
    if not re.fullmatch(_DIGITS, text, re.ASCII) or len(text) > _MOST_DIGITS:
        return None
    whole, double = int(text), float(text)
    return None if whole in (int(double), Decimal(repr(double))) else double


def no_double_holds(name: str) -> str:
    """Return the SQL of an aggregate over a column of texts: True if no double holds one of its whole numbers."""
    return _any(no_double_is(identifier(name)))


def no_double_is(text: str) -> str:
    """Return the SQL of a condition: True if `nearest_double` finds one for this text."""
    whole = f"length({text}) > 15 and regexp_full_match({text}, '{_DIGITS}')"
    double = f"try_cast({text} as DOUBLE)"
    equal = f"coalesce(try_cast({text} as HUGEINT) = try_cast({double} as HUGEINT), false)"
    printed = f"{_digits(text)} = {_digits(f'split_part(cast({double} as VARCHAR), chr(101), 1)')}"
    return f"{whole} and {double} is not null and not {equal} and not {printed}"


def _digits(text: str) -> str:
    """Return the SQL of the digits of a number, without zeros at its ends."""
    return f"trim(regexp_replace({text}, '[^0-9]', '', 'g'), '0')"


def _type_of_texts(kind: str, misfits: Sequence[float]) -> str:
    """Return the type of a column, given the kinds of misfits that `_text_misfits` found in it."""
    if kind in _NUMBERS:
        return next((whole for whole, misfit in zip(WHOLE, misfits, strict=True) if not misfit), "DOUBLE")
    if kind == "BOOLEAN":
        number, *spelled = misfits
        several = any(sum(spelled[begin : begin + 4]) > 1 for begin in (0, 4))
        return "VARCHAR" if number or several else kind
    fine, offset = misfits[0], misfits[1] or kind == _ZONED
    if fine:
        return "VARCHAR" if offset or kind == "TIME" else "TIMESTAMP_NS"
    return _ZONED if offset and kind != "TIME" else kind


def _largest(look: Look, read_as: Mapping[str, str], parts: Mapping[str, Sequence[str]]) -> dict[str, list[float]]:
    """Compute each column's aggregates for every file, and return the largest values over the files."""
    if not parts:
        return {}
    files = look(read_as, [part for name in parts for part in parts[name]])
    largest = iter([max(values) for values in zip(*files, strict=True)])
    return {name: [next(largest) for _ in wanted] for name, wanted in parts.items()}


def _number_misfits(name: str, kind: str) -> list[str]:
    """Return the SQL of two aggregates: does any value not fit the column's type, and the largest absolute value."""
    column = identifier(name)
    if kind == "TIMESTAMP":
        return [_any(f"{column} <> date_trunc('day', {column})"), "0"]
    return [
        _any(f"not isfinite({column}) or {column} <> trunc({column})"),
        f"coalesce(max(abs({column})), 0)",
    ]


def _text_misfits(name: str, kind: str) -> list[str]:
    """Return the SQL of aggregates that find texts that do not fit a column's type, one per kind of misfit."""
    column = identifier(name)
    if kind in _NUMBERS:
        digits = f"regexp_full_match({column}, '{_DIGITS}')"
        return [_any(f"not {digits} or try_cast({column} as {whole}) is null") for whole in WHOLE]
    if kind == "BOOLEAN":
        spelled = [_any(f"lower(trim({column})) = '{word}'") for words in _SPELLINGS for word in words]
        return [_any(f"regexp_full_match({column}, '{_NUMBER}')"), *spelled]
    return [_any(f"regexp_full_match({column}, '{pattern}')") for pattern in (_FINE, _OFFSET)]


def _any(condition: str) -> str:
    return f"coalesce(bool_or({condition}), false)"
