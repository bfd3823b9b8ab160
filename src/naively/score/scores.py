"""Scores: log-likelihoods of rows by classes, and the labels and probabilities that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.errors import InputError, nearest
from naively.names import Index
from naively.score.calibration import Calibration
from naively.score.priors import Empirical, Prior, Smoothed, Uniform, prior_of

_LOWEST = -1e300


@dataclass(frozen=True, eq=False)
class Scores:
    """Log-likelihoods, rows by classes, and the log-prior of each class; never NaN.

    `impossible` counts the factors of probability zero in each likelihood, whose finite part is then what the other
    factors come to: a class with fewer impossible factors beats one with more. `prior` is one for all rows, or one
    for each. `calibration` makes probabilities of scores that are too sure; `shift` is what other priors than those
    of the training rows add to the log of each.

    >>> scores = Scores(np.array(["a", "b"]), np.log([[0.2, 0.1]]), np.log([0.1, 0.9]))
    >>> scores.decide().tolist(), scores.decide(by="likelihood").tolist()
    (['b'], ['a'])
    >>> scores.proba().round(3).tolist()
    [[0.182, 0.818]]
    >>> scores.under({"a": 0.5, "b": 0.5}).proba().round(3).tolist()
    [[0.667, 0.333]]
    """

    classes: Array
    likelihood: Array
    prior: Array
    impossible: Array | None = None
    calibration: Calibration | None = None
    shift: Array | None = None
    shares: Array | None = None  # of the classes in the training rows; None: as the prior says

    def __len__(self) -> int:
        return len(self.likelihood)

    def plus(self, other: Scores) -> Scores:
        """Add the likelihoods of further features of the same rows, independent of these given the class."""
        impossible = self.impossible
        if other.impossible is not None:
            impossible = other.impossible if impossible is None else impossible + other.impossible
        return Scores(self.classes, self.likelihood + other.likelihood, self.prior, impossible)

    @staticmethod
    def joined(parts: Sequence[Scores]) -> Scores:
        """Return the scores of several runs of rows as one."""
        first = parts[0]
        if len(parts) == 1:
            return first
        impossible = [np.zeros_like(p.likelihood) if p.impossible is None else p.impossible for p in parts]
        none = all(part.impossible is None for part in parts)
        likelihood = np.concatenate([part.likelihood for part in parts])
        prior = first.prior if first.prior.ndim == 1 else np.concatenate([part.prior for part in parts])
        counts = None if none else np.concatenate(impossible)
        return replace(first, likelihood=likelihood, prior=prior, impossible=counts)

    def take(self, rows: Array) -> Scores:
        """Return the scores of some of the rows."""
        impossible = None if self.impossible is None else self.impossible[rows]
        prior = self.prior if self.prior.ndim == 1 else self.prior[rows]
        return replace(self, likelihood=self.likelihood[rows], prior=prior, impossible=impossible)

    @cached_property
    def joint(self) -> Array:
        """log p(x, c): -inf where the class or one of the factors is impossible (for complements: +inf)."""
        joint = self._finite("posterior")
        if self.impossible is not None:
            impossible = self._impossible()
            joint = np.where(impossible > 0, -np.inf, np.where(impossible < 0, np.inf, joint))
        return np.where(np.isneginf(self.prior), -np.inf, joint) if np.isneginf(self.prior).any() else joint

    @cached_property
    def below(self) -> Array:
        """Return scores less the highest of their row; -inf for classes with more impossible factors than another."""
        scores = self._ranked("posterior")
        return scores - scores.max(axis=1, keepdims=True)  # subtracted first, so that large scores lose no digits

    def log_proba(self) -> Array:
        """log p(c | x), by log-sum-exp over the classes that are least impossible."""
        below = self.below if self.calibration is None else self.calibration.logs(self.below)
        if self.shift is not None:
            moved = below + self.shift
            # if all classes are impossible under the new prior, it is ignored
            below = np.where(np.isneginf(moved.max(axis=1, keepdims=True)), below, moved)
        if self.calibration is not None or self.shift is not None:
            below = below - below.max(axis=1, keepdims=True)
        return below - np.log(np.exp(below).sum(axis=1, keepdims=True))

    def proba(self) -> Array:
        """p(c | x)."""
        return np.exp(self.log_proba())

    def at(self, calibration: Calibration | None) -> Scores:
        """Return the scores under another calibration."""
        return replace(self, calibration=calibration)

    # --- other priors

    def under(self, prior: Any) -> Scores:
        """Return the scores under other priors: a rule, probabilities in order, or by label."""
        index = Index.of(self.classes)
        if prior is None or isinstance(prior, (Empirical, Smoothed)):
            raise InputError(
                f"under needs the probabilities of the classes: in sorted order, by label, or Uniform(); got {prior!r}"
            )
        rule: Prior = prior_of(prior, Uniform())
        return replace(self, shift=self._shifted(rule.log(index, np.ones(len(self.classes)))))

    def _shifted(self, logs: Array) -> Array:
        """Return the change of scores under other priors; a class without training rows stays impossible."""
        trained = self._trained()
        never = np.isneginf(trained)
        return np.where(never, 0.0, logs - np.where(never, 0.0, trained))

    def adapted(self, *, steps: int = 1000, tolerance: float = 1e-8) -> Scores:
        """Return the scores under priors estimated from these rows (EM after Saerens, Latinne and Decaestecker).

        Use it for rows that come from one place, and enough of them to estimate the frequency of the classes there.
        """
        trained = self._trained()
        start = replace(self, shift=None).log_proba()
        prior = np.where(np.isneginf(trained), 0.0, np.exp(trained))
        for _ in range(steps if len(self) else 0):
            with np.errstate(divide="ignore"):
                logs = start + (np.log(prior) - np.where(np.isneginf(trained), 0.0, trained))
            chance = np.exp(logs - logs.max(axis=1, keepdims=True))
            found = (chance / chance.sum(axis=1, keepdims=True)).mean(axis=0)
            done, prior = np.abs(found - prior).max() < tolerance, found
            if done:
                break
        with np.errstate(divide="ignore"):
            return replace(self, shift=self._shifted(np.log(prior)))

    @property
    def priors(self) -> dict[Any, float]:
        """Return the probability of each class before any feature is known, as these scores use it."""
        logs = self._trained() if self.shift is None else self._trained() + self.shift
        return dict(zip(self.classes.tolist(), np.exp(logs).tolist(), strict=True))

    def _trained(self) -> Array:
        trained = self.prior if self.shares is None else self.shares
        if trained.ndim != 1:
            raise InputError("rows that were left out have a prior each; score rows with a fitted model instead")
        return trained

    # --- deciding

    def decide(
        self, by: str = "posterior", *, costs: Any = None, thresholds: Any = None, abstain_below: float | None = None
    ) -> Array:
        """Return the label of each row; None where the row is left undecided.

        `by` posterior (MAP) or likelihood alone (MLE). `costs[i][j]` (or {label: {label: cost}}) is the cost of
        deciding
        label j where i is true: the label with the lowest expected cost is decided. `thresholds` {label: p}: such a
        label is
        decided if its probability reaches p (of several, the one that exceeds it most), and never otherwise.
        `abstain_below`: rows are left undecided if the probability of the decided label is lower.

        `by` posterior (MAP) or likelihood alone (MLE). `costs[i][j]` (or {label: {label: cost}}) is what it costs to
        decide j where i is true: the label with the lowest cost to be expected is decided. `thresholds` {label: p}:
        such a label is decided wherever its probability reaches p (of several, the one that exceeds it most), and
        nowhere else. `abstain_below`: no label where the probability of the one decided is lower.
        """
        if by not in ("posterior", "likelihood"):
            raise InputError(f"by must be 'posterior' or 'likelihood', got {by!r}")
        if by == "likelihood" and (costs is not None or thresholds is not None or abstain_below is not None):
            raise InputError("costs, thresholds and abstain_below are about probabilities: leave by='posterior'")
        if costs is not None and thresholds is not None:
            raise InputError("costs and thresholds exclude each other: give one of them")
        if costs is None and thresholds is None and abstain_below is None:
            return self.classes[self._most(by)]
        proba = self.proba()
        if costs is not None:
            place = np.argmin(proba @ self._cost_matrix(costs), axis=1)
        elif thresholds is not None:
            place = self._over(proba, thresholds)
        else:
            place = np.argmax(proba, axis=1)
        labels = self.classes[np.maximum(place, 0)]
        unlabelled = place < 0
        if abstain_below is not None:
            unlabelled |= proba[np.arange(len(proba)), place] < _probability(abstain_below, "abstain_below")
        if abstain_below is None and not unlabelled.any():
            return labels
        labels = labels.astype(object)
        labels[unlabelled] = None
        return labels

    def top(self, k: int = 3) -> tuple[Array, Array]:
        """Return the k most probable labels of each row and their probabilities, the highest first."""
        if not isinstance(k, (int, np.integer)) or k < 1:
            raise InputError(f"k must be a whole number above 0, got {k!r}")
        proba = self.proba()
        order = np.argsort(-proba, axis=1, kind="stable")[:, : min(k, proba.shape[1])]
        return self.classes[order], np.take_along_axis(proba, order, axis=1)

    def _most(self, by: str) -> Array:
        """Return the number of each row's label."""
        same_order = self.calibration is None or self.calibration.keeps_order
        if by == "posterior" and (self.shift is not None or not same_order):
            return np.argmax(self.log_proba(), axis=1)
        if self.impossible is None and self.prior.ndim == 1:
            prior = self.prior if by == "posterior" else np.zeros(len(self.prior))
            return _core.decide(self.likelihood, prior)
        if self.impossible is None and by == "posterior" and np.isfinite(self.prior).all():
            return _core.decide(self.likelihood + self.prior, np.zeros(len(self.classes)))
        return np.argmax(self._ranked(by), axis=1)

    def _cost_matrix(self, costs: Any) -> Array:
        size = len(self.classes)
        if hasattr(costs, "loc") and hasattr(costs, "to_dict"):  # a DataFrame is read by its index and columns
            costs = costs.to_dict("index")
        if isinstance(costs, Mapping):
            matrix = np.zeros((size, size))
            for truth, row in costs.items():
                if not isinstance(row, Mapping):
                    raise InputError(f"costs of {truth!r} must be {{label: cost}}, got {row!r}")
                for decided, cost in row.items():
                    matrix[self._place(truth, "costs"), self._place(decided, "costs")] = _cost(cost, costs, 0)
        else:
            matrix = _cost(costs, costs, None)
        if matrix.shape != (size, size) or not np.isfinite(matrix).all():
            raise InputError(f"costs must be {size} by {size} numbers, one for each pair of classes, got {costs!r}")
        return matrix

    def _over(self, proba: Array, thresholds: Any) -> Array:
        if not isinstance(thresholds, Mapping):
            raise InputError(f"thresholds must be {{label: probability}}, got {thresholds!r}")
        least = np.full(len(self.classes), np.nan)
        for label, value in thresholds.items():
            least[self._place(label, "thresholds")] = _probability(value, f"the threshold of {label!r}")
        named = ~np.isnan(least)
        ratio = np.where(named, proba / np.where(named & (least > 0), least, np.finfo(np.float64).tiny), 0.0)
        reached = ratio >= 1.0
        rest = np.where(named, -1.0, proba)
        otherwise = np.where(rest.max(axis=1) < 0, -1, np.argmax(rest, axis=1))
        return np.where(reached.any(axis=1), np.argmax(np.where(reached, ratio, -1.0), axis=1), otherwise)

    def _place(self, label: Any, what: str) -> int:
        known = self.classes.tolist()
        if label not in known:
            raise InputError(f"{what}: unknown class {label!r}{nearest(label, known)}")
        return known.index(label)

    # --- helpers of deciding

    def _finite(self, by: str) -> Array:
        prior = np.where(np.isneginf(self.prior), 0.0, self.prior) if by == "posterior" else 0.0
        joint = self.likelihood + prior
        return joint if np.isfinite(joint).all() else np.clip(np.nan_to_num(joint, nan=_LOWEST), _LOWEST, -_LOWEST)

    def _impossible(self) -> Array:
        """Return the number of impossible factors; differences of sums near 0 count as none."""
        assert self.impossible is not None
        return np.where(np.abs(self.impossible) < 1e-9, 0.0, self.impossible)

    def _ranked(self, by: str) -> Array:
        """Return finite scores for classes that can be decided, -inf for those with more impossible factors than
        another.
        """
        scores = self._finite(by)
        barred = np.isneginf(self.prior) if by == "posterior" else np.zeros_like(self.prior, bool)
        barred = barred & ~barred.all(axis=-1, keepdims=True)
        if self.impossible is not None:
            impossible = np.where(barred, np.inf, self._impossible())
            return np.where(impossible > impossible.min(axis=1, keepdims=True) + 1e-9, -np.inf, scores)
        return np.where(barred, -np.inf, scores) if barred.any() else scores


def _cost(value: Any, given: Any, sides: int | None) -> Array:
    wrong = InputError(f"costs must be numbers, one for each pair of classes, got {given!r}")
    try:
        cost = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if sides is not None and cost.ndim != sides:
        raise wrong
    return cost


def _probability(value: Any, what: str) -> float:
    if not isinstance(value, (int, float, np.number)) or not 0.0 <= value <= 1.0:
        raise InputError(f"{what} must be a probability, 0 to 1, got {value!r}")
    return float(value)
