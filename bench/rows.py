"""One row at a time: `predict`, `partial_fit`, `forget` and a prediction right after learning, of every estimator.

    python bench/rows.py [--quick]

Each figure is the median time of one call, in microseconds. scikit-learn's figures stand beside them where it has the
estimator; it cannot forget.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import sklearn.naive_bayes as theirs
from rich.console import Console
from rich.table import Table

import naively as ours

TEXT = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 1.0}


def microseconds(call: Callable[[], Any], calls: int) -> float:
    """The median over seven rounds of the time of one call."""
    rounds = []
    for _ in range(7):
        begin = perf_counter()
        for _ in range(calls):
            call()
        rounds.append((perf_counter() - begin) / calls)
    return median(rounds) * 1e6


def cases() -> dict[str, tuple[Any, Any, Any]]:
    """An estimator, rows and labels for each line."""
    rng = np.random.default_rng(0)
    y = np.arange(20_000) % 5
    counts, numbers = rng.poisson(0.3, (20_000, 100)), rng.normal(size=(20_000, 30)) + y[:, None]
    codes, texts = rng.integers(0, 5, (20_000, 20)), ours.film_reviews()
    table = {"a": numbers[:, 0], "b": numbers[:, 1], "c": codes[:, 0].astype(str), "d": codes[:, 1].astype(str)}
    found = {name: (name, counts, y) for name in ("MultinomialNB", "ComplementNB", "PoissonNB")}
    return {
        **found,
        "BernoulliNB": ("BernoulliNB", (counts > 0).astype(float), y),
        "CategoricalNB": ("CategoricalNB", codes, y),
        "GaussianNB": ("GaussianNB", numbers, y),
        "GaussianClassifier": ("GaussianClassifier", numbers, y),
        "TextClassifier": ("TextClassifier", *texts),
        "NaiveBayes": ("NaiveBayes", table, y),
    }


def measured(model: Any, X: Any, y: Any, calls: int) -> list[float]:
    """Times of predicting, learning and forgetting one row, and of learning and then predicting one."""
    first = {name: column[:1] for name, column in X.items()} if isinstance(X, dict) else X[:1]
    model.fit(X, y).predict(first)

    def learn_and_predict() -> None:
        model.partial_fit(first, y[:1])
        model.predict(first)

    times = [
        microseconds(lambda: model.predict(first), 4 * calls),
        microseconds(lambda: model.partial_fit(first, y[:1]), calls),
        microseconds(lambda: model.forget(first, y[:1]), calls) if hasattr(model, "forget") else np.nan,
    ]
    return [*times, microseconds(learn_and_predict, calls)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    calls = 10 if parser.parse_args().quick else 50
    warnings.simplefilter("ignore")
    table = Table(title="one row, microseconds (scikit-learn in brackets)")
    for heading in ("estimator", "predict", "partial_fit", "forget", "partial_fit + predict"):
        table.add_column(heading, justify="left" if heading == "estimator" else "right")
    for name, X, y in cases().values():
        mine = measured(getattr(ours, name)(**TEXT if name == "TextClassifier" else {}), X, y, calls)
        peer = measured(getattr(theirs, name)(), X, y, calls) if hasattr(theirs, name) else [np.nan] * len(mine)
        table.add_row(
            name, *(f"{a:,.0f}" + ("" if np.isnan(b) else f" ({b:,.0f})") for a, b in zip(mine, peer, strict=True))
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
