"""naively evaluate: measure how good a model is, or would be."""

from __future__ import annotations

from argparse import Namespace
from contextlib import closing
from math import floor
from typing import Any

from naively.cli.column_roles import Roles, roles_for_model, roles_for_training
from naively.cli.console import Console
from naively.cli.counting import warn_of_bad_rows
from naively.cli.exit import UsageError
from naively.cli.models import build_model, check_reads_rows, load, open_data
from naively.cli.prefetch import Prefetch
from naively.errors import InputError
from naively.learn.estimates import digits_of, margin_of, with_margin

_SHARES = (0.25, 0.5, 0.75, 0.9, 1.0)


def run(arguments: Namespace, console: Console) -> None:
    judge = _left_out if arguments.model is None else _on_new_rows
    show(judge(arguments, console), console)


def show(found: Any, console: Console) -> None:
    """Write the tables of an evaluation."""
    from naively.judge.evaluation import PER_CLASS

    names = tuple(found.to_dict())[1:]
    margin = margin_of(found.accuracy, found.rows)
    shares = dict.fromkeys(("f1_micro", "f1_macro", "f1_weighted"), digits_of(margin))
    figures = {name: f"{getattr(found, name):.{shares.get(name, 4)}f}" for name in names}
    figures["accuracy"] = with_margin(found.accuracy, margin)
    console.facts([("rows", found.rows), *((name.replace("_", " "), text) for name, text in figures.items())])
    console.say()
    classes = [str(label) for label in found.classes.tolist()]
    columns = [getattr(found, name).tolist() for name in PER_CLASS]
    rows = [[label, p, r, f, auc, int(s)] for label, p, r, f, s, auc, _ in zip(classes, *columns, strict=True)]
    console.table(["class", "precision", "recall", "f1", "roc auc", "rows"], rows, align="lrrrrr")
    console.say()
    points = found.coverage.points(_SHARES)
    decided = [[f"{covered:.0%}", right, floor(least * 1e4) / 1e4] for least, covered, right in reversed(points)]
    console.table(["decided", "accuracy", "--abstain"], decided, align="rrr")
    mixed = _mixed_up(found)
    if mixed:
        console.say()
        console.table(["most often", "taken for", "rows"], mixed, align="llr")
    keys = ["rows" if name == "support" else name for name in PER_CLASS]
    labelled = zip(found.classes.tolist(), *columns, strict=True)
    per_class = [{"class": label, **dict(zip(keys, row, strict=True))} for label, *row in labelled]
    curve = [{"probability": p, "coverage": c, "precision": right} for p, c, right in found.coverage.points()]
    whole = {"classes": per_class, "confusion": found.confusion.tolist(), "coverage": curve}
    console.result({**found.to_dict(), **whole})


def _mixed_up(found: Any, most: int = 5) -> list[list[Any]]:
    """Return the pairs of classes that are confused most often."""
    import numpy as np

    if len(found.classes) < 3:
        return []
    wrong = found.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong, axis=None, kind="stable")[:most]
    pairs = [divmod(int(at), len(found.classes)) for at in order]
    return [[str(found.classes[i]), str(found.classes[j]), int(wrong[i, j])] for i, j in pairs if wrong[i, j] > 0]


def _on_new_rows(arguments: Namespace, console: Console) -> Any:
    """Evaluate a model batch by batch, keeping only the probabilities of each row in memory."""
    import numpy as np

    learner, about = load(arguments.model)
    check_reads_rows(learner, arguments.model)
    chances: list[Any] = []
    decided: list[Any] = []
    truth: list[Any] = []
    without = 0
    with open_data(arguments) as source:
        roles = roles_for_model(arguments, source, about, learner, target=True)
        batches = Prefetch(source.batches(roles.read))
        with closing(batches), console.progress("predicting", rows=source.rows, size_bytes=source.size) as progress:
            for batch in batches:
                rows = roles.labelled(batch)
                without += batch.num_rows - rows.num_rows
                if rows.num_rows:
                    scores = learner.scores(roles.rows(rows))
                    chances.append(scores.proba())
                    decided.append(scores.decide())
                    truth.append(roles.labels(rows, learner.classes_))
                progress.update(batch.num_rows, source.read_bytes - progress.bytes)
        warn_of_bad_rows(source, console)
    if not truth:
        raise InputError(f"no row has a label in column {roles.target!r}, so there is nothing to judge by")
    if without:
        console.warn(f"{without:,} of {progress.rows:,} rows have no label: left out")
    from naively.judge.evaluation import evaluate

    predictions = Precomputed(learner.classes_, np.concatenate(chances), np.concatenate(decided))
    return evaluate(predictions, None, np.concatenate(truth))


class Precomputed:
    """A classifier that returns predictions that were computed before."""

    def __init__(self, classes: Any, chances: Any, decided: Any):
        self.classes_ = classes
        self._chances, self._decided = chances, decided

    def predict_proba(self, X: Any) -> Any:
        return self._chances

    def predict(self, X: Any) -> Any:
        return self._decided


def _left_out(arguments: Namespace, console: Console) -> Any:
    from naively.judge.cross_validation import cross_validate, leave_one_out
    from naively.judge.evaluation import evaluate

    X, y, roles, _ = all_rows(arguments, console)
    model = build_model(arguments, roles)
    if arguments.loo:
        return evaluate(leave_one_out(model, X, y))
    if arguments.cv > len(y):
        raise UsageError(f"--cv {arguments.cv}: there are only {len(y)} rows")
    return evaluate(cross_validate(model, X, y, folds=arguments.cv))


def all_rows(arguments: Namespace, console: Console, paths: Any = None, roles: Roles | None = None) -> Any:
    """Read all rows that have a label; return rows, labels, the roles of columns, and the number of each row."""
    import numpy as np
    import pyarrow as pa

    with open_data(arguments, paths) as source:
        if roles is None:
            roles = roles_for_training(arguments, source)
        kept: list[Any] = []
        places: list[Any] = []
        without = 0
        batches = Prefetch(source.batches(roles.read))
        with closing(batches), console.progress("reading", rows=source.rows, size_bytes=source.size) as progress:
            for batch in batches:
                rows = roles.labelled(batch)
                places.append(progress.rows + np.flatnonzero(roles.has_label(batch)))
                without += batch.num_rows - rows.num_rows
                kept.append(rows)
                progress.update(batch.num_rows, source.read_bytes - progress.bytes)
        warn_of_bad_rows(source, console)
    if without:
        console.warn(f"{without:,} of {progress.rows:,} rows have no label: left out")
    if not sum(rows.num_rows for rows in kept):
        raise InputError(f"no row has a label in column {roles.target!r}, so there is nothing to count")
    table = pa.concat_tables(kept)
    labels = np.concatenate([roles.labels(rows) for rows in kept])
    return roles.rows(table), np.array(labels.tolist()), roles, np.concatenate(places)
