"""naively export: write a model as SQL or ONNX."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from naively.cli.console import Console
from naively.cli.models import load
from naively.errors import InputError
from naively.report import megabytes
from naively.store.atomic import replacing
from naively.store.container import is_model


def run(arguments: Namespace, console: Console) -> None:
    learner, _ = load(arguments.model)
    content = _as_sql(learner, arguments) if arguments.to == "sql" else _as_onnx(learner, arguments)
    if arguments.output is None:
        console.say(content.decode().rstrip())
    else:
        if Path(arguments.output).exists() and is_model(arguments.output):
            raise InputError(f"{arguments.output}: is a model; name another file")
        with replacing(arguments.output) as file:
            file.write(content)
        console.saved(arguments.output)
        console.facts({"saved": f"{arguments.output}, {megabytes(len(content))}"})
    written = {"sql": content.decode()} if arguments.output is None else {"file": arguments.output}
    console.result({"to": arguments.to, **written, "bytes": len(content)})


def _as_sql(learner: Any, arguments: Namespace) -> bytes:
    given = {name: getattr(arguments, name) for name in ("table", "keep", "form")}
    options = {name: value for name, value in given.items() if value is not None}
    return str(learner.to_sql(arguments.dialect or "duckdb", **options)).encode()


def _as_onnx(learner: Any, arguments: Namespace) -> bytes:
    made: bytes = learner.to_onnx(texts=arguments.texts or "words").SerializeToString()
    return made
