"""A family of counts is what a unit and a known feature add: new ones, and the short ways beside the general one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from naively import Additive, Epsilon, Evidence, Unsmoothed
from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.families import counts, counts_left_out
from naively.families.bernoulli import Bernoulli
from naively.families.complement import Complement
from naively.families.counts import CountFamily
from naively.families.counts_left_out import one_by_one
from naively.families.multinomial import Multinomial
from naively.families.poisson import Poisson
from naively.names import Index
from naively.smooth.logs import Logs, exp
from naively.smooth.rules import Context
from naively.store.codec import Reader, Writer
from naively.store.registry import stored

CLASSES_OF_ROWS = Index.of(["a", "b", "c"])
BUILT_IN = [Multinomial(), Complement(), Bernoulli(), Poisson()]


@dataclass(frozen=True)
class Geometric(CountFamily):
    """Failures before a success, of which there is one in 1 + μ trials: p(x) = (μ / (1 + μ))^x / (1 + μ)."""

    who: str = "GeometricNB"

    kind: ClassVar[str] = "events"
    share_of: ClassVar[str] = "rows"
    outcomes: ClassVar[int | None] = 1

    def unit(self, rule: Context, count: Any, total: Any) -> Logs:
        rate = exp(rule.log(count, total))
        return np.log(rate) - np.log1p(rate), None

    def base(self, rule: Context, count: Any, total: Any) -> Logs:
        return -np.log1p(exp(rule.log(count, total))), None

    def draw(self, rng: np.random.Generator, share: Array, size: int, length: float) -> Array:
        return rng.geometric(1 / (1 + share), (size, len(share))) - 1


@dataclass(frozen=True)
class Doubled(CountFamily):
    """Twice what the multinomial says: a score of shares of the class, without a base."""

    who: str = "DoubledNB"

    def unit(self, rule: Context, count: Any, total: Any) -> Logs:
        finite, impossible = rule.log(count, total)
        return 2.0 * finite, None if impossible is None else 2.0 * impossible


@st.composite
def rows_of(draw: st.DrawFn, missing: bool = True) -> tuple[Array, Array]:
    n, d = draw(st.integers(4, 9)), draw(st.integers(1, 5))
    values = st.lists(st.sampled_from([0, 0, 0, 1, 2, 7] + [-1] * missing), min_size=n * d, max_size=n * d)
    X = np.array(draw(values), dtype=float).reshape(n, d)
    codes = np.array([0, 1, 2, *draw(st.lists(st.integers(0, 2), min_size=n - 3, max_size=n - 3))], np.int32)
    return np.where(X < 0, np.nan, X), codes


def ledger_of(family: Any, X: Any, codes: Array, weight: Array | None = None) -> PartLedger:
    features = Index(X.shape[1])
    return PartLedger(CLASSES_OF_ROWS, (family.count(X, codes, CLASSES_OF_ROWS, features, weight),))


def scores(family: Any, ledger: PartLedger, rule: Any, X: Any) -> Array:
    return family.table(ledger, rule, np.zeros(3)).score(X).likelihood


@given(rows_of(), st.sampled_from([1.0, 0.3]))
def test_a_new_family_scores_rows_by_its_formula(rows: tuple[Array, Array], alpha: float) -> None:
    X, codes = rows
    sums = np.array([np.nansum(X[codes == k], axis=0) for k in range(3)])
    known = np.array([(~np.isnan(X[codes == k])).sum(axis=0) for k in range(3)])
    rate = (sums + alpha) / (known + alpha)
    each = X[:, None] * np.log(rate / (1 + rate)) - np.log(1 + rate)
    found = scores(Geometric(), ledger_of(Geometric(), X, codes), Additive(alpha), X)
    np.testing.assert_allclose(found, np.nansum(each, axis=2), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("family", [Geometric(), Doubled()], ids=lambda family: family.who)
@given(rows=rows_of(), rule=st.sampled_from([1.0, 0.3, "each"]), weighted=st.booleans())
def test_a_new_family_leaves_rows_out_as_if_they_had_not_been_counted(
    family: Any, rows: tuple[Array, Array], rule: Any, weighted: bool
) -> None:
    X, codes = rows
    alpha = Additive(tuple(np.linspace(0.5, 2, X.shape[1]).tolist()) if rule == "each" else rule)
    weight = np.linspace(0.5, 2, len(codes)) if weighted else None
    ledger = ledger_of(family, X, codes, weight)
    (found, _), (want, _) = (
        leave(ledger, [alpha], X, codes, weight)[0]
        for leave in (family.left_out, lambda *rest: one_by_one(family, *rest))
    )
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("family", [*BUILT_IN, Geometric(), Doubled()], ids=lambda family: family.who)
@given(rows=rows_of(missing=False))
def test_the_table_of_touched_features_equals_the_whole_one(family: Any, rows: tuple[Array, Array]) -> None:
    X, codes = rows
    ledger, row = ledger_of(family, sp.csr_array(X), codes), sp.csr_array(X[:1])
    assert not family.needs_count_histogram or ledger.count_histogram is not None  # which is kept from then on
    features = family.features_in(row, Additive(0.5), ledger)
    some = family.table(ledger, Additive(0.5), np.zeros(3), features)
    want = scores(family, ledger, Additive(0.5), row)
    np.testing.assert_allclose(some.score(family.restrict(row, features)).likelihood, want, rtol=1e-12, atol=1e-12)


def test_rows_are_drawn_by_a_new_family_as_often_as_they_are_likely() -> None:
    X, codes = np.array([[1.0, 6.0], [0.0, 3.0], [2.0, 0.0]]), np.array([0, 1, 2], np.int32)
    ledger = ledger_of(Geometric(), X, codes)
    drawn = Geometric().sample(ledger, Unsmoothed(), 0, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean(axis=0), [1.0, 6.0], rtol=0.05)
    np.testing.assert_allclose((drawn == 0).mean(axis=0), [1 / 2, 1 / 7], rtol=0.05)


def test_a_new_family_settles_alpha_by_evidence_and_counts_its_parameters() -> None:
    X, codes = np.array([[1.0, 6.0], [0.0, 3.0], [2.0, 0.0]]), np.array([0, 1, 2], np.int32)
    ledger = ledger_of(Geometric(), X, codes)
    assert Geometric().settled_by(ledger, Evidence()).one_alpha == Poisson().settled_by(ledger, Evidence()).one_alpha
    assert Geometric().n_parameters(ledger) == 6
    assert Doubled().n_parameters(ledger) == 3


def test_a_new_family_is_stored_by_its_fields() -> None:
    stored("tests.Geometric")(Geometric)
    X, codes = np.array([[1.0, 6.0], [0.0, 3.0], [2.0, np.nan]]), np.array([0, 1, 2], np.int32)
    ledger = ledger_of(Geometric(), X, codes)
    writer = Writer()
    kept = writer.put({"family": Geometric("mine"), "ledger": ledger}, "model")
    again = Reader(writer.arrays).get(kept)
    assert again["family"] == Geometric("mine")
    rule = Additive(1.0)
    assert np.array_equal(scores(again["family"], again["ledger"], rule, X), scores(Geometric(), ledger, rule, X))


# --- short ways


@pytest.mark.parametrize("family", [*BUILT_IN, Geometric(), Doubled()], ids=lambda family: family.who)
@given(rows=rows_of(missing=False), alpha=st.sampled_from([1.0, 0.3]))
def test_weights_by_different_counts_equal_those_of_each_cell(
    family: Any, rows: tuple[Array, Array], alpha: float
) -> None:
    X, codes = rows
    ledger = ledger_of(family, X, codes)
    found = []
    for few in (lambda counts, classes: counts.dtype == np.int64 and len(counts) > 0, lambda counts, classes: False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counts, "_few_distinct", few)
            found.append(scores(family, ledger, Additive(alpha), X))
    np.testing.assert_allclose(*found, rtol=1e-13, atol=1e-13)


@given(
    rows=rows_of(),
    alphas=st.lists(st.sampled_from([3.0, 1.0, 0.3, 1e-3]), min_size=1, max_size=6),
    weighted=st.booleans(),
)
def test_rows_left_out_along_a_path_of_alpha_equal_those_of_each_alpha(
    rows: tuple[Array, Array], alphas: list[float], weighted: bool
) -> None:
    X, codes = rows
    weight = np.linspace(0.5, 2, len(codes)) if weighted else None
    ledger, rules = ledger_of(Multinomial(), X, codes, weight), [Additive(alpha) for alpha in alphas]
    path = Multinomial().left_out(ledger, rules, X, codes, weight)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts_left_out, "_along_paths", lambda family, rules: False)
        each = Multinomial().left_out(ledger, rules, X, codes, weight)
    for (found, _), (want, _) in zip(path, each, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-11, atol=1e-11)


def test_the_short_ways_are_taken_where_one_alpha_is_added() -> None:
    assert counts_left_out._along_paths(Multinomial(), [Additive(1.0)])
    assert not counts_left_out._along_paths(Multinomial(), [Additive(1.0), Additive(0.0)])
    for rule in (Epsilon(0.1), Additive((1.0, 2.0)), Unsmoothed()):
        assert not counts_left_out._along_paths(Multinomial(), [rule])
    for family in (Complement(), Bernoulli(), Poisson(), Doubled()):
        assert not counts_left_out._along_paths(family, [Additive(1.0)])
    many = np.arange(5000) % 7
    assert counts._few_distinct(many, 20)
    assert not counts._few_distinct(many * 5000, 20)
    assert not counts._few_distinct(many[:100], 2)
    assert not counts._few_distinct(many.astype(float), 20)
