"""Learners whose probabilities are calibrated on held-out rows of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError, warn_caller
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.text import TextsBlock
from naively.learn.held_out import HeldOut, leave_one_out, sorted_places
from naively.learn.learner import Batch, Learner
from naively.learn.model import Weighing
from naively.learn.sample import KeptRows, Limits, Sample
from naively.read.frame import Frame
from naively.score.calibration import (
    AUTO,
    FEWEST,
    MISTAKES,
    Calibration,
    Isotonic,
    Losses,
    PerClass,
    Temperature,
    fitted,
    stage_sizes,
)
from naively.score.scores import Scores
from naively.store.damage import LARGEST, need
from naively.store.registry import stored

SAMPLED = Limits(rows=5_000, size=24 << 20)
"""The size of the sample of a model that learns only its calibration from it; `rows` is not below MOST."""


def _check_calibrated(calibrated: Calibrated) -> None:
    need(0.0 <= calibrated.counted <= LARGEST, "the rows of a calibration")


@stored(check=_check_calibrated)
@dataclass(frozen=True, eq=False)
class Calibrated:
    """A calibration, the rules and the classes that it is valid for, and the losses of the rows it was fitted on.

    `counted` is the number of rows that the model had when the calibration was fitted.
    """

    rules: Any
    classes: tuple[Any, ...]
    calibration: Calibration
    losses: Losses
    counted: float = 0.0

    @classmethod
    def by(cls, rules: Any, found: HeldOut, counted: float) -> Calibrated:
        """Fit the calibration that the rules name on held-out rows."""
        losses = Losses.of(found.scores.below, found.truth, found.weight)
        calibration = fitted(rules[0], found.scores.below, found.truth, found.weight, losses)
        return cls(rules, tuple(found.scores.classes.tolist()), calibration, losses, counted)

    def __add__(self, other: Calibrated) -> Calibrated:
        """Find the temperature of the rows of both; keep the first if rules differ, or if classes have constants."""
        if self.rules != other.rules or not isinstance(self.calibration, Temperature):
            return self
        losses = self.losses + other.losses
        return Calibrated(self.rules, self.classes, losses.temperature, losses, self.counted + other.counted)


def for_any_machine(blocks: Blocks) -> Blocks:
    """Return the blocks without a number of threads, which changes no result."""
    if not any(isinstance(block, TextsBlock) for block in blocks.blocks):
        return blocks
    each = (
        replace(b, family=replace(b.family, threads=None)) if isinstance(b, TextsBlock) else b for b in blocks.blocks
    )
    return replace(blocks, blocks=tuple(each))


class CalibratingLearner(Learner):
    """A learner that calibrates on a sample of its own rows: each is scored by the counts without it."""

    _usual_method = "temperature"  # the method for calibrate=True
    _keeps_sample = False
    calibrate: Any

    @property
    def _method(self) -> str | None:
        if isinstance(self.calibrate, str):
            return self.calibrate
        return self._usual_method if self.calibrate else None

    def _calibration_rules(self, model: Any) -> Any:
        """Return the parameters that a calibration depends on."""
        return self._method, for_any_machine(self._blocks_of(model)), self._rule_for(model), self._prior_rule()

    # --- the sample

    def _limits(self) -> Limits | None:
        """Return the size of the sample of rows; None: nothing is learnt from one."""
        return SAMPLED if self._method is not None or self._keeps_sample else None

    def keep_sample(self) -> None:
        """Keep a sample of rows to judge the model by, even if nothing is to be learnt from one."""
        self._keeps_sample = True

    def _sampled_rows(self, model: Any, frame: Frame) -> Frame:
        """Return the part of the rows that a sample keeps."""
        return frame

    def _with_sample(self, learnt: Any, before: Any, batch: Batch) -> Any:
        limits = self._limits()
        if limits is None:
            return replace(learnt, sample=None)
        sample, began = learnt.sample, learnt.began
        if sample is None:
            sample, began = Sample(limits), 0.0 if before is None else float(before.ledger.rows.sum())
        rows = self._sampled_rows(learnt, batch.frame)
        return replace(learnt, sample=sample.with_rows(rows, batch.codes, batch.classes, batch.weight), began=began)

    def _without_sample(self, left: Any, batch: Batch) -> Any:
        if left.sample is None:
            return left
        rows = self._sampled_rows(left, batch.frame)
        return replace(left, sample=left.sample.without(rows, batch.codes, batch.classes, batch.weight))

    # --- the calibration

    def _finish_calibration(self, model: Any) -> Any:
        """Return the calibration: that of other rows, or one fitted on the sample when it is first needed."""
        held = model.calibrated
        if self._method is None or not model.learns_from_sample:
            return held
        rules = self._calibration_rules(model)
        if held is not None and held.rules == rules and float(model.ledger.rows.sum()) < 2 * held.counted:
            return held
        if model.fitted is None or model.fitted.rules != rules:
            model.fitted = self._fit_calibration(model, rules)
        return held if model.fitted is None else model.fitted

    def _fit_calibration(self, model: Any, rules: Any) -> Calibrated | None:
        """Fit on the rows with the smallest keys; score more rows if few of the first are wrong. None: too few rows."""
        groups = model.sample.rows_for(model.ledger.classes)
        keys = np.sort(np.concatenate([group.keys for group in groups] or [np.zeros(0, np.uint64)]))
        if sum(group.weight.sum() for group in groups) < FEWEST:
            return None
        first, most = stage_sizes(rules[0], model.ledger.classes.size)
        found = self._held_out(model, rules, groups, keys[:first])
        wrong = found.scores.below.argmax(axis=1) != found.truth
        if len(keys) > first and most > first and found.weight @ wrong < MISTAKES:
            found = found.joined(self._held_out(model, rules, groups, keys[first:most]))
        return Calibrated.by(rules, found, float(model.ledger.rows.sum()))

    def _held_out(self, model: Any, rules: Any, groups: list[KeptRows], keys: Array) -> HeldOut:
        """Score the rows with these keys, in their order, each by the counts without one copy of it."""
        _, _, rule, prior = rules
        blocks, parts, order = self._blocks_of(model), [], []
        for group in groups:
            chosen = np.flatnonzero((group.keys >= keys[0]) & (group.keys <= keys[-1]))
            if len(chosen):
                rows = group.take(chosen)
                frame, one_each = self._rows_to_judge(model, blocks, group, chosen), np.minimum(rows.weight, 1.0)
                [found] = leave_one_out(blocks, model.ledger, [rule], prior, frame, rows.codes, one_each)
                parts.append(replace(found, weight=rows.weight))
                order.append(rows.keys)
        found = parts[0].joined(*parts[1:])
        return found.take(np.argsort(np.concatenate(order), kind="stable"))

    def _rows_to_judge(self, model: Any, blocks: Blocks, group: KeptRows, chosen: Array) -> Frame:
        """Return some rows of the sample as the blocks read them."""
        return group.frame.take(chosen)

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
            scored = scored.take(scored.enough_rows(method))
            calibrated = Calibrated.by(self._calibration_rules(model), scored, float(model.ledger.rows.sum()))
            with self._lock:
                state = self._state  # another thread may have learnt more rows meanwhile
                self._state = replace(state.after(state.ledger), calibrated=calibrated)
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
        """Return the log-prior under which the highest score is the most probable class, with its constant."""
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
    def calibration_(self) -> Calibration | None:
        """How scores become probabilities: by a temperature, by constants of classes as well, or by rising functions.

        None: they are not calibrated.
        """
        self._check_fitted()
        return self._calibration(self._model)

    @property
    def temperature_(self) -> float:
        """The number that scores are divided by before they become probabilities; 1 without calibration."""
        calibration: Any = self.calibration_
        if calibration is None:
            return 1.0
        return calibration.value if isinstance(calibration, Temperature) else calibration.temperature
