"""One place for what every test over all families needs: estimators, and rows that they take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import naively

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """An estimator, and how to turn small whole numbers (-1: missing) into rows for it."""

    name: str
    make: Callable[[], Any]
    rows: Callable[[Array], Any]

    def __repr__(self) -> str:
        return self.name


def plain_text(**parameters: Any) -> Any:
    """A classifier of texts that chooses nothing, and whose probabilities are those of the model."""
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 1.0, "calibrate": False}
    return naively.TextClassifier(**{**usual, **parameters})


def plain_table(**parameters: Any) -> Any:
    """A classifier of tables smoothed by 1, whose probabilities are those of the model."""
    return naively.NaiveBayes(**{"alpha": 1.0, "calibrate": False, **parameters})


def with_holes(values: Array) -> Array:
    return np.where(values < 0, np.nan, values)


def as_csr(values: Array) -> Any:
    return sparse.csr_matrix(with_holes(values))


def as_text(values: Array) -> Array:
    words = np.array([None, "red", "green", "blue", "grey", "pink"], dtype=object)
    return words[values + 1]


def as_documents(values: Array) -> list[str]:
    """Each column is a word, there as often as its value says; words of all sorts, short and long."""
    words = ["fine", "não", "a", "incomprehensibilities"]
    return [". ".join(word for word, n in zip(words, row, strict=False) for _ in range(n)) for row in values.tolist()]


NOTES = ["fine", "não", "a", "incomprehensibilities", "dull"]


def as_table(values: Array) -> dict[str, list[Any]]:
    """A number, a colour, a flag and a text, as many of them as there are columns; the others are missing."""
    columns = [*values.T.tolist(), *[[-1] * len(values)] * 4][:4]
    number, colour, flag, note = columns
    return {
        "number": [None if v < 0 else v * 1.5 - 3 for v in number],
        "colour": as_text(np.array(colour, dtype=int)).tolist(),
        "flag": [None if v < 0 else v > 1 for v in flag],
        "note": [None if v < 0 else ". ".join(NOTES[v:] + NOTES[:1]) for v in note],
    }


def as_numbers(values: Array) -> dict[str, list[Any]]:
    """Columns of numbers, missing ones as None; always four."""
    columns = [*values.T.tolist(), *[[-1] * len(values)] * 4][:4]
    return {name: [None if v < 0 else v for v in column] for name, column in zip("abcd", columns, strict=True)}


def table(**options: Any) -> Callable[[], Any]:
    rules = {"colour": naively.Categorical(), "flag": naively.Bernoulli(), "note": naively.Text(ngrams=(1, 2))}
    number = options.pop("number")
    return lambda: plain_table(columns={"number": number, **rules}, **options)


def number_rules() -> Any:
    rules = {"a": naively.Poisson(), "b": naively.Kernel(), ("c", "d"): naively.Multinomial()}
    return plain_table(columns=rules, alpha=0.5)


def as_densities(values: Array) -> dict[str, list[Any]]:
    """Columns of numbers between 0 and 1, missing ones as None; always four."""
    return {name: [None if v is None else (v + 1) / 8 for v in column] for name, column in as_numbers(values).items()}


def densities(*families: Any) -> Callable[[], Any]:
    return lambda: plain_table(columns=dict(zip("abcd", families, strict=True)), alpha=0.5)


def texts(**options: Any) -> Callable[[], Any]:
    return lambda: plain_text(**options)


CASES = [
    Case("multinomial", naively.MultinomialNB, with_holes),
    Case("multinomial csr", naively.MultinomialNB, as_csr),
    Case("multinomial unsmoothed", lambda: naively.MultinomialNB(alpha=0.0), with_holes),
    Case("multinomial epsilon", lambda: naively.MultinomialNB(alpha=naively.Epsilon(1e-6)), as_csr),
    Case("complement", naively.ComplementNB, with_holes),
    Case("complement norm csr", lambda: naively.ComplementNB(norm=True), as_csr),
    Case("bernoulli", naively.BernoulliNB, with_holes),
    Case("bernoulli csr", naively.BernoulliNB, as_csr),
    Case("bernoulli unsmoothed", lambda: naively.BernoulliNB(alpha=0.0), as_csr),
    Case("categorical codes", naively.CategoricalNB, with_holes),
    Case("categorical text", naively.CategoricalNB, as_text),
    Case("categorical ignore", lambda: naively.CategoricalNB(unseen="ignore"), as_text),
    Case("poisson", naively.PoissonNB, with_holes),
    Case("poisson csr", naively.PoissonNB, as_csr),
    Case("gaussian", naively.GaussianNB, with_holes),
    Case("gaussian csr", naively.GaussianNB, as_csr),
    Case("spherical", lambda: naively.GaussianClassifier(covariance="spherical"), with_holes),
    Case("tied", lambda: naively.GaussianClassifier(covariance="tied"), with_holes),
    Case("full", lambda: naively.GaussianClassifier(covariance="full", shrinkage=0.1), with_holes),
    Case("text", texts(), as_documents),
    Case("text binary bigrams", texts(weighting="binary", ngrams=(1, 2)), as_documents),
    Case("text only bigrams", texts(ngrams=(2, 2), alpha=0.0), as_documents),
    Case("text tf-idf complement", texts(family="complement", weighting="tfidf"), as_documents),
    Case("text bernoulli negation", texts(family="bernoulli", negation=True), as_documents),
    Case("text hashed", texts(hashing=8, weighting="tfidf"), as_documents),
    Case("text chars", texts(tokens="chars", ngrams=(1, 3), weights=False), as_documents),
    Case("text selected", texts(select=naively.Best(2), min_df=1), as_documents),
    Case("text given words", texts(vocabulary=["fine", "a"]), as_documents),
    Case("table", table(number=naively.Histogram("frequency", 3)), as_table),
    Case("table gaussian", table(number=naively.Gaussian()), as_table),
    Case("table chosen informative", table(number=naively.Number(), missing="informative"), as_table),
    Case("table unsmoothed", table(number=naively.Histogram("sqrt"), alpha=0.0), as_table),
    Case("table of numbers", number_rules, as_numbers),
    Case(
        "table of densities",
        densities(naively.LogNormal(), naively.Gamma(), naively.Beta(), naively.Circular(0.7)),
        as_densities,
    ),
    Case(
        "table of whole densities",
        densities(naively.Geometric(), naively.NegativeBinomial(), naively.Exponential(), naively.Gaussian()),
        as_numbers,
    ),
]


@st.composite
def data(draw: st.DrawFn, least: int = 2, columns_at_least: int = 1) -> tuple[Array, Array]:
    """Rows of small whole numbers, some missing, and labels."""
    rows, columns = draw(st.integers(least, 12)), draw(st.integers(columns_at_least, 4))
    values = draw(st.lists(st.integers(-1, 4), min_size=rows * columns, max_size=rows * columns))
    labels = draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=rows, max_size=rows))
    return np.array(values).reshape(rows, columns), np.array(labels)


@st.composite
def weighted_data(draw: st.DrawFn, case: Case, least: int = 2, columns_at_least: int = 1) -> tuple[Array, Array]:
    """Rows, with what each of them weighs in one more column, and labels."""
    X, y = draw(data(least, columns_at_least))
    ones = st.just(1.0)
    least_weight = 1.0 if case.name == "text selected" else 1e-6  # a word of fewer texts than one is not selected
    weights = draw(st.sampled_from([ones, st.floats(least_weight, 1e6), LARGE]))
    return np.column_stack([X, draw(st.lists(weights, min_size=len(y), max_size=len(y)))]), y


LARGE = st.sampled_from([1.0, 3.0, 2.0**53])


def fitted(case: Case, rows: Array, y: Array) -> Any:
    """An estimator of rows with weights."""
    return case.make().fit(of_rows(case, rows), y, sample_weight=rows[:, -1])


def of_rows(case: Case, rows: Array) -> Any:
    """Rows without their weights."""
    return case.rows(rows[:, :-1].astype(int))


def learn(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
    """partial_fit, which the drop-in estimators want to know the classes for beforehand."""
    known = hasattr(estimator, "classes_")
    return estimator.partial_fit(X, y, classes=None if known else np.unique(y), **options)
