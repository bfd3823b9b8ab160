"""What learners share whose probabilities are calibrated on rows that are left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from naively.calibration import Calibration, Losses, Temperature, fitted
from naively.cells import Array
from naively.errors import DataWarning, InputError
from naively.families.words import Words
from naively.held_out import HeldOut, leave_one_out, sorted_places, taken
from naively.learning.base import Learner
from naively.scores import Scores

SAMPLE = 800
"""So many rows of a batch tell the temperature; for other methods ten times as many."""
FEWEST = 20
"""With fewer rows in all, probabilities are left as they are."""
BATCH = 200
"""A later batch with fewer rows than this leaves them as they were: it is to cost what it holds."""


@dataclass(frozen=True, eq=False)
class Judged:
    """How probabilities are calibrated, and the rules under which the rows were judged."""

    rules: Any
    calibration: Calibration
    losses: Losses | None = None
    counted: float = 0.0  # how many rows the model had then

    def __add__(self, other: Judged) -> Judged:
        """Where both tell a temperature by the same rules, that of the rows of both; otherwise the former."""
        if self.losses is None or other.losses is None or self.rules != other.rules:
            return self
        losses = self.losses + other.losses
        return Judged(self.rules, losses.temperature, losses, max(self.counted, other.counted))


@dataclass(frozen=True, eq=False)
class Pending:
    """Some of the rows that were counted, to be judged when probabilities are first asked for."""

    samples: tuple[tuple[Any, Array, Array | None], ...]
    counted: float
    before: Judged | None = None


class CalibratingLearner(Learner):
    """With probabilities that are calibrated without further rows: each is judged by the counts without it."""

    _judges_later = False  # whether rows are judged when probabilities are first asked for
    calibrate: Any

    @property
    def _method(self) -> str | None:
        if isinstance(self.calibrate, str):
            return self.calibrate
        return "temperature" if self.calibrate else None

    def _judged_by(self, model: Any) -> Any:
        """What a calibration is good for: these rules and, where classes are calibrated one by one, these classes."""
        family = self._family_of(model)
        family = replace(family, threads=None) if isinstance(family, Words) else family
        classes = None if self._method == "temperature" else tuple(np.sort(model.ledger.classes.names).tolist())
        return family, self._rule_for(model), self._prior_rule(), classes

    def _calibrated(self, model: Any, rows: Any, codes: Array, weight: Array | None) -> Any:
        """The state once these rows, which it has counted, have told how sure it may be."""
        method, before, counted = self._method, model.judged, float(model.ledger.rows.sum())
        few = len(codes) < (FEWEST if before is None else BATCH)
        if before is not None:
            few = few or method != "temperature" or counted < 2 * before.counted
        if method is None or few:
            return model
        some = _some_rows(len(codes), SAMPLE if method == "temperature" else 10 * SAMPLE)
        if len(some) < len(codes):
            rows, codes = taken(rows, some), codes[some]
            weight = None if weight is None else weight[some]
        if isinstance(before, Pending):
            pending = replace(before, samples=(*before.samples, (rows, codes, weight)), counted=counted)
        else:
            pending = Pending(((rows, codes, weight),), counted, before)
        judged = pending if self._judges_later else self._judged(model, pending)
        return replace(model, judged=judged)

    def _judged(self, model: Any, pending: Pending) -> Judged:
        """What the rows tell, each by the counts without it."""
        assert self._method is not None
        told = self._family_of(model), model.ledger, [self._rule_for(model)], self._prior_rule()
        rules = self._judged_by(model)
        found = [
            _judge(self._method, rules, leave_one_out(*told, *sample)[0], pending.counted) for sample in pending.samples
        ]
        return reduce(add, found if pending.before is None else [*found, pending.before])

    def _settle_judgement(self, model: Any) -> Any:
        """How probabilities are calibrated, once the rows have been judged that were to be judged later."""
        judged = model.judged
        if isinstance(judged, Pending) and self._method is not None:
            model.judged = judged = self._judged(model, judged)
        return judged

    def recalibrate(self, X: Any, y: Any, sample_weight: Any = None, *, counted: bool = True) -> Any:
        """Find anew how sure the model may be, as after a change of smoothing or family.

        Parameters
        ----------
        X, y : rows and their labels
            Rows that the model has counted, each of which is left out to be judged.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.
        counted : bool, default=True
            False: the model has not counted these rows, so nothing is left out.

        Returns
        -------
        self : object
        """
        self._check_fitted()
        if self._method is None:
            raise InputError("calibrate=False: set it to True, 'per class' or 'isotonic' first")
        self.judge(X, y, sample_weight, counted=counted)
        return self

    def judge(self, X: Any, y: Any, sample_weight: Any = None, *, counted: bool = True) -> HeldOut:
        """How rows score by the counts without them; where probabilities are calibrated, they are by these rows now.

        Parameters
        ----------
        X, y : rows and their labels
            Rows that the model has counted, each of which is left out to be judged.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.
        counted : bool, default=True
            False: the model has not counted these rows, so nothing is left out.

        Returns
        -------
        held_out : HeldOut
        """
        self._check_fitted()
        model = self._model
        rows, codes, weight = self._labelled(model, X, y, sample_weight)
        family, rule = self._family_of(model), self._rule_for(model)
        if counted:
            found = leave_one_out(family, model.ledger, [rule], self._prior_rule(), rows, codes, weight)[0]
        else:
            scores = family.table(model.ledger, rule, self._log_prior(model)).score(rows)
            found = HeldOut(scores, sorted_places(model.ledger.classes, codes), weight)
        if self._method is not None:
            judged = _judge(self._method, self._judged_by(model), found, float(model.ledger.rows.sum()))
            self._model = replace(model.after(model.ledger), judged=judged)
        return found

    def _calibration(self, model: Any) -> Calibration | None:
        """How scores become probabilities; None where they are taken as they are."""
        judged = self._settle_judgement(model)
        if self._method is None or judged is None or judged.rules != self._judged_by(model):
            return None
        return judged.calibration

    def _warn_if_uncalibrated(self) -> None:
        if self._method is not None and self._model.judged is not None and self._calibration(self._model) is None:
            warnings.warn(
                "probabilities were calibrated for other parameters and are taken as they are now: call "
                "recalibrate(X, y), or set calibrate=False",
                DataWarning,
                stacklevel=3,
            )

    def _reorders(self, model: Any) -> bool:
        calibration = self._calibration(model)
        return calibration is not None and not isinstance(calibration, Temperature)

    def _finished(self, scores: Scores, model: Any) -> Scores:
        return super()._finished(scores, model).at(self._calibration(model))

    @property
    def temperature_(self) -> float:
        """What scores are divided by before they become probabilities; 1 where they are taken as they are."""
        self._check_fitted()
        calibration: Any = self._calibration(self._model)
        if calibration is None:
            return 1.0
        return calibration.value if isinstance(calibration, Temperature) else calibration.temperature


def _judge(method: str, rules: Any, found: HeldOut, counted: float) -> Judged:
    below = found.scores.below
    if method != "temperature":
        return Judged(rules, fitted(method, below, found.truth, found.weight), None, counted)
    losses = Losses.of(below, found.truth, found.weight)
    return Judged(rules, losses.temperature, losses, counted)


def _some_rows(rows: int, most: int) -> Array:
    """So many rows at most, at random, but always the same."""
    if rows <= most:
        return np.arange(rows)
    return np.sort(np.random.default_rng(0).choice(rows, most, replace=False))
