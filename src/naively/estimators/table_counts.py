"""A model of a table from counts that a database made: see `naively.sql.count_query`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.families.blocks.text import TextBlock
from naively.families.columns.declared import Categorical, Dates, Text
from naively.learn.model import Model

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self


class TableFromCounts:
    """An estimator of tables."""

    @classmethod
    def from_counts(
        cls,
        table: Any,
        rows_per_class: Mapping[Any, int] | None = None,
        *,
        columns: Mapping[Any, Any],
        **parameters: Any,
    ) -> Self:
        """Return a model of counts of values that were made elsewhere, as by `naively.sql.count_query`.

        >>> from naively import Categorical, NaiveBayes
        >>> table = {"class": ["x", "y"], "column": ["city", "city"], "value": ["Ghent", "Oslo"], "count": [3, 2]}
        >>> model = NaiveBayes.from_counts(table, {"x": 4, "y": 2}, columns={"city": Categorical()})
        >>> model.predict({"city": ["Oslo", "Ghent"]}).tolist()
        ['y', 'x']

        Parameters
        ----------
        table : table of Arrow, pandas or polars, or dict of columns
            One row for each class, column and value: `class`, `column`, `count`, and the value in `value` (texts,
            categories, points in time, and words with their `documents`) or `number`. Values of a column that are not
            counted are missing.
        rows_per_class : dict of numbers by label, default=None
            Number of rows of each class; None: the rows of the table whose column is null have it as their count.
        columns : dict
            Families of the columns by name; None leaves one out.
        **parameters
            Parameters of the estimator. Calibration needs rows: call `recalibrate(X, y)` with some.

        Returns
        -------
        model : estimator
        """
        from naively.count.grouped import Grouped

        grouped = Grouped.of(table, rows_per_class)
        kind: Any = cls
        model = kind(columns=dict(columns), **parameters)
        _refuse_unknown(grouped, columns)
        rows, codes, weight = _weighted_rows(grouped, columns)
        assert grouped.classes.names is not None
        model.fit(rows, grouped.classes.names[codes], weight)
        state, parts, blocks = model._state, dict(model._state.ledger.total.parts), []
        for block in state.schema.blocks:
            if isinstance(block, TextBlock):  # a query gives no weights of words
                block = replace(block, family=replace(block.family, weights=False))
                parts[block.name] = _words_of(grouped, block)
            blocks.append(block)
        schema = replace(state.schema, blocks=tuple(blocks))
        tally = Tally(state.ledger.classes, state.ledger.rows, parts)
        model._commit(Model(Ledger.of(tally), state.dtype, state.declared, state.counted, schema=schema))
        found: Self = model
        return found


def _words_of(grouped: Any, block: TextBlock) -> Any:
    """Return the counts of the words of a column."""
    words = block.family
    if words.weighting == "tfidf":
        raise InputError(f"column {block.source!r}: counts have no weights for tf-idf; use weighting='counts'")
    given = None if words.vocabulary is None else words.no_words()
    return _only(grouped, block.source).words(words.kind, given, words.tokens.ngrams if words.split else None)


def _refuse_unknown(grouped: Any, columns: Mapping[Any, Any]) -> None:
    import pyarrow.compute as pc

    for name in pc.drop_null(pc.unique(grouped.table["column"])).to_pylist():
        if name not in columns:
            raise InputError(f"column {name!r} has counts, but no family; name it: columns={{{name!r}: ...}}")


def _only(grouped: Any, column: str) -> Any:
    """Return the rows about one column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    mine = pc.fill_null(pc.equal(grouped.table["column"], column), False).to_numpy(zero_copy_only=False)[grouped.at]
    table = grouped.table.drop_columns(["column"]).take(pa.array(grouped.at[mine]))
    return replace(grouped, klass=grouped.klass[mine], at=np.arange(len(table)), table=table)


def _weighted_rows(grouped: Any, rules: Mapping[str, Any]) -> tuple[pa.Table, Array, Array]:
    """Return rows with weights, the values of whose columns are counted as in the table; and their classes.

    Columns are counted one by one, so it makes no difference which values stand in one row. The values of a column fill
    the rows of a class one after another, each as often as it was counted, and the rest is missing.
    """
    import pyarrow as pa

    values = {name: _values(grouped, name, rule) for name, rule in rules.items()}
    parts: dict[str, list[Array]] = {name: [] for name in values}
    codes, weights = [], []
    for k, total in enumerate(grouped.rows.tolist()):
        ends = {name: np.cumsum(count[klass == k]) for name, (_, klass, count) in values.items()}
        for name, end in ends.items():
            if len(end) and end[-1] > total:
                label = grouped.classes.name(k)
                raise InputError(f"column {name!r} in class {label!r}: {end[-1]} values in {total} rows")
        breaks = np.unique(np.concatenate([[total], *ends.values()]))
        breaks = breaks[breaks > 0]
        for name, end in ends.items():
            at = np.flatnonzero(values[name][1] == k)
            place = np.searchsorted(end, breaks, side="left")  # the value that ends there, or behind
            parts[name].append(np.append(at, -1)[place])
        codes.append(np.full(len(breaks), k))
        weights.append(np.diff(breaks, prepend=0))
    arrays = {}
    for name, places in parts.items():
        at = np.concatenate(places)
        arrays[name] = values[name][0].take(pa.array(at, mask=at < 0))
    return pa.table(arrays), np.concatenate(codes), np.concatenate(weights)


def _values(grouped: Any, name: str, rule: Any) -> tuple[Any, Array, Array]:
    """Return the values of a column that are not missing, their classes, and how often they are there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    own = _only(grouped, name)
    table = own.table
    textual = isinstance(rule, (Categorical, Dates, Text)) or "number" not in table.column_names
    given = table["value" if textual else "number"]
    if rule is None or isinstance(rule, Text):
        return pa.nulls(0, pa.string()), np.zeros(0, np.int32), np.zeros(0, np.int64)
    if isinstance(rule, Dates):
        given = given.cast(pa.timestamp("us"))
    known = pc.is_valid(given).to_numpy(zero_copy_only=False)
    count = table["count"].cast(pa.int64()).to_numpy()
    known &= count > 0
    return given.filter(pa.array(known)).combine_chunks(), own.klass[known], count[known]
