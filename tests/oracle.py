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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
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


def product(factors: Iterable[Factor]) -> Factor:
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

    def rows_of(self, klass: Any) -> Fraction:
        """N_k: how many rows a class has, by weight."""
        return sum((w for label, w in zip(self.labels, self.weights, strict=True) if label == klass), Fraction(0))

    def sum(self, j: int, of: Callable[[Cell], Any], classes: Sequence[Any]) -> Fraction:
        """The weighted sum of something of column j, over the rows of these classes in which it is known."""
        triples = zip(self.rows, self.labels, self.weights, strict=True)
        return sum((w * of(r[j]) for r, label, w in triples if label in classes and r[j] is not None), Fraction(0))


def known(row: Row) -> Iterator[tuple[int, Cell]]:
    return ((j, x) for j, x in enumerate(row) if x is not None)


def one(x: Cell) -> int:
    return 1


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
    whole = sum(alphas, count)
    return (whole, 0) if whole else (Fraction(len(alphas)), 1)


# --- priors: one probability for each class


def smoothed(data: Data, beta: Fraction) -> list[Fraction]:
    """(N_k + β) / (N + βK)."""
    counts = [data.rows_of(c) for c in data.classes]
    return [(n + beta) / (sum(counts) + beta * len(counts)) for n in counts]


def empirical(data: Data) -> list[Fraction]:
    """N_k / N."""
    return smoothed(data, Fraction(0))


def uniform(data: Data) -> list[Fraction]:
    return [Fraction(1, len(data.classes)) for _ in data.classes]


# --- families: for each class, p(row | class)

Likelihood = Callable[[Row], list[Factor]]


def shares(counts: Sequence[Fraction], rule: Rule) -> list[Factor]:
    """(N_w + α) / (N + αV) of each word."""
    total, alphas = sum(counts, Fraction(0)), [rule.at(j) for j in range(len(counts))]
    return [rule.share(count, total, alpha, alphas) for count, alpha in zip(counts, alphas, strict=True)]


def multinomial(data: Data, rule: Rule) -> Likelihood:
    """Product of ((N_cw + α) / (N_c + αV))^x."""
    table = [shares([data.sum(j, itself, [c]) for j in data.columns], rule) for c in data.classes]
    return lambda row: [product(of[j] ** x for j, x in known(row)) for of in table]


def complement(data: Data, rule: Rule, norm: bool = False) -> Likelihood:
    """Sum of x · -log((N_w - N_cw + α) / (N - N_c + αV)); with norm, these weights divided by their sum over w."""
    others = [[k for k in data.classes if k != c] for c in data.classes]
    table = [shares([data.sum(j, itself, of) for j in data.columns], rule) for of in others]
    weights = [[share.inverse for share in of] for of in table]
    weights = [normalised(of) for of in weights] if norm else weights
    return lambda row: [product(of[j] ** x for j, x in known(row)) for of in weights]


def normalised(weights: list[Factor]) -> list[Factor]:
    """log w / sum of log w. An infinite weight outweighs all finite ones, and is as large as any other such."""
    infinite = any(w.order for w in weights)
    sizes = [Fraction(-w.order if infinite else w.finite) for w in weights]
    return [Factor(exponent=size / sum(sizes) if any(sizes) else Fraction(0)) for size in sizes]


def bernoulli(data: Data, rule: Rule) -> Likelihood:
    """p = (N + α) / (n + 2α) for what is there, 1 - p = (n - N + α) / (n + 2α) for what is not."""

    def factors(c: Any, j: int) -> tuple[Factor, Factor]:
        n, there, a = data.sum(j, one, [c]), data.sum(j, present, [c]), rule.at(j)
        return rule.share(n - there, n, a, [a, a]), rule.share(there, n, a, [a, a])

    tables = [[factors(c, j) for j in data.columns] for c in data.classes]
    return lambda row: [product(of[j][present(x)] for j, x in known(row)) for of in tables]


def categorical(data: Data, rule: Rule, values: Sequence[Collection[Cell]], ignore_unseen: bool = False) -> Likelihood:
    """Product of (N_cjv + α) / (N_cj + αK_j), K_j values being possible in column j; others have a count of 0."""

    def factor(c: Any, j: int, v: Cell) -> Factor:
        def same(x: Cell) -> int:
            return int(x == v)

        if ignore_unseen and not data.sum(j, same, data.classes):
            return Factor()
        a = rule.at(j)
        return rule.share(data.sum(j, same, [c]), data.sum(j, one, [c]), a, [a] * len(values[j]))

    return lambda row: [product(factor(c, j, v) for j, v in known(row)) for c in data.classes]


def rates(data: Data, rule: Rule) -> list[list[Factor]]:
    """λ = (S + α) / (n + α)."""
    return [
        [rule.share(data.sum(j, itself, [c]), data.sum(j, one, [c]), rule.at(j), [rule.at(j)]) for j in data.columns]
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


def moments(data: Data, j: int, classes: Sequence[Any]) -> Moments:
    """Mean and variance (divided by n), None where nothing is known."""
    n = data.sum(j, one, classes)
    if not n:
        return None
    mean = data.sum(j, itself, classes) / n
    return mean, data.sum(j, lambda x: (x - mean) ** 2, classes) / n


def normals(data: Data, var_smoothing: Fraction) -> list[list[Moments]]:
    """Mean and variance + ε of each class and feature; ε is a share of the largest variance over all rows."""
    overall = [moments(data, j, data.classes) for j in data.columns]
    eps = var_smoothing * max((m[1] for m in overall if m), default=Fraction(0))
    table = [[moments(data, j, [c]) or overall[j] for j in data.columns] for c in data.classes]
    return [[m and (m[0], m[1] + eps) for m in of] for of in table]


def gaussian(data: Data, var_smoothing: Fraction) -> Likelihood:
    """Product of e^(-(x - μ)² / 2v) / sqrt(2πv): the square is rational but for π, so its logarithm is halved."""

    def density(of: list[Moments], row: Row) -> Factor:
        terms = [(x, *m) for j, x in known(row) if (m := of[j])]
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
        """argmax p(c | row); the first of equals."""
        return self._best(self.joint(row))

    def maximum_likelihood(self, row: Row) -> Any:
        """argmax p(row | c); the first of equals."""
        return self._best(self.likelihood(row))

    def _best(self, factors: list[Factor]) -> Any:
        return self.classes[max(range(len(factors)), key=lambda k: factors[k].rank)]


def complement_prior(data: Data, prior: Sequence[Fraction]) -> Sequence[Fraction]:
    """Complement weights are no probabilities: a prior goes with them only where there is one class."""
    return prior if len(data.classes) == 1 else [ONE] * len(data.classes)
