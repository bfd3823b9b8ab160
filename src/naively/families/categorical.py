"""Categorical: each column holds one of a few categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from naively import _core
from naively.arrays import Array, alike, from_core, nonzero
from naively.count.cells import Cells
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.count.counts import Counts
from naively.count.ledger import PartLedger
from naively.families.base import count_in_blocks, remainder, rows_per_class
from naively.families.codes import CodeCounts, LeftOutCodes, code_table
from naively.families.counts_left_out import Left, concat_rules
from naively.names import Index
from naively.read.codes import CodeRows, codes_of
from naively.read.matrix import Rows, error_for, in_blocks, is_sparse_matrix
from naively.score.table import CodeTable, missing_codes
from naively.smooth.evidence import Known
from naively.smooth.logs import Logs
from naively.smooth.rules import Settled, Smoothing
from naively.store.registry import stored
from naively.threads import threads

LARGEST_TABLE = 1 << 26
"""Largest table of one column; larger codes are probably a mistake."""


@stored("families.Categorical")
@dataclass(frozen=True)
class Categorical:
    """p(v | j, c) = (N_cjv + α) / (N_cj + αK_j), where K_j is the number of categories of column j.

    A category never seen has the probability of one with a count of 0, or is left out (`unseen="ignore"`).
    """

    who: str = "CategoricalNB"
    unseen: str = "smooth"

    needs_count_histogram: ClassVar[bool] = False
    ignores_prior: ClassVar[bool] = False

    def empty(self, classes: Index, features: Categories) -> Counts:
        return Counts.empty("categories", classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Categories, weight: Array | None) -> Counts:
        """Count rows of codes. A column without names has as many categories as its largest code says."""
        if is_sparse_matrix(X):
            return count_in_blocks(self, X, codes, classes, features, weight)
        most = LARGEST_TABLE // max(classes.size, 1)
        sizes, sums, missing, fault = _core.count_codes(X, codes, classes.size, weight, most, threads(X.size))
        if fault is not None:
            raise error_for(fault, X, features.columns, self.who, "codes from 0 on")
        column = np.repeat(np.arange(len(sizes)), sizes)
        code = np.arange(len(sums)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        sums = from_core(sums)
        at, klass = np.nonzero(nonzero(sums))
        feature, values = ((column << CODE_BITS) | code)[at], sums[at, klass]
        if missing is not None:
            missing = from_core(missing)
            missing_columns, missing_klass = np.nonzero(nonzero(missing))
            feature = np.concatenate([feature, (missing_columns << CODE_BITS) | MISSING])
            klass, values = (
                np.concatenate([klass, missing_klass]),
                np.concatenate(alike([values, missing[missing_columns, missing_klass]])),
            )
        cells = Cells.sorted(feature, klass, values[None])
        rows = rows_per_class(codes, weight, classes.size)
        return Counts("categories", rows, _widened(features, sizes), cells)

    def features_in(self, X: Rows | CodeRows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        if is_sparse_matrix(X) or X.shape[0] * X.shape[1] > 1 << 14 or not rule.local:
            return None
        X = codes_of(X)
        known = X[~missing_codes(X)]
        if not (np.isfinite(known) & (known >= 0) & (known == np.floor(known))).all():
            return None  # not codes; scoring by the whole table raises the error
        keys, present = _keys(X)
        return np.unique(keys[present])

    def restrict(self, X: Rows | CodeRows, features: Array) -> Rows:
        X = codes_of(X)
        keys, known = _keys(X)
        firsts = np.searchsorted(features, np.arange(X.shape[1]) << CODE_BITS)
        codes = np.where(known, np.searchsorted(features, keys) - firsts, np.iinfo(np.int64).min)
        return np.ascontiguousarray(codes)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> CodeTable:
        categories = ledger.features
        everything = features is None
        if features is None:
            features = _all_features(categories)
        column = features >> CODE_BITS
        counted = _counted(ledger, features)
        settled = self.settled_by(ledger, rule)
        seen, never = counted.logs(settled), counted.unseen(settled)
        if self.unseen == "ignore":
            never = np.zeros_like(never[0]), None if never[1] is None else np.zeros_like(never[1])
            # A code that no class has seen is left out as well, though a larger one made room for it.
            empty: Array = ~np.any(counted.counts, axis=1)
            seen = _cleared(seen, empty)
        sizes = np.bincount(column, minlength=categories.columns.size).astype(np.int64)
        if not everything:
            outside = (features & MISSING) >= categories.sizes[column]
            seen = _moved(seen, never, outside, column)
        return code_table(self.who, ledger.classes, categories, prior, sizes, seen, never)

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Rows | CodeRows, codes: Array, weight: Array | None
    ) -> Left:
        """Leave each row out; a category that only this row has stays known, with a count of 0."""
        X = codes_of(X)
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        counted = _counted(ledger, _all_features(ledger.features))
        settled = [self.settled_by(ledger, rule) for rule in rules]
        tables = [self.table(ledger, rule, np.zeros(ledger.classes.size)) for rule in settled]

        def left_out(part: Rows, rows: slice) -> Left:
            part = np.ascontiguousarray(part.toarray()) if is_sparse_matrix(part) else part
            own = LeftOutCodes.of(counted, part, codes[rows], each[rows])
            ignore = self.unseen == "ignore"
            return [own.left_out(t, r, part, ignore=ignore) for t, r in zip(tables, settled, strict=True)]

        parts = in_blocks(X, X.shape[1] + ledger.classes.size, left_out, 1 << 20)
        return concat_rules(parts, len(rules), ledger.classes.size)

    def settled_by(self, ledger: PartLedger, rule: Smoothing) -> Settled:
        """Return the rule that gives logarithms for the counts of a ledger: by evidence, with an α for each column."""
        if rule.local:
            return rule.settle(Known)
        settled_rules: dict[Smoothing, Settled] = ledger.__dict__.setdefault("_settled", {})  # found once for a ledger
        if rule not in settled_rules:
            settled_rules[rule] = rule.settle(lambda: _counted(ledger, _all_features(ledger.features)).urns())
        return settled_rules[rule]

    def n_parameters(self, ledger: PartLedger) -> int:
        assert isinstance(ledger.features, Categories)
        return ledger.classes.size * int((ledger.features.sizes - 1).clip(0).sum())

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Return the number of combinations of categories less one, for each class."""
        assert isinstance(ledger.features, Categories)
        return ledger.classes.size * (math.prod(max(int(s), 1) for s in ledger.features.sizes) - 1)

    def sample(self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        """Draw codes; a column without any known value is missing."""
        assert isinstance(ledger.features, Categories)
        known = replace(self, unseen="smooth")  # categories that scores leave out may still be drawn
        table = known.table(ledger, rule, np.zeros(ledger.classes.size))
        codes = np.full((size, len(table.sizes)), np.iinfo(np.int64).min)
        for j, (start, n_codes) in enumerate(zip(table.offsets.tolist(), table.sizes.tolist(), strict=True)):
            if n_codes:
                chance = np.exp(table.weights[start : start + n_codes, klass])
                if table.impossible is not None:
                    chance = np.where(table.impossible[0][start : start + n_codes, klass] > 0, 0.0, chance)
                if chance.sum() > 0:
                    codes[:, j] = rng.choice(n_codes, size, p=chance / chance.sum())
        return codes


def _all_features(categories: Categories) -> Array:
    """Return the features of all categories."""
    code = np.arange(categories.size) - np.repeat(categories.offsets, categories.sizes)
    return code | np.repeat(np.arange(categories.columns.size) << CODE_BITS, categories.sizes)


def _counted(ledger: PartLedger, features: Array) -> CodeCounts:
    """Return the counts of these categories in each class, and the rows of each class with a known value."""
    missing_codes_of = (np.arange(ledger.features.columns.size) << CODE_BITS) | MISSING
    wanted = np.union1d(features, missing_codes_of)
    cells = ledger.take(wanted)
    counts = np.zeros((len(wanted), ledger.classes.size))
    counts[cells.feature, cells.klass] = cells.values[0]
    known = remainder(ledger.rows, counts[np.searchsorted(wanted, missing_codes_of)])
    return CodeCounts(counts[np.searchsorted(wanted, features)], features >> CODE_BITS, known, ledger.features.sizes)


def trimmed(tally: Counts, least: Array) -> Counts:
    """Drop categories without counts: named ones anywhere, numbered ones after the last with a count.

    The first `least` of each column stay.
    """
    assert isinstance(tally.features, Categories)
    column, code = tally.cells.feature >> CODE_BITS, tally.cells.feature & MISSING
    values: list[Index] = []
    moved: list[Array] = []
    for j, known in enumerate(tally.features.values):
        seen = np.unique(code[(column == j) & (code != MISSING)])
        if known.names is None:
            values.append(Index(max(int(seen[-1]) + 1 if len(seen) else 0, int(least[j]))))
            moved.append(np.arange(known.size))
        else:
            seen = np.union1d(seen, np.arange(min(int(least[j]), known.size)))
            values.append(Index.of(known.names[seen]) if len(seen) else Index(0))
            moved.append(np.searchsorted(seen, np.arange(known.size)))

    def renumber(feature: Array) -> Array:
        column, code = feature >> CODE_BITS, feature & MISSING
        result = code.copy()
        for j, places in enumerate(moved):
            here = (column == j) & (code != MISSING)
            result[here] = places[code[here]]
        return (column << CODE_BITS) | result

    cells = tally.cells.renumbered(renumber, None)
    return Counts(tally.kind, tally.exact_rows, Categories(tally.features.columns, tuple(values)), cells)


def _keys(X: Array) -> tuple[Array, Array]:
    """Return the feature of each entry, and a mask of known entries."""
    known = ~missing_codes(X)
    codes = np.where(known, X, 0)
    if codes.dtype.kind == "f":  # floats may be beyond the range of int64
        codes = np.minimum(codes, MISSING - 1)
    codes = np.minimum(codes.astype(np.int64), MISSING - 1)
    return (np.arange(X.shape[1]) << CODE_BITS) | codes, known


def _widened(features: Categories, sizes: Array) -> Categories:
    """Add categories for codes beyond those known, in columns without names."""
    values = [
        Index(int(size)) if known.names is None and size > known.size else known
        for known, size in zip(features.values, sizes.tolist(), strict=True)
    ]
    same = all(a is b for a, b in zip(values, features.values, strict=True))
    return features if same else Categories(features.columns, tuple(values))


def _cleared(logs: Logs, rows: Array) -> Logs:
    finite, impossible = logs
    impossible = None if impossible is None else np.where(rows[:, None], 0.0, impossible)
    return np.where(rows[:, None], 0.0, finite), impossible


def _moved(seen: Logs, never: Logs, outside: Array, column: Array) -> Logs:
    """Map codes of unknown categories to 'unseen'."""
    parts = [
        None if a is None or b is None else np.where(outside[:, None], b[column], a)
        for a, b in zip(seen, never, strict=True)
    ]
    assert parts[0] is not None
    return parts[0], parts[1]
