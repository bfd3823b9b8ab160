"""Rows left out: how each row scores when what it has itself added is taken away again.

Only the row's own class changes (for the complement: all others), so one pass over the entries of the rows is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.cells import Cells
from naively.count.ledger import PartLedger, View
from naively.errors import Inexact, NegativeCount
from naively.names import Index
from naively.read.matrix import Rows, SparseRows, is_sparse, is_sparse_matrix
from naively.score.scores import Scores
from naively.smooth.backgrounds import Background, Seen, background_of, mixed_logs
from naively.smooth.rules import Additive, Logs, Smoothing
from naively.threads import threads

_BLOCK = 1 << 20
"""How many numbers are worked on at a time."""
_LANES = 4

Left = list[Logs]
"""For each rule: log-likelihoods, rows by classes, and how often impossible."""


@dataclass(frozen=True, eq=False)
class Entries(Value):
    """What sparse rows hold, beside what was counted of them.

    `own` is what each entry has added to its row's class, `lost` tells which features go when their row does (None:
    none), `missing` which entries are missing (None: none).
    """

    rows: SparseRows
    own: Array
    codes: Array
    weight: Array
    cells: Cells  # numbered as the columns of the rows are; the first kind of number counts
    totals: Array
    per_class: Array  # rows of each class
    outcomes: int
    lost: Array | None = None
    missing: Array | None = None

    @cached_property
    def starts(self) -> Array:
        """Where the cells of each column begin."""
        many = np.bincount(self.cells.feature, minlength=self.rows.shape[1])
        return np.concatenate([[0], np.cumsum(many)]).astype(np.int64)

    @cached_property
    def planes(self) -> list[Any]:
        """Each kind of number, columns by classes."""
        shape = self.rows.shape[1], len(self.totals)
        return [
            SparseRows(v.astype(np.float64), self.cells.klass, self.starts, shape).matrix() for v in self.cells.values
        ]

    @cached_property
    def row(self) -> Array:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.codes)), np.diff(self.rows.indptr))

    @cached_property
    def features(self) -> Array:
        """How many features there are once a row is gone."""
        if self.lost is None:
            return np.full(len(self.codes), float(self.outcomes))
        return self.outcomes - np.bincount(self.row[self.lost], minlength=len(self.codes)).astype(np.float64)

    def blocks(self) -> Iterator[Entries]:
        """A few rows at a time, so that there are few numbers, one for each entry and class."""
        starts = self.rows.indptr
        step = max(1, _BLOCK // max(len(self.totals), 1))
        _ = self.starts, self.planes, self.dense  # made once for all
        begin = 0
        while begin < len(self.codes):
            end = max(int(np.searchsorted(starts, starts[begin] + step, side="right")) - 1, begin + 1)
            end = min(end, begin + step, len(self.codes))
            yield self.part(begin, end)
            begin = end

    def rows_at_a_time(self, width: int) -> Iterator[Entries]:
        """As many rows as have few numbers, `width` for each class."""
        step = max(1, 16 * _BLOCK // max(len(self.totals) * width, 1))
        _ = self.starts, self.dense  # made once for all
        for begin in range(0, len(self.codes), step):
            yield self.part(begin, min(begin + step, len(self.codes)))

    def part(self, begin: int, end: int) -> Entries:
        """Some rows."""
        a, b = int(self.rows.indptr[begin]), int(self.rows.indptr[end])
        rows = SparseRows(
            self.rows.data[a:b],
            self.rows.indices[a:b],
            self.rows.indptr[begin : end + 1] - self.rows.indptr[begin],
            (end - begin, self.rows.shape[1]),
        )
        result = Entries(
            rows, self.own[a:b], self.codes[begin:end], self.weight[begin:end], self.cells, self.totals,
            self.per_class, self.outcomes,
            None if self.lost is None else self.lost[a:b],
            None if self.missing is None else self.missing[a:b],
        )  # fmt: skip
        for name in ("planes", "starts", "dense"):
            if name in self.__dict__:
                result.__dict__[name] = self.__dict__[name]
        return result

    def counts(self, plane: int = 0) -> Array:
        """What was counted, entries by classes."""
        if not len(self.own):
            return np.zeros((0, len(self.totals)))
        return self.planes[plane][self.rows.indices].toarray()

    @cached_property
    def dense(self) -> Array | None:
        """What was counted as one array, columns by classes, where it is small."""
        size = self.rows.shape[1] * len(self.totals)
        if size > 1 << 22 or size > 8 * len(self.own):
            return None
        result = np.zeros((self.rows.shape[1], len(self.totals)))
        result.ravel()[self.cells.feature * len(self.totals) + self.cells.klass] = self.cells.values[0]
        return result

    def _of_own_class(self) -> Array:
        klass = self.codes[self.row]
        if self.dense is None:
            return np.asarray(self.planes[0][self.rows.indices, klass]).ravel()
        return self.dense.ravel()[self.rows.indices * len(self.totals) + klass]

    @cached_property
    def own_left(self) -> Array:
        """For each entry, what is left of its count in its own class."""
        if not len(self.own):
            return np.zeros(0)
        counts = self._of_own_class()
        left = counts - self.own
        if (left < -1e-9 * counts).any():
            row = int(self.row[np.argmax(left < -1e-9 * counts)])
            raise NegativeCount(
                f"row {row} holds more than was counted of its class: leave out rows that the model was fitted on"
            )
        return np.where(left <= 1e-12 * counts, 0.0, left)

    def left(self, counts: Array) -> Array:
        """Counts without what each entry has added to its own class."""
        left = counts.copy()
        left[np.arange(len(counts)), self.codes[self.row]] = self.own_left
        return left

    def sums(self, values: Array) -> Array:
        """Sums over the entries of each row."""
        if values.ndim == 1:
            return np.bincount(self.row, weights=values, minlength=len(self.codes))
        return _sums(values, self.rows.indptr)

    def each(self, pseudo: Any) -> Any:
        """What a rule adds to the count of each entry's feature."""
        return pseudo[self.rows.indices, None] if isinstance(pseudo, np.ndarray) else pseudo

    def kept(self, values: Array) -> Array:
        """Zero for entries whose feature is not known without their row."""
        if self.lost is None:
            return values
        return np.where(self.lost if values.ndim == 1 else self.lost[:, None], 0.0, values)

    @cached_property
    def totals_left(self) -> Array:
        """What each class comes to without the row, and without the features that go with it: rows by classes."""
        totals = np.tile(self.totals.astype(np.float64), (len(self.codes), 1))
        totals[np.arange(len(self.codes)), self.codes] -= self.sums(self.own)
        if self.lost is not None and self.lost.any():
            lost = np.flatnonzero(self.lost)
            columns = self.rows.indices[lost]
            left = self.planes[0][columns].toarray() if self.dense is None else self.dense[columns]
            left[np.arange(len(lost)), self.codes[self.row[lost]]] = self.own_left[lost]
            many = np.bincount(self.row[lost], minlength=len(self.codes))
            starts = np.concatenate([[0], np.cumsum(many)])
            totals -= _sums(left, starts)
        return np.where(totals <= 1e-12 * self.totals.max(initial=0.0), 0.0, totals)

    def rows_left(self) -> Array:
        """The rows of each class without this one: rows by classes."""
        per_class = np.tile(self.per_class.astype(np.float64), (len(self.codes), 1))
        per_class[np.arange(len(self.codes)), self.codes] -= self.weight
        return np.where(np.abs(per_class) <= 1e-12 * self.per_class.max(initial=0.0), 0.0, per_class)


def _sums(values: Array, starts: Array) -> Array:
    """The sums of runs of rows of an array."""
    many = len(values)
    if values.shape[1] <= 4:  # faster for few columns alone, and needs no matrix
        result, held = np.zeros((len(starts) - 1, values.shape[1])), starts[:-1] < starts[1:]
        if many:
            result[held] = np.add.reduceat(values, starts[:-1][held], axis=0)
        return result
    return SparseRows(np.ones(many), np.arange(many), starts, (len(starts) - 1, many)).matrix() @ values


def as_entries(view: View, X: Rows, codes: Array, weight: Array | None, threshold: float | None = None) -> Entries:
    """The entries of the rows of an array or matrix; above a `threshold` they are ones."""
    if is_sparse_matrix(X) and _core.names_twice(X.indices, X.indptr, X.shape[1]):
        X = X.copy()
        X.sum_duplicates()
    if not is_sparse(X):
        filled = (X != 0) | np.isnan(X) if X.dtype.kind == "f" else X != 0
        row, column = np.nonzero(filled)
        starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64)
        X = SparseRows(X[row, column], column, starts, X.shape)
    data = X.data.astype(np.float64)
    missing = np.isnan(data)
    if threshold is not None:
        data = np.where(missing, data, data > threshold)
    held = (data != 0) | missing
    starts = np.concatenate([[0], np.cumsum(held)])[X.indptr].astype(np.int64)
    data, missing, column = data[held], missing[held], X.indices[held].astype(np.int64)
    data = np.where(missing, 0.0, data)
    each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
    rows = SparseRows(data, column, starts, X.shape)
    own = data * np.repeat(each, np.diff(rows.indptr))
    return Entries(
        rows, own, codes, each, view.cells, view.totals[0], view.rows, view.every.size,
        missing=missing if missing.any() else None,
    )  # fmt: skip


def one_by_one(
    family: Any, ledger: PartLedger, rules: Sequence[Any], X: Any, codes: Array, weight: Array | None
) -> Left:
    """For what has no shorter way: each row is taken out of the sum, and scored by a table of the rest."""
    nothing = np.zeros(ledger.classes.size)
    found: list[list[Scores]] = [[] for _ in rules]
    for i in range(len(codes)):
        row, of_row = X[i : i + 1], None if weight is None else weight[i : i + 1]
        tally = family.count(row, codes[i : i + 1], ledger.classes, ledger.features, of_row)
        try:
            rest = ledger.subtract(tally, ledger.classes)
        except Inexact:  # too many digits would be lost
            rest = recounted(family, ledger, X, codes, weight, np.arange(len(codes)) != i)
        for k, rule in enumerate(rules):
            found[k].append(family.table(rest, rule, nothing).score(row))
    return [unsorted(Scores.joined(scores), ledger.classes) for scores in found]


def recounted(family: Any, ledger: Any, X: Any, codes: Array, weight: Array | None, kept: Array) -> PartLedger:
    """What some of the rows come to, counted anew; only where these are all rows that there are."""
    check_all_rows(ledger, codes, weight)
    rows = np.flatnonzero(kept)
    part = X[rows]
    of_rows = None if weight is None else weight[rows]
    counted = family.count(part, codes[rows], ledger.classes, ledger.features, of_rows)
    return PartLedger(ledger.classes, (counted,))


def check_all_rows(ledger: Any, codes: Array, weight: Array | None) -> None:
    """Raise where these are not all rows that were counted."""
    total = float(len(codes)) if weight is None else float(weight.sum())
    if abs(total - float(ledger.rows.sum())) > 1e-9 * total:
        raise Inexact(
            "leaving these rows out would lose too many digits, and not all rows that were counted are at hand to "
            "count the others anew; pass all of them"
        )


def unsorted(scores: Scores, classes: Index) -> Logs:
    """Scores with the classes in their own order."""
    if classes.order is None:
        return scores.likelihood, scores.impossible
    places = np.argsort(classes.order)
    impossible = scores.impossible
    return scores.likelihood[:, places], None if impossible is None else impossible[:, places]


def added(parts: Sequence[Logs]) -> Logs:
    """The sum of what several groups of features come to."""
    impossible = [part[1] for part in parts if part[1] is not None]
    return sum(part[0] for part in parts), sum(impossible) if impossible else None  # type: ignore[return-value]


def concat(parts: list[Logs]) -> Logs:
    """The sums of a block of rows after another."""
    finite = np.concatenate([part[0] for part in parts])
    impossible = [part[1] for part in parts if part[1] is not None]
    return finite, np.concatenate(impossible) if len(impossible) == len(parts) else None


def concat_rules(parts: Sequence[Left], rules: int, classes: int) -> Left:
    """The same for every rule, where each part has one for each."""
    if not parts:
        return [(np.zeros((0, classes)), None) for _ in range(rules)]
    return [concat(list(of_rule)) for of_rule in zip(*parts, strict=True)]


def draws_left_out(entries: Entries, rules: Sequence[Smoothing], *, complement: bool = False) -> Left:
    """Multinomial rows: every unit of a feature is a draw from its class (or, the other way round, not from others)."""
    if not len(entries.codes):
        return [(np.zeros((0, len(entries.totals))), None) for _ in rules]
    if not complement and all(_plain(rule) for rule in rules):
        return _paths(entries, np.array([rule.alpha for rule in rules]))  # type: ignore[attr-defined]
    return [concat([_draws(part, rule, complement) for part in entries.blocks()]) for rule in rules]


def _plain(rule: Smoothing) -> bool:
    return isinstance(rule, Additive) and not rule.per_feature and rule.alpha > 0  # type: ignore[operator]


def _mixed_draws(entries: Entries, rule: Background) -> Logs:
    """Draws smoothed by a background, which changes with the row as well."""
    rule = rule.told(entries.cells.values[0])  # a discount stays as it is with all rows
    counts = entries.counts()
    left = entries.left(counts)
    at = np.arange(len(counts)), entries.codes[entries.row]
    row, classes = entries.row, len(entries.totals)
    kinds, cut = np.zeros((2, len(counts), classes))
    kinds[at] = (left[at] <= 0).astype(np.float64)
    cut[at] = rule.discounted(counts[at]) - rule.discounted(left[at])
    if entries.lost is not None:
        gone = entries.lost[:, None]
        kinds, cut = np.where(gone, counts > 0, kinds), np.where(gone, rule.discounted(counts), cut)
    values, klass = entries.cells.values[0].astype(np.float64), entries.cells.klass
    types = np.bincount(klass, minlength=classes) - entries.sums(kinds)
    taken = np.maximum(np.bincount(klass, weights=rule.discounted(values), minlength=classes) - entries.sums(cut), 0.0)
    totals = entries.totals_left
    everywhere = left.sum(axis=1)
    gone = np.zeros(len(row), bool) if entries.lost is None else entries.lost
    unseen = entries.outcomes - len(entries.cells.features()) + entries.sums(((everywhere <= 0) & ~gone).astype(float))
    background = background_of(everywhere, (totals.sum(axis=1) + unseen)[row])
    seen = Seen(totals[row], types[row], taken[row])
    finite, impossible = mixed_logs(rule, left, seen, background[:, None])
    x = entries.kept(entries.rows.data)[:, None]
    return entries.sums(x * finite), None if impossible is None else entries.sums(x * impossible)


def _draws(entries: Entries, rule: Smoothing, complement: bool) -> Logs:
    if isinstance(rule, Background) and not complement:
        return _mixed_draws(entries, rule)
    left = entries.left(entries.counts())
    totals, features = entries.totals_left, entries.features
    if complement:
        left = left.sum(axis=1, keepdims=True) - left
        totals = totals.sum(axis=1, keepdims=True) - totals
    pseudo = rule.pseudo(None)
    mass = np.sum(pseudo) if isinstance(pseudo, np.ndarray) else pseudo * features[entries.row, None]
    finite, impossible = rule.log(left, totals[entries.row], entries.each(pseudo), mass, features[entries.row, None])
    x = entries.kept(entries.rows.data)[:, None] * (-1.0 if complement else 1.0)
    return entries.sums(x * finite), None if impossible is None else entries.sums(x * impossible)


def _paths(entries: Entries, alpha: Array) -> Left:
    """Additive smoothing along a path of α, all of them at once."""
    values, row_of = distinct(entries.cells.values[0])
    chunk = max(_LANES, (1 << 23) // max(len(values), 1) // _LANES * _LANES)
    found: Left = []
    for first in range(0, len(alpha), chunk):
        some = alpha[first : first + chunk]
        wide = some if len(some) == 1 else np.concatenate([some, np.ones(-len(some) % _LANES)])
        path = np.log(values[:, None] + wide) - np.log(wide)
        parts = [_path_scores(block, row_of, path, some, wide) for block in entries.rows_at_a_time(len(some))]
        found += [(s[0] if len(s) == 1 else np.concatenate(s), None) for s in zip(*parts, strict=True)]
    return found


def distinct(counts: Array) -> tuple[Array, Array]:
    """The different counts, and the place of each count among them."""
    if counts.dtype != np.int64 or not len(counts) or counts.max() >= 1 << 22 or counts.min() < 0:
        values, place = np.unique(counts, return_inverse=True)
        return values.astype(np.float64), place.ravel().astype(np.int64)
    seen = np.zeros(int(counts.max()) + 1, bool)
    seen[counts] = True
    return np.flatnonzero(seen).astype(np.float64), (np.cumsum(seen) - 1)[counts]


def _path_scores(entries: Entries, row_of: Array, path: Array, alpha: Array, wide: Array) -> Array:
    """α by rows by classes."""
    rows, x = entries.rows, entries.kept(entries.rows.data)
    many = threads(len(x) * len(alpha))
    at = np.arange(len(entries.codes)), entries.codes
    same = entries.lost is None  # then all rows have the same features, and other classes the same totals
    totals = entries.totals[:, None] + wide * float(entries.outcomes)
    base = np.log(wide) - np.log(totals) if same else np.zeros_like(totals)
    scores = _core.score_paths(
        x, rows.indices, rows.indptr, entries.starts, entries.cells.klass, row_of, path, base, len(alpha), many
    )
    length = entries.sums(x)
    own = _core.sum_log_paths(x, entries.own_left, rows.indptr, wide, many)
    left = entries.totals_left
    for k, a in enumerate(alpha.tolist()):
        if same:
            scores[k][at] = own[:, k] - length * np.log(left[at] + a * entries.outcomes)
        else:
            scores[k][at] = own[:, k] - length * np.log(a)
            scores[k] += length[:, None] * (np.log(a) - np.log(left + a * np.maximum(entries.features, 1.0)[:, None]))
    return scores


Weigh = Callable[[Entries, Smoothing, Array, Array], Logs]
"""What entries come to, by rule, count and known rows (both entries by classes)."""


def presences_left_out(
    entries: Entries,
    rules: Sequence[Smoothing],
    present: Weigh,
    absent: Weigh,
    base: Callable[[Smoothing, float], Logs],
) -> Left:
    """Rows in which the absence of a feature counts as well.

    `present` and `absent` are what an entry comes to where it is there and where it is not; `base` is the sum of what
    all features come to when absent, with so many rows less in every class.
    """
    kept: Any = cache(base)
    return [concat([_presences(p, rule, present, absent, kept) for p in entries.blocks()]) for rule in rules]


def _presences(entries: Entries, rule: Smoothing, present: Weigh, absent: Weigh, base: Any) -> Logs:
    counts, rows = entries.counts(), entries.rows_left()
    known = rows[entries.row] - entries.counts(1) if len(entries.planes) > 1 else rows[entries.row]
    known = np.where(known <= 1e-12 * entries.per_class.max(initial=0.0), 0.0, known)
    away = absent(entries, rule, counts, known)
    here = mixture(present(entries, rule, entries.left(counts), known), 1.0, away, -1.0)
    gone = [mask for mask in (entries.missing, entries.lost) if mask is not None]
    if gone:  # what is not known at all is not absent either
        only = -away[0], None if away[1] is None else -away[1]
        here = _replaced(here, np.logical_or.reduce(gone)[:, None], only)
    sums = entries.sums(here[0] + np.zeros_like(counts)), None if here[1] is None else entries.sums(here[1])
    return added([_bases(entries, rule, base), sums])


def _replaced(logs: Logs, where: Array, other: Logs) -> Logs:
    finite = np.where(where, other[0], logs[0])
    return finite, None if logs[1] is None else np.where(where, 0.0 if other[1] is None else other[1], logs[1])


def mixture(a: Logs, times: Any, b: Logs, times_b: Any) -> Logs:
    """The sum of two pairs of finite part and impossible factors, each so many times."""
    if a[1] is None and b[1] is None:
        return times * a[0] + times_b * b[0], None
    impossible = [0.0 if part is None else part for part in (a[1], b[1])]
    return times * a[0] + times_b * b[0], times * impossible[0] + times_b * impossible[1]


def _bases(entries: Entries, rule: Smoothing, base: Any) -> Logs:
    """For each row and class, what all features absent come to, without the row."""
    whole = base(rule, 0.0)
    finite = np.tile(whole[0], (len(entries.codes), 1))
    impossible = None if whole[1] is None else np.tile(whole[1], (len(entries.codes), 1))
    for weight in np.unique(entries.weight).tolist():
        mine = np.flatnonzero(entries.weight == weight)
        less = base(rule, weight)
        finite[mine, entries.codes[mine]] = less[0][entries.codes[mine]]
        if impossible is not None:
            impossible[mine, entries.codes[mine]] = 0.0 if less[1] is None else less[1][entries.codes[mine]]
    return finite, impossible
