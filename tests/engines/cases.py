"""What every engine must count as one machine does: tables, learners, and ways to cut rows into partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import naively
from naively import NaiveBayes, TextClassifier


@dataclass(frozen=True)
class Work:
    """A table, the estimator that is to count it, and the arguments of `fit`."""

    name: str
    table: Callable[[], pa.Table]
    learner: Callable[[], Any]
    label: str = "label"
    options: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.name

    @property
    def same_file(self) -> bool:
        """True if files do not depend on the order of rows.

        Categories are stored in the order in which they came, and a bucket of words is called by one that came often.
        """
        return "text" in self.options and self.name != "hashed texts"

    def here(self) -> Any:
        """The model of all rows, counted in this process."""
        table, learner = self.table(), self.learner()
        weight = self.options.get("weight")
        weights = None if weight is None else table[weight].to_numpy()
        if weight is not None:
            table = table.drop_columns([weight])
        if learner.reads_text:
            return learner.fit(table[self.options["text"]], table[self.label], weights)
        return learner.fit(table, self.label, weights)

    def rows(self) -> pa.Table:
        return self.table().drop_columns([self.label])


def check_same(work: Work, found: Any, here: Any) -> None:
    """Check that a model that an engine counted is the one of this process."""
    assert found.tally_ == here.tally_
    assert found.parameters() == here.parameters()
    rows = work.rows()
    X = rows[work.options["text"]] if here.reads_text else rows
    np.testing.assert_array_equal(found.predict(X), here.predict(X))
    np.testing.assert_allclose(found.predict_proba(X), here.predict_proba(X), rtol=1e-12, atol=1e-300)
    if not here.reads_text:
        assert str(found.schema_) == str(here.schema_)
    assert not work.same_file or found.to_bytes() == here.to_bytes()


def films() -> pa.Table:
    texts, labels = naively.film_reviews()
    return pa.table({"text": texts, "label": labels})


def scarce_films() -> pa.Table:
    """Texts and labels of which some are missing, with weights of which some are zero."""
    rng = np.random.default_rng(3)
    table = films()
    texts = [
        None if u < 0.05 else text for u, text in zip(rng.random(len(table)), table["text"].to_pylist(), strict=True)
    ]
    labels = [
        None if u < 0.1 else name for u, name in zip(rng.random(len(table)), table["label"].to_pylist(), strict=True)
    ]
    weights = rng.choice([0.0, 0.5, 1.0, 2.75], len(table))
    return pa.table({"label": labels, "text": texts, "weight": weights})


def flowers(n: int = 600) -> pa.Table:
    """Numbers, whole numbers, categories, flags and dates, with missing values."""
    rng = np.random.default_rng(5)
    kind = rng.choice(["iris", "rose", "tulip"], n)
    code = np.unique(kind, return_inverse=True)[1]

    def thinned(values: Any, share: float) -> list[Any]:
        return [None if u < share else v for u, v in zip(rng.random(n), values, strict=True)]

    return pa.table(
        {
            "length": thinned(rng.normal(code * 2.0, 1.0).tolist(), 0.1),
            "leaves": rng.poisson(code * 3 + 1),
            "colour": thinned(np.array(["blue", "red", "white"])[(code + (rng.random(n) < 0.3)) % 3].tolist(), 0.2),
            "wild": thinned((rng.random(n) < 0.3 + code / 5).tolist(), 0.05),
            "seen": pa.array(rng.integers(0, 4000, n).astype("datetime64[D]")),
            "label": kind.tolist(),
        }
    )


def numbered_flowers() -> pa.Table:
    table = flowers()
    numbers = np.unique(table["label"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
    weights = np.random.default_rng(8).choice([1.0, 3.0, 0.25], len(table))
    return table.set_column(5, "label", pa.array(numbers)).append_column("weight", pa.array(weights))


TEXTS = {"text": "text"}
WORK = [
    Work("texts", films, TextClassifier, options=TEXTS),
    Work("single words", films, lambda: TextClassifier(ngrams=(1, 1), choose=False), options=TEXTS),
    Work("scarce texts", scarce_films, TextClassifier, options={**TEXTS, "weight": "weight"}),
    Work("hashed texts", films, lambda: TextClassifier(hashing=10, calibrate=False), options=TEXTS),
    Work("table", flowers, NaiveBayes),
    Work("informative table", flowers, lambda: NaiveBayes(missing="informative", calibrate="isotonic")),
    Work("numbered classes", numbered_flowers, NaiveBayes, options={"weight": "weight"}),
]


def by_class(table: pa.Table, label: str) -> list[pa.Table]:
    """Partitions of which each has all rows of one class, and one has none."""
    ordered = table.sort_by(label)
    labels = ordered[label].to_pylist()
    cuts = [0, *[i for i in range(1, len(labels)) if labels[i] != labels[i - 1]], len(labels)]
    pieces = [ordered.slice(a, b - a) for a, b in pairwise(cuts)]
    return [*pieces[:1], table.slice(0, 0), *pieces[1:]]


def uneven(table: pa.Table, label: str) -> list[pa.Table]:
    """Seventeen shuffled partitions: of no row, of one, and of many; a tree of two levels adds them up."""
    rng = np.random.default_rng(1)
    shuffled = table.take(rng.permutation(len(table)))
    cuts = [0, 0, 1, *sorted(rng.integers(1, len(table), 14).tolist()), len(table)]
    return [shuffled.slice(a, b - a) for a, b in pairwise(cuts)]


SHAPES = [by_class, uneven]
