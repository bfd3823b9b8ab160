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
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import train_test_split

import naively
from naively import (
    BernoulliNB,
    CategoricalNB,
    GaussianClassifier,
    GaussianNB,
    NaiveBayes,
    PoissonNB,
    TextClassifier,
    film_reviews,
    leave_one_out,
)

console = Console(highlight=False)


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
        f"[bold]1. Text.[/bold] {len(train)} sentences about films to learn from, {len(test)} held out for testing.\n"
    )
    table = _score_table("words")
    for name, options in (
        ("single", {"ngrams": (1, 1)}),
        ("and pairs", {"ngrams": (1, 2)}),
        ("negations marked", {"ngrams": (1, 1), "negation": True}),
    ):
        for family in ("multinomial", "complement", "bernoulli"):
            estimator = TextClassifier(family=family, weighting="counts", **options)
            _add_scores(table, name, estimator, train, y_train, test, y_test)
    console.print(table)

    auto = TextClassifier().fit(train, y_train)
    right, held = accuracy_score(y_test, auto.predict(test)), leave_one_out(auto, train, y_train).accuracy
    console.print(f"\nLeft to itself, it takes {auto.chosen_!r}".replace("Chosen", ""))
    console.print(
        f"and is right on {right:.1%} of what was held out; on {held:.1%} of what it learnt, each left out in turn."
    )

    clf = TextClassifier(ngrams=(1, 2)).fit(train, y_train)
    for sentence in ("I am happy to see this movie", "I am not happy to see this movie"):
        label, sure = clf.predict([sentence])[0], clf.predict_proba([sentence]).max()
        console.print(f"\n'{sentence}' is [bold]{label}[/bold] ({sure:.0%}).")
        console.print("   What spoke for it (+) and against it (-), in log-odds:")
        console.print("   " + ", ".join(f"{word} {odds:+.2f}" for word, odds in clf.explain(sentence).top(6)))
    console.print("\nThe words that speak most for each label:")
    for label, words in clf.top_words(8).items():
        console.print(f"   {label}: {', '.join(word for word, _ in words)}")


def tables() -> None:
    """Numbers, counts and categories that come with scikit-learn."""
    console.print("\n[bold]2. Tables[/bold] that come with scikit-learn, three quarters to learn from.\n")
    table = _score_table("data")
    iris, cancer, digits = load_iris(), load_breast_cancer(), load_digits()
    holes = np.where(np.random.default_rng(0).random(cancer.data.shape) < 0.3, np.nan, cancer.data)
    work: list[tuple[str, Any, Any, Any]] = [
        ("iris", GaussianNB(), iris.data, iris.target_names[iris.target]),
        ("iris", GaussianClassifier(), iris.data, iris.target_names[iris.target]),
        ("breast cancer", GaussianNB(), cancer.data, cancer.target_names[cancer.target]),
        ("cancer, 30% missing", GaussianNB(), holes, cancer.target_names[cancer.target]),
        ("cancer, 30% missing", NaiveBayes(), holes, cancer.target_names[cancer.target]),
        ("digits as counts", PoissonNB(), digits.data, digits.target),
        ("digits as categories", CategoricalNB(min_categories=17), digits.data.astype(int), digits.target),
    ]
    for name, estimator, X, y in work:
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        _add_scores(table, name, estimator, X_train, y_train, X_test, y_test)
    console.print(table)
    console.print("\nColumns of every kind, with holes in them, in one model; what it takes them for:")
    sentences, labels = film_reviews()
    columns = {
        "review": [None if i % 7 == 0 else sentence for i, sentence in enumerate(sentences)],
        "letters": [len(sentence) / 2 for sentence in sentences],
        "shouted": ["!" in sentence for sentence in sentences],
        "first word": [sentence.split()[0] for sentence in sentences],
    }
    console.print(str(NaiveBayes().fit(columns, labels).schema_), soft_wrap=True)


def counting() -> None:
    """What a tally can do that a fitted model elsewhere cannot."""
    console.print("\n[bold]3. Counting.[/bold] A model is a sum: it can be merged, taken apart and smoothed anew.")
    X, y = load_digits(return_X_y=True)
    X = (X > 7).astype(int)
    half = BernoulliNB().fit(X[:900], y[:900])
    whole, other = BernoulliNB().fit(X, y), BernoulliNB().fit(X[900:], y[900:])
    console.print(f"   {len(y):,} handwritten digits, {X.shape[1]} pixels, each dark or not: {whole.tally_}\n")
    merged = naively.merge(half, other)
    console.print(f"   two halves counted apart, then merged: the same?  {merged.tally_ == whole.tally_}")
    whole.forget(X[900:], y[900:])
    console.print(f"   second half forgotten: equal to the first half?   {whole.tally_ == half.tally_}")
    for alpha in (100.0, 1.0):
        start = time.perf_counter()
        accuracy = half.set_params(alpha=alpha).score(X[900:], y[900:])
        spent = f"{(time.perf_counter() - start) * 1e3:.1f} ms"
        console.print(f"   smoothed with alpha = {alpha:<6} accuracy {accuracy:.3f}, the counts untouched ({spent})")
    console.print(f"   parameters with the naive assumption:    {half.n_parameters_:,}")
    console.print(f"   without it, one for each combination:    {float(half.n_parameters_joint_):.1e}")


def _score_table(first: str) -> Table:
    table = Table(caption="micro, macro and weighted are averages of F1")
    for name in (first, "estimator"):
        table.add_column(name)
    for name in ("accuracy", "micro", "macro", "weighted", "time"):
        table.add_column(name, justify="right")
    return table


def _add_scores(table: Table, name: str, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> None:
    start = time.perf_counter()
    predicted = estimator.fit(X, y).predict(X_test)
    spent = f"{(time.perf_counter() - start) * 1e3:.1f} ms"
    scores = [accuracy_score(y_test, predicted)]
    scores += [f1_score(y_test, predicted, average=average) for average in ("micro", "macro", "weighted")]
    kind = estimator.family if isinstance(estimator, TextClassifier) else type(estimator).__name__
    kind = kind.replace("Classifier", f", {getattr(estimator, 'covariance', '')}")
    table.add_row(name, kind, *(f"{score:.3f}" for score in scores), spent)


if __name__ == "__main__":
    main()
