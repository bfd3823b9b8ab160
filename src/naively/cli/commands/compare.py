"""naively compare: compare kinds of models on the same data."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from naively.cli.column_roles import Roles
from naively.cli.commands.evaluate import all_rows
from naively.cli.console import Console

_FIGURES = ("accuracy", "f1_micro", "f1_macro", "f1_weighted", "log_loss")


def run(arguments: Namespace, console: Console) -> None:
    from naively.judge.comparison import compare

    X, y, roles, _ = all_rows(arguments, console)
    test = None
    if arguments.test:
        test_X, test_y, *_ = all_rows(arguments, console, arguments.test, roles)
        test = (test_X, test_y)
    methods = _of_texts() if roles.text is not None else _of_tables(roles)
    found = compare(methods, X, y, test=test, folds=min(arguments.folds, len(y)), progress=console.live)
    rows = [[name, *(float(getattr(told, figure)) for figure in _FIGURES)] for name, told in found.evaluations.items()]
    console.table(["method", *(figure.replace("_", " ") for figure in _FIGURES)], rows)
    told = [dict(zip(("method", *_FIGURES), row, strict=True)) for row in rows]
    console.result({"rows": len(y), "folds": None if test else min(arguments.folds, len(y)), "methods": told})


def _of_texts() -> dict[str, Any]:
    """Families, smoothing and selection of words, one thing changed at a time."""
    from naively.estimators import TextClassifier
    from naively.families.words.selection import Best
    from naively.smooth.backgrounds import AbsoluteDiscount, Dirichlet, JelinekMercer, WittenBell

    plain: dict[str, Any] = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1)}
    told: dict[str, dict[str, Any]] = {
        "multinomial": {},
        "multinomial, alpha 1": {"alpha": 1.0},
        "multinomial, Jelinek-Mercer": {"alpha": JelinekMercer(0.3)},
        "multinomial, Dirichlet": {"alpha": Dirichlet(1000.0)},
        "multinomial, absolute discount": {"alpha": AbsoluteDiscount(0.7)},
        "multinomial, Witten-Bell": {"alpha": WittenBell()},
        "multinomial, presence": {"weighting": "binary"},
        "multinomial, tf-idf": {"weighting": "tfidf"},
        "multinomial, words and pairs": {"ngrams": (1, 2)},
        "multinomial, negations marked": {"negation": True},
        "complement": {"family": "complement"},
        "complement, tf-idf": {"family": "complement", "weighting": "tfidf"},
        "Bernoulli": {"family": "bernoulli"},
    }
    methods = {name: TextClassifier(**{**plain, **options}) for name, options in told.items()}
    for by, title in (("chi2", "chi-square"), ("mutual_information", "mutual information")):
        for many in (100, 1000):
            best = Best(many, by, per="label")
            methods[f"multinomial, {many} words a label by {title}"] = TextClassifier(**plain, select=best)
    return methods


def _of_tables(roles: Roles) -> dict[str, Any]:
    from naively.estimators import NaiveBayes
    from naively.families.columns.declared import Text

    columns = {name: Text() for name in roles.given_texts} or None
    told: dict[str, dict[str, Any]] = {
        "alpha found for each column": {},
        "alpha 1": {"alpha": 1.0},
        "alpha 0.1": {"alpha": 0.1},
        "missing values are informative": {"missing": "informative"},
        "all classes alike beforehand": {"prior": _uniform()},
    }
    return {name: NaiveBayes(columns=columns, **options) for name, options in told.items()}


def _uniform() -> Any:
    from naively.score.priors import Uniform

    return Uniform()
