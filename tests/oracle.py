"""The oracle: Naive Bayes as the textbooks write it, slow and exact, to hold the package against.

Written from the formulas alone; imports nothing of the package. Everything rational stays a `Fraction` until one
logarithm is taken at the end. What no formula says is settled here once:

- An α of 0 is the limit α → 0 (`Factor.order` counts the powers of α that a product goes to zero with).
- ε stands for every share whose count is 0, also where nothing at all was counted.
- A class that never knew a number is taken to have it as all rows together do; a column that no row ever knew,
  and a normalised weight where all weights are 0, say nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Cell = Any  # a number or a category; None where it is missing
Row = Sequence[Cell]
ONE = Fraction(1)
ONE_BY_TWO_PI = Fraction(1 / (2 * math.pi))


def log_of(ratio: Fraction) -> float:
    """The logarithm of a positive rational, however long its numerator: 2**k is taken out first."""
    k = ratio.numerator.bit_length() - ratio.denominator.bit_length()
    return math.log(ratio / Fraction(2) ** k) + k * math.log(2)


@dataclass(frozen=True)
class Factor:
    """ratio · e^exponent · a^order, to first order as a → 0. An order of infinity is a true zero."""

    ratio: Fraction = ONE
    order: float = 0
    exponent: Fraction = Fraction(0)

    def __mul__(self, other: Factor) -> Factor:
        return Factor(self.ratio * other.ratio, self.order + other.order, self.exponent + other.exponent)

    def __pow__(self, times: int) -> Factor:
        return Factor(self.ratio**times, self.order * times, self.exponent * times)

    @property
    def inverse(self) -> Factor:
        return Factor(1 / self.ratio, -self.order, -self.exponent)

    @property
    def finite(self) -> float:
        """The logarithm without its order: the limit of log(self) - order · log a."""
        return log_of(self.ratio) + float(self.exponent)

    @property
    def log(self) -> float:
        """The limit of the logarithm itself."""
        return self.finite if self.order == 0 else -math.inf * self.order

    @property
    def rank(self) -> tuple[float, float]:
        """The larger, the more probable: fewer impossible factors first, then the finite part."""
        return -self.order, self.finite


def certain(probability: Fraction) -> Factor:
    """A probability that no smoothing changes: 0 is a true zero."""
    return Factor(probability) if probability else Factor(order=math.inf)


def product(factors: Iterator[Factor] | Sequence[Factor]) -> Factor:
    return math.prod(factors, start=Factor())


# --- what was seen


@dataclass(frozen=True)
class Data:
    """Weighted rows with labels. `classes` are in sorted order, and some may have no rows."""

    rows: Sequence[Row]
    labels: Sequence[Any]
    weights: Sequence[Fraction]
    classes: Sequence[Any]

    @property
    def columns(self) -> range:
        return range(len(self.rows[0]))

    def sum(self, j: int | None, of: Callable[[Cell], Fraction | int], where: Callable[[Any], bool]) -> Fraction:
        """The weighted sum over the rows of some classes in which column j is known (None: all rows)."""
        return sum(
            (
                weight * of(None if j is None else row[j])
                for row, label, weight in zip(self.rows, self.labels, self.weights, strict=True)
                if where(label) and (j is None or row[j] is not None)
            ),
            Fraction(0),
        )

    def total(self, klass: Any, j: int | None, of: Callable[[Cell], Fraction | int] = lambda x: 1) -> Fraction:
        return self.sum(j, of, lambda label: label == klass)


def known(row: Row) -> Iterator[tuple[int, Cell]]:
    return ((j, x) for j, x in enumerate(row) if x is not None)


def itself(x: Cell) -> Cell:
    return x


def present(x: Cell) -> int:
    return int(x > 0)


# --- smoothing: additive with one α or one for each feature, or epsilon


@dataclass(frozen=True)
class Additive:
    """(N + α) / (T + sum of the αs of all outcomes)."""

    alpha: Fraction | Sequence[Fraction] = ONE

    def at(self, j: int) -> Fraction:
        return self.alpha if isinstance(self.alpha, Fraction) else self.alpha[j]

    def share(self, count: Fraction, total: Fraction, alpha: Fraction, alphas: Sequence[Fraction]) -> Factor:
        if not alphas:
            return Factor()
        (top, up), (bottom, down) = leading(count, [alpha]), leading(total, alphas)
        return Factor(top / bottom, up - down)


@dataclass(frozen=True)
class Epsilon:
    """N / T, but ε where that is 0."""

    eps: Fraction

    def at(self, j: int) -> Fraction:
        return Fraction(0)

    def share(self, count: Fraction, total: Fraction, alpha: Fraction, alphas: Sequence[Fraction]) -> Factor:
        return Factor(count / total if count else self.eps)


Rule = Additive | Epsilon


def leading(count: Fraction, alphas: Sequence[Fraction]) -> tuple[Fraction, int]:
    """The first term of count + sum of alphas, with its power of a, where every alpha of 0 stands for a → 0."""
    whole = count + sum(alphas)
    return (whole, 0) if whole else (Fraction(len(alphas)), 1)


# --- priors: one probability for each class


def smoothed(data: Data, beta: Fraction) -> list[Fraction]:
    """(N_k + β) / (N + βK)."""
    counts = [data.total(c, None) for c in data.classes]
    return [(n + beta) / (sum(counts) + beta * len(counts)) for n in counts]


def empirical(data: Data) -> list[Fraction]:
    """N_k / N."""
    return smoothed(data, Fraction(0))


def uniform(data: Data) -> list[Fraction]:
    return [Fraction(1, len(data.classes)) for _ in data.classes]


# --- families: for each class, p(row | class)

Likelihood = Callable[[Row], list[Factor]]


def multinomial(data: Data, rule: Rule) -> Likelihood:
    """Product of ((N_cw + α) / (N_c + αV))^x."""
    alphas = [rule.at(j) for j in data.columns]
    counts = [[data.total(c, j, itself) for j in data.columns] for c in data.classes]
    totals = [sum(of) for of in counts]
    shares = [
        [rule.share(n, total, a, alphas) for n, a in zip(of, alphas, strict=True)]
        for of, total in zip(counts, totals, strict=True)
    ]
    return lambda row: [product(of[j] ** x for j, x in known(row)) for of in shares]


def complement(data: Data, rule: Rule, norm: bool = False) -> Likelihood:
    """Sum of x · -log((N_w - N_cw + α) / (N - N_c + αV)); with norm, these weights divided by their sum over w."""
    alphas = [rule.at(j) for j in data.columns]
    weights = []
    for c in data.classes:
        others = [data.sum(j, itself, lambda label, c=c: label != c) for j in data.columns]
        shares = [rule.share(n, sum(others), a, alphas) for n, a in zip(others, alphas, strict=True)]
        weights.append([s.inverse for s in shares])
    if norm:
        weights = [normalised(of) for of in weights]
    return lambda row: [product(of[j] ** x for j, x in known(row)) for of in weights]


def normalised(weights: list[Factor]) -> list[Factor]:
    """log w / sum of log w. An infinite weight outweighs all finite ones, and is as large as any other such."""
    sizes = [-w.order for w in weights] if any(w.order for w in weights) else [w.finite for w in weights]
    total = Fraction(sum(map(Fraction, sizes)))
    return [Factor(exponent=Fraction(size) / total if total else Fraction(0)) for size in sizes]


def bernoulli(data: Data, rule: Rule) -> Likelihood:
    """p = (N + α) / (n + 2α) for what is there, 1 - p = (n - N + α) / (n + 2α) for what is not."""

    def factors(c: Any, j: int) -> tuple[Factor, Factor]:
        n, there, a = data.total(c, j), data.total(c, j, present), rule.at(j)
        return rule.share(n - there, n, a, [a, a]), rule.share(there, n, a, [a, a])

    tables = [[factors(c, j) for j in data.columns] for c in data.classes]
    return lambda row: [product(of[j][present(x)] for j, x in known(row)) for of in tables]


def categorical(data: Data, rule: Rule, values: Sequence[Sequence[Cell]], ignore_unseen: bool = False) -> Likelihood:
    """Product of (N_cjv + α) / (N_cj + αK_j), K_j values being possible in column j; others have a count of 0."""

    def factor(c: Any, j: int, v: Cell) -> Factor:
        if ignore_unseen and not data.sum(j, lambda x: int(x == v), lambda label: True):
            return Factor()
        alphas = [rule.at(j)] * len(values[j])
        return rule.share(data.total(c, j, lambda x: int(x == v)), data.total(c, j), rule.at(j), alphas)

    return lambda row: [product(factor(c, j, v) for j, v in known(row)) for c in data.classes]


def rates(data: Data, rule: Rule) -> list[list[Factor]]:
    """λ = (S + α) / (n + α)."""
    return [
        [rule.share(data.total(c, j, itself), data.total(c, j), rule.at(j), [rule.at(j)]) for j in data.columns]
        for c in data.classes
    ]


def poisson(data: Data, rule: Rule) -> Likelihood:
    """Product of λ^x e^-λ / x!."""

    def density(rate: Factor, x: int) -> Factor:
        level = rate.ratio if rate.order == 0 else Fraction(0)
        return rate**x * Factor(Fraction(1, math.factorial(x)), exponent=-level)

    table = rates(data, rule)
    return lambda row: [product(density(of[j], x) for j, x in known(row)) for of in table]


Moments = tuple[Fraction, Fraction] | None


def moments(data: Data, j: int, where: Callable[[Any], bool]) -> Moments:
    """Mean and variance (divided by n), None where nothing is known."""
    n = data.sum(j, lambda x: 1, where)
    if not n:
        return None
    mean = data.sum(j, itself, where) / n
    return mean, data.sum(j, lambda x: (x - mean) ** 2, where) / n


def normals(data: Data, var_smoothing: Fraction) -> list[list[Moments]]:
    """Mean and variance + ε of each class and feature; ε is a share of the largest variance over all rows."""
    overall = [moments(data, j, lambda label: True) for j in data.columns]
    eps = var_smoothing * max((m[1] for m in overall if m), default=Fraction(0))
    table = []
    for c in data.classes:
        found = [moments(data, j, lambda label, c=c: label == c) or overall[j] for j in data.columns]
        table.append([m and (m[0], m[1] + eps) for m in found])
    return table


def gaussian(data: Data, var_smoothing: Fraction) -> Likelihood:
    """Product of e^(-(x - μ)² / 2v) / sqrt(2πv): the square is rational but for π, so its logarithm is halved."""

    def density(of: list[Moments], row: Row) -> Factor:
        terms = [(Fraction(x), *m) for (j, x), m in ((cell, of[cell[0]]) for cell in known(row)) if m]
        squared = product(Factor(ONE_BY_TWO_PI / v, exponent=-((x - mean) ** 2) / v) for x, mean, v in terms)
        return Factor(exponent=Fraction(log_of(squared.ratio)) / 2 + squared.exponent / 2)

    table = normals(data, var_smoothing)
    return lambda row: [density(of, row) for of in table]


# --- decisions


@dataclass(frozen=True)
class Model:
    """Priors and likelihoods; the decisions are those of Bayes' rule."""

    classes: Sequence[Any]
    prior: Sequence[Fraction]
    likelihood: Likelihood

    def joint(self, row: Row) -> list[Factor]:
        """p(c) · p(row | c)."""
        return [certain(p) * q for p, q in zip(self.prior, self.likelihood(row), strict=True)]

    def posterior(self, row: Row) -> list[float]:
        """p(c | row): the classes with the fewest impossible factors share it."""
        joint = self.joint(row)
        least, top = min(f.order for f in joint), max(f.rank for f in joint)[1]
        shares = [math.exp(f.finite - top) if f.order == least else 0.0 for f in joint]
        return [share / sum(shares) for share in shares]

    def maximum_a_posteriori(self, row: Row) -> Any:
        """argmax p(c | row)."""
        return best(self.classes, self.joint(row))

    def maximum_likelihood(self, row: Row) -> Any:
        """argmax p(row | c)."""
        return best(self.classes, self.likelihood(row))


def best(classes: Sequence[Any], factors: Sequence[Factor]) -> Any:
    """The most probable class; the first of equals."""
    return max(zip(factors, classes, strict=True), key=lambda pair: pair[0].rank)[1]


def complement_prior(data: Data, prior: Sequence[Fraction]) -> Sequence[Fraction]:
    """Complement weights are no probabilities: a prior goes with them only where there is one class."""
    return prior if len(data.classes) == 1 else [ONE] * len(data.classes)
