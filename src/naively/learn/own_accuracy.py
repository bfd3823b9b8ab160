"""The accuracy that a model reports of itself, estimated on the rows of its sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.learn.choose import Choice
from naively.learn.estimates import Estimate
from naively.learn.held_out import HeldOut, leave_groups_out, leave_one_out
from naively.learn.sample import KeptRows

_FOLDS = 5


@dataclass(frozen=True)
class OwnAccuracy:
    """An estimate, the number of rows that it is based on, copies included, and how it was made."""

    estimate: Estimate
    sampled: int
    method: str


def own_accuracy(learner: Any, most: int) -> OwnAccuracy | None:
    """Estimate the accuracy of a learner on other rows like its own, by at most so many rows; None: there are none."""
    model = learner._model
    if model.sample is None or most < 1:
        return None
    groups = model.sample.rows_for(model.ledger.classes)
    keys = np.sort(np.concatenate([group.keys for group in groups] or [np.zeros(0, np.uint64)]))[:most]
    chosen = [(group, np.flatnonzero(group.keys <= keys[-1])) for group in groups] if len(keys) else []
    sampled = round(sum(float(group.weight[rows].sum()) for group, rows in chosen))
    if not sampled:
        return None
    if learner.reads_text and isinstance(model.chosen, Choice) and model.chosen.complete:
        found = learner.chosen_
        if found.accuracy is not None:
            return OwnAccuracy(Estimate(found.accuracy, found.margin, found.texts), sampled, "folds")
    if learner.reads_text or sampled < 2:
        each = [_right(learner, model, _left_out(learner, model, group, rows)) for group, rows in chosen]
        return OwnAccuracy(Estimate.of(np.concatenate(each)), sampled, "leave one out")
    results = [_in_folds(learner, model, group, rows) for group, rows in chosen]
    right, weight = (np.concatenate(parts) for parts in zip(*results, strict=True))
    all_rows = sampled >= float(model.ledger.rows.sum()) * (1 - 1e-9)
    share = weight if all_rows else weight * weight.sum() / (weight @ weight)  # copies are drawn together
    return OwnAccuracy(Estimate.of(right, share), sampled, "five folds")


def _right(learner: Any, model: Any, found: HeldOut) -> Array:
    """Return which rows get their label, calibrated as the model is."""
    found = replace(found, scores=found.scores.at(learner._calibration(model)))
    return (found.predicted == found.truth).astype(np.float64)


def _left_out(learner: Any, model: Any, group: KeptRows, rows: Array) -> HeldOut:
    """Score texts by the counts without them and their copies."""
    blocks = learner._blocks_of(model)
    frame = learner._rows_to_judge(model, blocks, group, rows)
    rules = blocks, model.ledger, [learner._rule_for(model)], learner._prior_rule()
    return leave_one_out(*rules, frame, group.codes[rows], group.weight[rows])[0]


def _in_folds(learner: Any, model: Any, group: KeptRows, rows: Array) -> tuple[Array, Array]:
    """Return which rows of a table get their label without their fold, and their weights; columns are decided anew.

    The copies of a row are dealt out to the folds in turn.
    """
    weight = group.weight[rows]
    whole, first = np.floor(weight / _FOLDS), np.arange(len(rows)) % _FOLDS
    fold = (first[:, None] + np.arange(_FOLDS)) % _FOLDS
    left = weight - whole * _FOLDS
    each = whole[:, None] + np.clip(left[:, None] - np.arange(_FOLDS), 0.0, 1.0)
    row, turn = np.nonzero(each > 0)
    frame, codes = group.frame.take(rows[row]), group.codes[rows[row]]
    rules = learner._blocks_of(model), model.ledger, [learner._rule_for(model)], learner._prior_rule()
    [found] = leave_groups_out(*rules, frame, codes, each[row, turn], fold[row, turn])
    return _right(learner, model, found), each[row, turn]
