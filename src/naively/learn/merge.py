"""Merging estimators that were fitted apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import Any

from naively.count.adding import add_all
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.families.blocks.matrix import ArrayBlock
from naively.learn.learner import Learner
from naively.learn.model import NO_CLASSES
from naively.names import Index
from naively.read.label_codes import sorted_index


def merge(*estimators: Any) -> Any:
    """Return one estimator with the counts of all of these.

    >>> from naively import MultinomialNB, merge
    >>> a = MultinomialNB().fit([[2, 0], [0, 1]], ["x", "y"])
    >>> b = MultinomialNB().fit([[0, 3]], ["z"])
    >>> merge(a, b).classes_.tolist()
    ['x', 'y', 'z']
    >>> merge([a, b]).tally_ == merge(a, b).tally_
    True

    They must be of one class and have the same parameters. Features are matched by name where they have names;
    classes and categories that only some of them know are known to the result. `merge(each)` takes them from an
    iterable one at a time, so that no more than two are in memory: `merge(load(path) for path in paths)`.
    """
    given = iter(estimators[0] if len(estimators) == 1 and isinstance(estimators[0], Iterable) else estimators)
    first = next(given, None)
    if first is None:
        raise InputError("merge takes at least one estimator")
    _check_kind(first)
    merged = first._fresh()
    merged._copies = first._copies
    common = _Common(first)
    total = add_all(common.tally_of(estimator) for estimator in chain([first], given))
    name_features(merged, total)
    state = first._model.after(Ledger.of(total))
    merged._commit(replace(state, declared=common.declared, calibrated=common.calibrated))
    return merged


class _Common:
    """The parameters that estimators to merge must share, and their declared classes and calibrations so far."""

    def __init__(self, first: Any):
        self.first = first
        self.declared = NO_CLASSES
        self.calibrated: Any = None

    def tally_of(self, estimator: Any) -> Tally:
        """Return the counts of an estimator that can be merged with the first."""
        _check_alike(self.first, estimator)
        model = estimator._model
        self.declared = _union_of_declared(self.declared, model.declared)
        calibrated = estimator._finish_calibration(model)
        if calibrated is not None:
            self.calibrated = calibrated if self.calibrated is None else self.calibrated + calibrated
        total: Tally = estimator.tally_
        return total


def _check_alike(first: Any, estimator: Any) -> None:
    """Raise InputError if two estimators do not count alike."""
    _check_kind(estimator)
    estimator._check_fitted()
    alike = type(estimator) is type(first)
    if alike and estimator._model.schema is not None:
        _check_schemas(first, estimator)
    elif not alike or estimator._identity() != first._identity():
        if alike and hasattr(first, "chosen_") and first.parameters() == estimator.parameters():
            raise InputError(
                "merge takes estimators with the same parameters, but these have chosen to count differently "
                f"(chosen_.ngrams {first.chosen_.ngrams}, {estimator.chosen_.ngrams}): fit them with ngrams= given"
            )
        raise InputError(
            f"merge takes estimators of one kind and with the same parameters, got {first!r}, {estimator!r}"
        )
    numbered = hasattr(first, "n_features_in_") and not hasattr(first, "feature_names_in_")
    if numbered and estimator.n_features_in_ != first.n_features_in_:
        raise InputError(
            f"cannot merge {first.n_features_in_} features with {estimator.n_features_in_}; "
            "give the columns names (a DataFrame) if some are to be absent"
        )


def name_features(merged: Any, total: Tally) -> None:
    """Set the number and the names of the columns of an estimator of arrays to those of a tally."""
    features = total.features.get(ArrayBlock.name)
    columns = getattr(features, "columns", features)
    if isinstance(columns, Index):
        merged.n_features_in_ = columns.size
        if columns.names is not None:
            merged.feature_names_in_ = columns.names


def _union_of_declared(one: Index, other: Index) -> Index:
    """The classes that `classes=` named for either of two models, sorted."""
    both = one.union(other, "classes")[0]
    return both if both.names is None else sorted_index(both.names)


def _check_kind(estimator: Any) -> None:
    if not isinstance(estimator, Learner):
        kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
        hint = "; add tallies by sum(tallies)" if isinstance(estimator, Tally) else ""
        raise InputError(f"merge takes estimators of naively, got {kind}{hint}")


def _check_schemas(first: Any, other: Any) -> None:
    """Raise InputError if two models of tables do not count their columns alike."""
    same = first._model.schema.rules() == other._model.schema.rules()
    if not same or (first.missing, *_smoothed(first)) != (other.missing, *_smoothed(other)):
        raise InputError(
            "the columns of the models to merge were taken for different things (compare their schema_), or other "
            "parameters differ; fit them with the same columns="
        )


def _smoothed(estimator: Any) -> tuple[Any, Any]:
    return estimator._rule(), estimator._prior_rule()
