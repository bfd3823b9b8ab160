"""Scores: what the model says of each row and class, and what to make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from naively import _core
from naively.cells import Array
from naively.errors import InputError

_LOWEST = -1e300


@dataclass(frozen=True, eq=False)
class Scores:
    """Log-likelihoods, rows by classes, and the log-prior of each class; never NaN.

    `impossible` counts the factors of probability zero in each likelihood, whose finite part is then what the other
    factors come to: a class with fewer impossible factors beats one with more.

    >>> scores = Scores(np.array(["a", "b"]), np.log([[0.2, 0.1]]), np.log([0.1, 0.9]))
    >>> scores.decide().tolist(), scores.decide(by="likelihood").tolist()
    (['b'], ['a'])
    >>> scores.proba().round(3).tolist()
    [[0.182, 0.818]]
    """

    classes: Array
    likelihood: Array
    prior: Array
    impossible: Array | None = None

    def __len__(self) -> int:
        return len(self.likelihood)

    def plus(self, other: Scores) -> Scores:
        """With the likelihoods of further features of the same rows, given the class independent of these."""
        odd = self.impossible
        if other.impossible is not None:
            odd = other.impossible if odd is None else odd + other.impossible
        return Scores(self.classes, self.likelihood + other.likelihood, self.prior, odd)

    @staticmethod
    def joined(parts: Sequence[Scores]) -> Scores:
        """The scores of several runs of rows as those of all."""
        first = parts[0]
        if len(parts) == 1:
            return first
        odd = [np.zeros_like(p.likelihood) if p.impossible is None else p.impossible for p in parts]
        none = all(part.impossible is None for part in parts)
        likelihood = np.concatenate([part.likelihood for part in parts])
        return Scores(first.classes, likelihood, first.prior, None if none else np.concatenate(odd))

    @cached_property
    def joint(self) -> Array:
        """log p(x, c): -inf where the class or one of the factors is impossible (for complements: +inf)."""
        joint = self._finite("posterior")
        if self.impossible is not None:
            odd = self._odd()
            joint = np.where(odd > 0, -np.inf, np.where(odd < 0, np.inf, joint))
        return np.where(np.isneginf(self.prior), -np.inf, joint) if np.isneginf(self.prior).any() else joint

    def log_proba(self) -> Array:
        """log p(c | x), by log-sum-exp over the classes that are least impossible."""
        scores = self._ranked("posterior")
        below = scores - scores.max(axis=1, keepdims=True)  # first, so that large scores cost no digits
        return below - np.log(np.exp(below).sum(axis=1, keepdims=True))

    def proba(self) -> Array:
        """p(c | x)."""
        return np.exp(self.log_proba())

    def decide(self, by: str = "posterior") -> Array:
        """The label of each row: by posterior (MAP) or by likelihood alone (MLE)."""
        if by not in ("posterior", "likelihood"):
            raise InputError(f"by must be 'posterior' or 'likelihood', got {by!r}")
        if self.impossible is None:
            prior = self.prior if by == "posterior" else np.zeros(len(self.prior))
            return self.classes[_core.decide(self.likelihood, prior)]
        return self.classes[np.argmax(self._ranked(by), axis=1)]

    def _finite(self, by: str) -> Array:
        prior = np.where(np.isneginf(self.prior), 0.0, self.prior) if by == "posterior" else 0.0
        joint = self.likelihood + prior
        return joint if np.isfinite(joint).all() else np.clip(np.nan_to_num(joint, nan=_LOWEST), _LOWEST, -_LOWEST)

    def _odd(self) -> Array:
        """How many impossible factors, each small difference of sums taken for none."""
        assert self.impossible is not None
        return np.where(np.abs(self.impossible) < 1e-9, 0.0, self.impossible)

    def _ranked(self, by: str) -> Array:
        """Finite scores where a class can be chosen, -inf where another is less impossible."""
        scores = self._finite(by)
        barred = np.isneginf(self.prior) if by == "posterior" else np.zeros(len(self.prior), bool)
        if barred.all():
            barred = np.zeros(len(self.prior), bool)
        if self.impossible is not None:
            odd = np.where(barred, np.inf, self._odd())
            return np.where(odd > odd.min(axis=1, keepdims=True) + 1e-9, -np.inf, scores)
        return np.where(barred, -np.inf, scores) if barred.any() else scores
