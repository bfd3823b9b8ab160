"""A short tour: train, evaluate and explain models of texts and tables that come with the packages.

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
    """Classify sentences about films as positive or negative."""
    sentences, labels = film_reviews()
    train, test, y_train, y_test = train_test_split(sentences, labels, test_size=0.25, random_state=0, stratify=labels)
    console.print(
        f"[bold]1. Text.[/bold] {len(train)} sentences about films to learn from, {len(test)} held out for testing.\n"
    )
    table = _score_table("words")
    scores: dict[str, float] = {}
    for name, options in (
        ("single", {"ngrams": (1, 1)}),
        ("and pairs", {"ngrams": (1, 2)}),
        ("negations marked", {"ngrams": (1, 1), "negation": True}),
    ):
        for family in ("multinomial", "complement", "bernoulli"):
            estimator = TextClassifier(family=family, weighting="counts", **options)
            scores[f"{name}, {family}"] = _add_scores(table, name, estimator, train, y_train, test, y_test)
    clf = TextClassifier()
    mine = _add_scores(table, "left to itself", clf, train, y_train, test, y_test)
    console.print(table)

    chosen = clf.chosen_
    what = "single words" if chosen.ngrams == (1, 1) else f"words and sequences of up to {chosen.ngrams[1]}"
    console.print(
        f"\nThe last line is TextClassifier() without options. It compared recipes on the {len(train)} sentences to "
        f"learn from and took {chosen.family}, {chosen.weighting} of {what}, alpha {chosen.alpha:g}. "
        + _beside(mine, scores)
    )
    held = leave_one_out(TextClassifier(), train, y_train).accuracy
    console.print(
        f"Of the {len(train)} sentences, each left out of the counts in turn, it is right on {held:.0%}: a little too "
        "good, since the recipe was chosen on the same ones. Nothing was chosen on the held-out ones."
    )

    console.print("\nThat same model at work, and what spoke for its answer (+) and against it (-), in log-odds:")
    for sentence in ("I am happy to see this movie", "I am not happy to see this movie"):
        label, sure = clf.predict([sentence])[0], clf.predict_proba([sentence]).max()
        console.print(f"   '{sentence}' is [bold]{label}[/bold] ({sure:.0%}):")
        console.print("      " + ", ".join(f"{word} {odds:+.2f}" for word, odds in clf.explain(sentence).top(6)))
    if chosen.ngrams == (1, 1):
        console.print("   It reads word by word, so 'not' cannot turn 'happy' around; ngrams=(1, 2) reads pairs too.")
    console.print("\nThe words that speak most for each label, by its counts:")
    for label, words in clf.top_words(8).items():
        console.print(f"   {label}: {', '.join(word for word, _ in words)}")


def tables() -> None:
    """Classify the tables of numbers, counts and categories that come with scikit-learn."""
    console.print("\n[bold]2. Tables[/bold] of scikit-learn, three quarters to learn from, a quarter held out.\n")
    table = _score_table("data")
    iris, cancer, digits = load_iris(), load_breast_cancer(), load_digits()
    with_missing = np.where(np.random.default_rng(0).random(cancer.data.shape) < 0.3, np.nan, cancer.data)
    work: list[tuple[str, Any, Any, Any]] = [
        ("iris", GaussianNB(), iris.data, iris.target_names[iris.target]),
        ("iris", GaussianClassifier(), iris.data, iris.target_names[iris.target]),
        ("breast cancer", GaussianNB(), cancer.data, cancer.target_names[cancer.target]),
        ("cancer, 30% missing", GaussianNB(), with_missing, cancer.target_names[cancer.target]),
        ("cancer, 30% missing", NaiveBayes(), with_missing, cancer.target_names[cancer.target]),
        ("digits as counts", PoissonNB(), digits.data, digits.target),
        ("digits as categories", CategoricalNB(min_categories=17), digits.data.astype(int), digits.target),
    ]
    for name, estimator, X, y in work:
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0, stratify=y)
        _add_scores(table, name, estimator, X_train, y_train, X_test, y_test)
    console.print(table)
    console.print("\nColumns of every kind, with missing values, in one model, and the family of each:")
    sentences, labels = film_reviews()
    columns = {
        "review": [None if i % 7 == 0 else sentence for i, sentence in enumerate(sentences)],
        "letters": [len(sentence) / 2 for sentence in sentences],
        "shouted": ["!" in sentence for sentence in sentences],
        "first word": [sentence.split()[0] for sentence in sentences],
    }
    console.print(str(NaiveBayes().fit(columns, labels).schema_), soft_wrap=True)


def counting() -> None:
    """Add, subtract and refit counts."""
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
        result = f"right on {accuracy:.0%} of the second half, the counts untouched ({spent})"
        console.print(f"   smoothed with alpha = {alpha:<6} {result}")
    console.print(f"   parameters with the naive assumption:    {half.n_parameters_:,}")
    console.print(f"   without it, one for each combination:    {float(half.n_parameters_joint_):.1e}")


def _beside(mine: float, scores: dict[str, float]) -> str:
    """Say if another line of the table is better."""
    best = max(scores, key=lambda name: scores[name])
    if scores[best] <= mine:
        return "No other line is better."
    return (
        f"'{best}' is right more often on the held-out sentences ({scores[best]:.0%} against {mine:.0%}), which nobody "
        "can know before looking at them."
    )


def _score_table(first: str) -> Table:
    caption = (
        "on held-out rows, accuracy ± 2 standard errors: closer lines may be equals; micro, macro and weighted are "
        "averages of F1; time of fit and predict"
    )
    table = Table(caption=caption)
    table.add_column(first)
    table.add_column("estimator", no_wrap=True)
    for name in ("accuracy", "micro", "macro", "weighted", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _add_scores(table: Table, name: str, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> float:
    """Fit, score the held-out rows, and add a line to the table; returns the accuracy."""
    start = time.perf_counter()
    predicted = estimator.fit(X, y).predict(X_test)
    spent = f"{(time.perf_counter() - start) * 1e3:.0f} ms"
    accuracy = float(accuracy_score(y_test, predicted))
    # Agresti and Coull's interval: a rate of 0 or 1 is not certain either
    near = (accuracy * len(y_test) + 2) / (len(y_test) + 4)
    margin = 2 * (near * (1 - near) / (len(y_test) + 4)) ** 0.5
    scores = [f1_score(y_test, predicted, average=average) for average in ("micro", "macro", "weighted")]
    kind = estimator.chosen_.family if isinstance(estimator, TextClassifier) else type(estimator).__name__
    kind = kind.replace("Classifier", f", {getattr(estimator, 'covariance', '')}")
    table.add_row(name, kind, f"{accuracy:.2f} ± {margin:.2f}", *(f"{score:.2f}" for score in scores), spent)
    return accuracy


if __name__ == "__main__":
    main()
