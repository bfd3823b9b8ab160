"""A net for changes that must not change an answer: what every estimator says of ten small data sets.

`NAIVELY_SNAPSHOT=write pytest -n 0 tests/test_snapshot.py` writes it down anew. A commit that does so says why.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets

import naively
from naively import GaussianClassifier, NaiveBayes, TextClassifier
from naively.arrays import FIXED
from naively.count.vocabulary import Vocabulary

Array = np.ndarray[Any, Any]
FILE = Path(__file__).parent / "data" / "snapshot.json"
WRITES = os.environ.get("NAIVELY_SNAPSHOT") == "write"


# --- ten data sets


def some(found: Any, rows: int) -> tuple[Array, Array]:
    order = np.random.default_rng(0).permutation(len(found.target))[:rows]
    return found.data[order], found.target[order]


def homes() -> tuple[dict[str, list[Any]], Array]:
    """A table with numbers, categories, flags, dates and texts, and values missing in each."""
    rng = np.random.default_rng(1)
    y = rng.choice(["family", "student", "couple"], 240, p=[0.5, 0.3, 0.2])
    rent = np.round(rng.normal(np.where(y == "student", 620, 1400), 120), 1)
    city = rng.choice(["Ghent", "Bruges", "Antwerp"], 240)
    rooms = rng.poisson(np.where(y == "family", 4, 2))
    garden = rng.random(240) < np.where(y == "family", 0.8, 0.2)
    words = np.where(y == "student", "small studio near the campus", "house with a quiet garden")
    advert = [f"{w} {c}" for w, c in zip(words, city, strict=True)]
    since = np.datetime64("2020-01-01") + rng.integers(0, 900, 240)
    columns = {"rent": rent, "city": city, "rooms": rooms, "garden": garden, "advert": advert, "since": since}
    return {name: holes(list(np.asarray(v).tolist()), 7 + k) for k, (name, v) in enumerate(columns.items())}, y


def holes(values: list[Any], every: int) -> list[Any]:
    return [None if i % every == every - 1 else v for i, v in enumerate(values)]


def colours() -> tuple[Array, Array]:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, 200)
    names = np.array(["red", "green", "blue", "grey", None], dtype=object)
    return names[np.where(rng.random((200, 5)) < 0.5, y[:, None], rng.integers(0, 5, (200, 5)))], y


def events() -> tuple[Array, Array]:
    rng = np.random.default_rng(3)
    y = rng.choice(["low", "high"], 150)
    return rng.poisson(np.where(y[:, None] == "high", 3.0, 1.0), (150, 6)).astype(float), y


def short_texts() -> tuple[list[Any], Array]:
    """Forty classes, words of several scripts, some texts empty or missing."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 40, 600)
    words = ["não", "film", "電影", "naïve", "Straße", "don't", "fine", "été"]
    texts: list[Any] = [
        f"{words[k % 8]} w{k} {words[int(r)]} v{k % 5}" for k, r in zip(y, rng.integers(0, 8, 600), strict=True)
    ]
    texts[::50], texts[25::50] = [""] * 12, [None] * 12
    return texts, np.array([f"c{k}" for k in y])


def words_of_reviews() -> tuple[Any, Array]:
    texts, labels = naively.film_reviews()
    return naively.CountVectorizer(min_df=2).fit_transform(texts), np.array(labels)


DATA: dict[str, Callable[[], tuple[Any, Any]]] = {
    "film reviews": lambda: tuple(map(np.array, naively.film_reviews())),  # type: ignore[arg-type, return-value]
    "iris": lambda: some(datasets.load_iris(), 150),
    "wine": lambda: some(datasets.load_wine(), 178),
    "breast cancer": lambda: some(datasets.load_breast_cancer(), 300),
    "digits": lambda: some(datasets.load_digits(), 400),
    "words of reviews": words_of_reviews,
    "homes": homes,
    "colours": colours,
    "events": events,
    "short texts": short_texts,
}  # fmt: skip

PLAIN = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1)}
TEXT = {
    "text": TextClassifier,
    "text plain": lambda: TextClassifier(**PLAIN, alpha=1.0),
    "text tf-idf": lambda: TextClassifier(family="complement", weighting="tfidf", ngrams=(1, 2), alpha=0.1),
    "text bernoulli": lambda: TextClassifier(family="bernoulli", negation=True, calibrate="per class"),
    "text hashed": lambda: TextClassifier(**{**PLAIN, "ngrams": (1, 3)}, tokens="chars", hashing=10, calibrate=False),
    "text selected": lambda: TextClassifier(**PLAIN, select=naively.Best(30), alpha=naively.WittenBell()),
}
COUNTS = {
    "multinomial": naively.MultinomialNB,
    "multinomial ε": lambda: naively.MultinomialNB(alpha=naively.Epsilon(1e-6)),
    "complement": lambda: naively.ComplementNB(norm=True),
    "bernoulli": naively.BernoulliNB,
    "poisson": naively.PoissonNB,
}
NUMBERS = {
    "gaussian": naively.GaussianNB,
    "spherical": lambda: GaussianClassifier(covariance="spherical"),
    "tied": lambda: GaussianClassifier(covariance="tied", shrinkage=0.1),
    "full": lambda: GaussianClassifier(covariance="full", shrinkage="auto"),
    "table": NaiveBayes,
    "table isotonic": lambda: NaiveBayes(alpha=1.0, calibrate="isotonic"),
}
CATEGORIES = {
    "categorical": naively.CategoricalNB,
    "categorical, unseen ignored": lambda: naively.CategoricalNB(unseen="ignore", alpha=0.3),
    "table": NaiveBayes,
    "table informative": lambda: NaiveBayes(missing="informative", alpha=1.0),
}
MIXED = {
    **{name: CATEGORIES[name] for name in ("table", "table informative")},
    "table declared": lambda: NaiveBayes(
        columns={"rent": naively.Histogram("frequency", 4), "rooms": naively.Poisson(), "since": None},
        calibrate="temperature",
    ),
    "table kernel": lambda: NaiveBayes(columns={"rent": naively.Kernel(), "advert": naively.Text(ngrams=(1, 2))}),
}
SUITED: dict[str, dict[str, Any]] = {
    "film reviews": TEXT,
    "iris": NUMBERS,
    "wine": NUMBERS,
    "breast cancer": NUMBERS,
    "digits": {**COUNTS, "gaussian": naively.GaussianNB, "categorical": naively.CategoricalNB, "table": NaiveBayes},
    "words of reviews": COUNTS,
    "homes": MIXED,
    "colours": CATEGORIES,
    "events": {**COUNTS, **NUMBERS},
    "short texts": TEXT,
}
CASES = [(data, name) for data, suited in SUITED.items() for name in suited]


# --- what is written down


@cache
def rows_of(data: str) -> tuple[Any, Any]:
    return DATA[data]()


def taken(X: Any, rows: Array) -> Any:
    if isinstance(X, dict):
        return {name: [values[i] for i in rows] for name, values in X.items()}
    return [X[i] for i in rows] if isinstance(X, list) else X[rows]


def learnt(data: str, name: str) -> Any:
    """A model that has counted two thirds at once and the others in two batches, and forgotten seven rows again."""
    X, y = rows_of(data)
    y = np.asarray(y)
    weights = np.where(np.arange(len(y)) % 3 == 0, 2.0, 0.5) if data == "events" else None
    model = SUITED[data][name]()
    ends = [0, len(y) * 2 // 3, len(y) * 5 // 6, len(y)]
    for begin, end in itertools.pairwise(ends):
        rows = np.arange(begin, end)
        options = {} if weights is None else {"sample_weight": weights[rows]}
        if begin == 0:
            model.fit(taken(X, rows), y[rows], **options)
        else:
            model.partial_fit(taken(X, rows), y[rows], **options)
    if not isinstance(model, GaussianClassifier) and name != "gaussian":  # rounded sums may refuse to forget
        rows = np.arange(len(y) - 7, len(y))
        model.forget(taken(X, rows), y[rows], **({} if weights is None else {"sample_weight": weights[rows]}))
    return model


def digest(tally: Any) -> str:
    """A digest of the numbers of a tally, whatever the order of its rows and words; numbers to nine digits."""
    lines = [f"{name}: {line}" for name, columns in sorted(columns_of(tally).items()) for line in lines_of(columns)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def columns_of(tally: Any) -> dict[str, dict[str, Any]]:
    """The numbers of each part as columns of one length."""
    if len(tally.parts) == 1 and not isinstance(tally.part, naively.ColumnCounts):
        return {"": columns_of_part(tally.part)}
    tables: dict[str, dict[str, Any]] = {"rows": {}}
    for name, part in tally.parts.items():
        halves = (
            {"/moments": part.moments, "/grid": part.grid} if isinstance(part, naively.ColumnCounts) else {"": part}
        )
        tables |= {name + half: columns_of_part(own) for half, own in halves.items()}
    return tables


def columns_of_part(part: Any) -> dict[str, Any]:
    if isinstance(part, naively.Counts):
        words, feature = part.features, part.cells.feature
        named = words.names_of(feature) if isinstance(words, Vocabulary) else feature
        counts, columns = part.cells.exact, {"feature": named, "class": part.cells.klass}
        if counts.dtype != FIXED:
            return columns | dict(zip(part.planes, counts, strict=True))
        columns |= dict(zip(part.planes, counts["whole"], strict=True))
        return columns | {f"{plane} fraction": v for plane, v in zip(part.planes, counts["fraction"], strict=True)}
    shape = part.sums.shape[1:] if isinstance(part, naively.ExactSums) else part.n.shape
    klass, *features = (v.ravel() for v in np.indices(shape))
    columns = {"class": part.present[klass], **dict(zip(("feature", "with"), features, strict=False))}
    if not isinstance(part, naively.ExactSums):
        return columns | {"n": part.n.ravel(), "mean": part.mean.ravel(), "m2": part.m2.ravel()}
    for at, name in enumerate(("weights", "values", "squares")):
        place, length, digits = part.sums[at].flat
        ends = np.cumsum(length, dtype=np.int64)
        each = [digits[end - size : end].tolist() for end, size in zip(ends, length, strict=True)]
        columns |= {f"{name} place": place, f"{name} digits": each}
    return columns


def lines_of(columns: dict[str, Any]) -> list[str]:
    listed = [[short(value) for value in np.asarray(v, object).tolist()] for v in columns.values()]
    return [str(list(columns)), *sorted(map(str, zip(*listed, strict=True)))]


def short(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value + 0.0:.9g}"
    return [short(v) for v in value] if isinstance(value, list) else value


def answers(data: str, name: str) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", naively.DataWarning)
        model = learnt(data, name)
        X, y = rows_of(data)
        first = np.arange(0, len(y), max(len(y) // 6, 1))[:6]
        proba = model.predict_proba(X)
        row = taken(X, np.array([1]))
        explained = model.explain(row[0] if isinstance(model, TextClassifier) else row)
    order = np.argsort(-np.abs(explained.shares).max(axis=1), kind="stable")[:5]
    labels = [str(label) for label in model.predict(X)]
    return {
        "tally": digest(model.tally_),
        "labels": hashlib.sha256("\n".join(labels).encode()).hexdigest()[:16],
        "some labels": [labels[i] for i in first],
        "means": proba.mean(axis=0)[:10].tolist(),
        "probabilities": proba[first, :10].tolist(),
        "score": np.asarray(explained.score)[:10].tolist(),
        "shares": sorted(np.asarray(explained.shares)[order, :3].ravel().tolist()),
    }


@cache
def written() -> dict[str, Any]:
    return json.loads(FILE.read_text())


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, list):
        for part in value:
            yield from numbers_in(part)
    elif isinstance(value, float):
        yield value


@pytest.mark.parametrize(("data", "name"), CASES, ids=" - ".join)
def test_answers_are_those_that_were_written_down(data: str, name: str) -> None:
    found = answers(data, name)
    if WRITES:
        kept = json.loads(FILE.read_text()) if FILE.exists() else {}
        kept[f"{data} - {name}"] = found
        FILE.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
        return
    expected = written()[f"{data} - {name}"]
    for key in ("tally", "labels", "some labels"):
        assert found[key] == expected[key], key
    for key in ("means", "probabilities", "score", "shares"):
        np.testing.assert_allclose(list(numbers_in(found[key])), list(numbers_in(expected[key])), rtol=1e-6, atol=1e-9)


def test_nothing_is_written_down_that_is_not_compared() -> None:
    assert sorted(written()) == sorted(" - ".join(case) for case in CASES)
    assert len(DATA) == 10
    assert sparse.issparse(rows_of("words of reviews")[0])
