"""A short tour: train, evaluate and explain, on a corpus and on tables that are at hand.

python -m naively.demo
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split

import naively
from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
    film_reviews,
)

console = Console(width=100, highlight=False)


def main() -> None:
    console.print("[bold]naively[/bold]: Naive Bayes is counting. Count once; decide everything else afterwards.\n")
    text()
    tables()
    counting()
    console.print("\nNext: the README shows the same in a few lines of Python.")


def text() -> None:
    """Sentences about films: positive or negative."""
    sentences, labels = film_reviews()
    train, test, y_train, y_test = train_test_split(sentences, labels, test_size=0.25, random_state=0, stratify=labels)
    console.print(
        f"[bold]1. Text.[/bold] {len(train)} sentences about films to learn from, {len(test)} to be judged by.\n"
    )
    table = _score_table("words counted as")
    for name, ngrams in (("single words", (1, 1)), ("words and pairs of words", (1, 2))):
        words = CountVectorizer(ngram_range=ngrams, token_pattern=r"(?u)\b\w+(?:'t)?\b")
        X_train, X_test = words.fit_transform(train), words.transform(test)
        for estimator in (MultinomialNB(), ComplementNB(), BernoulliNB()):
            _add_scores(table, f"{name}, {type(estimator).__name__}", estimator, X_train, y_train, X_test, y_test)
    console.print(table)

    words = CountVectorizer(ngram_range=(1, 2), token_pattern=r"(?u)\b\w+(?:'t)?\b").fit(train)
    clf = MultinomialNB().fit(words.transform(train), y_train)
    names = words.get_feature_names_out()
    for sentence in ("I am happy to see this movie", "I am not happy to see this movie"):
        row = words.transform([sentence])
        explanation = clf.explain(row)
        label, sure = clf.predict(row)[0], clf.predict_proba(row).max()
        console.print(
            f"\n“{sentence}” is [bold]{label}[/bold] ({sure:.0%}). What spoke for and against it, in log-odds:"
        )
        console.print("   " + ", ".join(f"{names[int(f)]} {odds:+.2f}" for f, odds in explanation.top(6)))


def tables() -> None:
    """Numbers, counts and categories that come with scikit-learn."""
    console.print("\n[bold]2. Tables[/bold] that come with scikit-learn, three quarters to learn from.\n")
    table = _score_table("data, estimator")
    iris, cancer, digits = load_iris(), load_breast_cancer(), load_digits()
    holes = np.where(np.random.default_rng(0).random(cancer.data.shape) < 0.3, np.nan, cancer.data)
    work: list[tuple[str, Any, Any, Any]] = [
        ("iris", GaussianNB(), iris.data, iris.target_names[iris.target]),
        ("iris, full covariance", GaussianClassifier(), iris.data, iris.target_names[iris.target]),
        ("breast cancer", GaussianNB(), cancer.data, cancer.target_names[cancer.target]),
        ("breast cancer, 30 % missing", GaussianNB(), holes, cancer.target_names[cancer.target]),
        ("digits as counts", PoissonNB(), digits.data, digits.target),
        ("digits as 17 categories", CategoricalNB(min_categories=17), digits.data.astype(int), digits.target),
    ]
    for name, estimator, X, y in work:
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        _add_scores(table, f"{name}, {type(estimator).__name__}", estimator, X_train, y_train, X_test, y_test)
    console.print(table)


def counting() -> None:
    """What a tally can do that a fitted model elsewhere cannot."""
    console.print("\n[bold]3. Counting.[/bold] A model is a sum, so it can be merged, taken apart and smoothed anew.\n")
    X, y = load_digits(return_X_y=True)
    whole, left, right = (
        MultinomialNB().fit(X, y),
        MultinomialNB().fit(X[:900], y[:900]),
        MultinomialNB().fit(X[900:], y[900:]),
    )
    console.print(f"   counted at once                 {whole.tally_}")
    console.print(f"   two halves merged, the same?    {naively.merge(left, right).tally_ == whole.tally_}")
    console.print(f"   second half forgotten, as left? {whole.forget(X[900:], y[900:]).tally_ == left.tally_}")
    for alpha in (1.0, 0.01):
        start = time.perf_counter()
        accuracy = left.set_params(alpha=alpha).score(X[900:], y[900:])
        spent = f"{(time.perf_counter() - start) * 1e3:.1f} ms"
        console.print(f"   smoothed with α = {alpha:<5}          accuracy {accuracy:.3f}, counts untouched ({spent})")
    console.print(
        f"   parameters: {left.n_parameters_:,} with the naive assumption; without it, one for every combination, "
        f"about 10^{len(str(left.n_parameters_joint_)) - 1}"
    )


def _score_table(first: str) -> Table:
    table = Table()
    table.add_column(first)
    for name in ("accuracy", "F1 micro", "F1 macro", "F1 weighted", "fit", "predict"):
        table.add_column(name, justify="right")
    return table


def _add_scores(table: Table, name: str, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    start = time.perf_counter()
    estimator.fit(X, y)
    fitted = time.perf_counter()
    predicted = estimator.predict(X_test)
    done = time.perf_counter()
    scores = [accuracy_score(y_test, predicted)]
    scores += [f1_score(y_test, predicted, average=average) for average in ("micro", "macro", "weighted")]
    times = [f"{(fitted - start) * 1e3:.1f} ms", f"{(done - fitted) * 1e3:.1f} ms"]
    table.add_row(name, *(f"{score:.3f}" for score in scores), *times)


if __name__ == "__main__":
    main()
