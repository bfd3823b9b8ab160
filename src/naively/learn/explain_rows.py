"""Explanations of many rows at once: what each feature of each row says for one label against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError, nearest
from naively.families.words.table import TextTable
from naively.learn.model import Model, Weighing
from naively.read.codes import CodeRows, CodeTerm, codes_of, sums
from naively.read.frame import Frame
from naively.read.matrix import is_sparse
from naively.report import needed
from naively.score.density import Density, log_densities
from naively.score.scores import Scores
from naively.score.table import CodeTable, LinearTable, missing_codes, with_infinities

_COLUMNS = {"labels": "label"}
_LARGEST = 1 << 26
"""The largest number of shares in a frame."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanations:
    """The log-odds of one label against another as a sum, for many rows: prior + shares + `rest`.

    `labels` are those decided (or the one that was named), `against` the most probable others. `shares` and `values`
    are arrays, rows by `features`; a share is 0 where a feature is missing. `rest` is what absent features say.
    """

    labels: Array
    against: Array
    probability: Array
    log_odds: Array
    prior: Array
    rest: Array
    features: tuple[Any, ...]
    shares: Array
    values: Any

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with two levels of columns: "row", "share" and "value"; then names.

        `frame["share"]` has the shares, rows by features, `frame["value"]` the values that they come from.
        """
        pandas = needed("pandas", "a frame", "pip install pandas")
        parts = ("labels", "against", "probability", "log_odds", "prior", "rest")
        columns = {("row", _COLUMNS.get(name, name)): getattr(self, name) for name in parts}
        columns |= {("share", name): share for name, share in zip(self.features, self.shares.T, strict=True)}
        columns |= {("value", name): value for name, value in zip(self.features, self.values, strict=True)}
        names = pandas.MultiIndex.from_tuples(columns)
        return pandas.DataFrame(dict(enumerate(columns.values()))).set_axis(names, axis=1)

    def __repr__(self) -> str:
        return f"Explanations({len(self.labels):_} rows, {len(self.features):_} features)"


def explain_rows(learner: Any, X: Any, label: Any = None) -> Explanations:
    """Return the shares of all features of these rows; see `Predictor.explain_rows`."""
    frame, _ = learner._frame(X)
    model, weighing = learner._weighed_by()
    scores = learner._finished(model.scores(weighing, frame), model)
    proba = scores.proba()
    if len(scores.classes) < 2:
        raise InputError("the model knows one class alone, so there is nothing to speak for or against")
    first, second = _pair(scores, proba, label)
    of_columns = frame.whole is None
    parts = _of_columns(learner, model, weighing, frame) if of_columns else _of_whole(model, weighing, frame)
    at = np.arange(len(frame))
    features, shares, values = parts(first, second)
    joint = with_infinities(scores.joint, scores.impossible)
    prior = np.broadcast_to(scores.prior, joint.shape)
    with np.errstate(invalid="ignore"):
        odds, before = (part[at, first] - part[at, second] for part in (joint, prior))
        rest = odds - before - shares.sum(axis=1)
        rest = np.where(np.isnan(rest), 0.0, rest)
    named = scores.classes
    return Explanations(named[first], named[second], proba[at, first], odds, before, rest, features, shares, values)


def _pair(scores: Scores, proba: Array, label: Any) -> tuple[Array, Array]:
    """Return the places of the decided class and of the next one, or of a label and of the best other one."""
    order = np.lexsort((scores.joint, proba), axis=1)
    if label is None:
        return order[:, -1], order[:, -2]
    known = np.flatnonzero(scores.classes == label)
    if len(known) != 1:
        raise InputError(f"label={label!r} is no class{nearest(str(label), map(str, scores.classes.tolist()))}")
    first = np.full(len(proba), known[0])
    return first, np.where(order[:, -1] == first, order[:, -2], order[:, -1])


def _difference(values: Array, impossible: Array | None, first: Array, second: Array) -> Array:
    """Return a term of the first class less that of the second, row by row."""
    at = np.arange(len(values))
    apart = None if impossible is None else impossible[at, first] - impossible[at, second]
    return with_infinities(values[at, first] - values[at, second], apart)


def _of_columns(learner: Any, model: Model, weighing: Weighing, frame: Frame) -> Any:
    """Return a function that finds the shares of the columns of a table.

    A coded column has its weights in a table; any other is scored with no other column there, less what is scored with
    no column at all. Where missing values are informative, all are, so that a share is what a value says beyond being
    missing.
    """
    used = learner._sampled_rows(model, frame).columns
    groups = [tuple(b.sources) for b in weighing.blocks.blocks if getattr(b.family, "pairs", False)]
    grouped = {name for group in groups for name in group}
    units = [(name,) for name in used if name not in grouped] + [g for g in groups if any(name in used for name in g)]
    order = model.ledger.classes.order
    coded = {} if weighing.blocks.informative else _coded_columns(model, weighing, frame)

    def scored(names: Sequence[str]) -> Scores:
        return model.scores(weighing, Frame({n: used[n] for n in names if n in used}, frame.rows, frame.named))

    def shares(first: Array, second: Array) -> tuple[tuple[Any, ...], Array, list[Any]]:
        inner = (first, second) if order is None else (order[first], order[second])
        found, base = np.zeros((frame.rows, len(units))), None
        with np.errstate(invalid="ignore"):
            for j, unit in enumerate(units):
                if unit[0] in coded:
                    found[:, j] = _difference(*coded[unit[0]](), *inner)
                    continue
                if base is None:
                    nothing = scored(())
                    base = _difference(nothing.likelihood, nothing.impossible, first, second)
                alone = scored(unit)
                found[:, j] = _difference(alone.likelihood, alone.impossible, first, second) - base
        values = [_listed(used, unit) for unit in units]
        return (
            tuple(unit[0] if len(unit) == 1 else unit for unit in units),
            np.where(np.isnan(found), 0.0, found),
            values,
        )

    return shares


def _coded_columns(model: Model, weighing: Weighing, frame: Frame) -> dict[str, Any]:
    """Return for each coded column a function that gives its shares by class, and impossible factors."""

    def shares(table: CodeTable, columns: CodeRows, j: int) -> tuple[Array, Array | None]:
        column, at, n_classes = replace(columns, columns=[columns.columns[j]]), slice(j, j + 1), table.classes.size
        finite = CodeTerm(column, table.weights, table.unseen[at], table.offsets[at], table.sizes[at])
        if table.impossible is None:
            return sums([finite], n_classes), None
        zeros, unseen = table.impossible
        term = CodeTerm(column, zeros, unseen[at], table.offsets[at], table.sizes[at])
        return sums([finite], n_classes), sums([term], n_classes)

    found: dict[str, Any] = {}
    for table, columns in model.coded(weighing, frame):
        names = [table.categories.columns.name(j) for j in range(len(columns.columns))]
        found |= {name: partial(shares, table, columns, j) for j, name in enumerate(names)}
    return found


def _listed(columns: dict[str, Any], unit: tuple[str, ...]) -> Any:
    """Return the values of a column; of a group, tuples of them."""
    each = [columns[n] if isinstance(columns[n], np.ndarray) else columns[n].to_pandas() for n in unit if n in columns]
    return each[0] if len(unit) == 1 else list(zip(*each, strict=True))


def _of_whole(model: Model, weighing: Weighing, frame: Frame) -> Any:
    """Return a function that finds the shares of the features of an array, a matrix or texts."""
    [block] = weighing.blocks.blocks
    table: Any = model.table(weighing.blocks, weighing.rule, weighing.prior).blocks[block.name]
    rows: Any = block.read(frame, block.features_of(table))
    order = model.ledger.classes.order
    if isinstance(table, TextTable):
        table, rows = table.linear, table.rows(rows)

    def shares(first: Array, second: Array) -> tuple[tuple[Any, ...], Array, list[Any]]:
        pair = (first, second) if order is None else (order[first], order[second])
        if isinstance(table, LinearTable):
            return _linear(table, rows, *pair)
        if isinstance(table, CodeTable):
            return _coded(table, rows, *pair)
        if isinstance(table, Density):
            return _dense(table, rows, *pair)
        raise InputError(
            "covariances of pairs of features give a feature no share of its own: call explain for one row, "
            "which adds features one after another"
        )

    return shares


def _linear(table: LinearTable, X: Any, first: Array, second: Array) -> tuple[tuple[Any, ...], Array, list[Any]]:
    n_used = len(np.unique(X.indices)) if is_sparse(X) else np.count_nonzero(np.any(X, axis=0))
    if len(first) * n_used > _LARGEST:
        raise InputError(f"{len(first):_} rows hold {n_used:_} features, too many for a frame; pass fewer rows")
    if is_sparse(X):
        row, column, value = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr)), X.indices, X.data
    else:
        row, column = np.nonzero(np.nan_to_num(X, nan=0.0))
        value = X[row, column]
    value = value.astype(np.float64)
    known = ~np.isnan(value)
    row, column, value = row[known], column[known], value[known]
    weight = value
    if table.accepts.threshold is not None:
        weight = (value > table.accepts.threshold).astype(np.float64)
        row, column, value, weight = (part[weight != 0] for part in (row, column, value, weight))
    a, b = first[row], second[row]
    found = weight * _apart(table.present, table.impossible, column, a, b)
    if table.missing_terms is not None:  # a present feature is no longer one of the absent
        found = found - _apart(*table.terms_of_missing, column, a, b)
    used, place = np.unique(column, return_inverse=True)
    shares, values = np.zeros((2, len(first), len(used)))
    np.add.at(shares, (row, place), found)
    np.add.at(values, (row, place), value)
    return tuple(table.features.name(f) for f in used.tolist()), shares, list(values.T)


def _apart(finite: Any, impossible: Any, feature: Array, first: Array, second: Array) -> Array:
    """Return the weight of features in one class less that in another."""
    apart = None if impossible is None else impossible.weights[feature, first] - impossible.weights[feature, second]
    return with_infinities(finite.weights[feature, first] - finite.weights[feature, second], apart)


def _coded(table: CodeTable, X: Any, first: Array, second: Array) -> tuple[tuple[Any, ...], Array, list[Any]]:
    codes = codes_of(X)
    codes = codes.toarray() if is_sparse(codes) else codes
    known = ~missing_codes(codes)
    shares, values = np.zeros(codes.shape), []
    for j in range(codes.shape[1]):
        rows = np.flatnonzero(known[:, j])
        mine = np.full(len(rows), j), codes[rows, j].astype(np.int64)
        finite = table._of(*mine, table.weights, table.unseen)
        impossible = None if table.impossible is None else table._of(*mine, *table.impossible)
        shares[rows, j] = _difference(finite, impossible, first[rows], second[rows])
        value = np.where(known[:, j], codes[:, j], -1).astype(np.int64)
        names = table.categories.values[j]
        inside = (value >= 0) & (value < names.size)
        listed = np.arange(names.size) if names.names is None else names.names
        values.append([listed[v] if there else None for v, there in zip(value.tolist(), inside.tolist(), strict=True)])
    return tuple(table.categories.columns.name(j) for j in range(codes.shape[1])), shares, values


def _dense(table: Density, X: Any, first: Array, second: Array) -> tuple[tuple[Any, ...], Array, list[Any]]:
    x = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    shares = np.zeros(x.shape)
    for klass in range(table.classes.size):
        for sign, chosen in ((1.0, first == klass), (-1.0, second == klass)):
            parameters = tuple(values[klass] for values in table.parameters)
            shares[chosen] += sign * log_densities(table.family, x[chosen], parameters)
    return tuple(table.features.name(j) for j in range(x.shape[1])), shares, list(x.T)
