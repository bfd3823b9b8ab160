"""naively merge: add models to each other."""

from __future__ import annotations

from argparse import Namespace

from naively.cli.console import Console
from naively.cli.models import load, refuse_to_replace, summary, waiting_note, write
from naively.cli.progress import megabytes
from naively.store.locks import locked


def run(arguments: Namespace, console: Console) -> None:
    from naively.learn.merge import merge

    output = arguments.output
    if output not in arguments.models:
        refuse_to_replace(output, force=False)
    console.on_interrupt(f"{output} was not changed")
    with locked(output, waiting_note(console, output)):
        loaded = [load(path) for path in arguments.models]
        merged = merge(*(learner for learner, _ in loaded))
        about = {name: value for name, value in loaded[0][1].items() if name in ("target", "text")}
        data = [name for _, about_one in loaded for name in about_one.get("data", [])]
        size = write(merged, output, {**about, "data": data})
        console.saved(output)
    console.facts({**summary(merged), "saved": f"{output}, {megabytes(size)}"})
    console.result(
        {"rows": merged.class_count_.sum(), "classes": merged.classes_.tolist(), "model": output, "bytes": size}
    )
