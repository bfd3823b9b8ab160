"""naively predict: label new rows or texts."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from typing import Any

from naively.cli.column_roles import roles_for_model
from naively.cli.console import Console
from naively.cli.counting import tell_of_bad_rows
from naively.cli.models import for_rows, load, opened
from naively.cli.outputs import answering
from naively.cli.prefetch import ahead
from naively.cli.progress import Progress
from naively.score.scores import Scores


def run(arguments: Namespace, console: Console) -> None:
    learner, about = load(arguments.model)
    for_rows(learner, arguments.model)
    console.on_interrupt(f"{arguments.output} was not written" if arguments.output else "")
    with opened(arguments) as source, answering(arguments.output, console) as answer:
        roles = roles_for_model(arguments, source, about, learner, target=False)
        taken = set(source.columns) if arguments.output is not None else set()
        batches = ahead(source.batches(None if arguments.output is not None else roles.read))
        with closing(batches), Progress(console, "predicting", source.size, source.rows) as progress:
            for batch in batches:
                answer.write(*_columns(learner.scores(roles.rows(batch)), arguments, taken), batch)
                progress.update(batch.num_rows, source.read_bytes - progress.bytes)
        if arguments.output is not None and not progress.rows:
            _write_nothing(answer, source, learner, arguments, taken)
        tell_of_bad_rows(source, console)
    if arguments.output is not None:
        console.saved(arguments.output)
        console.facts({"rows": progress.rows, "saved": arguments.output})
        console.result({"rows": progress.rows, "output": arguments.output})


def _write_nothing(answer: Any, source: Any, learner: Any, arguments: Namespace, taken: set[str]) -> None:
    """An answer without rows has columns all the same."""
    import numpy as np
    import pyarrow as pa

    many = len(learner.classes_)
    nothing = Scores(learner.classes_, np.zeros((0, many)), np.zeros(many))
    empty = pa.table({name: pa.array([], pa.large_string()) for name in source.columns})
    answer.write(*_columns(nothing, arguments, taken), empty)


def _columns(scores: Scores, arguments: Namespace, taken: set[str]) -> tuple[dict[str, Any], dict[str, type]]:
    """The likeliest label and its probability; the next ones, and those of all classes, where asked for.

    With the type of each column, whether there are rows or none.
    """
    if arguments.by == "likelihood":
        from naively.score.priors import Uniform

        scores = scores.under(Uniform())
    many = min(arguments.top or 1, len(scores.classes))
    labels, chances = scores.top(many)
    columns: dict[str, Any] = {}
    kinds: dict[str, type] = {}
    for place in range(many):
        end = f"_{place + 1}" if arguments.top else ""
        columns[f"label{end}"] = labels[:, place].tolist()
        columns[f"probability{end}"] = chances[:, place].tolist()
        kinds[f"label{end}"] = type(scores.classes.tolist()[0])
    if arguments.abstain is not None:
        first = "label_1" if arguments.top else "label"
        sure = (chances[:, 0] >= arguments.abstain).tolist()
        columns[first] = [label if enough else None for label, enough in zip(columns[first], sure, strict=True)]
    if arguments.proba:
        every = scores.proba()
        columns |= {f"p({name})": every[:, k].tolist() for k, name in enumerate(scores.classes.tolist())}
    free = {name: _free(name, taken) for name in columns}
    return {free[n]: values for n, values in columns.items()}, {free[n]: kinds.get(n, float) for n in columns}


def _free(name: str, taken: set[str]) -> str:
    """A name that no column of the data has."""
    while name in taken:
        name = f"predicted_{name}"
    return name
