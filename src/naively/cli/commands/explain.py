"""naively explain: show why a text or a row gets its label."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.cli.console import Console
from naively.cli.factors import Counts, counts_of
from naively.cli.models import for_rows, load, opened
from naively.cli.roles import roles_for_model
from naively.errors import InputError, nearest
from naively.explain import Explanation


def run(arguments: Namespace, console: Console) -> None:
    learner, about = load(arguments.model)
    for_rows(learner, arguments.model)
    row = _row(arguments, learner, about)
    found = learner.explain(row)
    first = _asked(found, arguments.label)
    second = _other(found, first)
    pair = [first] if second is None else [first, second]
    lines = _lines(found, pair, counts_of(learner, row, found.features))
    _show(found, pair, lines, arguments.top, console)
    console.result(_document(found, pair, lines))


def _row(arguments: Namespace, learner: Any, about: dict[str, Any]) -> Any:
    """The text or the row, as the learner reads it."""
    if arguments.text is not None:
        if not learner.reads_text:
            raise InputError("the model reads a table, not a text: pass a row as --row '{\"column\": value}'")
        return arguments.text
    if arguments.row is not None:
        return _given(arguments.row, learner, about)
    with opened(arguments, [arguments.data]) as source:
        roles = roles_for_model(Namespace(text=None, target=None), source, about, learner, target=False)
        passed = 0
        for batch in source.batches(roles.read):
            if passed + batch.num_rows >= arguments.line:
                found = roles.rows(batch.slice(arguments.line - 1 - passed, 1))
                return found[0].as_py() or "" if learner.reads_text else found.to_pydict()
            passed += batch.num_rows
    raise InputError(f"{arguments.data}: has {passed:,} rows, so there is no row {arguments.line:,}")


def _given(row: dict[str, Any], learner: Any, about: dict[str, Any]) -> Any:
    if learner.reads_text:
        name = about.get("text")
        text = row.get(name) if name in row else next((v for v in row.values() if isinstance(v, str)), None)
        if not isinstance(text, str):
            raise InputError(f"--row: the model reads a text; there is none in {row!r}")
        return text
    known = list(learner.feature_names_in_)
    for name in row:
        if name not in known and name != about.get("target"):
            raise InputError(
                f"--row: the model knows no column {name!r}{nearest(name, known)}; it reads {', '.join(known)}"
            )
    return {name: [value] for name, value in row.items() if name in known}


def _asked(found: Explanation, label: str | None) -> int:
    classes = [str(name) for name in found.classes.tolist()]
    if label is None:
        return int(np.lexsort((found.score, found.probability))[-1])
    if label not in classes:
        raise InputError(
            f"--class: there is no class {label!r}{nearest(label, classes)}; there are {', '.join(classes[:20])}"
        )
    return classes.index(label)


def _other(found: Explanation, first: int) -> int | None:
    """The strongest class besides."""
    order = np.lexsort((found.score, found.probability)).tolist()
    others = [place for place in order if place != first]
    return others[-1] if others else None


@dataclass(frozen=True)
class Line:
    """One line of the sum: what a factor adds to both classes, and what it was counted from."""

    factor: str
    counts: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def difference(self) -> float:
        """How much it speaks for the first class."""
        return self.shares[0] - self.shares[1] if len(self.shares) > 1 else 0.0

    @property
    def cells(self) -> list[str]:
        pairs = zip(self.counts, self.shares, strict=True)
        return [
            self.factor,
            *(part for counts, share in pairs for part in (counts, _cell(share))),
            _cell(self.difference),
        ]


def _lines(found: Explanation, pair: list[int], counts: Counts) -> list[Line]:
    """The prior, then the factors and what is left."""
    labels = found.classes.tolist()
    named = list(zip(found.features, found.shares, strict=True))
    told = [tuple(counts.factors.get(labels[k], {}).get(name, "") for k in pair) for name, _ in named]
    if np.abs(found.rest).max(initial=0.0) > 1e-9 * (1.0 + np.abs(found.shares).max(initial=0.0)):
        named.append(("all else", found.rest))
        told.append(("",) * len(pair))
    lines = [Line("prior", tuple(counts.prior.get(labels[k], "") for k in pair), _of(found.prior, pair))]
    return lines + [Line(str(n), c, _of(share, pair)) for (n, share), c in zip(named, told, strict=True)]


def _of(values: Any, pair: list[int]) -> tuple[float, ...]:
    return tuple(float(values[k]) for k in pair)


def _show(found: Explanation, pair: list[int], lines: list[Line], top: int, console: Console) -> None:
    prior, *factors = lines
    order = sorted(range(len(factors)), key=lambda i: -abs(np.nan_to_num(factors[i].difference)))
    shown, left = [factors[i] for i in order[:top]], [factors[i] for i in order[top:]]
    nothing = ("",) * len(pair)
    if left:
        sums = tuple(sum(line.shares[k] for line in left) for k in range(len(pair)))
        shown.append(Line(f"{len(left)} more", nothing, sums))
    ends = [Line("sum", nothing, _of(found.score, pair))]
    if found.temperature != 1.0:
        ends.append(Line(f"sum / {found.temperature:.4g}", nothing, _of(found.score / found.temperature, pair)))
    rows = [line.cells for line in (prior, *shown, *ends)]
    rows.append([*Line("probability", nothing, _of(found.probability, pair)).cells[:-1], ""])
    labels = [str(found.classes[k]) for k in pair]
    columns = ["factor", *(part for label in labels for part in (f"in {label}", label)), f"for {labels[0]}"]
    console.table(columns, rows, align="l" + "rr" * len(pair) + "r")


def _cell(value: float) -> str:
    return f"{value:.4f}"


def _document(found: Explanation, pair: list[int], lines: list[Line]) -> dict[str, Any]:
    classes = found.classes.tolist()

    def by_class(values: Any) -> dict[str, float]:
        return dict(zip(map(str, classes), values.tolist(), strict=True))

    return {
        "label": classes[int(np.lexsort((found.score, found.probability))[-1])],
        "probability": by_class(found.probability),
        "score": by_class(found.score),
        "temperature": found.temperature,
        "prior": by_class(found.prior),
        "factors": [
            {"factor": str(f), "shares": by_class(s)} for f, s in zip(found.features, found.shares, strict=True)
        ],
        "rest": by_class(found.rest),
        "compared": {
            "classes": [classes[k] for k in pair],
            "lines": [{"factor": line.factor, "counts": line.counts, "shares": line.shares} for line in lines],
        },
    }
