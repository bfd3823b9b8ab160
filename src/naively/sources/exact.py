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

A column with decimals holds doubles, so a whole number beyond 2^53 in it is rounded to the nearest double, as 0.1 is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from naively.sources.duck import identifier

WHOLE = ("BIGINT", "UBIGINT", "HUGEINT")
_EXACT_DOUBLE = 2.0**53
_DIGITS = r"\s*[+-]?[0-9]+\s*"
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

    If the types were detected from all rows (`seen_whole`), those of whole numbers and dates are exact already.
    """
    exact = {name: kind for name, kind in types.items() if kind in (*WHOLE, *_TIMES, "BOOLEAN")}
    if exact and seen_whole():
        exact = {name: kind for name, kind in exact.items() if kind not in (*WHOLE, "DATE")}
    types = dict(exact)
    read_as = {n: "DOUBLE" if kind in WHOLE else "TIMESTAMP" for n, kind in types.items() if kind in (*WHOLE, "DATE")}
    found = _largest(look, read_as, {name: _number_misfits(name, kind) for name, kind in read_as.items()})
    texts = [name for name in types if name not in read_as or types[name] == "DATE"]
    for name, (misfit, size) in found.items():
        if misfit:
            exact[name] = read_as[name]
        elif types[name] in WHOLE:
            exact[name] = "BIGINT"
            texts += [name] if size >= _EXACT_DOUBLE else []
    found = _largest(look, dict.fromkeys(texts, "VARCHAR"), {name: _text_misfits(name, types[name]) for name in texts})
    for name, misfits in found.items():
        exact[name] = _type_of_texts(exact[name], misfits)
    return exact


def _type_of_texts(kind: str, misfits: Sequence[float]) -> str:
    """Return the type of a column, given the kinds of misfits that `_text_misfits` found in it."""
    if kind in WHOLE:
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
    if kind in WHOLE:
        digits = f"regexp_full_match({column}, '{_DIGITS}')"
        return [_any(f"not {digits} or try_cast({column} as {whole}) is null") for whole in WHOLE]
    if kind == "BOOLEAN":
        spelled = [_any(f"lower(trim({column})) = '{word}'") for words in _SPELLINGS for word in words]
        return [_any(f"regexp_full_match({column}, '{_NUMBER}')"), *spelled]
    return [_any(f"regexp_full_match({column}, '{pattern}')") for pattern in (_FINE, _OFFSET)]


def _any(condition: str) -> str:
    return f"coalesce(bool_or({condition}), false)"
