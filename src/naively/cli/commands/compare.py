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
    methods = _text_models() if roles.text is not None else _table_models(roles)
    found = compare(methods, X, y, test=test, folds=min(arguments.folds, len(y)), progress=console.live)
    rows = [[name, *(float(getattr(e, figure)) for figure in _FIGURES)] for name, e in found.evaluations.items()]
    console.table(["method", *(figure.replace("_", " ") for figure in _FIGURES)], rows)
    documents = [dict(zip(("method", *_FIGURES), row, strict=True)) for row in rows]
    console.result({"rows": len(y), "folds": None if test else min(arguments.folds, len(y)), "methods": documents})


def _text_models() -> dict[str, Any]:
    """Return models of texts by name, which differ in family, smoothing, or selection of words."""
    from naively.estimators import TextClassifier
    from naively.families.words.selection import Best
    from naively.smooth.backgrounds import AbsoluteDiscount, Dirichlet, JelinekMercer, WittenBell

    plain: dict[str, Any] = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1)}
    parameters: dict[str, dict[str, Any]] = {
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
    methods = {name: TextClassifier(**{**plain, **options}) for name, options in parameters.items()}
    for by, title in (("chi2", "chi-square"), ("mutual_information", "mutual information")):
        for n_words in (100, 1000):
            best = Best(n_words, by, per="label")
            methods[f"multinomial, {n_words} words a label by {title}"] = TextClassifier(**plain, select=best)
    return methods


def _table_models(roles: Roles) -> dict[str, Any]:
    from naively.estimators import NaiveBayes
    from naively.families.columns.declared import Text
    from naively.score.priors import Uniform

    columns = {name: Text() for name in roles.given_texts} or None
    parameters: dict[str, dict[str, Any]] = {
        "alpha found for each column": {},
        "alpha 1": {"alpha": 1.0},
        "alpha 0.1": {"alpha": 0.1},
        "missing values are informative": {"missing": "informative"},
        "all classes alike beforehand": {"prior": Uniform()},
    }
    return {name: NaiveBayes(columns=columns, **options) for name, options in parameters.items()}
