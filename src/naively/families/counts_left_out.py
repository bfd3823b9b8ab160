"""Rows left out: scores of each row by the counts without it.

Only the row's own class changes (for the complement: all others), so one pass over the entries of the rows is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.cells import Cells
from naively.count.ledger import PartLedger, View
from naively.errors import NegativeCount
from naively.names import Index
from naively.read.matrix import Rows, SparseRows, is_sparse, is_sparse_matrix
from naively.score.scores import Scores
from naively.smooth.backgrounds import background_of
from naively.smooth.logs import NOTHING, Logs, added, minus, times
from naively.smooth.rules import Context, Seen, Settled
from naively.threads import threads

if TYPE_CHECKING:
    from naively.families.counts import CountFamily

_BLOCK = 1 << 20
"""Number of values that are processed at a time."""
_LANES = 4

Left = list[Logs]
"""For each rule: log-likelihoods, rows by classes, and numbers of impossible factors."""


@dataclass(frozen=True, eq=False)
class Entries(Value):
    """The entries of sparse rows, and the counts of their features.

    `own` is what each entry has added to the class of its row. `dropped` is a mask of entries whose feature is unknown
    without their row (None: none), `missing` one of missing entries (None: none).
    """

    rows: SparseRows
    own: Array
    codes: Array
    weight: Array
    cells: Cells  # numbered as the columns of the rows are; the first kind of number counts
    totals: Array
    per_class: Array  # rows of each class
    outcomes: int
    dropped: Array | None = None
    missing: Array | None = None

    @cached_property
    def starts(self) -> Array:
        """The first cell of each column, and the end."""
        n_cells = np.bincount(self.cells.feature, minlength=self.rows.shape[1])
        return np.concatenate([[0], np.cumsum(n_cells)]).astype(np.int64)

    @cached_property
    def planes(self) -> list[Any]:
        """Each plane as a matrix, columns by classes."""
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
        """Number of known features without each row."""
        if self.dropped is None:
            return np.full(len(self.codes), float(self.outcomes))
        return self.outcomes - np.bincount(self.row[self.dropped], minlength=len(self.codes)).astype(np.float64)

    def blocks(self) -> Iterator[Entries]:
        """Yield a few rows at a time, so that arrays of entries by classes stay small."""
        starts = self.rows.indptr
        step = max(1, _BLOCK // max(len(self.totals), 1))
        _ = self.starts, self.planes, self.dense  # computed once for all blocks
        begin = 0
        while begin < len(self.codes):
            end = max(int(np.searchsorted(starts, starts[begin] + step, side="right")) - 1, begin + 1)
            end = min(end, begin + step, len(self.codes))
            yield self.part(begin, end)
            begin = end

    def rows_at_a_time(self, width: int) -> Iterator[Entries]:
        """Yield some rows at a time, so that arrays of rows by classes by `width` stay small."""
        step = max(1, 16 * _BLOCK // max(len(self.totals) * width, 1))
        _ = self.starts, self.dense  # computed once for all blocks
        for begin in range(0, len(self.codes), step):
            yield self.part(begin, min(begin + step, len(self.codes)))

    def part(self, begin: int, end: int) -> Entries:
        """Return the entries of rows from `begin` to `end`."""
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
            None if self.dropped is None else self.dropped[a:b],
            None if self.missing is None else self.missing[a:b],
        )  # fmt: skip
        for name in ("planes", "starts", "dense"):
            if name in self.__dict__:
                result.__dict__[name] = self.__dict__[name]
        return result

    def counts(self, plane: int = 0) -> Array:
        """Return the counts of the feature of each entry, by classes."""
        if not len(self.own):
            return np.zeros((0, len(self.totals)))
        return self.planes[plane][self.rows.indices].toarray()

    @cached_property
    def dense(self) -> Array | None:
        """Counts as one array, columns by classes; None if it would be large."""
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
        """The count of each entry's feature in its own class, without the entry."""
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
        """Return counts without what each entry has added to its own class."""
        left = counts.copy()
        left[np.arange(len(counts)), self.codes[self.row]] = self.own_left
        return left

    def sums(self, values: Array) -> Array:
        """Return sums over the entries of each row."""
        if values.ndim == 1:
            return np.bincount(self.row, weights=values, minlength=len(self.codes))
        return _sums(values, self.rows.indptr)

    def each(self, pseudo: Any) -> Any:
        """Return the pseudo-count of the feature of each entry."""
        return pseudo[self.rows.indices, None] if isinstance(pseudo, np.ndarray) else pseudo

    @cached_property
    def unscored(self) -> Array:
        """A mask of entries that are missing, or whose feature is unknown without their row."""
        none = np.zeros(len(self.row), bool)
        return (
            none | (none if self.missing is None else self.missing) | (none if self.dropped is None else self.dropped)
        )

    def known_only(self, values: Array) -> Array:
        """Return values with 0 for entries whose feature is unknown without their row."""
        if self.dropped is None:
            return values
        return np.where(self.dropped if values.ndim == 1 else self.dropped[:, None], 0.0, values)

    @cached_property
    def totals_left(self) -> Array:
        """Totals of each class without the row and the features that only it has: rows by classes."""
        totals = np.tile(self.totals.astype(np.float64), (len(self.codes), 1))
        totals[np.arange(len(self.codes)), self.codes] -= self.sums(self.own)
        if self.dropped is not None and self.dropped.any():
            dropped = np.flatnonzero(self.dropped)
            columns = self.rows.indices[dropped]
            left = self.planes[0][columns].toarray() if self.dense is None else self.dense[columns]
            left[np.arange(len(dropped)), self.codes[self.row[dropped]]] = self.own_left[dropped]
            n_dropped = np.bincount(self.row[dropped], minlength=len(self.codes))
            starts = np.concatenate([[0], np.cumsum(n_dropped)])
            totals -= _sums(left, starts)
        return np.where(totals <= 1e-12 * self.totals.max(initial=0.0), 0.0, totals)

    def known(self) -> Array:
        """Return the rows of each class with a known value of the feature, without the own row: entries by classes."""
        rows = np.tile(self.per_class.astype(np.float64), (len(self.codes), 1))
        rows[np.arange(len(self.codes)), self.codes] -= self.weight
        most = 1e-12 * self.per_class.max(initial=0.0)
        rows = np.where(np.abs(rows) <= most, 0.0, rows)
        known = rows[self.row] - self.counts(1) if len(self.planes) > 1 else rows[self.row]
        return np.where(known <= most, 0.0, known)


def _sums(values: Array, starts: Array) -> Array:
    """Return the sums of consecutive rows of an array, from each start to the next."""
    n_rows = len(values)
    if values.shape[1] <= 4:  # faster for few columns alone, and needs no matrix
        result, held = np.zeros((len(starts) - 1, values.shape[1])), starts[:-1] < starts[1:]
        if n_rows:
            result[held] = np.add.reduceat(values, starts[:-1][held], axis=0)
        return result
    return SparseRows(np.ones(n_rows), np.arange(n_rows), starts, (len(starts) - 1, n_rows)).matrix() @ values


def as_entries(view: View, X: Rows, codes: Array, weight: Array | None, threshold: float | None = None) -> Entries:
    """Return the entries of an array or matrix; with a `threshold`, values above it become 1."""
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
        rows, own, codes, each, view.cells, view.totals[0], view.rows, view.all_features.size,
        missing=missing if missing.any() else None,
    )  # fmt: skip


def one_by_one(
    family: Any, ledger: PartLedger, rules: Sequence[Any], X: Any, codes: Array, weight: Array | None
) -> Left:
    """Leave rows out the slow way: subtract each from the sum, and score it by a table of the rest."""
    nothing = np.zeros(ledger.classes.size)
    found: list[list[Scores]] = [[] for _ in rules]
    for i in range(len(codes)):
        row, of_row = X[i : i + 1], None if weight is None else weight[i : i + 1]
        tally = family.count(row, codes[i : i + 1], ledger.classes, ledger.features, of_row)
        rest = ledger.subtract(tally, ledger.classes)
        for k, rule in enumerate(rules):
            found[k].append(family.table(rest, rule, nothing).score(row))
    return [unsorted(Scores.joined(scores), ledger.classes) for scores in found]


def unsorted(scores: Scores, classes: Index) -> Logs:
    """Return scores with the classes in their own order."""
    if classes.order is None:
        return scores.likelihood, scores.impossible
    places = np.argsort(classes.order)
    impossible = scores.impossible
    return scores.likelihood[:, places], None if impossible is None else impossible[:, places]


def concat(parts: list[Logs]) -> Logs:
    """Concatenate the results of consecutive blocks of rows."""
    finite = np.concatenate([part[0] for part in parts])
    impossible = [part[1] for part in parts if part[1] is not None]
    return finite, np.concatenate(impossible) if len(impossible) == len(parts) else None


def concat_rules(parts: Sequence[Left], rules: int, classes: int) -> Left:
    """Concatenate the results of several parts, rule by rule."""
    if not parts:
        return [(np.zeros((0, classes)), None) for _ in range(rules)]
    return [concat(list(of_rule)) for of_rule in zip(*parts, strict=True)]


def leave_out(family: CountFamily, entries: Entries, view: View, rules: Sequence[Settled]) -> Left:
    """Return the log-likelihoods of rows by the counts without them, for each rule; `view` has all features."""
    if not len(entries.codes):
        return [(np.zeros((0, len(entries.totals))), None) for _ in rules]
    if _along_paths(family, rules):
        return paths(entries, np.array([rule.one_alpha for rule in rules]))
    base: Any = cache(partial(family.base_without, view))
    return [concat([_scores(family, part, rule, base) for part in entries.blocks()]) for rule in rules]


def _along_paths(family: CountFamily, rules: Sequence[Settled]) -> bool:
    """True if scores are logs of shares of the total of a class with one α, which compiled paths can compute."""
    plain = family.share_of == "class" and not family.against_others and family.adds_logs
    return plain and all(rule.one_alpha is not None for rule in rules)


Base = Callable[["Settled", float], "Logs | None"]
"""Log-score of an all-zero row, by a rule, with a number of rows fewer in every class."""


def _scores(family: CountFamily, entries: Entries, rule: Settled, base: Base) -> Logs:
    """Return the scores of rows by classes, from counts without each row."""
    counts = entries.counts()
    left = entries.left(counts)
    total = entries.known() if family.share_of == "rows" else entries.totals_left[entries.row]
    if family.against_others:
        left, total = left.sum(axis=1, keepdims=True) - left, total.sum(axis=1, keepdims=True) - total
    context = _context(family, entries, rule, left, total)
    units = times(family.unit(context, left, total), entries.known_only(entries.rows.data)[:, None])
    parts = [(entries.sums(units[0]), None if units[1] is None else entries.sums(units[1]))]
    if base(rule, 0.0) is not None:
        parts += [_bases(entries, rule, base), _changes(family, entries, rule, counts, total)]
    return added(parts)


def _context(family: CountFamily, entries: Entries, rule: Settled, left: Array, total: Array) -> Context:
    """Return the context of the rule for each entry, without its row."""
    outcomes = entries.features[entries.row, None]
    if rule.local or family.against_others:
        return family.context_of_rows(rule, outcomes, entries.each(rule.pseudo(None)))
    return Context(rule, outcomes, seen=_seen(entries, rule, left, total))


def _seen(entries: Entries, rule: Any, left: Array, total: Array) -> Seen:
    """Return the background of each entry, and the features that classes have seen, without its row."""
    counts, row, classes = entries.counts(), entries.row, len(entries.totals)
    at = np.arange(len(counts)), entries.codes[row]
    types, cut = np.zeros((2, len(counts), classes))
    types[at] = (left[at] <= 0).astype(np.float64)
    cut[at] = rule.discounted(counts[at]) - rule.discounted(left[at])
    dropped = np.zeros(len(row), bool) if entries.dropped is None else entries.dropped
    types, cut = np.where(dropped[:, None], counts > 0, types), np.where(dropped[:, None], rule.discounted(counts), cut)
    values, klass = entries.cells.values[0].astype(np.float64), entries.cells.klass
    all_types = np.bincount(klass, minlength=classes) - entries.sums(types)
    all_cut = np.bincount(klass, weights=rule.discounted(values), minlength=classes) - entries.sums(cut)
    everywhere = left.sum(axis=1)
    unseen = (
        entries.outcomes - len(entries.cells.features()) + entries.sums(((everywhere <= 0) & ~dropped).astype(float))
    )
    share = background_of(everywhere, total.sum(axis=1) + unseen[row])
    return Seen(share[:, None], all_types[row], np.maximum(all_cut, 0.0)[row])


def paths(entries: Entries, alpha: Array) -> Left:
    """Return scores of additive smoothing for all α at once."""
    values, row_of = distinct(entries.cells.values[0])
    chunk = max(_LANES, (1 << 23) // max(len(values), 1) // _LANES * _LANES)
    found: Left = []
    for first in range(0, len(alpha), chunk):
        chosen = alpha[first : first + chunk]
        wide = chosen if len(chosen) == 1 else np.concatenate([chosen, np.ones(-len(chosen) % _LANES)])
        path = np.log(values[:, None] + wide) - np.log(wide)
        parts = [_path_scores(block, row_of, path, chosen, wide) for block in entries.rows_at_a_time(len(chosen))]
        found += [(s[0] if len(s) == 1 else np.concatenate(s), None) for s in zip(*parts, strict=True)]
    return found


def distinct(counts: Array) -> tuple[Array, Array]:
    """Return the distinct counts, and the place of each count among them."""
    if counts.dtype != np.int64 or not len(counts) or counts.max() >= 1 << 22 or counts.min() < 0:
        values, place = np.unique(counts, return_inverse=True)
        return values.astype(np.float64), place.ravel().astype(np.int64)
    seen = np.zeros(int(counts.max()) + 1, bool)
    seen[counts] = True
    return np.flatnonzero(seen).astype(np.float64), (np.cumsum(seen) - 1)[counts]


def _path_scores(entries: Entries, row_of: Array, path: Array, alpha: Array, wide: Array) -> Array:
    """Return scores, α by rows by classes."""
    rows, x = entries.rows, entries.known_only(entries.rows.data)
    n_threads = threads(len(x) * len(alpha))
    at = np.arange(len(entries.codes)), entries.codes
    same = entries.dropped is None  # then all rows have the same features, and other classes the same totals
    totals = entries.totals[:, None] + wide * float(entries.outcomes)
    base = np.log(wide) - np.log(totals) if same else np.zeros_like(totals)
    scores = _core.score_paths(
        x, rows.indices, rows.indptr, entries.starts, entries.cells.klass, row_of, path, base, len(alpha), n_threads
    )
    length = entries.sums(x)
    own = _core.sum_log_paths(x, entries.own_left, rows.indptr, wide, n_threads)
    left = entries.totals_left
    for k, a in enumerate(alpha.tolist()):
        if same:
            scores[k][at] = own[:, k] - length * np.log(left[at] + a * entries.outcomes)
        else:
            scores[k][at] = own[:, k] - length * np.log(a)
            scores[k] += length[:, None] * (np.log(a) - np.log(left + a * np.maximum(entries.features, 1.0)[:, None]))
    return scores


def _changes(family: CountFamily, entries: Entries, rule: Settled, counts: Array, known: Array) -> Logs:
    """Return the change of the sum of `base` over the features of a row, by counts without the row.

    Features that are missing in the row, or unknown without it, have no base.
    """
    pseudo, own = np.asarray(rule.pseudo(None)), ~entries.unscored

    def base(count: Array, total: Array, which: Array) -> Logs:
        of_entries = pseudo[entries.rows.indices[which], None] if rule.per_feature else pseudo
        return family.base(family.context_of_rows(rule, None, of_entries), count, total) or NOTHING

    at = np.flatnonzero(own), entries.codes[entries.row[own]]
    total = known[at][:, None]
    more = minus(base(entries.own_left[own, None], total, own), base(counts[at][:, None], total, own))
    less = base(counts[~own], known[~own], ~own)
    finite, impossible = (
        None if a is None and b is None else _per_row(entries, own, 0.0 if a is None else a, 0.0 if b is None else b)
        for a, b in zip(more, less, strict=True)
    )
    assert finite is not None
    return finite, impossible


def _per_row(entries: Entries, own: Array, more: Any, less: Any) -> Array:
    """Sum changes by row and class: `more` of some entries (a mask) in their own class, less `less` of the others."""
    result = np.zeros((len(entries.codes), len(entries.totals)))
    row = entries.row[own]
    weights = np.broadcast_to(more, (len(row), 1))[:, 0]
    result[np.arange(len(result)), entries.codes] = np.bincount(row, weights, len(result))
    if not own.all():
        np.subtract.at(result, entries.row[~own], less)
    return result


def _bases(entries: Entries, rule: Settled, base: Base) -> Logs:
    """Return for each row and class the log-score of an all-zero row, by counts without the row."""
    whole = base(rule, 0.0) or NOTHING
    finite = np.tile(whole[0], (len(entries.codes), 1))
    impossible = None if whole[1] is None else np.tile(whole[1], (len(entries.codes), 1))
    for weight in np.unique(entries.weight).tolist():
        mine = np.flatnonzero(entries.weight == weight)
        less = base(rule, weight) or NOTHING
        finite[mine, entries.codes[mine]] = less[0][entries.codes[mine]]
        if impossible is not None:
            impossible[mine, entries.codes[mine]] = 0.0 if less[1] is None else less[1][entries.codes[mine]]
    return finite, impossible
