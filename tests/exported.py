"""Models of every kind that exporters write, and rows for them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

import naively
from naively import (
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    Circular,
    Complement,
    ComplementNB,
    Dates,
    Exponential,
    Gamma,
    Gaussian,
    GaussianNB,
    Geometric,
    Given,
    Histogram,
    Kernel,
    LogNormal,
    Multinomial,
    MultinomialNB,
    Poisson,
    PoissonNB,
    Text,
    Uniform,
    Unsmoothed,
)
from naively.families.densities.base import NumberFamily
from naively.store.registry import stored


def mixed_table(rows=300, seed=0):
    """A table with columns of every kind, missing values in all of them, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)

    def with_missing(values):
        return pa.array([None if rng.random() < 0.1 else value for value in values.tolist()])

    words = np.array(["small", "sunny", "Été", "naïve", "it's", "house—garden", "QUIET", "x_1", "two\nlines"])
    texts = np.array([" ".join(rng.choice(words[k : k + 6], 4)) for k in y], object)
    start = datetime(2024, 1, 1)
    table = pa.table({
        "the size": with_missing(rng.normal(y, 0.7)),
        "rooms": with_missing((rng.poisson(2 + y)).astype(float)),
        'a "city"': with_missing(np.array(["Gent", "l'Isle", "a\\b", "", "Ωmega"])[(y + rng.integers(0, 3, rows)) % 5]),
        "garden": with_missing(rng.random(rows) < 0.2 + 0.3 * y),
        "seen": with_missing(np.array([start + timedelta(hours=int(h)) for h in rng.integers(0, 300, rows) * (y + 1)])),
        "price": with_missing(rng.gamma(1.0 + y, 2.0, rows)),
        "share": with_missing(rng.beta(1.0 + y, 2.0, rows)),
        "advert": with_missing(texts),
    })  # fmt: skip
    return table, np.array(["it's", "b", "c"])[y]


TABLES = {
    "by itself": {},
    "informative": {"missing": "informative"},
    "per class": {"calibrate": "per class"},
    "raw scores": {"calibrate": False, "prior": Uniform()},
    "unsmoothed": {"alpha": Unsmoothed(), "calibrate": False},
    "a class that never is": {"prior": Given({"it's": 0.5, "b": 0.5, "c": 0.0}), "calibrate": False},
    "bins": {"columns": {"the size": Histogram("frequency", 50), "price": Kernel(), "share": Histogram("width")}},
    "densities": {"columns": {"the size": Gaussian(), "price": Gamma(), "share": Beta(), "rooms": Geometric()}},
    "others": {"columns": {"price": LogNormal(), "the size": Circular(3.0), "share": Exponential()}},
    "groups": {"columns": {("price", "rooms"): Multinomial(), "share": Poisson()}},
    "others' counts": {"columns": {("price", "rooms"): Complement()}},
    "declared": {
        "columns": {"rooms": Categorical(), "seen": Dates(("hour", "weekday")), "advert": Text(ngrams=(1, 2))}
    },
    "tf-idf": {"columns": {"advert": Text(weighting="tfidf", ngrams=(2, 3))}},
    "presence": {"columns": {"advert": Text(family="bernoulli")}},
    "no texts": {"columns": {"advert": None}},
}


TEXTS = {
    "words": {},
    "pairs": {"ngrams": (1, 2)},
    "triples": {"ngrams": (2, 3), "family": "complement"},
    "tf-idf": {"weighting": "tfidf", "ngrams": (1, 2)},
    "presence": {"family": "bernoulli"},
    "binary": {"weighting": "binary"},
    "scikit-learn's": {"tokens": "sklearn", "stop_words": "english", "ngrams": (1, 2)},
    "case": {"lowercase": False},
    "unsmoothed": {"alpha": 0.0, "calibrate": False},
}


ARRAYS = {
    "multinomial": MultinomialNB(),
    "complement": ComplementNB(norm=True),
    "bernoulli": BernoulliNB(),
    "bernoulli, no threshold for zeros": BernoulliNB(binarize=1.0),
    "poisson": PoissonNB(),
    "gaussian": GaussianNB(),
    "unsmoothed": MultinomialNB(alpha=Unsmoothed()),
    "categories": CategoricalNB(),
    "names": CategoricalNB(numbers="names"),
}


@stored("tests.OfItsOwn")
@dataclass(frozen=True)
class OfItsOwn(NumberFamily):
    """A density of a user, for which no SQL was written."""

    shown = ("mean",)

    def parameters(self, mean, variance):
        return (np.maximum(mean[0], 1e-9),)

    def log_density(self, x, parameters):
        return -np.log(parameters[0]) - np.sqrt(np.abs(x)) / parameters[0] + np.where(x > 2, -x, 0.5)


def new_rows():
    """Rows with categories, words and numbers that the model has not seen, and one without any value."""
    new, _ = mixed_table(80, seed=1)
    row = {'a "city"': ["Paris"], "the size": [1e6], "advert": ["unknown"], "share": [5.0]}
    odd = pa.table({name: pa.array(row.get(name, [None]), new[name].type) for name in new.column_names})
    nothing = pa.table({name: pa.nulls(1, new[name].type) for name in new.column_names})
    return pa.concat_tables([new, odd, nothing])


def film_reviews():
    """Texts to learn, their labels, and texts to score."""
    texts, labels = naively.film_reviews()
    texts = [text + end for text, end in zip(texts, ["", " Naïve ÉTÉ", " x—y “z”", " über_Straße"] * 120, strict=True)]
    new = [
        *texts[300:],
        "",
        "   ",
        "ÇA naïVE — “été”",
        "don't\tgood\x01bad",
        "good 中文 bad",
        '"good" \\ bad',
        "e\u0301t",
    ]
    return texts[:300], labels[:300], new


def fitted_array(model):
    """The model, fitted on an array with missing values, and rows to score."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (200, 70)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 200)
    return type(model)(**model.get_params()).fit(X, y), X[:40]
