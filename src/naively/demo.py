"""A short tour: train, evaluate and explain models of texts and tables that come with the packages.

python -m naively.demo
"""

from __future__ import annotations

import sys
import time
from textwrap import fill
from typing import Any

import numpy as np
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
from naively.layout import terminal_width
from naively.report import Sheet

Lines = list[tuple[str, ...]]


def main() -> None:
    _say("naively: Naive Bayes is counting. Count once; decide everything else afterwards.\n")
    text()
    tables()
    counting()
    _say("\nNext: the README shows the same in a few lines of Python.")


def text() -> None:
    """Classify sentences about films as positive or negative."""
    sentences, labels = film_reviews()
    train, test, y_train, y_test = train_test_split(sentences, labels, test_size=0.25, random_state=0, stratify=labels)
    _say(f"1. Text. {len(train)} sentences about films to learn from, {len(test)} held out for testing.\n")
    table: Lines = []
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
    _say(_scores("words", table))

    chosen = clf.chosen_
    what = "single words" if chosen.ngrams == (1, 1) else f"words and sequences of up to {chosen.ngrams[1]}"
    _say(
        f"\nThe last line is TextClassifier() without options. It compared recipes on the {len(train)} sentences to "
        f"learn from and took {chosen.family}, {chosen.weighting} of {what}, alpha {chosen.alpha:g}. "
        + _beside(mine, scores)
    )
    held = leave_one_out(TextClassifier(), train, y_train).accuracy
    _say(
        f"Of the {len(train)} sentences, each left out of the counts in turn, it is right on {held:.0%}: a little too "
        "good, since the recipe was chosen on the same ones. Nothing was chosen on the held-out ones."
    )

    _say("\nThat same model at work, and what spoke for its answer (+) and against it (-), in log-odds:")
    for sentence in ("I am happy to see this movie", "I am not happy to see this movie"):
        label, sure = clf.predict([sentence])[0], clf.predict_proba([sentence]).max()
        _say(f"   '{sentence}' is {label} ({sure:.0%}):")
        _say("      " + ", ".join(f"{word} {odds:+.2f}" for word, odds in clf.explain(sentence).top(6)))
    if chosen.ngrams == (1, 1):
        _say("   It reads word by word, so 'not' cannot turn 'happy' around; ngrams=(1, 2) reads pairs too.")
    _say("\nThe words that speak most for each label, by its counts:")
    for label, words in clf.top_words(8).items():
        _say(f"   {label}: {', '.join(word for word, _ in words)}")


def tables() -> None:
    """Classify the tables of numbers, counts and categories that come with scikit-learn."""
    _say("\n2. Tables of scikit-learn, three quarters to learn from, a quarter held out.\n")
    table: Lines = []
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
    _say(_scores("data", table))
    _say("\nColumns of every kind, with missing values, in one model, and the family of each:")
    sentences, labels = film_reviews()
    columns = {
        "review": [None if i % 7 == 0 else sentence for i, sentence in enumerate(sentences)],
        "letters": [len(sentence) / 2 for sentence in sentences],
        "shouted": ["!" in sentence for sentence in sentences],
        "first word": [sentence.split()[0] for sentence in sentences],
    }
    _say(NaiveBayes().fit(columns, labels).schema_)


def counting() -> None:
    """Add, subtract and refit counts."""
    _say("\n3. Counting. A model is a sum: it can be merged, taken apart and smoothed anew.")
    X, y = load_digits(return_X_y=True)
    X = (X > 7).astype(int)
    half = BernoulliNB().fit(X[:900], y[:900])
    whole, other = BernoulliNB().fit(X, y), BernoulliNB().fit(X[900:], y[900:])
    _say(f"   {len(y):,} handwritten digits, {X.shape[1]} pixels, each dark or not: {whole.tally_}\n")
    merged = naively.merge(half, other)
    _say(f"   two halves counted apart, then merged: the same?  {merged.tally_ == whole.tally_}")
    whole.forget(X[900:], y[900:])
    _say(f"   second half forgotten: equal to the first half?   {whole.tally_ == half.tally_}")
    for alpha in (100.0, 1.0):
        start = time.perf_counter()
        accuracy = half.set_params(alpha=alpha).score(X[900:], y[900:])
        spent = f"{(time.perf_counter() - start) * 1e3:.1f} ms"
        result = f"right on {accuracy:.0%} of the second half, the counts untouched ({spent})"
        _say(f"   smoothed with alpha = {alpha:<6} {result}")
    _say(f"   parameters with the naive assumption:    {half.n_parameters_:,}")
    _say(f"   without it, one for each combination:    {float(half.n_parameters_joint_):.1e}")


def _beside(mine: float, scores: dict[str, float]) -> str:
    """Say if another line of the table is better."""
    best = max(scores, key=lambda name: scores[name])
    if scores[best] <= mine:
        return "No other line is better."
    return (
        f"'{best}' is right more often on the held-out sentences ({scores[best]:.0%} against {mine:.0%}), which nobody "
        "can know before looking at them."
    )


def _say(text: object) -> None:
    """Print a paragraph, wrapped, or a report as it is."""
    if not isinstance(text, str):
        print(text)
        return
    blank, line = len(text) - len(text.lstrip("\n")), text.strip("\n")
    indent = line[: len(line) - len(line.lstrip())]
    wrapped = fill(line, terminal_width(sys.stdout), subsequent_indent=indent)
    print("\n" * blank + wrapped + "\n" * (len(text) - blank - len(line)))


def _scores(first: str, rows: Lines) -> Sheet:
    title = (
        "on held-out rows, accuracy ± 2 standard errors: closer lines may be equals;\n"
        "micro, macro and weighted are averages of F1; time of fit and predict\n"
    )
    head = (first, "estimator", "accuracy", "micro", "macro", "weighted", "time")
    return Sheet(head, tuple(rows), title, align="llr")


def _add_scores(table: Lines, name: str, estimator: Any, X: Any, y: Any, X_test: Any, y_test: Any) -> float:
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
    table.append((name, kind, f"{accuracy:.2f} ± {margin:.2f}", *(f"{score:.2f}" for score in scores), spent))
    return accuracy


if __name__ == "__main__":
    main()
