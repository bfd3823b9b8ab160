"""naively merge: add models to each other."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from naively.cli.console import Console
from naively.cli.models import load, refuse_to_replace, summary, waiting_note, write
from naively.report import megabytes
from naively.store.locks import locked


def run(arguments: Namespace, console: Console) -> None:
    from naively.learn.merge import merge

    output = arguments.output
    if output not in arguments.models:
        refuse_to_replace(output, force=False)
    console.on_interrupt(f"{output} was not changed")
    with locked(output, waiting_note(console, output)):
        abouts: list[dict[str, Any]] = []

        def loaded() -> Iterator[Any]:
            for path in arguments.models:
                learner, about = load(path)
                abouts.append(about)
                yield learner

        merged = merge(loaded())
        about = {name: value for name, value in abouts[0].items() if name in ("target", "text")}
        data = [name for about_one in abouts for name in about_one.get("data", [])]
        size = write(merged, output, {**about, "data": data})
        console.saved(output)
    console.facts({**summary(merged), "saved": f"{output}, {megabytes(size)}"})
    console.result(
        {"rows": merged.class_count_.sum(), "classes": merged.classes_.tolist(), "model": output, "bytes": size}
    )
