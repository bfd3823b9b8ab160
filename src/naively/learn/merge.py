"""Merges estimators that were fitted separately."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from itertools import chain
from operator import add
from typing import Any

from naively.count.adding import add_all
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.families.blocks.matrix import ArrayBlock
from naively.learn.learner import Learner
from naively.learn.model import Model
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
    each = estimators[0] if len(estimators) == 1 and isinstance(estimators[0], Iterable) else estimators
    merged = merged_learner(each)
    merged._commit(merged._state)
    return merged


def merged_learner(each: Iterable[Any]) -> Any:
    """Return a learner with the counts of all of these, before its rules are checked against its classes."""
    given = iter(sorted(each, key=_is_open) if isinstance(each, (list, tuple)) else each)
    first = next(given, None)
    if first is None:
        raise InputError("merge takes at least one estimator")
    _check_kind(first)
    merged = first._fresh()
    merged._copies = first._copies
    common = _Common(first)
    total = add_all(common.tally_of(estimator) for estimator in chain([first], given))
    name_features(merged, total)
    merged._state = common.state.after(Ledger.of(total))
    return merged


def _is_open(estimator: Any) -> bool:
    """True if a model may still choose what it counts; it follows those that have chosen."""
    return bool(getattr(estimator, "_is_open", False))


def _together(one: Model, other: Model) -> Model:
    """Return the first state with the samples of both, and what was decided for the rows that are in no sample."""
    samples = [state.sample for state in (one, other) if state.sample is not None]
    calibrations = [state.calibrated for state in (one, other) if state.calibrated is not None]
    return replace(
        one,
        declared=_union_of_declared(one.declared, other.declared),
        sample=reduce(add, samples) if samples else None,
        began=one.began + other.began,
        calibrated=reduce(add, calibrations) if calibrations else None,
        schema=None if one.schema is None else one.schema.joined(other.schema),
    )


class _Common:
    """All that estimators to merge have in common, except counts; recipes are those of the model with the most rows."""

    def __init__(self, first: Any):
        self.first = first
        self.state: Any = None
        self._decided: tuple[bool, float] = (False, 0.0)

    def tally_of(self, estimator: Any) -> Tally:
        """Return the counts of an estimator that can be merged with the first."""
        _check_alike(self.first, estimator)
        state = self.first._state_to_merge(estimator)
        n_rows = float(state.ledger.rows.sum())
        total: Tally = state.ledger.total
        state = state if state.sample is not None else replace(state, began=n_rows)
        self.state = state if self.state is None else _together(self.state, state)
        decided = state.chosen is not None and not isinstance(state.chosen, str), n_rows
        if decided > self._decided:
            self.state, self._decided = replace(self.state, chosen=state.chosen), decided
        return total


def _check_alike(first: Any, estimator: Any) -> None:
    """Raise InputError if two estimators do not count alike."""
    _check_kind(estimator)
    estimator._check_fitted()
    alike = type(estimator) is type(first)
    if alike and estimator._state.schema is not None:
        _check_schemas(first, estimator)
    elif not alike or estimator._identity() != first._identity():
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
    """Return the classes that `classes=` named for either of two models, sorted."""
    both = one.union(other, "classes")[0]
    return both if both.names is None else sorted_index(both.names)


def _check_kind(estimator: Any) -> None:
    if not isinstance(estimator, Learner):
        kind = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
        hint = "; add tallies by sum(tallies)" if isinstance(estimator, Tally) else ""
        raise InputError(f"merge takes estimators of naively, got {kind}{hint}")


def _check_schemas(first: Any, other: Any) -> None:
    """Raise InputError if two models of tables do not count their columns alike."""
    first._state.schema.joined(other._state.schema)
    if (first.missing, *_smoothed(first)) != (other.missing, *_smoothed(other)):
        raise InputError(f"merge takes estimators with the same parameters, got {first!r}, {other!r}")


def _smoothed(estimator: Any) -> tuple[Any, Any]:
    return estimator._rule(), estimator._prior_rule()
