"""naively predict: label new rows or texts."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from typing import Any

from naively.cli.column_roles import roles_for_model
from naively.cli.console import Console
from naively.cli.counting import warn_of_bad_rows
from naively.cli.models import check_reads_rows, load, open_data
from naively.cli.outputs import open_output
from naively.cli.prefetch import Prefetch
from naively.score.priors import Uniform
from naively.score.scores import Scores


def run(arguments: Namespace, console: Console) -> None:
    learner, about = load(arguments.model)
    check_reads_rows(learner, arguments.model)
    console.on_interrupt(f"{arguments.output} was not written" if arguments.output else "")
    with open_data(arguments) as source, open_output(arguments.output, console) as output:
        roles = roles_for_model(arguments, source, about, learner, target=False)
        used_names = set(source.columns) if arguments.output is not None else set()
        batches = Prefetch(source.batches(None if arguments.output is not None else roles.read))
        with closing(batches), console.progress("predicting", rows=source.rows, size_bytes=source.size) as progress:
            for batch in batches:
                output.write(*_columns(learner.scores(roles.rows(batch)), arguments, used_names), batch)
                progress.update(batch.num_rows, source.read_bytes - progress.bytes)
        if arguments.output is not None and not progress.rows:
            _write_no_rows(output, source, learner, arguments, used_names)
        warn_of_bad_rows(source, console)
    if arguments.output is not None:
        console.saved(arguments.output)
        console.facts({"rows": progress.rows, "saved": arguments.output})
        console.result({"rows": progress.rows, "output": arguments.output})


def _write_no_rows(output: Any, source: Any, learner: Any, arguments: Namespace, used_names: set[str]) -> None:
    """Write the columns of an output that has no rows."""
    import numpy as np
    import pyarrow as pa

    n_classes = len(learner.classes_)
    no_scores = Scores(learner.classes_, np.zeros((0, n_classes)), np.zeros(n_classes))
    empty = pa.table({name: pa.array([], pa.large_string()) for name in source.columns})
    output.write(*_columns(no_scores, arguments, used_names), empty)


def _columns(scores: Scores, arguments: Namespace, used_names: set[str]) -> tuple[dict[str, Any], dict[str, type]]:
    """Return the columns of an output, and their types: labels and probabilities, as the arguments say."""
    if arguments.by == "likelihood":
        scores = scores.under(Uniform())
    n_labels = min(arguments.top or 1, len(scores.classes))
    labels, chances = scores.top(n_labels)
    columns: dict[str, Any] = {}
    kinds: dict[str, type] = {}
    for place in range(n_labels):
        end = f"_{place + 1}" if arguments.top else ""
        columns[f"label{end}"] = labels[:, place].tolist()
        columns[f"probability{end}"] = chances[:, place].tolist()
        kinds[f"label{end}"] = type(scores.classes.tolist()[0])
    if arguments.abstain is not None:
        first = "label_1" if arguments.top else "label"
        sure = (chances[:, 0] >= arguments.abstain).tolist()
        columns[first] = [label if enough else None for label, enough in zip(columns[first], sure, strict=True)]
    if arguments.proba:
        proba = scores.proba()
        columns |= {f"p({name})": proba[:, k].tolist() for k, name in enumerate(scores.classes.tolist())}
    free = {name: _free(name, used_names) for name in columns}
    return {free[n]: values for n, values in columns.items()}, {free[n]: kinds.get(n, float) for n in columns}


def _free(name: str, used_names: set[str]) -> str:
    """Return a name that no column of the data has."""
    while name in used_names:
        name = f"predicted_{name}"
    return name
