"""Write two small models of each estimator to tests/data/models/, with their answers beside them.

Every later version has to read them (`tests/test_kept_models.py`). While a format is not yet frozen its files may be
written anew: `python tests/data/make_models.py`. Files of a frozen format are never written again; a new format gets a
folder of its own.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import naively
from naively.store.container import VERSION

FOLDER = Path(__file__).parent / "models"
N_ROWS = 40
LABELS = ["no", "yes", "no", "maybe", "yes"] * 8
NUMBERS = [[(3 * i + 2 * j + i * j) % 5 for j in range(3)] for i in range(N_ROWS)]
MEASURES = [[(7 * i + 3 * j) % 11 / 4 + (label == "yes") for j in range(3)] for i, label in enumerate(LABELS)]
WITH_GAPS = [[None if (i + j) % 7 == 0 else float(v) for j, v in enumerate(row)] for i, row in enumerate(MEASURES)]
WORDS = ["good", "dull", "film", "não", "not", "a", "the", "incomprehensibilities", "不错", "plot"]
TEXTS = [" ".join(WORDS[(i * k + k * k) % 10] for k in range(1, 3 + i % 6)) for i in range(N_ROWS)]
TABLE = {
    "price": [None if i % 9 == 0 else (i * 37 % 100) / 8 for i in range(N_ROWS)],
    "colour": [None if i % 11 == 0 else ["red", "green", "blue"][i % 3] for i in range(N_ROWS)],
    "flag": [i % 4 == 1 for i in range(N_ROWS)],
    "visits": [i * i % 7 for i in range(N_ROWS)],
    "size": [float(i % 13 + 1) for i in range(N_ROWS)],
    "review": [None if i % 8 == 0 else text for i, text in enumerate(TEXTS)],
}
COLUMNS = {
    "price": naively.Histogram("width", 4),
    "colour": naively.Categorical(),
    "flag": naively.Bernoulli(),
    "visits": naively.Poisson(),
    "size": naively.Gamma(),
    "review": naively.Text(ngrams=(1, 2), weighting="tfidf"),
}
WEIGHTS = [1 + (i % 5) / 4 for i in range(N_ROWS)]


@dataclass(frozen=True)
class Model:
    """An estimator, its rows and their weights, and how it is saved."""

    make: Callable[[], Any]
    rows: Any
    weights: list[float] | None = None
    frozen: bool = False


CLASSIFIERS = [
    Model(naively.MultinomialNB, NUMBERS),
    Model(lambda: naively.MultinomialNB(alpha=naively.Evidence()), NUMBERS, WEIGHTS),
    Model(naively.ComplementNB, NUMBERS),
    Model(lambda: naively.ComplementNB(norm=True, alpha=0.5), NUMBERS, frozen=True),
    Model(naively.BernoulliNB, NUMBERS),
    Model(lambda: naively.BernoulliNB(binarize=1.0), WITH_GAPS, WEIGHTS),
    Model(naively.PoissonNB, NUMBERS),
    Model(naively.PoissonNB, NUMBERS, WEIGHTS, frozen=True),
    Model(naively.CategoricalNB, NUMBERS),
    Model(naively.CategoricalNB, [[f"value {v}" for v in row] for row in NUMBERS], WEIGHTS),
    Model(naively.GaussianNB, MEASURES),
    Model(naively.GaussianNB, WITH_GAPS, WEIGHTS),
    Model(naively.GaussianClassifier, MEASURES),
    Model(lambda: naively.GaussianClassifier(covariance="full", var_smoothing=1e-3), WITH_GAPS),
    Model(lambda: naively.TextClassifier(calibrate="isotonic"), TEXTS),
    Model(lambda: naively.TextClassifier(family="complement", hashing=6, ngrams=(1, 2)), TEXTS, WEIGHTS, frozen=True),
    Model(naively.NaiveBayes, TABLE),
    Model(lambda: naively.NaiveBayes(columns=COLUMNS, missing="informative", calibrate="per class"), TABLE, WEIGHTS),
]
VECTORIZERS = [
    Model(naively.CountVectorizer, TEXTS),
    Model(lambda: naively.CountVectorizer(ngram_range=(1, 2), min_df=2, stop_words=["the"]), TEXTS),
    Model(naively.TfidfVectorizer, TEXTS),
    Model(lambda: naively.TfidfVectorizer(sublinear_tf=True, norm="l1"), TEXTS),
    Model(lambda: naively.HashingVectorizer(n_features=16), TEXTS),
    Model(lambda: naively.HashingVectorizer(n_features=8, alternate_sign=False, norm=None), TEXTS),
    Model(naively.TfidfTransformer, NUMBERS),
    Model(lambda: naively.TfidfTransformer(sublinear_tf=True), NUMBERS),
]


def fitted(model: Model) -> Any:
    """Return the estimator after it has counted its rows."""
    estimator = model.make()
    if not hasattr(estimator, "predict_proba"):
        return estimator.fit(as_rows(model.rows))
    return estimator.fit(as_rows(model.rows), LABELS, sample_weight=model.weights)


def as_rows(rows: Any) -> Any:
    """Return rows of JSON as an estimator takes them; a missing number is NaN."""
    if isinstance(rows, dict) or isinstance(rows[0], str):
        return rows
    return np.array(rows, dtype=object if isinstance(rows[0][0], str) else float)


def answers(estimator: Any, rows: Any) -> dict[str, list[Any]]:
    """Return what an estimator makes of some rows, and what it makes of them when it has learnt them as well."""
    if not hasattr(estimator, "predict_proba"):
        return {"transformed": estimator.transform(as_rows(rows)).toarray().tolist()}
    found = {"labels": estimator.predict(as_rows(rows)).tolist(), "before": probabilities(estimator, rows)}
    try:
        estimator.partial_fit(as_rows(rows), LABELS[: len(found["labels"])])
    except naively.NoCounts:
        return found
    return {**found, "after": probabilities(estimator, rows)}


def probabilities(estimator: Any, rows: Any) -> list[Any]:
    return estimator.predict_proba(as_rows(rows)).tolist()


def first(rows: Any) -> Any:
    """Return a few rows."""
    return {name: values[:10] for name, values in rows.items()} if isinstance(rows, dict) else rows[:10]


def write(folder: Path) -> None:
    """Write all models to a folder, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", naively.DataWarning)
        for model in CLASSIFIERS + VECTORIZERS:
            estimator = fitted(model)
            name = type(estimator).__name__
            number = 1 + len(list(folder.glob(f"{name}-*.nb")))
            path = folder / f"{name}-{number}.nb"
            estimator.save(path, **({"frozen": True} if model.frozen else {}))
            found = {"rows": first(model.rows), "answers": answers(naively.load(path), first(model.rows))}
            path.with_suffix(".json").write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(FOLDER / f"format-{VERSION}")
