"""Create, load and save models for the command line."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

import naively
from naively.cli.column_roles import Roles
from naively.cli.console import Console
from naively.cli.exit import UsageError
from naively.cli.options import OF_FILES
from naively.errors import FileError, InputError
from naively.sources.files import as_text
from naively.sources.open import open_source
from naively.sources.request import Request
from naively.sources.source import Source

_ONLY_OF_TEXTS = ("family", "weighting", "ngrams", "tokens", "negation", "min_df", "hashing", "choose")


def open_data(arguments: Namespace, paths: Any = None) -> Source:
    """Open the data that the arguments name."""
    request = Request(
        paths=tuple(arguments.data if paths is None else paths),
        sql=getattr(arguments, "sql", None) if paths is None else None,
        format=arguments.format,
        on_error=getattr(arguments, "on_error", "stop"),
        **{name: getattr(arguments, name) for name in OF_FILES},
    )
    threads = getattr(arguments, "threads", None)
    if threads is not None:
        os.environ["NAIVELY_THREADS"] = str(threads)  # for all code that runs after this
    return open_source(request, threads=threads)


def data_names(arguments: Namespace) -> list[str]:
    """Return the names of the data files, without their folders."""
    if arguments.sql is not None:
        return ["a query"]
    return [as_text(os.path.basename(os.path.normpath(path)) or path) for path in arguments.data]


def build_model(arguments: Namespace, roles: Roles) -> Any:
    """Build an unfitted estimator from command-line arguments."""
    kind: Any = naively.NaiveBayes if roles.text is None else naively.TextClassifier
    common = _common(arguments)
    if roles.text is not None:
        return kind(**common, **_texts(arguments))
    _refuse_options_of_texts(arguments)
    if not roles.given_texts:
        return kind(**common)
    from naively.families.columns.declared import Text

    return kind(**common, columns={name: Text() for name in roles.given_texts})


def model_from_counts(arguments: Namespace, table: Any) -> tuple[Any, str | None]:
    """Return a classifier of texts from a table of counts, and the name of their column."""
    listed = table["column"].unique().drop_null().to_pylist() if "column" in table.column_names else []
    learner = naively.TextClassifier.from_counts(table, **_common(arguments), **_texts(arguments))
    return learner, listed[0] if listed else None


def _common(arguments: Namespace) -> dict[str, Any]:
    """Return the parameters that models of texts and of tables have in common."""
    prior = None
    if arguments.prior == "uniform":
        from naively.score.priors import Uniform

        prior = Uniform()
    return {"alpha": arguments.alpha, "prior": prior, "calibrate": arguments.calibrate}


def _texts(arguments: Namespace) -> dict[str, Any]:
    return {**{name: getattr(arguments, name) for name in _ONLY_OF_TEXTS}, "min_df": arguments.min_df or 1}


def _refuse_options_of_texts(arguments: Namespace) -> None:
    from naively.cli.options import MODELLING

    for name in _ONLY_OF_TEXTS:
        if getattr(arguments, name) != MODELLING[name]:
            option = "--fast" if name == "choose" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for a model of one column of texts: name that column with --text")


def load(path: str, *, verify: bool = False) -> tuple[Any, dict[str, Any]]:
    """Load a learner and its metadata from a file."""
    from naively.estimators.load import classifier
    from naively.learn.files import Saved

    if not os.path.exists(path):
        raise FileError(f"{path}: there is no such file; 'naively train' makes a model")
    if os.path.isdir(path):
        raise FileError(f"{path}: is a folder, not a model")
    saved = Saved.open(path)
    if verify:
        saved.contents.verify()
    learner = saved.learner(classifier(saved.kind))
    about = {**saved.about, "kind": saved.kind, "frozen": saved.frozen, "version": saved.version}
    return learner, {**about, "bytes": saved.contents.size}


def refuse_swapped(arguments: Namespace) -> None:
    """Raise if the first argument is not a model, but a later one is."""
    from naively.store.container import is_model

    given = (getattr(arguments, name, None) or [] for name in ("text", "data"))
    others = [word for words in given for word in ([words] if isinstance(words, str) else words)]
    swapped = next(filter(is_model, others), None)
    if swapped is not None and not is_model(arguments.model):
        raise UsageError(
            f"{arguments.model!r} is no model, but {swapped!r} is: the two are swapped; the model comes first"
        )


def check_reads_rows(learner: Any, path: str) -> Any:
    """Return the learner if it reads texts or tables; otherwise raise."""
    if not hasattr(learner, "reads_text"):
        raise InputError(
            f"{path}: a {type(learner).__name__} reads arrays of numbers, not files; load it in Python: "
            f"naively.load({path!r})"
        )
    return learner


def write(learner: Any, path: str, about: dict[str, Any], *, frozen: bool = False) -> int:
    """Save a learner and return the size of the file."""
    from naively.learn.files import save

    kept = {name: value for name, value in about.items() if name in ("target", "text", "data", "accuracy", "margin")}
    save(learner, path, frozen=frozen, about=kept)
    return Path(path).stat().st_size


def refuse_to_replace(path: str, force: bool) -> None:
    """Raise if the file exists and is not a model."""
    from naively.store.container import read

    if not os.path.exists(path):
        return
    if not os.path.isfile(path):
        raise InputError(f"{path}: is no file that a model could replace; name another")
    if force:
        return
    try:
        read(path)
    except FileError:
        raise InputError(
            f"{path}: is there, and is no model that could be replaced; name another file, or pass --force"
        ) from None


def waiting_note(console: Console, path: str) -> Any:
    """Return a function that writes a note that another command is changing the same file."""
    return lambda: console.note(f"waiting for another command that is changing {path}")


def summary(learner: Any) -> dict[str, Any]:
    """Return the main facts about a model: rows, classes, and words or columns."""
    classes = learner.classes_.tolist()
    listed = ", ".join(map(str, classes[:6])) + (", …" if len(classes) > 6 else "")
    facts: dict[str, Any] = {"rows": whole(learner.class_count_.sum()), "classes": f"{len(classes):,}: {listed}"}
    if getattr(learner, "reads_text", False):
        facts["vocabulary"] = f"{learner.n_words_:,} words"
    elif hasattr(learner, "schema_"):
        facts["columns"] = ", ".join(f"{row.column} ({row.taken_as})" for row in learner.schema_)
    return facts


def recipe_text(chosen: Any) -> str:
    """Describe the chosen recipe of a model of texts."""
    return f"{chosen.family}, {chosen.weighting}, n-grams {chosen.ngrams[0]}-{chosen.ngrams[1]}"


def alpha_text(alpha: Any) -> str:
    """Format a smoothing parameter: a number or a rule."""
    return f"{alpha:.4g}" if isinstance(alpha, (int, float)) else str(alpha)


def whole(rows: float) -> float | int:
    """Return a number of rows as an int, unless weights gave it a fraction."""
    return int(rows) if float(rows).is_integer() else float(rows)
