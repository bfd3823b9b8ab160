"""naively explain: show why a text or a row gets its label."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.cli.column_roles import roles_for_model
from naively.cli.console import Console, printable
from naively.cli.models import check_reads_rows, load, open_data
from naively.errors import InputError, nearest
from naively.score.explanation import Explanation


def run(arguments: Namespace, console: Console) -> None:
    learner, about = load(arguments.model)
    check_reads_rows(learner, arguments.model)
    found = learner.explain(_row(arguments, learner, about))
    first = _class_to_explain(found, arguments.label)
    second = _other(found, first)
    pair = [first] if second is None else [first, second]
    lines = _lines(found, pair)
    _show(found, pair, lines, arguments.top, console)
    console.result(_document(found, pair, lines))


def _row(arguments: Namespace, learner: Any, about: dict[str, Any]) -> Any:
    """Return the text or the row to explain, as the learner reads it."""
    if arguments.text is not None:
        if not learner.reads_text:
            raise InputError("the model reads a table, not a text: pass a row as --row '{\"column\": value}'")
        return arguments.text
    if arguments.row is not None:
        return _given(arguments.row, learner, about)
    with open_data(arguments, [arguments.data]) as source:
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


def _class_to_explain(found: Explanation, label: str | None) -> int:
    classes = [str(name) for name in found.classes.tolist()]
    if label is None:
        return found.places[0]
    if label not in classes:
        raise InputError(
            f"--class: there is no class {label!r}{nearest(label, classes)}; there are {', '.join(classes[:20])}"
        )
    return classes.index(label)


def _other(found: Explanation, first: int) -> int | None:
    """Return the strongest other class."""
    return next((place for place in found.places if place != first), None)


@dataclass(frozen=True)
class Line:
    """One line of the sum: a factor, its value in the row, the counts behind it, and its share in both scores."""

    factor: str
    value: str
    counts: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def difference(self) -> float:
        """Difference of the shares: above 0 it speaks for the first class."""
        return self.shares[0] - self.shares[1] if len(self.shares) > 1 else 0.0

    @property
    def cells(self) -> list[str]:
        pairs = zip(self.counts, self.shares, strict=True)
        return [
            self.factor,
            self.value,
            *(part for counts, share in pairs for part in (counts, _cell(share))),
            _cell(self.difference),
        ]


def _lines(found: Explanation, pair: list[int]) -> list[Line]:
    """Return the lines of the prior, the factors, and the rest."""
    labels = found.classes[pair].tolist()

    def counts(factor: Any) -> tuple[str, ...]:
        by_label = found.counts(factor)
        return tuple(by_label[label] for label in labels)

    lines = [Line("prior", "", counts(None), _of(found.prior, pair))]
    for name, share in zip(found.features, found.shares, strict=True):
        lines.append(Line(str(name), found.values.get(name, ""), counts(name), _of(share, pair)))
    if found.has_rest:
        lines.append(Line("all else", "", ("",) * len(pair), _of(found.rest, pair)))
    return lines


def _of(values: Any, pair: list[int]) -> tuple[float, ...]:
    return tuple(float(values[k]) for k in pair)


def _show(found: Explanation, pair: list[int], lines: list[Line], top: int, console: Console) -> None:
    prior, *factors = lines
    order = sorted(range(len(factors)), key=lambda i: -abs(np.nan_to_num(factors[i].difference)))
    listed, left = [factors[i] for i in order[:top]], [factors[i] for i in order[top:]]
    blank = ("",) * len(pair)
    if left:
        sums = tuple(sum(line.shares[k] for line in left) for k in range(len(pair)))
        listed.append(Line(f"{len(left)} more", "", blank, sums))
    ends = [Line("sum", "", blank, _of(found.score, pair))]
    ends += [Line(name, "", blank, _of(values, pair)) for name, values in found.after("sum")]
    rows = [line.cells for line in (prior, *listed, *ends)]
    rows.append([*Line("probability", "", blank, _of(found.probability, pair)).cells[:-1], ""])
    labels = [str(found.classes[k]) for k in pair]
    columns = ["factor", "value", *(part for label in labels for part in (f"in {label}", label)), f"for {labels[0]}"]
    align = "ll" + "rr" * len(pair) + "r"
    if not any(line.value for line in lines):  # a text has words, but no values
        rows, columns, align = [[row[0], *row[2:]] for row in rows], [columns[0], *columns[2:]], align[1:]
    console.table(columns, rows, align=align)
    if found.ignored:
        console.say()
        console.say(f"ignored, since each adds the same to every class: {printable(', '.join(found.ignored))}")


def _cell(value: float) -> str:
    return f"{value:.4f}"


def _document(found: Explanation, pair: list[int], lines: list[Line]) -> dict[str, Any]:
    classes = found.classes.tolist()

    def by_class(values: Any) -> dict[str, float]:
        return dict(zip(map(str, classes), values.tolist(), strict=True))

    return {
        "label": classes[found.places[0]],
        "probability": by_class(found.probability),
        "score": by_class(found.score),
        "temperature": found.temperature,
        "constants": None if found.constants is None else by_class(found.constants),
        "prior": by_class(found.prior),
        "factors": [
            {"factor": str(f), "shares": by_class(s)} for f, s in zip(found.features, found.shares, strict=True)
        ],
        "rest": by_class(found.rest),
        "compared": {
            "classes": [classes[k] for k in pair],
            "lines": [
                {"factor": line.factor, "value": line.value, "counts": line.counts, "shares": line.shares}
                for line in lines
            ],
        },
        "ignored": found.ignored,
    }
