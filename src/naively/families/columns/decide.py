"""Decide what a column of numbers is taken for: a pure function of its counts and of what was declared.

1. Declared: that family. 2. True and false: a flag. 3. Few whole numbers: categories. 4. Else the density or histogram
with the least loss, each row left out in turn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from naively.arrays import Array
from naively.count.moments import Moments
from naively.errors import InputError
from naively.families.codes import CodeCounts
from naively.families.columns.bins import binned, edges, snapped
from naively.families.columns.counted import CountedColumn
from naively.families.columns.declared import Bernoulli, Categorical, Histogram, Kernel, Refitted, Rule, Undeclared
from naively.families.columns.kernel import USUAL_BINS, kernel_bins
from naively.families.columns.loss import (
    column_parameters,
    loss_by_bins,
    loss_by_density,
    loss_by_normal,
    statistic_moments,
)
from naively.families.columns.number_table import Column
from naively.families.densities.base import LEAST_ALPHA, NumberFamily
from naively.families.densities.gamma import Gamma
from naively.families.densities.gaussian import Gaussian
from naively.families.densities.log_normal import LogNormal
from naively.names import Index
from naively.smooth.evidence import Known
from naively.smooth.rules import Settled, Smoothing

MOST_CATEGORIES = 32
"""Whole numbers with at most this number of values, and no more than the root of the rows, are categories."""
_GAUSSIAN = Gaussian()
_DENSITIES: tuple[NumberFamily, ...] = (LogNormal(), Gamma())
_SLOWER = 1.001
"""Factor by which their loss must be smaller, since they take longer to score."""


def decide(name: str, rule: Rule, column: CountedColumn, moments: Moments, smoothing: Smoothing) -> Column:
    """Return what a column is taken for; `moments` are those of each class, from exact sums."""
    if isinstance(rule, Refitted):
        assert rule.family is not None
        return _refitted(name, rule.family, column, moments, smoothing)
    if isinstance(rule, Kernel):
        at, bins, width = kernel_bins(rule, column)
        settled = smoothing.settle(Known)  # curves are smooth already
        logs = CodeCounts.of([bins], USUAL_BINS).logs(settled)
        return Column(name, rule, "", column.level, None, at, None, logs, bins, added(settled), width)
    if isinstance(rule, Histogram):
        return _codes(name, rule, "", column, smoothing, edges(rule.bins, rule.n_bins, column))
    if isinstance(rule, Undeclared):
        if rule.boolean:
            return _codes(name, Bernoulli(), "true or false", column, smoothing, np.array([0.5]))
        n_values = len(column.least)
        if not n_values:
            return _codes(name, Histogram(), "no known value", column, smoothing, np.zeros(0))
        if column.whole and n_values <= min(MOST_CATEGORIES, max(2, int(np.sqrt(column.rows.sum())))):
            why = f"whole numbers, {n_values} value{'s' if n_values != 1 else ''}"
            return _codes(name, Categorical(), why, column, smoothing, None)
    return _by_loss(name, column, moments, smoothing)


def _refitted(name: str, family: Rule, column: CountedColumn, moments: Moments, smoothing: Smoothing) -> Column:
    """Return a column as a family that was declared after counting: from its values, or from ranges of them."""
    source = "from its values" if column.exact else "from ranges of its values"
    if isinstance(family, NumberFamily):
        outside = ~family.support.holds(column.least)
        if outside.any():
            raise InputError(
                f"column {name!r} holds {column.least[np.argmax(outside)]:g}, expected {family.support.title} "
                f"({type(family).__name__}); refit it as another family"
            )
        why = "from exact sums" if isinstance(family, Gaussian) else source
        parameters = _parameters(family, column, moments, density_alpha(smoothing))
        return Column(name, family, why, column.level, parameters)
    if isinstance(family, Bernoulli):
        at = snapped(np.nextafter([float(family.threshold)], np.inf), column)
        return _codes(name, family, source, column, smoothing, at)
    if isinstance(family, Categorical):
        if not column.whole:
            held = "fractions" if column.exact else "more different values than are counted one by one"
            raise InputError(
                f"column {name!r} holds {held}, which are no categories; refit it as another family, or declare it "
                f"before counting: columns={{{name!r}: Categorical()}}"
            )
        return _codes(name, family, source, column, smoothing, None)
    return decide(name, family, column, moments, smoothing)


def _codes(name: str, family: Rule, why: str, column: CountedColumn, smoothing: Smoothing, at: Array | None) -> Column:
    """Return a column of bins that begin at some edges, or (None) of categories."""
    counts = column.counts if at is None else binned(column, column.counts, at)
    values = Index.of(column.least.astype(np.int64)) if at is None else None
    counted = CodeCounts.of([counts])
    settled = smoothing.settle(lambda: counted.urns().urns[0])
    return Column(name, family, why, column.level, None, at, values, counted.logs(settled), counts, added(settled))


def _by_loss(name: str, column: CountedColumn, moments: Moments, smoothing: Smoothing) -> Column:
    """Return the column by the family whose log-loss of the labels is least, each row left out in turn."""
    histogram = Histogram()
    at, rows = edges(histogram.bins, None, column), column.rows
    table = binned(column, rows, at)
    settled = smoothing.settle(lambda: CodeCounts.of([table]).urns().urns[0])
    losses: dict[Rule, float] = {histogram: loss_by_bins(table, max(added(settled), 1e-3))}
    alpha = density_alpha(smoothing)
    variance = _pooled_variance(moments)
    if np.isfinite(variance):
        scale = rows.sum() / max(moments.n.sum(), 1e-300)
        floor = max(_GAUSSIAN.var_smoothing * variance, 1e-300)
        losses[_GAUSSIAN] = loss_by_normal(
            column.middle, rows, moments.n * scale, moments.mean, moments.variance, floor
        )
    for family in _DENSITIES:
        if family.support.holds(column.least).all():
            losses[family] = loss_by_density(family, column.middle, rows, alpha)
    best = min(losses, key=lambda rule: losses[rule] * (1.0 if rule in (histogram, _GAUSSIAN) else _SLOWER))
    why = _reason(best, losses)
    if isinstance(best, NumberFamily):
        found = Column(name, best, why, column.level, _parameters(best, column, moments, alpha))
    else:
        found = _codes(name, best, why, column, smoothing, at)
    return replace(found, losses={rule.label: loss for rule, loss in losses.items()})


def _parameters(family: NumberFamily, column: CountedColumn, moments: Moments, alpha: float) -> tuple[Array, ...]:
    """Return the parameters of each class; a Gaussian has those of exact sums."""
    normal = isinstance(family, Gaussian)
    own = moments.at((slice(None), None)) if normal else statistic_moments(family, column)
    return column_parameters(family, own, own.pooled(), alpha)


def _pooled_variance(moments: Moments) -> float:
    """Return the variance over all classes; infinite or NaN where float64 cannot hold it, or that of a class."""
    with np.errstate(all="ignore"):
        return float(moments.pooled().variance)


def density_alpha(smoothing: Smoothing) -> float:
    """Return how many rows of all classes are added to each class of a density."""
    return max(added(smoothing.settle(Known)), LEAST_ALPHA)


def added(settled: Settled) -> float:
    """Return what a rule adds to a count."""
    return float(np.max(settled.pseudo(None)))


def _reason(best: Rule, losses: dict[Rule, float]) -> str:
    """Return the loss of the best family, and that of the next one."""
    others = [(loss, rule.label) for rule, loss in losses.items() if rule is not best]
    tail = f", {min(others)[0]:.3f} by {min(others)[1]}" if others else ""
    return f"numbers: {losses[best]:.3f} leaving one out{tail}"
