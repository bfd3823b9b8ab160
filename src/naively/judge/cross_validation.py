"""Cross-validation: score rows by the counts without them, leaving out single rows, groups or folds."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from naively.arrays import Array
from naively.errors import InputError
from naively.estimators.text import TextClassifier
from naively.learn import held_out
from naively.learn.held_out import HeldOut
from naively.smooth.rules import Additive


@dataclass(frozen=True, eq=False)
class Counted:
    """A fitted model, and the rows that it was fitted on, converted for counting."""

    model: Any
    rows: Any
    codes: Array
    weight: Array | None
    known: Array | None = None  # numbers of the rows that have a label, if some have none
    given: int = 0  # number of rows that were given, with and without a label
    method: str | None = None  # the model's method of calibration

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, *, as_it_is: bool = False) -> Counted:
        """Use a fitted model as it is; fit an unfitted one on these rows.

        `as_it_is`: the weighting will not be changed, so that no counts for other weightings are kept.
        """
        check_model(model)
        if isinstance(X, Iterator):
            raise InputError("rows are looked at more than once here: pass them as they are, not as an iterator")
        method = method_of(model)
        if "_state" in vars(model):
            rows, codes, weight = model._labelled(model._model, X, y, sample_weight)
        else:
            model = uncalibrated(model)
            if as_it_is and isinstance(model, TextClassifier) and model.weighting in ("counts", "binary"):
                model.set_params(weights=False)
            rows, codes, weight = model._fit_and_read(X, y, sample_weight)
        known, given = model._rows_with_label(X, y)
        return cls(model, rows, codes, weight, known, given, method)

    def groups(self, groups: Any) -> Array:
        """Return the number of the group of each row that has a label."""
        given = len(self) if self.known is None else self.given
        return group_numbers(groups, given, self.known)

    def __len__(self) -> int:
        return len(self.codes)

    def rules(self, alpha: Sequence[Any] | None) -> list[Any]:
        """Return the rule of the model, or one rule for each α."""
        if alpha is None:
            return [self.model._rule()]
        if not hasattr(self.model, "alpha"):
            raise InputError(f"{type(self.model).__name__} has no alpha")
        others = [changed(self.model, alpha=a) for a in alpha]
        rules = [Additive(other.alpha) if isinstance(other.alpha, float) else other._rule() for other in others]
        for other in others:
            other._validate_params()
        return rules

    def leave_one_out(self, rules: Sequence[Any]) -> list[HeldOut]:
        """Leave-one-out scores: each row scored by the counts without it, for each rule."""
        found = held_out.leave_one_out(*self._arguments(rules), self.rows, self.codes, self.weight)
        return [result.as_used(self.method) for result in found]

    def by_groups(self, rules: Sequence[Any], groups: Array) -> list[HeldOut]:
        """Leave-group-out scores: each row scored by the counts without its group, for each rule."""
        found = held_out.leave_groups_out(*self._arguments(rules), self.rows, self.codes, self.weight, groups)
        return [result.as_used(self.method) for result in found]

    def _arguments(self, rules: Sequence[Any]) -> tuple[Any, Any, Sequence[Any], Any]:
        state = self.model._model
        return self.model._blocks_of(state), state.ledger, rules, self.model._prior_rule()


def method_of(model: Any) -> str | None:
    """Return a model's method of calibration; None if it does not calibrate."""
    return getattr(model, "_method", None)


def uncalibrated(model: Any) -> Any:
    """Return an unfitted copy of a model that does not calibrate: held-out rows get a calibration of their own."""
    fresh = clone(model)
    return fresh.set_params(calibrate=False) if "calibrate" in fresh.get_params(deep=False) else fresh


def changed(model: Any, **parameters: Any) -> Any:
    """Return a view of a fitted model with other parameters; it shares the counts, so it must not be fitted."""
    other = copy.copy(model)
    for name, value in parameters.items():
        setattr(other, name, value)
    return other


def leave_one_out(
    model: Any, X: Any, y: Any, *, alpha: Any = None, groups: Any = None, sample_weight: Any = None
) -> Any:
    """Score each row by a model without it, exactly, in one pass over the rows.

    >>> from naively import MultinomialNB, leave_one_out
    >>> X, y = [[2, 1, 0], [1, 2, 0], [0, 1, 3], [0, 2, 2]], ["sport", "sport", "politics", "politics"]
    >>> leave_one_out(MultinomialNB(), X, y)
    HeldOut(4 rows, accuracy 1.0000, log-loss 0.1665)
    >>> [round(path.log_loss, 3) for path in leave_one_out(MultinomialNB(), X, y, alpha=[1.0, 0.1])]
    [0.166, 0.013]

    Each row is subtracted from the counts. Words that occur in no other text are then unknown, but everything that was
    chosen from all rows stays: "auto" parameters, an α by evidence, columns, categories, bins, and selected words. The
    only row of a class is scored with the priors smoothed by 1. If the model calibrates its probabilities, those of
    held-out rows are calibrated in the same way, each row by other rows.

    Parameters
    ----------
    model : estimator
        A model of naively. If it is fitted, it must have been fitted on (at least) these rows.
    X, y : rows and their labels
        As for `fit`.
    alpha : float, rule, or sequence of them, default=None
        Smoothings to use instead of the model's; a sequence gives one result for each.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are left out together, such as near-duplicates or texts of one author.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    held_out : HeldOut, or a list with one HeldOut for each alpha
    """
    counted = Counted.of(model, X, y, sample_weight, as_it_is=True)
    rules = counted.rules(path_of(alpha))
    found = counted.leave_one_out(rules) if groups is None else counted.by_groups(rules, counted.groups(groups))
    return found if is_path(alpha) else found[0]


def cross_validate(
    model: Any, X: Any, y: Any, *, folds: int = 10, repeats: int = 1, alpha: Any = None, random_state: int = 0,
    sample_weight: Any = None,
) -> Any:  # fmt: skip
    """Score each row by a model without its fold; rows are counted once, and folds are subtracted.

    >>> from naively import TextClassifier, cross_validate, film_reviews
    >>> texts, labels = film_reviews()
    >>> cross_validate(TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1)), texts, labels)
    HeldOut(... rows, accuracy 0.8..., log-loss ...)

    Words, bins and an α by evidence are those of the other folds; what `TextClassifier` chooses in `fit` is chosen from
    all rows. If the model calibrates its probabilities, those of held-out rows are calibrated in the same way, each row
    by other rows.

    Parameters
    ----------
    model : estimator
        A model of naively. If it is fitted, it must have been fitted on these rows.
    X, y : rows and their labels
        As for `fit`.
    folds : int, default=10
        Number of folds, which are stratified by class; at most the number of rows.
    repeats : int, default=1
        Number of repetitions, each with other folds.
    alpha : float, rule, or sequence of them, default=None
        Smoothings to use instead of the model's; a sequence gives one result for each.
    random_state : int, default=0
        Seed of the random numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    held_out : HeldOut; a list with one for each alpha or for each repeat; with both, a list of lists
    """
    repeats, random_state = whole_number(repeats, "repeats", 1), whole_number(random_state, "random_state", 0)
    counted = Counted.of(model, X, y, sample_weight, as_it_is=True)
    rules = counted.rules(path_of(alpha))
    found = []
    for repeat in range(repeats):
        fold = held_out.folds(len(counted), folds, random_state + repeat, counted.codes)
        results = counted.by_groups(rules, fold)
        found.append(results if is_path(alpha) else results[0])
    return found[0] if repeats == 1 else found


def is_path(alpha: Any) -> bool:
    """True if alpha is a sequence of smoothings."""
    return isinstance(alpha, (Sequence, np.ndarray)) and not isinstance(alpha, str)


def path_of(alpha: Any) -> list[Any] | None:
    """Convert alpha to a list of smoothings."""
    if alpha is None:
        return None
    listed = list(alpha) if is_path(alpha) else [alpha]
    if not listed:
        raise InputError("alpha: the path is empty; give one value or more")
    return [float(a) if isinstance(a, (int, float, np.number)) else a for a in listed]


def check_model(model: Any) -> None:
    """Raise if this is not a model of naively."""
    if isinstance(model, type) or not hasattr(model, "_labelled"):
        got = (
            f"the class {model.__name__}; write {model.__name__}()" if isinstance(model, type) else type(model).__name__
        )
        raise InputError(f"expected a model of naively's, got {got}")


def whole_number(value: Any, name: str, least: int) -> int:
    """Return a parameter as an int, or raise if it is not a whole number of at least `least`."""
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be a whole number, {least} or more, got {value!r}")
    return int(value)


def group_numbers(groups: Any, rows: int, known: Array | None = None) -> Array:
    """Number the groups from 0 and return the number of each row's group; only for the rows in `known`, if given."""
    listed = np.asarray(groups)
    if listed.shape != (rows,):
        raise InputError(f"groups must be one for each of {rows} rows, got shape {listed.shape}")
    listed = listed if known is None else listed[known]
    numbers = np.unique(listed.astype(str) if listed.dtype == object else listed, return_inverse=True)[1]
    if numbers.max(initial=0) == 0:
        raise InputError("groups: all rows are in one, so that nothing would be left; give two groups or more")
    return numbers.ravel()
