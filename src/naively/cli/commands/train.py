"""naively train: count labelled data into a model file."""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import ExitStack, closing
from dataclasses import asdict
from typing import Any

from naively.cli.column_roles import Roles, roles_for_training
from naively.cli.console import Console
from naively.cli.counting import Checkpoint, Counted, checkpoint_path, count
from naively.cli.exit import UsageError
from naively.cli.models import (
    alpha_text,
    build_model,
    data_names,
    model_from_counts,
    open_data,
    recipe_text,
    refuse_to_replace,
    summary,
    waiting_note,
    write,
)
from naively.cli.options import MODELLING
from naively.cli.prefetch import Prefetch
from naively.learn.estimates import with_margin
from naively.report import megabytes
from naively.sources.source import Source
from naively.store.locks import locked


def run(arguments: Namespace, console: Console) -> None:
    begin, output = time.monotonic(), arguments.output
    refuse_to_replace(output, arguments.force)
    console.on_interrupt("nothing was saved")
    if arguments.from_counts:
        _from_counts(arguments, console)
        return
    with open_data(arguments) as source, locked(output, waiting_note(console, output)), ExitStack() as stack:
        roles = roles_for_training(arguments, source)
        checkpoint = _checkpoint(arguments, source, roles)
        batches = stack.enter_context(closing(Prefetch(source.batches(roles.read))))  # read while modules are imported
        learner = build_model(arguments, roles)
        learner.keep_sample()
        counted = count(source, roles, learner, console, "counting", checkpoint=checkpoint, batches=batches)
        if checkpoint is not None and checkpoint.path.exists():
            console.on_interrupt(f"{checkpoint.path} is there: run the same command to go on")
        if learner.reads_text:
            _choose(learner, console)
        estimated = _estimate(learner, arguments.loo)
        about = {"target": roles.target, "text": roles.text, "data": data_names(arguments), **estimated}
        size = write(learner, output, about, frozen=arguments.frozen)
        if checkpoint is not None:
            checkpoint.remove()
        console.saved(output)
    _report(learner, counted, estimated, output, size, time.monotonic() - begin, console)


def _from_counts(arguments: Namespace, console: Console) -> None:
    """Make a model of words from counts, of which nothing can be left out to estimate an accuracy."""
    import pyarrow as pa

    output = arguments.output
    with open_data(arguments) as source, locked(output, waiting_note(console, output)):
        table = pa.concat_tables(source.batches(), promote_options="permissive")
        learner, text = model_from_counts(arguments, table)
        about = {"target": arguments.target, "text": text, "data": data_names(arguments)}
        size = write(learner, output, about, frozen=arguments.frozen)
        console.saved(output)
    console.facts({**summary(learner), "alpha": _alpha(learner), "saved": f"{output}, {megabytes(size)}"})
    console.result(
        {
            "rows": int(learner.class_count_.sum()),
            "classes": learner.classes_.tolist(),
            "features": _features(learner),
            "model": output,
            "bytes": size,
        }
    )


def _checkpoint(arguments: Namespace, source: Source, roles: Roles) -> Checkpoint | None:
    if not arguments.checkpoint:
        return None
    if not source.files:
        raise UsageError("--checkpoint needs files that can be read again, not standard input or a query")
    options = {name: repr(getattr(arguments, name)) for name in MODELLING if name != "calibrate"}
    identity: dict[str, Any] = {
        "options": options,
        "source": source.fingerprint,
        "columns": roles.read,
        "texts": list(roles.given_texts),
    }
    return Checkpoint(checkpoint_path(arguments.output), identity, arguments.checkpoint_seconds)


def _choose(learner: Any, console: Console) -> None:
    """Compare recipes, which takes some seconds."""
    with console.progress("choosing", rows=100, unit="") as progress:
        learner.settle(lambda share: progress.update(round(100 * share) - progress.rows))


def _estimate(learner: Any, most: int) -> dict[str, Any]:
    """Estimate the accuracy on other rows like those that were counted."""
    from naively.learn.own_accuracy import own_accuracy

    found = own_accuracy(learner, most)
    return {} if found is None else {**asdict(found.estimate), "sampled": found.sampled, "method": found.method}


def _report(
    learner: Any, counted: Counted, estimated: dict[str, Any], output: str, size: int, seconds: float, console: Console
) -> None:
    facts = summary(learner)
    alpha = _alpha(learner)
    if alpha is not None:
        facts["alpha"] = alpha
    if estimated:
        accuracy = with_margin(estimated["accuracy"], estimated["margin"])
        facts["accuracy"] = f"{accuracy} on rows like these ({_how(estimated)})"
    facts["saved"] = f"{output}, {megabytes(size)}, after {seconds:.1f} s"
    console.facts(facts)
    console.result(
        {
            "rows": counted.rows,
            "unlabelled": counted.unlabelled,
            "classes": learner.classes_.tolist(),
            "features": _features(learner),
            "chosen": dict(learner.chosen_) if learner.reads_text else None,
            "estimate": estimated or None,
            "model": output,
            "bytes": size,
            "seconds": seconds,
        }
    )


def _how(estimated: dict[str, Any]) -> str:
    """Describe the rows from which an accuracy was estimated, and how."""
    rows, sampled = estimated["rows"], estimated["sampled"]
    if estimated["method"] == "folds":
        return f"{rows:,} texts held out, by recipes picked without them"
    if estimated["method"] == "five folds":
        return f"{rows:,} rows, held out in five folds"
    which = f"{rows:,} rows" if rows == sampled else f"{rows:,} different rows"
    return f"{which}, each left out in turn"


def _alpha(learner: Any) -> str | None:
    if not learner.reads_text:
        return None if learner.alpha != "auto" else "found for each column"
    chosen = learner.chosen_
    alpha = alpha_text(chosen.alpha)
    if chosen.why is not None:
        return f"{alpha}; no recipes were compared: {chosen.why}"
    if not chosen.tried:
        return alpha
    return f"{alpha}, chosen with {recipe_text(chosen)} out of {len(chosen.tried)} recipes"


def _features(learner: Any) -> Any:
    if learner.reads_text:
        return learner.n_words_
    return {row.column: row.taken_as for row in learner.schema_}
