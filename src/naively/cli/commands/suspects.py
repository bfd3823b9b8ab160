"""naively suspects: find labels that look wrong."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from naively.cli.commands.evaluate import all_rows
from naively.cli.console import Console, printable
from naively.cli.outputs import open_output
from naively.layout import cut


def run(arguments: Namespace, console: Console) -> None:
    from naively.estimators import NaiveBayes, TextClassifier
    from naively.families.columns.declared import Text
    from naively.judge.suspects import suspects

    X, y, roles, places = all_rows(arguments, console)
    model: Any = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1))
    if roles.text is None:
        model = NaiveBayes(columns={name: Text() for name in roles.given_texts} or None)
    found = suspects(model, X, y)
    n_suspects = min(arguments.top, int((found.log_odds > 0).sum()))  # the labels of the others are not contradicted
    columns: dict[str, Any] = {
        "row": [int(row) + 1 for row in places[found.rows[:n_suspects]]],
        "label": found.labels[:n_suspects].tolist(),
        "suggested": found.suggested[:n_suspects].tolist(),
        "log_odds": found.log_odds[:n_suspects].tolist(),
        "probability": found.probability[:n_suspects].tolist(),
    }
    if arguments.output is not None:
        _write(arguments.output, columns, X, found.rows[:n_suspects], roles.text, console)
        console.facts({"rows": len(y), "suspects": n_suspects, "saved": arguments.output})
    else:
        texts = [cut(printable(text), 60) for text in _row_texts(X, found.rows[:n_suspects], roles.text)]
        rows = [list(row) for row in zip(*columns.values(), texts, strict=True)]
        console.table([*columns, "what it says"], rows)
    listed = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    console.result({"rows": len(y), "suspects": listed})


def _row_texts(X: Any, rows: Any, text: str | None) -> list[str]:
    chosen = X.take(rows)
    if text is not None:
        return [value or "" for value in chosen.to_pylist()]
    return [
        ", ".join(f"{name} {value}" for name, value in row.items() if value is not None) for row in chosen.to_pylist()
    ]


def _write(path: str, columns: dict[str, Any], X: Any, rows: Any, text: str | None, console: Console) -> None:
    """Write the suspect rows and their figures; a figure gets another name if the data have a column of its name."""
    import pyarrow as pa

    chosen = X.take(rows)
    table = pa.table({text: chosen}) if text is not None else chosen
    names = {name: name if name not in table.column_names else f"suspect_{name}" for name in columns}
    with open_output(path, console) as output:
        kinds = {"row": int, "log_odds": float, "probability": float}
        label = type(next(iter(columns["label"]), ""))
        output.write(
            {names[name]: values for name, values in columns.items()},
            {names[name]: kinds.get(name, label) for name in columns},
            table,
        )
