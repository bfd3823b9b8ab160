"""naively learn: add labelled rows to a model."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from naively.cli.column_roles import roles_for_model
from naively.cli.console import Console
from naively.cli.counting import count
from naively.cli.models import (
    check_reads_rows,
    data_names,
    load,
    open_data,
    refuse_to_replace,
    summary,
    waiting_note,
    write,
)
from naively.errors import InputError
from naively.report import megabytes
from naively.store.locks import locked


def run(arguments: Namespace, console: Console) -> None:
    change(arguments, console, forget=False)


def change(arguments: Namespace, console: Console, *, forget: bool) -> None:
    """Add rows to a model, or take them out; the file is replaced when all rows are done."""
    output = arguments.output or arguments.model
    if output != arguments.model:
        refuse_to_replace(output, force=False)
    console.on_interrupt(f"{output} was not changed")
    with locked(output, waiting_note(console, output)), open_data(arguments) as source:
        learner, about = load(arguments.model)
        check_reads_rows(learner, arguments.model)
        if about["frozen"]:
            raise InputError(f"{arguments.model}: was saved frozen, without counts: it can predict and no more")
        roles = roles_for_model(arguments, source, about, learner, target=True)
        before = learner.class_count_.sum()
        counted = count(source, roles, learner, console, "forgetting" if forget else "learning", forget=forget)
        kept: dict[str, Any] = {name: value for name, value in about.items() if name != "accuracy"}
        data = [*kept.get("data", []), *(f"without {name}" if forget else name for name in data_names(arguments))]
        size = write(learner, output, {**kept, "data": data})
        console.saved(output)
    facts = summary(learner)
    facts["rows"] = f"{learner.class_count_.sum():,.0f} (before: {before:,.0f})"
    console.facts({**facts, "saved": f"{output}, {megabytes(size)}"})
    console.result(
        {"rows": learner.class_count_.sum(), "changed": counted.rows, "classes": learner.classes_.tolist(),
         "model": output, "bytes": size}
    )  # fmt: skip
