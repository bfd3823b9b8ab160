"""Calibration: probabilities from log-scores, which by themselves are overconfident.

Naive Bayes counts dependent features as if they were independent, so its scores lie too far apart. Dividing them by one
number, the temperature, corrects most of that. It is fitted on the scores of held-out rows.

Naive Bayes counts dependent features as if each were news, so its scores lie too far apart. One number, the temperature
that they are divided by, puts most of that right. It is found on scores of rows that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.store.damage import LARGEST, are, finite, need
from naively.store.registry import stored

TEMPERATURES = 2.0 ** np.arange(-8.0, 12.5, 0.5)
"""Temperatures at which losses are added up; a parabola finds the best one between them."""
# strength of the prior on the temperature, so that a handful of rows does not make a model sure of everything or
# nothing
_EXPECTED = 2.0
METHODS = ("temperature", "per class", "isotonic")
AUTO = "auto"
"""A temperature, or one and a constant for each class if that is better for held-out rows."""

SAMPLE = 800
"""Number of rows that are enough for a temperature, if MISTAKES of them are wrong."""
MOST = 4000
"""Number of rows that are used otherwise, and by the other methods."""
MISTAKES = 20
CELLS = 1 << 20
"""Largest number of rows × classes that are used."""
FEWEST = 20
"""With fewer rows no calibration is fitted."""


class Calibration(Protocol):
    """A rule from log-scores, less the highest of their row, to log-probabilities before normalisation."""

    @property
    def keeps_order(self) -> bool:
        """True if the class with the highest score is always the most probable."""

    def logs(self, below: Array) -> Array:
        """Return the logarithms, rows by classes; impossible ones (-inf) stay so."""


def _positive(value: float) -> bool:
    return 0.0 < value <= LARGEST


def _check_temperature(calibration: Temperature) -> None:
    need(_positive(calibration.value), "a temperature")


@stored(check=_check_temperature)
@dataclass(frozen=True)
class Temperature:
    """Scores divided by one number; a number above 1 means that they were overconfident.

    >>> np.exp(Temperature(2.0).logs(np.array([[0.0, np.log(0.25)]]))).tolist()
    [[1.0, 0.5]]
    """

    value: float = 1.0
    keeps_order: ClassVar[bool] = True

    def logs(self, below: Array) -> Array:
        return below / self.value


def _check_per_class(calibration: PerClass) -> None:
    need(_positive(calibration.temperature), "a temperature")
    need(are(calibration.offsets, "f8", None) and finite(calibration.offsets), "the constants of a calibration")


@stored(check=_check_per_class)
@dataclass(frozen=True, eq=False)
class PerClass:
    """Scores divided by a temperature, plus a constant for each class."""

    temperature: float
    offsets: Array
    keeps_order: ClassVar[bool] = False

    def logs(self, below: Array) -> Array:
        return below / self.temperature + self.offsets


def _check_isotonic(calibration: Isotonic) -> None:
    need(_positive(calibration.temperature), "a temperature")
    for x, y in calibration.steps:
        need(are(x, "f8", None) and are(y, "f8", *x.shape) and len(x) > 0, "the steps of a calibration")
        rising = (np.diff(x) > 0).all() and (np.diff(y) >= 0).all()
        within = all(values[0] >= 0.0 and values[-1] <= 1.0 for values in (x, y))
        need(rising and within, "steps of a calibration that do not rise")


@stored(check=_check_isotonic)
@dataclass(frozen=True, eq=False)
class Isotonic:
    """Probabilities at a temperature, adjusted for each class by a rising function."""

    temperature: float
    steps: tuple[tuple[Array, Array], ...]
    keeps_order: ClassVar[bool] = False

    def logs(self, below: Array) -> Array:
        chance = normalised(below / self.temperature)
        straight = np.empty_like(chance)
        for c, (x, y) in enumerate(self.steps):
            straight[:, c] = np.interp(chance[:, c], x, y)
        straight = np.where(np.isneginf(below), 0.0, straight)
        straight = np.where(straight.sum(axis=1, keepdims=True) > 0, straight, chance)
        with np.errstate(divide="ignore"):
            return np.where(np.isneginf(below), -np.inf, np.log(straight))


@dataclass(frozen=True, eq=False)
class PerFold:
    """The calibration of held-out rows: each fold has one that was fitted on the other folds."""

    fold: Array
    calibrations: tuple[Calibration, ...]

    @property
    def keeps_order(self) -> bool:
        return all(calibration.keeps_order for calibration in self.calibrations)

    def logs(self, below: Array) -> Array:
        logs = np.empty_like(below)
        for number, calibration in enumerate(self.calibrations):
            rows = self.fold == number
            logs[rows] = calibration.logs(below[rows])
        return logs


def _check_losses(losses: Losses) -> None:
    need(are(losses.sums, "f8", len(TEMPERATURES)) and finite(losses.sums), "the losses of a calibration")
    need(0.0 <= losses.rows <= LARGEST, "the rows of a calibration")
    need(abs(losses.log_margins) <= LARGEST, "the margins of a calibration")


@stored(check=_check_losses)
@dataclass(frozen=True, eq=False)
class Losses:
    """The losses of rows at each of a few temperatures; `a + b` are the losses of both.

    `log_margins` is the sum over rows of the log of how far the second best class is behind the best.
    """

    rows: float
    sums: Array
    log_margins: float = 0.0

    @classmethod
    def of(cls, below: Array, truth: Array, weight: Array | None = None) -> Losses:
        each = np.ones(len(truth)) if weight is None else weight
        own = below[np.arange(len(truth)), truth]
        known = np.isfinite(own) & (each > 0)  # an impossible label is so at any temperature
        below, own, each = below[known], own[known], each[known]
        sums = each @ np.log(_totals(np.maximum(below, _FAR))) - (each @ own) / TEMPERATURES
        return cls(float(each.sum()), sums, float(each @ np.log(_margins(below))))

    def __add__(self, other: Losses) -> Losses:
        return Losses(self.rows + other.rows, self.sums + other.sums, self.log_margins + other.log_margins)

    @property
    def margin(self) -> float:
        """Geometric mean of the distance from the best to the second best class."""
        return float(np.exp(self.log_margins / self.rows)) if self.rows > 0 else 0.0

    @property
    def temperature(self) -> Temperature:
        """Return the temperature with the least loss on these rows and one more, which is wrong by the usual margin.

        The additional row keeps a sample without a mistake from making a model sure of everything (Laplace's rule for
        the
        share of mistakes); a log-normal prior of deviation e² about 1 decides if the rows do not.
        """
        if self.rows <= 0:
            return Temperature()
        sums = self.sums + np.logaddexp(0.0, self.margin / TEMPERATURES)
        sums = sums + 0.5 * (np.log(TEMPERATURES) / _EXPECTED) ** 2
        best = int(np.argmin(sums))
        step = 0.0
        if 0 < best < len(sums) - 1:
            a, b, c = sums[best - 1 : best + 2]
            step = 0.5 * (a - c) / (a - 2 * b + c) if a - 2 * b + c > 0 else 0.0
        return Temperature(float(TEMPERATURES[best] * 2.0 ** (0.5 * np.clip(step, -0.5, 0.5))))


def _margins(below: Array) -> Array:
    """Return the distance of the second best class of each row from the best, within bounds that a logarithm allows."""
    if below.shape[1] < 2:
        return np.full(len(below), _NARROW)
    return np.clip(-np.partition(below, -2, axis=1)[:, -2], _NARROW, _WIDE)


def _totals(below: Array) -> Array:
    """Return the sum of exponentials of each row at each temperature; halving a temperature squares the terms."""
    totals = np.empty((len(below), len(TEMPERATURES)))
    for last in (len(TEMPERATURES) - 1, len(TEMPERATURES) - 2):
        chance = np.exp(below / TEMPERATURES[last])
        for k in range(last, -1, -2):
            totals[:, k] = chance.sum(axis=1)
            chance *= chance
    return totals


def normalised(logs: Array) -> Array:
    """Return probabilities from their logarithms."""
    chance = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True)


def fitted(
    method: str, below: Array, truth: Array, weight: Array | None = None, losses: Losses | None = None
) -> Calibration:
    """Return the calibration under which these labels are most probable; `losses` are those of the rows, if known."""
    if method not in (*METHODS, AUTO):
        raise InputError(f"calibrate must be True, False or one of {', '.join(map(repr, METHODS))}, got {method!r}")
    losses = Losses.of(below, truth, weight) if losses is None else losses
    temperature = losses.temperature
    known = np.isfinite(below[np.arange(len(truth)), truth])  # an impossible label is so under any calibration
    each = np.ones(len(truth)) if weight is None else weight.astype(np.float64)
    known &= each > 0
    below, truth, each = np.maximum(below[known], _FAR), truth[known], each[known]
    if method == "temperature" or not len(truth):
        return temperature
    if method == "isotonic":
        return _isotonic(below, truth, each, temperature)
    if method == AUTO and each.sum() < _ROWS_FOR_A_CLASS * below.shape[1]:
        return temperature
    per_class = _per_class(below, truth, each, temperature, losses.margin)
    return per_class if method == "per class" or _is_better(per_class, temperature, below, truth, each) else temperature


def cross_fitted(method: str, below: Array, truth: Array, weight: Array | None = None) -> Calibration | None:
    """Return the calibration of held-out rows, each by other rows than itself; None if there are too few.

    It is fitted like that of a model, so that held-out rows get probabilities as the model will give.
    """
    each = np.ones(len(truth)) if weight is None else weight
    if each.sum() < FEWEST:
        return None
    fold = np.random.default_rng(1).permutation(len(truth)) % _FOLDS
    found = []
    for number in range(_FOLDS):
        others = np.flatnonzero(fold != number)
        rows = others[enough_rows(method, below[others], truth[others], each[others])]
        found.append(fitted(method, below[rows], truth[rows], each[rows]))
    return PerFold(fold, tuple(found))


def enough_rows(method: str, below: Array, truth: Array, each: Array) -> Array:
    """Return the numbers of the rows that a calibration is fitted on."""
    first, more = stages(method, *below.shape)
    wrong = below[first].argmax(axis=1) != truth[first]
    return first if each[first] @ wrong >= MISTAKES else np.concatenate([first, more])


def stages(method: str, rows: int, classes: int) -> tuple[Array, Array]:
    """Return the numbers of the rows to fit a calibration on, and of those to add if few of them are wrong.

    They are drawn at random, but always the same.
    """
    first, most = stage_sizes(method, classes)
    drawn = np.arange(rows)
    if rows > first:
        drawn = np.random.default_rng(0).choice(rows, min(rows, most), replace=False)
    return np.sort(drawn[:first]), np.sort(drawn[first:])


def stage_sizes(method: str, classes: int) -> tuple[int, int]:
    """Return the number of rows to fit a calibration on at first, and the largest number."""
    most = min(max(CELLS // max(classes, 1), FEWEST), MOST)
    return min(SAMPLE if method in ("temperature", AUTO) else MOST, most), most


_FOLDS = 5
_FAR = -1e30  # stands for impossible where a number is needed
_NARROW, _WIDE = 1e-3, 1e6
# Each constant has a standard normal prior, so that a class with few rows does not get an extreme one.
_SHRINK = 1.0
_STAY = 0.01  # the temperature's prior is centred on the one that was found before
_STEPS = 50
_ROWS_FOR_A_CLASS = 20
"""With fewer rows per class, constants for classes are not tried."""
_WORTH = 2.0
"""A constant is worth having if it lowers the loss of all rows by so much (Akaike's criterion would ask for 1)."""


def _is_better(per_class: PerClass, temperature: Temperature, below: Array, truth: Array, each: Array) -> bool:
    """True if constants for classes pay: a clearly lower loss, and no more mistakes."""
    (loss, wrong), (plain, plain_wrong) = (
        _loss_and_mistakes(rule, below, truth, each) for rule in (per_class, temperature)
    )
    constants = int(np.count_nonzero(np.bincount(truth))) - 1
    return plain - loss > _WORTH * constants and wrong <= plain_wrong


def _loss_and_mistakes(rule: Calibration, below: Array, truth: Array, each: Array) -> tuple[float, float]:
    """Return the loss of all rows, and the weight of those that are wrong."""
    logs = rule.logs(below)
    logs = logs - logs.max(axis=1, keepdims=True)
    losses = np.log(np.exp(logs).sum(axis=1)) - logs[np.arange(len(truth)), truth]
    return float(each @ losses), float(each @ (logs.argmax(axis=1) != truth))


def _per_class(below: Array, truth: Array, each: Array, start: Temperature, margin: float) -> PerClass:
    """Fit by Newton's method: the loss is convex in the inverse of the temperature and the constants."""
    rows, classes = np.arange(len(truth)), below.shape[1]
    below, margin = below / start.value, margin / start.value
    at, loss = np.concatenate([[1.0], np.zeros(classes)]), np.inf

    def loss_at(at: Array) -> tuple[float, Array]:
        logs = below * at[0] + at[1:]
        above = logs.max(axis=1)
        chance = np.exp(logs - above[:, None])
        total = chance.sum(axis=1)
        found = each @ (np.log(total) + above - logs[rows, truth]) + np.logaddexp(0.0, margin * at[0])
        found += 0.5 * _SHRINK * (at[1:] @ at[1:]) + 0.5 * _STAY * (at[0] - 1.0) ** 2
        return float(found), chance / total[:, None]

    loss, chance = loss_at(at)
    for _ in range(_STEPS):
        slope, curve = _derivatives(at, below, truth, each, chance, margin)
        step = np.linalg.solve(curve, slope)
        share = 1.0
        while True:
            there = at - share * step
            found, there_chance = loss_at(there) if there[0] > 0 else (np.inf, chance)
            if found <= loss or share < 1e-6:
                break
            share /= 2
        done = not found < loss - 1e-9 * (1.0 + abs(loss))
        if found <= loss:
            at, loss, chance = there, found, there_chance
        if done:
            break
    return PerClass(start.value / float(at[0]), at[1:] - at[1:].mean())


def _derivatives(
    at: Array, below: Array, truth: Array, each: Array, chance: Array, margin: float
) -> tuple[Array, Array]:
    """Return the first and second derivatives of the loss by the inverse of the temperature and by the constants."""
    rows, size = np.arange(len(truth)), len(at)
    weighted = chance * each[:, None]
    mean = (chance * below).sum(axis=1)
    apart = below - mean[:, None]
    wrong = float(np.exp(-np.logaddexp(0.0, -margin * at[0])))
    slope = np.concatenate([[each @ (mean - below[rows, truth]) + margin * wrong], weighted.sum(axis=0)])
    np.subtract.at(slope, truth + 1, each)
    slope[0] += _STAY * (at[0] - 1.0)
    slope[1:] += _SHRINK * at[1:]
    curve = np.empty((size, size))
    curve[0, 0] = (weighted * apart * below).sum() + margin**2 * wrong * (1.0 - wrong) + _STAY
    curve[0, 1:] = curve[1:, 0] = (weighted * apart).sum(axis=0)
    # einsum, since starting the threads of a matrix product would take longer than so small a product.
    curve[1:, 1:] = np.diag(weighted.sum(axis=0) + _SHRINK) - np.einsum("ij,ik->jk", weighted, chance)
    return slope, curve


def _isotonic(below: Array, truth: Array, each: Array, start: Temperature) -> Isotonic:
    from scipy.optimize import isotonic_regression

    chance = normalised(start.logs(below))
    # Each end gets one more row of either kind, so that nothing is quite sure.
    low = 1.0 / (each.sum() + 2.0)
    steps = []
    for c in range(chance.shape[1]):
        x, at = np.unique(chance[:, c], return_inverse=True)
        n_rows = np.bincount(at.ravel(), weights=each)
        y = np.bincount(at.ravel(), weights=each * (truth == c)) / n_rows
        steps.append((x, np.clip(isotonic_regression(y, weights=n_rows).x, low, 1.0 - low)))
    return Isotonic(start.value, tuple(steps))
