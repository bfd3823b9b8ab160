"""naively suspects: find labels that look wrong."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from naively.cli.commands.evaluate import all_rows
from naively.cli.console import Console, cut, printable
from naively.cli.outputs import answering


def run(arguments: Namespace, console: Console) -> None:
    from naively.estimators import NaiveBayes, TextClassifier
    from naively.families.columns.declared import Text
    from naively.judge.suspects import suspects

    X, y, roles, places = all_rows(arguments, console)
    model: Any = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1))
    if roles.text is None:
        model = NaiveBayes(columns={name: Text() for name in roles.given_texts} or None)
    found = suspects(model, X, y)
    many = min(arguments.top, int((found.log_odds > 0).sum()))  # the others are as their labels say
    columns: dict[str, Any] = {
        "row": [int(row) + 1 for row in places[found.rows[:many]]],
        "label": found.labels[:many].tolist(),
        "suggested": found.suggested[:many].tolist(),
        "log_odds": found.log_odds[:many].tolist(),
        "probability": found.probability[:many].tolist(),
    }
    if arguments.output is not None:
        _write(arguments.output, columns, X, found.rows[:many], roles.text, console)
        console.facts({"rows": len(y), "suspects": many, "saved": arguments.output})
    else:
        shown = [cut(printable(text), 60) for text in _shown(X, found.rows[:many], roles.text)]
        rows = [list(row) for row in zip(*columns.values(), shown, strict=True)]
        console.table([*columns, "what it says"], rows)
    listed = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    console.result({"rows": len(y), "suspects": listed})


def _shown(X: Any, rows: Any, text: str | None) -> list[str]:
    taken = X.take(rows)
    if text is not None:
        return [value or "" for value in taken.to_pylist()]
    return [
        ", ".join(f"{name} {value}" for name, value in row.items() if value is not None) for row in taken.to_pylist()
    ]


def _write(path: str, columns: dict[str, Any], X: Any, rows: Any, text: str | None, console: Console) -> None:
    """The rows with what is said of them; a column of theirs that has the name of one of ours is called otherwise."""
    import pyarrow as pa

    taken = X.take(rows)
    table = pa.table({text: taken}) if text is not None else taken
    names = {name: name if name not in table.column_names else f"suspect_{name}" for name in columns}
    with answering(path, console) as answer:
        kinds = {"row": int, "log_odds": float, "probability": float}
        label = type(next(iter(columns["label"]), ""))
        answer.write(
            {names[name]: values for name, values in columns.items()},
            {names[name]: kinds.get(name, label) for name in columns},
            table,
        )
