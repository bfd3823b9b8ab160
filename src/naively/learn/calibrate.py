"""Learners whose probabilities are calibrated on rows that are left out of their counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.errors import InputError, warn_caller
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.text import TextsBlock
from naively.learn.held_out import HeldOut, leave_one_out, sorted_places
from naively.learn.learner import Batch, Learner
from naively.learn.model import Weighing
from naively.names import Index
from naively.read.frame import Frame
from naively.score.calibration import (
    AUTO,
    FEWEST,
    MISTAKES,
    MOST,
    Calibration,
    Isotonic,
    Losses,
    PerClass,
    Temperature,
    fitted,
    stages,
)
from naively.score.scores import Scores
from naively.store.registry import stored

BATCH = 200
"""A later batch with fewer rows than this leaves the calibration as it was: small batches must stay cheap."""


@dataclass(frozen=True, eq=False)
class CalibrationSample(Value):
    """Held-out scores of some rows that were counted, from which a calibration is fitted.

    A row is identified by its key, so that it can leave the sample when it is forgotten. `a + b` has the rows of both,
    but at most MOST: those with the smallest keys.
    """

    classes: Array
    below: Array
    truth: Array
    weight: Array
    keys: Array

    @classmethod
    def of(cls, found: HeldOut, keys: Array) -> CalibrationSample:
        weight = np.ones(len(keys)) if found.weight is None else found.weight
        return cls(found.scores.classes, found.scores.below, found.truth, weight, keys)

    @property
    def rows(self) -> float:
        return float(self.weight.sum())

    @property
    def mistakes(self) -> float:
        return float(self.weight @ (self.below.argmax(axis=1) != self.truth))

    @cached_property
    def losses(self) -> Losses:
        return Losses.of(self.below, self.truth, self.weight)

    def fitted(self, method: str) -> Calibration:
        return fitted(method, self.below, self.truth, self.weight, self.losses)

    def __add__(self, other: CalibrationSample) -> CalibrationSample:
        classes = self.classes
        if not np.array_equal(classes, other.classes):
            classes = np.union1d(classes, other.classes)
        mine, theirs = self.among(classes), other.among(classes)
        names = ("below", "truth", "weight", "keys")
        both = {name: np.concatenate([getattr(mine, name), getattr(theirs, name)]) for name in names}
        order = np.sort(np.argsort(both["keys"], kind="stable")[:MOST])
        return CalibrationSample(classes, **{name: values[order] for name, values in both.items()})

    def among(self, classes: Array) -> CalibrationSample:
        """Restrict to the rows of these classes; a class that was new to the rows is impossible for them."""
        if np.array_equal(classes, self.classes):
            return self
        place = Index.of(classes).locate(self.classes)
        below = np.full((len(self.truth), len(classes)), -np.inf)
        below[:, place[place >= 0]] = self.below[:, place >= 0]
        known = place[self.truth] >= 0
        sample = CalibrationSample(classes, below, place[self.truth], self.weight, self.keys)
        return sample if known.all() else sample._only(known)

    def without(self, keys: Array, weight: Array | None) -> CalibrationSample:
        """Remove forgotten rows: for each key, lower the weight by what was forgotten of the rows that have it."""
        if not np.isin(self.keys, keys).any():
            return self
        distinct, place = np.unique(keys, return_inverse=True)
        forgotten = np.bincount(place, weight)
        at = np.minimum(np.searchsorted(distinct, self.keys), len(distinct) - 1)
        order = np.argsort(self.keys, kind="stable")
        mine, each = self.keys[order], self.weight[order]
        sums = np.concatenate([[0.0], np.cumsum(each)])
        before = sums[:-1] - sums[np.searchsorted(mine, mine, "left")]  # of rows with the same key
        out = np.where(distinct[at] == self.keys, forgotten[at], 0.0)[order] - before
        left = np.empty(len(mine))
        left[order] = np.maximum(each - np.clip(out, 0.0, None), 0.0)
        left = np.where(left > 1e-9 * self.weight, left, 0.0)
        return self if np.array_equal(left, self.weight) else replace(self, weight=left)._only(left > 0)

    def _only(self, rows: Array) -> CalibrationSample:
        return CalibrationSample(self.classes, self.below[rows], self.truth[rows], self.weight[rows], self.keys[rows])


@stored()
@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration, the rules and the classes that it is valid for, and the sample that it was fitted on.

    `losses` stand for the sample in a model from a file, which stores no sample. `counted` is the number of rows that
    the model had when the calibration was fitted.
    """

    rules: Any
    classes: tuple[Any, ...]
    calibration: Calibration
    losses: Losses
    counted: float = 0.0
    sample: CalibrationSample | None = None

    @classmethod
    def by(cls, method: str, rules: Any, sample: CalibrationSample, counted: float) -> Calibrated:
        return cls(rules, tuple(sample.classes.tolist()), sample.fitted(method), sample.losses, counted, sample)

    def __add__(self, other: Calibrated) -> Calibrated:
        """Fit on the rows of both; keep the first one if rules differ, or if constants of classes have no sample."""
        if self.rules != other.rules:
            return self
        counted = max(self.counted, other.counted)
        if self.sample is not None and other.sample is not None:
            return Calibrated.by(self.rules[0], self.rules, self.sample + other.sample, counted)
        if not isinstance(self.calibration, Temperature):
            return self
        losses = self.losses + other.losses
        return Calibrated(self.rules, self.classes, losses.temperature, losses, counted)

    def without_sample(self) -> Calibrated:
        """Return the value that a file stores."""
        return replace(self, sample=None)


@dataclass(frozen=True, eq=False)
class CalibrationRows:
    """Counted rows that a calibration will be fitted on, when probabilities are first needed.

    `source` has the rows in the form that their keys are made from.
    """

    rows: Frame
    source: Frame
    codes: Array
    weight: Array | None
    rules: Any
    blocks: Blocks
    counted: float
    before: Calibrated | None = None


def for_any_machine(blocks: Blocks) -> Blocks:
    """Return the blocks without a number of threads, which changes no result."""
    if not any(isinstance(block, TextsBlock) for block in blocks.blocks):
        return blocks
    each = (
        replace(b, family=replace(b.family, threads=None)) if isinstance(b, TextsBlock) else b for b in blocks.blocks
    )
    return replace(blocks, blocks=tuple(each))


class CalibratingLearner(Learner):
    """A learner that calibrates on its own rows: each is scored by the counts without it."""

    _calibrates_later = False  # whether the calibration is fitted at the first use of probabilities
    _usual_method = "temperature"  # of calibrate=True
    calibrate: Any

    @property
    def _method(self) -> str | None:
        if isinstance(self.calibrate, str):
            return self.calibrate
        return self._usual_method if self.calibrate else None

    def _calibration_rules(self, model: Any) -> Any:
        """Return the rules that a calibration depends on."""
        return self._method, for_any_machine(self._blocks_of(model)), self._rule_for(model), self._prior_rule()

    def _calibrated(self, model: Any, batch: Batch) -> Any:
        """Return the model with a calibration fitted on some of these rows, which it has just counted."""
        codes, weight = batch.codes, batch.weight
        method, before, counted = self._method, model.calibrated, float(model.ledger.rows.sum())
        new = len(codes) if weight is None else float(weight.sum())
        if method is None or new < (FEWEST if before is None else BATCH):
            return model
        if before is not None and (method not in ("temperature", AUTO) or counted < 2 * before.counted):
            return model
        chosen = np.sort(np.concatenate(stages(method, len(codes), model.ledger.classes.size)))
        rows, source = batch.frame, batch.source or batch.frame
        if len(chosen) < len(codes):
            rows, source, codes = rows.take(chosen), source.take(chosen), codes[chosen]
            weight = None if weight is None else weight[chosen]
        pending = CalibrationRows(
            rows, source, codes, weight, self._calibration_rules(model), self._blocks_of(model), counted, before
        )
        return replace(model, calibrated=pending if self._calibrates_later else self._fit_calibration(model, pending))

    def _fit_calibration(self, model: Any, pending: CalibrationRows) -> Calibrated:
        """Fit the calibration on these rows and the earlier ones; score more rows if few of the first are wrong."""
        rules, before = pending.rules, pending.before
        method = rules[0]
        first, more = stages(method, len(pending.codes), model.ledger.classes.size)
        sample = self._scored(model, pending, first)
        if len(more) and sample.mistakes < MISTAKES:
            sample = sample + self._scored(model, pending, more)
        found = Calibrated.by(method, rules, sample, pending.counted)
        return found if before is None else found + before

    def _scored(self, model: Any, pending: CalibrationRows, rows: Array) -> CalibrationSample:
        """Leave-one-out scores of some of the rows; a row of weight 5 is five rows, of which one is left out."""
        part, codes = pending.rows.take(rows), pending.codes[rows]
        weight = None if pending.weight is None else pending.weight[rows]
        one_each = None if weight is None else np.minimum(weight, 1.0)
        _, _, rule, prior = pending.rules
        found = leave_one_out(pending.blocks, model.ledger, [rule], prior, part, codes, one_each)[0]
        keys = self._keys(model, pending.source.take(rows), codes, model.ledger.classes)
        return CalibrationSample.of(replace(found, weight=weight), keys)

    def _finish_calibration(self, model: Any) -> Any:
        """Return the calibration, fitted on the held-out rows if that has not happened yet."""
        calibrated = model.calibrated
        if isinstance(calibrated, CalibrationRows):
            model.calibrated = calibrated = None if self._method is None else self._fit_calibration(model, calibrated)
        return calibrated

    def _keys(self, model: Any, rows: Frame, codes: Array, classes: Index) -> Array:
        """Return a key for each row of texts or of a table."""
        raise NotImplementedError

    def _labelled_keys(self, model: Any, X: Any, rows: Frame, codes: Array, known: Array | None) -> Array:
        """Return the keys of counted rows; `X` is as the user passed it, `rows` as the model reads it.

        `known` are the numbers of the rows of `X` that have a label, and so are among `rows` (None: all).
        """
        return self._keys(model, rows, codes, model.ledger.classes)

    def _calibrated_without(self, model: Any, batch: Batch) -> Any:
        """Return the model, calibrated on the rows of the sample that were not forgotten.

        If too few of these are left, the calibration stays as it is until the next batch is learnt.
        """
        calibrated = model.calibrated
        if not isinstance(calibrated, Calibrated) or calibrated.sample is None:
            return model
        keys = self._keys(model, batch.frame, batch.codes, batch.classes)
        left = calibrated.sample.without(keys, batch.weight)
        if left is calibrated.sample:
            return model
        counted = (
            calibrated.counted * left.rows / calibrated.sample.rows
        )  # so that the next batch finds the sample small
        left = left.among(np.sort(model.ledger.classes.names))
        if left.rows >= FEWEST:
            return replace(model, calibrated=Calibrated.by(calibrated.rules[0], calibrated.rules, left, counted))
        remaining = None if model.ledger.rows.sum() < FEWEST else replace(calibrated, sample=left, counted=counted)
        return replace(model, calibrated=remaining)

    def recalibrate(self, X: Any, y: Any, sample_weight: Any = None, *, counted: bool = True) -> Any:
        """Fit the calibration again, as after a change of smoothing or family.

        Parameters
        ----------
        X, y : rows and their labels
            Rows that the model has counted; each is scored by the counts without it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
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
        """Score rows by the counts without them; a model that calibrates is calibrated on these rows.

        The probabilities returned are calibrated as those of the model, each row's by other rows than itself.

        Parameters
        ----------
        X, y : rows and their labels
            Rows that the model has counted; each is scored by the counts without it.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        counted : bool, default=True
            False: the model has not counted these rows, so nothing is left out.

        Returns
        -------
        held_out : HeldOut
        """
        self._check_fitted()
        model, method, X = self._model, self._method, list(X) if isinstance(X, Iterator) else X
        rows, codes, weight = self._labelled(model, X, y, sample_weight)
        blocks, rule, prior = self._blocks_of(model), self._rule_for(model), self._prior_rule()
        if counted:
            found = leave_one_out(blocks, model.ledger, [rule], prior, rows, codes, weight)[0]
        else:
            table = model.table(blocks, rule, self._score_prior(model, blocks))
            scores = table.score(blocks.rows_for(table, rows), len(rows))
            found = HeldOut(scores, sorted_places(model.ledger.classes, codes), weight)
        if method is not None:
            scored = found
            if counted and weight is not None:  # a row of weight 5 is five rows, of which one is left out
                one = np.minimum(weight, 1.0)
                scored = leave_one_out(blocks, model.ledger, [rule], prior, rows, codes, one)[0]
                scored = replace(scored, weight=weight)
            used = scored.enough_rows(method)
            keys = self._labelled_keys(model, X, rows, codes, self._rows_with_label(X, y)[0])
            sample = CalibrationSample.of(scored, keys)._only(used)
            calibrated = Calibrated.by(method, self._calibration_rules(model), sample, float(model.ledger.rows.sum()))
            with self._lock:
                model = self._model  # which may have learnt more rows meanwhile
                self._model = replace(model.after(model.ledger), calibrated=calibrated)
        return found.as_used(method)

    def _calibration(self, model: Any) -> Calibration | None:
        """Return the calibration for the present parameters; None: scores are not calibrated."""
        calibrated = self._finish_calibration(model)
        if self._method is None or calibrated is None or calibrated.rules != self._calibration_rules(model):
            return None
        if isinstance(calibrated.calibration, Temperature) or self._same_classes(calibrated, model):
            return calibrated.calibration
        return calibrated.losses.temperature if self._method == AUTO else None

    def _same_classes(self, calibrated: Calibrated, model: Any) -> bool:
        """True if the constants of classes are those of the model's classes."""
        return calibrated.classes == tuple(np.sort(model.ledger.classes.names).tolist())

    def _warn_if_uncalibrated(self) -> None:
        if self._method is not None and self._model.calibrated is not None and self._calibration(self._model) is None:
            warn_caller(
                "probabilities were calibrated for other parameters and are taken as they are now: call "
                "recalibrate(X, y), or set calibrate=False"
            )

    def _reorders(self, model: Any) -> bool:
        return isinstance(self._calibration_to_decide(model), Isotonic)

    def _prior_to_decide(self, model: Any, weighing: Weighing) -> Array:
        """The log-prior under which the highest score is the most probable class, constants of classes included."""
        calibration = self._calibration_to_decide(model)
        if not isinstance(calibration, PerClass):
            return weighing.prior
        order = model.ledger.classes.order
        moved = calibration.temperature * calibration.offsets
        return weighing.prior + (moved if order is None else moved[np.argsort(order)])

    def _calibration_to_decide(self, model: Any) -> Calibration | None:
        """Return the calibration if labels may depend on it; a temperature changes no label, so it gives None."""
        return None if self._method == "temperature" else self._calibration_now(model)

    def _calibration_now(self, model: Any) -> Calibration | None:
        """Return the calibration for the present parameters, found once for each state of the model."""
        weighing = model.weighing
        if not weighing.knows_calibration:
            weighing.calibration, weighing.knows_calibration = self._calibration(model), True
        return weighing.calibration

    def _finished(self, scores: Scores, model: Any) -> Scores:
        return super()._finished(scores, model).at(self._calibration_now(model))

    @property
    def temperature_(self) -> float:
        """The number that scores are divided by before they become probabilities; 1 without calibration."""
        self._check_fitted()
        calibration: Any = self._calibration(self._model)
        if calibration is None:
            return 1.0
        return calibration.value if isinstance(calibration, Temperature) else calibration.temperature
