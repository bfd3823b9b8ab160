"""Families of numbers: densities and parameters beside SciPy's, and rows left out beside counting without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pytest
from families import plain_table
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

import naively
from naively import InputError, NaiveBayes, NumberFamily, leave_one_out
from naively.count.exact_sums import ExactSums
from naively.names import Index
from naively.score.density import Density, log_densities
from naively.store.registry import stored

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Case:
    """A family, numbers for it from shares between 0 and 1, and SciPy's density for its parameters."""

    family: NumberFamily
    numbers: Callable[[Array], Array]
    peer: Callable[..., Any]
    parameters: tuple[float, ...]
    by_likelihood: bool = True  # whether parameters are those of maximum likelihood

    def __repr__(self) -> str:
        return self.family.title


CASES = [
    Case(naively.Gaussian(0.0), lambda u: 8 * u - 3, lambda m, v: stats.norm(m, v**0.5), (1.5, 2.5)),
    Case(
        naively.LogNormal(), lambda u: np.exp(4 * u - 2),
        lambda m, v: stats.lognorm(v**0.5, scale=np.exp(m)), (0.3, 0.5),
    ),
    Case(naively.Exponential(), lambda u: 9 * u, lambda m: stats.expon(scale=m), (2.5,)),
    Case(naively.Gamma(), lambda u: 7 * u + 0.01, lambda m, k: stats.gamma(k, scale=m / k), (2.5, 1.7)),
    Case(naively.Beta(), lambda u: 0.98 * u + 0.01, stats.beta, (1.7, 0.6)),
    Case(naively.Geometric(), lambda u: np.floor(9 * u), lambda m: stats.geom(1 / (1 + m), loc=-1), (2.5,)),
    Case(
        naively.NegativeBinomial(), lambda u: np.floor(30 * u**3), lambda m, d: stats.nbinom(1 / d, 1 / (1 + d * m)),
        (2.5, 0.7), by_likelihood=False,
    ),
    Case(
        naively.Circular(24.0), lambda u: 9 * u + 20,
        lambda c, k: stats.vonmises(k, loc=c * np.pi / 12 - 2 * np.pi * (c > 12), scale=12 / np.pi), (20.5, 1.7),
    ),
]  # fmt: skip
every_family = pytest.mark.parametrize("case", CASES, ids=repr)
shares = st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=3, max_size=30)


def log_of(case: Case, parameters: Any, x: Array) -> Array:
    """SciPy's log-density; that of a circle is about its own centre."""
    if isinstance(case.family, naively.Circular):
        angle = np.remainder((x - parameters[0]) * np.pi / 12 + np.pi, 2 * np.pi) - np.pi
        return stats.vonmises(parameters[1]).logpdf(angle) + np.log(np.pi / 12)
    peer = case.peer(*parameters)
    return peer.logpmf(x) if hasattr(peer.dist, "logpmf") else peer.logpdf(x)


def moments_of(case: Case, x: Array) -> tuple[list[Array], list[Array]]:
    found = case.family.statistics(x)
    return [np.array(s.mean()) for s in found], [np.array(s.var()) for s in found]


@every_family
def test_densities_equal_scipys(case: Case) -> None:
    x = case.numbers(np.linspace(0.0, 1.0, 101))
    given_parameters = tuple(map(np.array, case.parameters))
    np.testing.assert_allclose(
        case.family.log_density(x, given_parameters), log_of(case, case.parameters, x), rtol=1e-12, atol=1e-12
    )


@every_family
@settings(max_examples=25)
@given(shares)
def test_parameters_are_as_likely_as_any_nearby(case: Case, u: list[float]) -> None:
    x = case.numbers(np.array(u))
    if len(set(x.tolist())) < 3 or not case.by_likelihood:
        return
    parameters = np.array([float(p) for p in case.family.parameters(*moments_of(case, x))])
    if parameters[-1] < 1e-6:
        return  # a circle on which all directions are alike
    best = log_of(case, parameters, x).sum()
    for j in range(len(parameters)):
        for factor in (0.999, 1.001):
            other = parameters.copy()
            other[j] *= factor
            assert log_of(case, other, x).sum() <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("case", [c for c in CASES if c.by_likelihood], ids=repr)
def test_parameters_are_those_that_a_search_for_the_largest_likelihood_finds(case: Case) -> None:
    x = case.numbers(np.random.default_rng(0).random(200))
    mine = [float(p) for p in case.family.parameters(*moments_of(case, x))]

    def loss(logs: Array) -> float:
        return -float(log_of(case, np.exp(logs), x).mean())

    found = optimize.minimize(loss, np.log(mine) + 0.2, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13})
    np.testing.assert_allclose(np.exp(found.x), mine, rtol=1e-4)


def test_a_negative_binomial_has_the_mean_and_the_variance_of_its_numbers() -> None:
    x = np.floor(30 * np.random.default_rng(0).random(200) ** 3)
    mean, dispersion = naively.NegativeBinomial().parameters([x.mean()], [x.var()])
    peer = stats.nbinom(1 / dispersion, 1 / (1 + dispersion * mean))
    np.testing.assert_allclose([peer.mean(), peer.var()], [x.mean(), x.var()], rtol=1e-12)


@pytest.mark.parametrize("dispersion", [0.0, 1e-12, 1e-7, 9e-6, 1e-5, 1e-3])
def test_a_negative_binomial_of_little_dispersion_comes_near_to_poissons(dispersion: float) -> None:
    x = np.arange(40.0)
    found = naively.NegativeBinomial().log_density(x, (np.array(7.0), np.array(dispersion)))
    expected = stats.poisson(7.0).logpmf(x)
    if dispersion:
        rising = np.array([sum(np.log1p(i * dispersion) for i in range(int(n))) for n in x])
        logs = x * np.log(7.0) - np.array([float(np.sum(np.log(np.arange(1, n + 1)))) for n in x])
        expected = logs + rising - (x + 1 / dispersion) * np.log1p(7.0 * dispersion)
    np.testing.assert_allclose(found, expected, rtol=1e-9 if dispersion >= 1e-7 else 1e-3)
    assert found[7] == pytest.approx(stats.poisson(7.0).logpmf(7), abs=10 * dispersion + 1e-12)


SPREAD = [c for c in CASES if not (c.family.support.whole or isinstance(c.family, naively.Exponential))]


@pytest.mark.parametrize("case", SPREAD, ids=repr)
def test_narrow_densities_lose_no_digits(case: Case) -> None:
    """Numbers about 0.4 that vary by a hundred-thousandth have nearly the normal density."""
    x = 0.4 + 1e-5 * np.random.default_rng(0).normal(size=1000)
    parameters = case.family.parameters(*moments_of(case, x))
    found = case.family.log_density(x, parameters)
    np.testing.assert_allclose(found, stats.norm(x.mean(), x.std()).logpdf(x), atol=2e-3)


@every_family
def test_numbers_that_are_drawn_have_the_means_of_their_class(case: Case) -> None:
    x = case.numbers(np.random.default_rng(0).random(400))
    model = plain_table(columns={"x": case.family}).fit({"x": x}, np.zeros(400, int))
    drawn = np.asarray(model.sample(20_000, random_state=0)[0]["x"])
    assert case.family.support.holds(drawn).all()
    parameters = case.family.parameters(*moments_of(case, x))
    if isinstance(case.family, naively.Circular):
        expected = [np.cos(parameters[0] * np.pi / 12), np.sin(parameters[0] * np.pi / 12)]
        found = [s.mean() for s in case.family.statistics(drawn)]
        length = np.hypot(*[s.mean() for s in case.family.statistics(x)])
        np.testing.assert_allclose(found, np.multiply(expected, length), atol=0.03)
        return
    peer = case.peer(*map(float, parameters))
    assert abs(drawn.mean() - peer.mean()) < 5 * peer.std() / 20_000**0.5 + 1e-9
    np.testing.assert_allclose(drawn.std(), peer.std(), rtol=0.1)


def tables(case: Case, data: Any) -> tuple[dict[str, Array], Array]:
    """Two columns with holes, and labels."""
    n = data.draw(st.integers(4, 14))
    columns = {}
    for name in "xy":
        u = data.draw(st.lists(st.integers(0, 20).map(lambda i: i / 20) | st.none(), min_size=n, max_size=n))
        values = case.numbers(np.array([np.nan if v is None else v for v in u]))
        columns[name] = values
    return columns, np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n)))


@every_family
@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rows_left_out_score_as_by_counts_without_them(case: Case, weighted: bool, data: Any) -> None:
    columns, y = tables(case, data)
    weight = None
    if weighted:
        weight = np.array(data.draw(st.lists(st.sampled_from([0.25, 1.0, 3.0]), min_size=len(y), max_size=len(y))))
    rules = dict.fromkeys(columns, replaced(case.family))
    found = leave_one_out(plain_table(columns=rules, alpha=0.5), columns, y, sample_weight=weight)
    classes = sorted(set(y.tolist()))
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        model = plain_table(columns=rules, alpha=0.5)
        others = {name: values[rest] for name, values in columns.items()}
        model.fit(others, y[rest], sample_weight=None if weight is None else weight[rest])
        row = {name: values[i : i + 1] for name, values in columns.items()}
        for k, label in enumerate(classes):
            if label in model.classes_:
                expected = model.scores(row).likelihood[0, model.classes_.tolist().index(label)]
                assert found.scores.likelihood[i, k] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def replaced(family: NumberFamily) -> NumberFamily:
    """The family, smoothed where nothing else smooths it."""
    return naively.Gaussian(0.1) if isinstance(family, naively.Gaussian) else family


@given(
    st.lists(st.floats(-1e6, 1e6) | st.floats(-1e-6, 1e-6).map(lambda v: 1e6 + v), min_size=2, max_size=12),
    st.lists(st.sampled_from([1.0, 0.1, 3e5, 7e-9]), min_size=12, max_size=12),
)
def test_moments_without_a_row_are_those_of_the_others(x: list[float], weights: list[float]) -> None:
    values, weight = np.array(x)[:, None], np.array(weights[: len(x)])
    codes = np.zeros(len(x), np.int32)
    sums, _ = ExactSums.counted(values, codes, np.array([weight.sum()]), Index(1), weight)
    left = sums.without(values, codes, weight)
    for i in range(len(x)):
        others = [(Fraction(w), Fraction(v)) for j, (w, v) in enumerate(zip(weight, x, strict=False)) if j != i]
        n = sum(w for w, _ in others)
        mean = sum(w * v for w, v in others) / n
        variance = sum(w * (v - mean) ** 2 for w, v in others) / n
        found = [float(part[i, 0]) for part in left]
        assert found[0] == pytest.approx(float(n), rel=1e-11)
        assert found[1] == pytest.approx(float(mean), rel=1e-11, abs=1e-300 + 1e-11 * float(variance) ** 0.5)
        assert found[2] == pytest.approx(float(variance), rel=1e-10, abs=1e-300)


# --- tables


@every_family
@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int32, np.uint8, bool])
def test_the_type_of_numbers_does_not_matter(case: Case, dtype: Any) -> None:
    if isinstance(case.family, naively.Beta):
        values = np.float32([0.25, 0.3, 0.6, 0.9])
    elif dtype is bool and not case.family.support.holds(np.zeros(1))[0]:
        values = np.ones(4, bool)
    else:
        values = np.array([1, 0 if dtype is bool else 2, 3, 9], dtype)
    y, rules = [0, 0, 1, 1], {"x": case.family}
    mine = plain_table(columns=rules).fit({"x": values}, y)
    same = plain_table(columns=rules).fit({"x": values.astype(np.float64)}, y)
    assert mine.tally_ == same.tally_
    np.testing.assert_array_equal(
        leave_one_out(mine, {"x": values}, y).scores.likelihood, leave_one_out(same, {"x": values}, y).scores.likelihood
    )


@stored()
@dataclass(frozen=True)
class Lengths(NumberFamily):
    """Lengths of vectors in a plane: a family that was written for this test and nothing else knows."""

    support = naively.LogNormal.support
    names: ClassVar[tuple[str, ...]] = ("square",)
    parameter_names: ClassVar[tuple[str, ...]] = ("scale",)

    def statistics(self, x: Array) -> tuple[Array, ...]:
        return (x * x,)

    def parameters(self, mean: Any, variance: Any) -> tuple[Array, ...]:
        return (np.sqrt(mean[0] / 2),)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        return np.log(x) - 2 * np.log(parameters[0]) - x * x / (2 * parameters[0] ** 2)

    def draw(self, rng: Any, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.rayleigh(parameters[0], size)


def test_a_family_is_one_class(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    table = {"x": np.r_[rng.rayleigh(1.0, 300), rng.rayleigh(4.0, 300)]}
    y = np.repeat(["a", "b"], 300)
    model = plain_table(columns={"x": Lengths()}, alpha=0.0).fit(table, y)
    scales = [np.sqrt((table["x"][y == k] ** 2).mean() / 2) for k in "ab"]
    expected = np.stack([stats.rayleigh(scale=s).logpdf(table["x"]) for s in scales], axis=1)
    np.testing.assert_allclose(model.scores(table).likelihood, expected, rtol=1e-7)
    model.save(tmp_path / "model.nb")
    loaded = naively.load(tmp_path / "model.nb")
    np.testing.assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
    assert loaded.partial_fit(table, y).tally_ == model.partial_fit(table, y).tally_
    assert (leave_one_out(model, table, y).scores.decide() == y).mean() > 0.8


def test_no_two_classes_have_one_name_in_files() -> None:
    @dataclass(frozen=True)
    class Gamma(NumberFamily):
        pass

    with pytest.raises(InputError, match=r"files name naively\.families\.densities\.gamma\.Gamma 'Gamma'"):
        stored()(Gamma)
    assert stored()(Lengths) is Lengths  # as when a notebook's cell is run again


@every_family
def test_models_are_saved_merged_and_print_their_families(case: Case, tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    table, y = {"x": case.numbers(rng.random(60)), "y": case.numbers(rng.random(60) ** 2)}, np.arange(60) % 3
    model = NaiveBayes(columns=dict.fromkeys(table, case.family)).fit(table, y)
    assert [row.taken_as for row in model.schema_] == [case.family.label] * 2
    model.save(tmp_path / "whole.nb")
    model.save(tmp_path / "frozen.nb", frozen=True)
    for name in ("whole.nb", "frozen.nb"):
        np.testing.assert_array_equal(naively.load(tmp_path / name).predict_proba(table), model.predict_proba(table))
    halves = [
        NaiveBayes(columns=dict.fromkeys(table, case.family)).fit({n: v[part] for n, v in table.items()}, y[part])
        for part in (slice(0, 30), slice(30, 60))
    ]
    assert naively.merge(*halves).tally_ == model.tally_


@every_family
def test_classes_are_told_by_the_parameters_of_their_densities(case: Case) -> None:
    rng = np.random.default_rng(0)
    u = np.r_[rng.random(60) * 0.4, 0.5 + rng.random(60) * 0.4]
    table, y = {"x": case.numbers(u), "y": case.numbers(np.full(120, 0.5))}, np.repeat(["a", "b"], 60)
    model = plain_table(columns=dict.fromkeys(table, case.family)).fit(table, y)
    described = [model.table_.blocks[case.family.title].described(k, 0) for k in range(2)]
    place = (" low", " high") if case.family.rising else ("", "")
    values = model.top_values(5)
    assert [values[label][0][0] for label in "ab"] == [f"x{p} ({d})" for p, d in zip(place, described, strict=True)]
    assert all(len(values[label]) == 1 for label in "ab")  # y has one value
    assert model.explain({"x": table["x"][:1]}).counts("x") == dict(zip("ab", described, strict=True))
    low, high = model.intervals({"x": table["x"][:3]})
    assert (low <= high).all()


@pytest.mark.parametrize(
    ("family", "value", "message"),
    [
        (naively.LogNormal(), 0.0, r"column 'x' is 0.0; expected numbers above 0 \(LogNormal\)"),
        (naively.Gamma(), -1.0, r"column 'x' is -1.0; expected numbers above 0 \(Gamma\)"),
        (naively.Exponential(), -1e-9, "expected numbers, 0 or more"),
        (naively.Beta(), 1.0, "expected numbers between 0 and 1, without both"),
        (naively.Beta(), 0.0, "expected numbers between 0 and 1, without both"),
        (naively.Geometric(), 1.5, "expected whole numbers, 0 or more"),
        (naively.NegativeBinomial(), -1.0, "expected whole numbers, 0 or more"),
        (naively.Circular(24), np.inf, "column 'x' is inf"),
        (naively.Gaussian(), np.inf, "column 'x' is inf"),
    ],
)
def test_a_value_without_a_density_is_refused_when_counted_and_adds_nothing_to_scores(
    family: NumberFamily, value: float, message: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("naively.families.blocks.blocks.COUNTED", 4)
    x = (
        np.array([0.25, 0.5, 0.75, 0.5, 0.25, 0.5, 0.75, 0.3])
        if isinstance(family, naively.Beta)
        else np.arange(8.0) + 1
    )
    y, bad = np.arange(8) % 2, x.copy()
    bad[6] = value
    model = plain_table(columns={"x": family}).fit({"x": x}, y)
    before = model.tally_
    with pytest.raises(InputError, match=f"row 6.*{message}"):
        plain_table(columns={"x": family}).fit({"x": bad}, y)
    with pytest.raises(InputError, match=f"row 6.*{message}"):
        model.partial_fit({"x": bad}, y)
    assert model.tally_ == before
    if np.isinf(value):
        with pytest.raises(InputError, match=r"row 0.*is inf"):
            model.predict({"x": [value]})
        return
    missing = model.predict_joint_log_proba({"x": [np.nan]})
    np.testing.assert_array_equal(model.predict_joint_log_proba({"x": [value]}), missing)
    assert model.explain({"x": [value]}) is not None


@every_family
def test_a_column_of_one_value_or_of_none_adds_nothing(case: Case) -> None:
    one = float(case.numbers(np.array([0.5]))[0])
    table = {"x": np.full(6, one), "y": np.full(6, np.nan)}
    model = plain_table(columns=dict.fromkeys(table, case.family)).fit(table, [0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(model.predict_proba({"x": [one], "y": [one]}), [[1 / 3, 2 / 3]], rtol=1e-12)
    assert [row.taken_as for row in model.schema_] == ["ignored"] * 2


@every_family
def test_a_class_without_values_or_with_one_is_as_all_classes_together(case: Case) -> None:
    x = case.numbers(np.array([0.1, 0.4, 0.6, 0.9, 0.3, np.nan]))
    model = plain_table(columns={"x": case.family}, alpha=0.0).fit({"x": x}, [0, 0, 0, 0, 1, 2])
    at = case.numbers(np.array([0.2, 0.5, 0.8]))
    likelihood = model.scores({"x": at}).likelihood
    assert np.isfinite(likelihood).all()
    together = plain_table(columns={"x": case.family}, alpha=0.0).fit({"x": x}, np.zeros(6, int))
    np.testing.assert_allclose(likelihood[:, 2], together.scores({"x": at}).likelihood[:, 0], rtol=1e-6)


def test_alpha_adds_rows_of_all_classes() -> None:
    x, y = np.array([1.0, 2.0, 4.0, 8.0, 16.0]), np.array([0, 0, 1, 1, 1])
    model = plain_table(columns={"x": naively.Exponential()}, alpha=3.0).fit({"x": x}, y)
    mean = (3.0 + 3 * x.mean()) / 5, (28.0 + 3 * x.mean()) / 6
    expected = stats.expon(scale=np.array(mean)).logpdf(5.0)
    np.testing.assert_allclose(model.scores({"x": [5.0]}).likelihood[0], expected, rtol=1e-13)


# Joint log-probabilities of wnb 0.8.1, by families that it fits by maximum likelihood too.
NUMBERS, WHOLE = [1.0, 2.5, 0.5, 4.0, 3.0, 8.0, 16.0, 5.5], [0, 1, 2, 0, 5, 9, 4, 7]
OF_WNB = {
    naively.LogNormal(): [
        [-1.4830746958206857, -7.754772451746305], [-2.1539280559273326, -3.8287720282853557],
        [-4.675574103778918, -2.924648413479295], [-7.2240100701699905, -4.040284312050501],
    ],
    naively.Gaussian(): [
        [-2.3770567107269693, -4.355221350872467], [-1.9263900493997634, -3.985109729418893],
        [-6.19305666551532, -3.2917413781291995], [-28.593056400121988, -3.5123585808122835],
    ],
    naively.Geometric(): [  # of numbers that begin at 1 there
        [-1.252762968495368, -2.6741486494265287], [-2.1000608288825715, -2.8225686545448023],
        [-4.641954410044182, -3.267828669899622], [-8.031145851592996, -3.8615086903727156],
    ],
}  # fmt: skip


@pytest.mark.parametrize("family", OF_WNB, ids=repr)
def test_wnb_gives_the_same_numbers(family: NumberFamily) -> None:
    x, at = (WHOLE, [0, 1, 4, 8]) if family.support.whole else (NUMBERS, [0.7, 2.0, 6.0, 12.0])
    model = plain_table(columns={"x": family}, alpha=0.0).fit({"x": np.array(x, float)}, np.repeat([0, 1], 4))
    found = model.predict_joint_log_proba({"x": np.array(at, float)})
    np.testing.assert_allclose(found, OF_WNB[family], rtol=1e-7)


def test_gaussian_columns_share_one_epsilon_as_gaussiannb_does() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)) * [1e-4, 1.0, 3.0, 1e3], np.arange(200) % 3
    X[y == 0, 0] = 0.0
    table = {f"c{j}": X[:, j] for j in range(4)}
    mine = plain_table(columns=dict.fromkeys(table, naively.Gaussian())).fit(table, y)
    theirs = naively.GaussianNB().fit(X, y)
    np.testing.assert_allclose(
        mine.predict_joint_log_proba(table), theirs.predict_joint_log_proba(X), rtol=1e-13, atol=1e-13
    )


@given(st.data())
def test_the_kernel_of_normal_densities_equals_the_general_way(data: Any) -> None:
    rows, columns, classes = (data.draw(st.integers(1, most)) for most in (6, 12, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    X = rng.normal(size=(rows, columns)) * 10.0 ** rng.integers(-3, 4, columns)
    X[rng.random(X.shape) < 0.2] = np.nan
    mean = rng.normal(size=(classes, columns)) * 10.0 ** rng.integers(-3, 4, columns)
    variance = np.where(rng.random(mean.shape) < 0.1, np.inf, 10.0 ** rng.uniform(-6, 6, mean.shape))
    table = Density("test", Index(classes), Index(columns), np.zeros(classes), naively.Gaussian(), (mean, variance))
    expected = log_densities(table.family, X[:, None], table.parameters).sum(axis=2)
    size = np.abs(log_densities(table.family, X[:, None], table.parameters)).sum(axis=2).max(initial=1.0)
    np.testing.assert_allclose(table.score(X).likelihood, expected, rtol=1e-12, atol=1e-13 * size)


def test_a_circle_has_no_end() -> None:
    hours, y = np.array([23.5, 0.5, 0.0, 23.9, 11.5, 12.5, 12.0, 12.2]), [0] * 4 + [1] * 4
    model = plain_table(columns={"hour": naively.Circular(24)}).fit({"hour": hours}, y)
    assert model.predict({"hour": [0.1, 23.0, 24.1, -0.2, 13.0, 37.0]}).tolist() == [0, 0, 0, 0, 1, 1]
    with pytest.raises(InputError, match="period must be above 0, got 0"):
        naively.Circular(0)
