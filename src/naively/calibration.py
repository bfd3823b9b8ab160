"""Calibration: how log-scores that are too sure become probabilities that are right.

Naive Bayes counts dependent features as if each were news, so its scores lie too far apart. One number, the temperature
that they are divided by, puts most of that right. It is found on scores of rows that were left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from naively.cells import Array
from naively.errors import InputError

TEMPERATURES = 2.0 ** np.arange(-8.0, 12.5, 0.5)
"""Where losses are added up; between these, a parabola tells."""
_EXPECTED = 2.0  # so that a handful of rows does not make a model sure of everything, or of nothing
METHODS = ("temperature", "per class", "isotonic")


class Calibration(Protocol):
    """A rule from log-scores below the highest to log-probabilities, not yet normalised."""

    def logs(self, below: Array) -> Array:
        """Rows by classes; what is impossible (-inf) stays so."""


@dataclass(frozen=True)
class Temperature:
    """Scores divided by one number: above 1, they were too sure.

    >>> np.exp(Temperature(2.0).logs(np.array([[0.0, np.log(0.25)]]))).tolist()
    [[1.0, 0.5]]
    """

    value: float = 1.0

    def logs(self, below: Array) -> Array:
        return below / self.value


@dataclass(frozen=True, eq=False)
class PerClass:
    """Scores divided by a temperature, and moved by a constant of their class."""

    temperature: float
    offsets: Array

    def logs(self, below: Array) -> Array:
        return below / self.temperature + self.offsets


@dataclass(frozen=True, eq=False)
class Isotonic:
    """Probabilities at a temperature, each class's straightened by a rising function."""

    temperature: float
    steps: tuple[tuple[Array, Array], ...]

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
class Losses:
    """What rows lose at each of a few temperatures; `a + b` are the losses of both."""

    rows: float
    sums: Array

    @classmethod
    def of(cls, below: Array, truth: Array, weight: Array | None = None) -> Losses:
        each = np.ones(len(truth)) if weight is None else weight
        own = below[np.arange(len(truth)), truth]
        known = np.isfinite(own) & (each > 0)  # what is impossible is so at any temperature
        below, own, each = below[known], own[known], each[known]
        sums = each @ np.log(_totals(np.maximum(below, _FAR))) - (each @ own) / TEMPERATURES
        return cls(float(each.sum()), sums)

    def __add__(self, other: Losses) -> Losses:
        return Losses(self.rows + other.rows, self.sums + other.sums)

    @property
    def temperature(self) -> Temperature:
        """The one at which they lose least; it was expected to be about 1, by a log-normal of deviation e²."""
        if self.rows <= 0:
            return Temperature()
        sums = self.sums + 0.5 * (np.log(TEMPERATURES) / _EXPECTED) ** 2
        best = int(np.argmin(sums))
        step = 0.0
        if 0 < best < len(sums) - 1:
            a, b, c = sums[best - 1 : best + 2]
            step = 0.5 * (a - c) / (a - 2 * b + c) if a - 2 * b + c > 0 else 0.0
        return Temperature(float(TEMPERATURES[best] * 2.0 ** (0.5 * np.clip(step, -0.5, 0.5))))


def _totals(below: Array) -> Array:
    """What the exponentials of each row come to at each temperature; half of one is the square of another."""
    totals = np.empty((len(below), len(TEMPERATURES)))
    for last in (len(TEMPERATURES) - 1, len(TEMPERATURES) - 2):
        chance = np.exp(below / TEMPERATURES[last])
        for k in range(last, -1, -2):
            totals[:, k] = chance.sum(axis=1)
            chance *= chance
    return totals


def normalised(logs: Array) -> Array:
    """Probabilities from their logarithms."""
    chance = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chance / chance.sum(axis=1, keepdims=True)


def fitted(method: str, below: Array, truth: Array, weight: Array | None = None) -> Calibration:
    """The calibration under which these labels are most probable."""
    if method not in METHODS:
        raise InputError(f"calibrate must be True, False or one of {', '.join(map(repr, METHODS))}, got {method!r}")
    temperature = Losses.of(below, truth, weight).temperature
    known = np.isfinite(below[np.arange(len(truth)), truth])  # what is impossible is so however it is calibrated
    each = np.ones(len(truth)) if weight is None else weight.astype(np.float64)
    known &= each > 0
    below, truth, each = np.maximum(below[known], _FAR), truth[known], each[known]
    if method == "temperature" or not len(truth):
        return temperature
    make = _per_class if method == "per class" else _isotonic
    return make(below, truth, each, temperature)


_FAR = -1e30  # stands for impossible where a number is needed
_SHRINK = (
    1.0  # as if each constant had been drawn from a standard normal, so that a class of a few rows is not torn off
)


def _per_class(below: Array, truth: Array, each: Array, start: Temperature) -> PerClass:
    from scipy.optimize import minimize

    classes, rows = below.shape[1], np.arange(len(truth))

    def loss(parameters: Array) -> tuple[float, Array]:
        scale = np.exp(-parameters[0])
        logs = below * scale + parameters[1:]
        chance = normalised(logs)
        above = logs.max(axis=1)
        lost = np.log(np.exp(logs - above[:, None]).sum(axis=1)) + above - logs[rows, truth]
        slope = chance.copy()
        slope[rows, truth] -= 1.0
        slope *= each[:, None]
        of_scale = -(slope * below).sum() * scale
        shrunk = 0.5 * _SHRINK * float(parameters[1:] @ parameters[1:])
        return each @ lost + shrunk, np.concatenate([[of_scale], slope.sum(axis=0) + _SHRINK * parameters[1:]])

    first = np.concatenate([[np.log(start.value)], np.zeros(classes)])
    found: Any = minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return PerClass(float(np.exp(found.x[0])), found.x[1:] - found.x[1:].mean())


def _isotonic(below: Array, truth: Array, each: Array, start: Temperature) -> Isotonic:
    from scipy.optimize import isotonic_regression

    chance = normalised(start.logs(below))
    # As if each end had seen one row more of either kind: nothing is quite sure.
    low = 1.0 / (each.sum() + 2.0)
    steps = []
    for c in range(chance.shape[1]):
        x, at = np.unique(chance[:, c], return_inverse=True)
        many = np.bincount(at.ravel(), weights=each)
        y = np.bincount(at.ravel(), weights=each * (truth == c)) / many
        steps.append((x, np.clip(isotonic_regression(y, weights=many).x, low, 1.0 - low)))
    return Isotonic(start.value, tuple(steps))
