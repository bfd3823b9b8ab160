"""Query: one SELECT that scores the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from naively.errors import InputError
from naively.score.export.sql.parts import Parts, Stage
from naively.score.export.terms import Terms

_BARRED = "-1e300"
"""The score of a class that cannot be chosen."""


def select(terms: Terms, parts: Parts, table: str, keep: Sequence[str]) -> str:
    """Return the SELECT: the columns to keep, the label, its probability, and the probability of each class."""
    dialect = parts.dialect
    kept = [dialect.quoted(name) for name in keep]
    queries = [("naively_input", _input(parts, table, keep)), *parts.queries]
    if parts.codes:
        columns = [*kept, *_passed(parts), *(f"{expression} AS {name}" for expression, name in parts.codes.items())]
        queries.append(("naively_codes", f"SELECT {', '.join(columns)} FROM naively_input"))
    queries += _stages(parts, kept)
    queries += _scores(terms, parts, kept, queries[-1][0])
    whens = " ".join(f"WHEN nb_s{c} = 0 THEN {dialect.literal(label)}" for c, label in enumerate(terms.labels))
    columns = [*kept, f"CASE {whens} END AS label", "1 / nb_total AS probability"]
    columns += [f"nb_e{c} / nb_total AS {dialect.quoted(f'p_{label}')}" for c, label in enumerate(terms.labels)]
    listed = ",\n".join(f"{name} AS {dialect.stored}({query})" for name, query in queries)
    return f"WITH {listed}\nSELECT {', '.join(columns)} FROM naively_chances"


def _input(parts: Parts, table: str, keep: Sequence[str]) -> str:
    """Return the query of what is read of each row."""
    dialect = parts.dialect
    columns = [f"t.{dialect.quoted(name)} AS {dialect.quoted(name)}" for name in keep]
    if parts.reads_texts:
        if dialect.needs_key and not keep:
            raise InputError(
                f"dialect {dialect.name!r}: rows of texts need a column that tells them apart: keep=['id']"
            )
        row = f"t.{dialect.quoted(keep[0])}" if dialect.needs_key else dialect.row_number
        columns.append(f"{row} AS naively_row")
    columns += [f"{expression} AS {name}" for expression, name in parts.columns.items()]
    return f"SELECT {', '.join(columns) or '0 AS nothing'}\nFROM {table} AS t"


def _passed(parts: Parts) -> list[str]:
    """Return the columns of the input that later queries need."""
    return [*(["naively_row"] if parts.reads_texts else []), *parts.columns.values()]


def _stages(parts: Parts, kept: list[str]) -> list[tuple[str, str]]:
    """Return the queries that add up all terms, a few joins at a time."""
    queries, source = [], "naively_codes" if parts.codes else "naively_input"
    rest = [*kept, *_passed(parts), *parts.codes.values()]
    for number, stage in enumerate(parts.stages or [Stage(parts.n_sums)]):
        sums = [
            f"{total([f'i.nb_{name}', *added] if number else added)} AS nb_{name}"
            for name, added in zip(parts.sums, stage.added, strict=True)
        ]
        columns = ",\n  ".join([f"i.{name}" for name in rest] + sums)
        query = "\n".join([f"SELECT {columns}", f"FROM {source} AS i", *stage.joins])
        source = f"naively_sums{number}"
        queries.append((source, query))
    return queries


def total(values: list[str]) -> str:
    """Return a sum by halves, since databases limit how deep an expression is."""
    if len(values) < 2:
        return values[0] if values else "0"
    half = len(values) // 2
    return f"({total(values[:half])} + {total(values[half:])})"


@dataclass
class _Steps:
    """Queries, each of which reads the one before."""

    kept: list[str]
    source: str
    queries: list[tuple[str, str]] = field(default_factory=list)

    def then(self, name: str, columns: Sequence[str]) -> None:
        self.queries.append((name, f"SELECT {', '.join([*self.kept, *columns])} FROM {self.source}"))
        self.source = name


def _scores(terms: Terms, parts: Parts, kept: list[str], source: str) -> list[tuple[str, str]]:
    """Return the queries from sums to calibrated scores (nb_s0, ... of which the highest is 0), and exponentials."""
    dialect, names, steps = parts.dialect, [f"nb_s{c}" for c in range(len(terms.labels))], _Steps(kept, source)
    _joint(terms, parts, names, steps)
    steps.then("naively_best", [*names, f"{dialect.greatest(names)} AS nb_best"])
    divided = "" if terms.temperature == 1 else f" / {dialect.number(terms.temperature)}"
    below = [f"({name} - nb_best){divided}" for name in names]
    if terms.offsets is not None:
        moved = [f"{part} + {dialect.number(o)}" for part, o in zip(below, terms.offsets.tolist(), strict=True)]
        steps.then("naively_moved", _named(moved, names))
        steps.then("naively_top", [*names, f"{dialect.greatest(names)} AS nb_top"])
        below = [f"{name} - nb_top" for name in names]
    steps.then("naively_rates", _named(below, names))
    # Exponentials that float64 does not hold are errors in some databases.
    powers = [f"nb_e{c}" for c in range(len(names))]
    steps.then(
        "naively_powers",
        [*names, *_named([f"CASE WHEN {name} < -700 THEN 0e0 ELSE EXP({name}) END" for name in names], powers)],
    )
    steps.then("naively_chances", [*names, *powers, f"{total(powers)} AS nb_total"])
    return steps.queries


def _joint(terms: Terms, parts: Parts, names: list[str], steps: _Steps) -> None:
    """Add priors; a class with more impossible factors than another, or that never was, cannot be chosen."""
    dialect, never = parts.dialect, np.isneginf(terms.prior)
    barred = (never & ~never.all()).tolist()
    scores = [
        _BARRED if out else f"{name} + {dialect.number(prior)}" if np.isfinite(prior) else name
        for name, prior, out in zip(names, terms.prior.tolist(), barred, strict=True)
    ]
    if parts.impossible:
        zeros = [f"nb_z{c}" for c in range(len(names))]
        least = dialect.least([zero for zero, out in zip(zeros, barred, strict=True) if not out])
        steps.then("naively_joint", [*_named(scores, names), *zeros, f"{least} AS nb_least"])
        scores = [
            _BARRED if out else f"CASE WHEN {zero} > nb_least + 1e-9 THEN {_BARRED} ELSE {name} END"
            for name, zero, out in zip(names, zeros, barred, strict=True)
        ]
    steps.then("naively_scores", _named(scores, names))


def _named(expressions: Sequence[str], names: Sequence[str]) -> list[str]:
    return [f"{expression} AS {name}" for expression, name in zip(expressions, names, strict=True)]
