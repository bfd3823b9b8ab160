"""Laws for anybody who adds a family, an engine or a kind of input.

Each law is a function that raises AssertionError if it does not hold. `count` is any function from rows and
labels to a tally.

Each law is a function that raises AssertionError where it does not hold. `count` is any function from rows and
labels to a tally.

>>> import numpy as np
>>> from naively import MultinomialNB
>>> def count(X, y):
...     return MultinomialNB().fit(X, y).tally_
>>> X, y = np.array([[1, 0], [0, 2], [3, 1]]), np.array(["a", "b", "a"])
>>> counting_is_additive(count, X, y, at=1)
>>> forgetting_undoes_counting(count, X, y, at=1)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naively.errors import NaivelyError

Count = Callable[[Any, Any], Any]


def counting_is_additive(count: Count, X: Any, y: Any, at: int) -> None:
    """count(a ++ b) == count(a) + count(b)."""
    assert count(X[:at], y[:at]) + count(X[at:], y[at:]) == count(X, y)


def adding_is_commutative(a: Any, b: Any) -> None:
    """a + b == b + a."""
    assert a + b == b + a


def adding_is_associative(a: Any, b: Any, c: Any) -> None:
    """(a + b) + c == a + (b + c)."""
    assert (a + b) + c == a + (b + c)


def nothing_is_neutral(tally: Any, empty: Any) -> None:
    """a + nothing == a."""
    assert tally + empty == tally
    assert empty + tally == tally


def forgetting_undoes_counting(count: Count, X: Any, y: Any, at: int) -> None:
    """(a + b) - b == a, and a - (a + b) raises and changes nothing."""
    a, b = count(X[:at], y[:at]), count(X[at:], y[at:])
    both = a + b
    assert both - b == a
    try:
        a - both
    except NaivelyError:
        assert both == a + b
    else:
        raise AssertionError("forgetting more than was counted went unnoticed")


def batches_do_not_matter(count: Count, X: Any, y: Any, cuts: Sequence[int]) -> None:
    """Counting in any batches gives an equal tally."""
    edges = [0, *sorted(cuts), len(y)]
    parts = [count(X[i:j], y[i:j]) for i, j in itertools.pairwise(edges) if j > i]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert total == count(X, y)


def order_does_not_matter(count: Count, X: Any, y: Any, order: Sequence[int]) -> None:
    """Counting in any order of rows gives an equal tally."""
    assert count(X[list(order)], y[list(order)]) == count(X, y)


def probabilities_sum_to_one(estimator: Any, X: Any) -> None:
    """The probabilities of each row sum to one, and none is NaN."""
    proba = estimator.predict_proba(X)
    assert not np.isnan(proba).any()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-6 if proba.dtype == np.float32 else 1e-12)


def shares_sum_to_the_score(estimator: Any, row: Any) -> None:
    """Prior, shares and the rest add up to the joint log-probability."""
    explanation = estimator.explain(row)
    total = explanation.prior + explanation.shares.sum(axis=0) + explanation.rest
    np.testing.assert_allclose(total, explanation.score, rtol=1e-9, atol=1e-9)


def arrow_round_trip_is_the_identity(tally: Any) -> None:
    """Converting to Arrow and back gives an equal tally."""
    assert type(tally).from_arrow(tally.to_arrow()) == tally
