"""What learners share whose probabilities are calibrated on rows that are left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.errors import DataWarning, InputError
from naively.families.blocks import Blocks, TextsBlock
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
"""A later batch with fewer rows than this leaves probabilities as they were: it is to cost what it holds."""


@dataclass(frozen=True, eq=False)
class CalibrationSample(Value):
    """Held-out scores of some rows that were counted, from which a calibration is fitted.

    Rows are known by their keys, so that they can be taken out again when they are forgotten. `a + b` are the rows of
    both; of very many, those with the smallest keys.
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
        """The rows of these classes; one that was not there when they were scored is impossible."""
        if np.array_equal(classes, self.classes):
            return self
        place = Index.of(classes).locate(self.classes)
        below = np.full((len(self.truth), len(classes)), -np.inf)
        below[:, place[place >= 0]] = self.below[:, place >= 0]
        kept = place[self.truth] >= 0
        sample = CalibrationSample(classes, below, place[self.truth], self.weight, self.keys)
        return sample if kept.all() else sample._only(kept)

    def without(self, keys: Array, weight: Array | None) -> CalibrationSample:
        """Without rows that were forgotten: for each key, as much as was forgotten of the rows that have it."""
        if not np.isin(self.keys, keys).any():
            return self
        distinct, place = np.unique(keys, return_inverse=True)
        gone = np.bincount(place, weight)
        at = np.minimum(np.searchsorted(distinct, self.keys), len(distinct) - 1)
        order = np.argsort(self.keys, kind="stable")
        mine, each = self.keys[order], self.weight[order]
        sums = np.concatenate([[0.0], np.cumsum(each)])
        before = sums[:-1] - sums[np.searchsorted(mine, mine, "left")]  # of rows with the same key
        out = np.where(distinct[at] == self.keys, gone[at], 0.0)[order] - before
        left = np.empty(len(mine))
        left[order] = np.maximum(each - np.clip(out, 0.0, None), 0.0)
        left = np.where(left > 1e-9 * self.weight, left, 0.0)
        return self if np.array_equal(left, self.weight) else replace(self, weight=left)._only(left > 0)

    def _only(self, rows: Array) -> CalibrationSample:
        return CalibrationSample(self.classes, self.below[rows], self.truth[rows], self.weight[rows], self.keys[rows])


@stored()
@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration, the rules and the classes that it is good for, and what it was fitted on.

    `losses` stand for the rows where a model was loaded, whose file has no sample. `counted` is how many rows the model
    had then.
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
        """By the rows of both; by the former alone where the rules differ, or constants of classes are without rows."""
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
        """As it is written to a file."""
        return replace(self, sample=None)


@dataclass(frozen=True, eq=False)
class Pending:
    """Rows that were counted, to be scored without themselves when probabilities are first asked for.

    `source` has the rows as their keys are made of them.
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
    """The blocks without a number of threads, which makes no difference to any figure."""
    if not any(isinstance(block, TextsBlock) for block in blocks.blocks):
        return blocks
    each = (
        replace(b, family=replace(b.family, threads=None)) if isinstance(b, TextsBlock) else b for b in blocks.blocks
    )
    return replace(blocks, blocks=tuple(each))


class CalibratingLearner(Learner):
    """With probabilities that are calibrated without further rows: each is judged by the counts without it."""

    _judges_later = False  # whether rows are judged when probabilities are first asked for
    _usual_method = "temperature"  # of calibrate=True
    calibrate: Any

    @property
    def _method(self) -> str | None:
        if isinstance(self.calibrate, str):
            return self.calibrate
        return self._usual_method if self.calibrate else None

    def _judged_by(self, model: Any) -> Any:
        """The rules that a calibration is good for."""
        return self._method, for_any_machine(self._blocks_of(model)), self._rule_for(model), self._prior_rule()

    def _calibrated(self, model: Any, batch: Batch) -> Any:
        """The model with a calibration fitted on some of these rows, which it has just counted."""
        codes, weight = batch.codes, batch.weight
        method, before, counted = self._method, model.judged, float(model.ledger.rows.sum())
        new = len(codes) if weight is None else float(weight.sum())
        if method is None or new < (FEWEST if before is None else BATCH):
            return model
        if before is not None and (method not in ("temperature", AUTO) or counted < 2 * before.counted):
            return model
        some = np.sort(np.concatenate(stages(method, len(codes), model.ledger.classes.size)))
        rows, source = batch.frame, batch.source or batch.frame
        if len(some) < len(codes):
            rows, source, codes = rows.take(some), source.take(some), codes[some]
            weight = None if weight is None else weight[some]
        pending = Pending(rows, source, codes, weight, self._judged_by(model), self._blocks_of(model), counted, before)
        return replace(model, judged=pending if self._judges_later else self._judged(model, pending))

    def _judged(self, model: Any, pending: Pending) -> Calibrated:
        """The calibration by these rows and those before them; where few of the first are wrong, more are scored."""
        rules, before = pending.rules, pending.before
        method = rules[0]
        first, more = stages(method, len(pending.codes), model.ledger.classes.size)
        sample = self._scored(model, pending, first)
        if len(more) and sample.mistakes < MISTAKES:
            sample = sample + self._scored(model, pending, more)
        found = Calibrated.by(method, rules, sample, pending.counted)
        return found if before is None else found + before

    def _scored(self, model: Any, pending: Pending, rows: Array) -> CalibrationSample:
        """Leave-one-out scores of some of the rows; a row of weight 5 is five rows, of which one is left out."""
        part, codes = pending.rows.take(rows), pending.codes[rows]
        weight = None if pending.weight is None else pending.weight[rows]
        gone = None if weight is None else np.minimum(weight, 1.0)
        _, _, rule, prior = pending.rules
        found = leave_one_out(pending.blocks, model.ledger, [rule], prior, part, codes, gone)[0]
        keys = self._keys(model, pending.source.take(rows), codes, model.ledger.classes)
        return CalibrationSample.of(replace(found, weight=weight), keys)

    def _settle_judgement(self, model: Any) -> Any:
        """Return the calibration, fitted on the held-out rows if that has not happened yet."""
        judged = model.judged
        if isinstance(judged, Pending):
            model.judged = judged = None if self._method is None else self._judged(model, judged)
        return judged

    def _keys(self, model: Any, rows: Frame, codes: Array, classes: Index) -> Array:
        """A key for each row of texts or of a table."""
        raise NotImplementedError

    def _labelled_keys(self, model: Any, X: Any, rows: Frame, codes: Array) -> Array:
        """The keys of rows that the model has counted, given as they came and as the model reads them."""
        return self._keys(model, rows, codes, model.ledger.classes)

    def _calibrated_without(self, model: Any, batch: Batch) -> Any:
        """The model, calibrated by the rows that are left once these were forgotten.

        Where hardly any of them is in the sample, the calibration stays as it is until the next batch is learnt.
        """
        judged = model.judged
        if not isinstance(judged, Calibrated) or judged.sample is None:
            return model
        keys = self._keys(model, batch.frame, batch.codes, batch.classes)
        left = judged.sample.without(keys, batch.weight)
        if left is judged.sample:
            return model
        counted = judged.counted * left.rows / judged.sample.rows  # so that the next batch finds the sample small
        left = left.among(np.sort(model.ledger.classes.names))
        if left.rows >= FEWEST:
            return replace(model, judged=Calibrated.by(judged.rules[0], judged.rules, left, counted))
        kept = None if model.ledger.rows.sum() < FEWEST else replace(judged, sample=left, counted=counted)
        return replace(model, judged=kept)

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
        """Score rows by the counts without them; a model that calibrates is calibrated on these rows.

        The probabilities returned are calibrated as those of the model, each row's by other rows than itself.

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
            sample = CalibrationSample.of(scored, self._labelled_keys(model, X, rows, codes))._only(used)
            judged = Calibrated.by(method, self._judged_by(model), sample, float(model.ledger.rows.sum()))
            with self._lock:
                model = self._model  # which may have learnt more rows meanwhile
                self._model = replace(model.after(model.ledger), judged=judged)
        return found.as_used(method)

    def _calibration(self, model: Any) -> Calibration | None:
        """How scores become probabilities; None where they are taken as they are."""
        judged = self._settle_judgement(model)
        if self._method is None or judged is None or judged.rules != self._judged_by(model):
            return None
        if isinstance(judged.calibration, Temperature) or self._same_classes(judged, model):
            return judged.calibration
        return judged.losses.temperature if self._method == AUTO else None

    def _same_classes(self, judged: Calibrated, model: Any) -> bool:
        """True if the constants of classes are those of the model's classes."""
        return judged.classes == tuple(np.sort(model.ledger.classes.names).tolist())

    def _warn_if_uncalibrated(self) -> None:
        if self._method is not None and self._model.judged is not None and self._calibration(self._model) is None:
            warnings.warn(
                "probabilities were calibrated for other parameters and are taken as they are now: call "
                "recalibrate(X, y), or set calibrate=False",
                DataWarning,
                stacklevel=3,
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
        """The calibration, where labels may depend on it: a temperature changes no label, so none is looked for."""
        return None if self._method == "temperature" else self._calibration_now(model)

    def _calibration_now(self, model: Any) -> Calibration | None:
        """The calibration by the parameters as they are, found once for a state of the model."""
        weighing = model.weighing
        if not weighing.knows_calibration:
            weighing.calibration, weighing.knows_calibration = self._calibration(model), True
        return weighing.calibration

    def _finished(self, scores: Scores, model: Any) -> Scores:
        return super()._finished(scores, model).at(self._calibration_now(model))

    @property
    def temperature_(self) -> float:
        """What scores are divided by before they become probabilities; 1 where they are taken as they are."""
        self._check_fitted()
        calibration: Any = self._calibration(self._model)
        if calibration is None:
            return 1.0
        return calibration.value if isinstance(calibration, Temperature) else calibration.temperature
