"""Models as the command line makes, opens and writes them."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from naively.cli.column_roles import Roles
from naively.cli.console import Console
from naively.cli.exit import UsageError
from naively.cli.options import TEXT_FILES
from naively.errors import FileError, InputError
from naively.sources import Asked, Source, open_source
from naively.sources.files import as_text

_OF_TEXTS = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1)}
"""What "auto" stands for where nothing is to be chosen by comparison."""
_ONLY_OF_TEXTS = ("family", "weighting", "ngrams", "tokens", "negation", "min_df", "hashing", "choose")


def opened(arguments: Namespace, paths: Any = None) -> Source:
    """The data that the arguments name."""
    asked = Asked(
        paths=tuple(arguments.data if paths is None else paths),
        sql=getattr(arguments, "sql", None) if paths is None else None,
        format=arguments.format,
        on_error=getattr(arguments, "on_error", "stop"),
        **{name: getattr(arguments, name) for name in TEXT_FILES},
    )
    threads = getattr(arguments, "threads", None)
    if threads is not None:
        os.environ["NAIVELY_THREADS"] = str(threads)  # for everything that comes
    return open_source(asked, threads=threads)


def named(arguments: Namespace) -> list[str]:
    """What the data are called, without where they lie."""
    if arguments.sql is not None:
        return ["a query"]
    return [as_text(os.path.basename(os.path.normpath(path)) or path) for path in arguments.data]


def made(arguments: Namespace, roles: Roles, kinds: tuple[Any, Any] | None = None) -> Any:
    """A learner (or an estimator, of these classes) as the arguments ask for, which has learnt nothing yet."""
    kind = _learner(roles) if kinds is None else kinds[roles.text is None]
    prior = None
    if arguments.prior == "uniform":
        from naively.score.priors import Uniform

        prior = Uniform()
    common = {"alpha": arguments.alpha, "prior": prior, "calibrate": arguments.calibrate}
    if roles.text is not None:
        return kind(**common, **_texts(arguments))
    _refuse_options_of_texts(arguments)
    if not roles.given_texts:
        return kind(**common)
    from naively.families.columns.declared import Text

    return kind(**common, columns={name: Text() for name in roles.given_texts})


def _learner(roles: Roles) -> Any:
    """The class of learners, of which only the one that is needed is loaded."""
    if roles.text is None:
        from naively.learn.tables import TableLearner

        return TableLearner
    from naively.learn.text import TextLearner

    return TextLearner


def _texts(arguments: Namespace) -> dict[str, Any]:
    given = {name: getattr(arguments, name) for name in _OF_TEXTS}
    if not arguments.choose:
        usual = {**_OF_TEXTS, **({"ngrams": (1, 4)} if arguments.tokens == "chars" else {})}
        given = {name: usual[name] if value == "auto" else value for name, value in given.items()}
    return {
        **given,
        "tokens": arguments.tokens,
        "negation": arguments.negation,
        "min_df": arguments.min_df or 1,
        "hashing": arguments.hashing,
    }


def _refuse_options_of_texts(arguments: Namespace) -> None:
    from naively.cli.options import MODELLING

    for name in _ONLY_OF_TEXTS:
        if getattr(arguments, name) != MODELLING[name]:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} is for a model of one column of texts: name that column with --text")


def load(path: str, *, verify: bool = False) -> tuple[Any, dict[str, Any]]:
    """A learner from a file, and what the file says about it."""
    from naively.learn.files import Saved

    if not os.path.exists(path):
        raise FileError(f"{path}: there is no such file; 'naively train' makes a model")
    if os.path.isdir(path):
        raise FileError(f"{path}: is a folder, not a model")
    saved = Saved.open(path)
    if verify:
        saved.contents.verify()
    kinds: dict[str, Any]
    if saved.kind == "TextClassifier":
        from naively.learn.text import TextLearner

        kinds = {saved.kind: TextLearner}
    elif saved.kind == "NaiveBayes":
        from naively.learn.tables import TableLearner

        kinds = {saved.kind: TableLearner}
    else:
        from naively.estimators.load import classifier

        kinds = classifier(saved.kind)
    learner = saved.learner(kinds)
    about = {**saved.about, "kind": saved.kind, "frozen": saved.frozen, "version": saved.version}
    return learner, {**about, "bytes": saved.contents.size}


def refuse_swapped(arguments: Namespace) -> None:
    """Raise where the file that was named as the model is none, and one of the words behind it is."""
    from naively.store.container import is_model

    given = (getattr(arguments, name, None) or [] for name in ("text", "data"))
    behind = [word for words in given for word in ([words] if isinstance(words, str) else words)]
    swapped = next(filter(is_model, behind), None)
    if swapped is not None and not is_model(arguments.model):
        raise UsageError(
            f"{arguments.model!r} is no model, but {swapped!r} is: the two are swapped; the model comes first"
        )


def for_rows(learner: Any, path: str) -> Any:
    """The learner, if it reads texts or tables."""
    if not hasattr(learner, "reads_text"):
        raise InputError(
            f"{path}: a {type(learner).__name__} reads arrays of numbers, not files; load it in Python: "
            f"naively.load({path!r})"
        )
    return learner


def write(learner: Any, path: str, about: dict[str, Any], *, frozen: bool = False, ready: Any = None) -> int:
    """Write a learner; the number of bytes that it takes. What is `ready` to be written need not be made."""
    from naively.learn.files import save

    kept = {name: value for name, value in about.items() if name in ("target", "text", "data", "accuracy", "margin")}
    save(learner, path, frozen=frozen, about=kept, ready=ready)
    return Path(path).stat().st_size


def refuse_to_replace(path: str, force: bool) -> None:
    """Raises where a file is there that is no model."""
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


def waiting(console: Console, path: str) -> Any:
    """What to say while another command is at work on the same file."""
    return lambda: console.note(f"waiting for another command that is changing {path}")


def summary(learner: Any) -> dict[str, Any]:
    """What a model is, in a few facts."""
    classes = learner.classes_.tolist()
    shown = ", ".join(map(str, classes[:6])) + (", …" if len(classes) > 6 else "")
    facts: dict[str, Any] = {"rows": whole(learner.class_count_.sum()), "classes": f"{len(classes):,}: {shown}"}
    if getattr(learner, "reads_text", False):
        facts["vocabulary"] = f"{learner._model.ledger.features.size:,} words"
    elif hasattr(learner, "schema_"):
        facts["columns"] = ", ".join(f"{row.column} ({row.taken_as})" for row in learner.schema_)
    return facts


def whole(rows: float) -> float | int:
    """A number of rows, which has fractions only where weights had."""
    return int(rows) if float(rows).is_integer() else float(rows)
