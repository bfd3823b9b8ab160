"""Categories as the rows of an array or a sparse matrix: codes 0, 1, 2, ..., or names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.columns import Categories
from naively.count.ledger import PartLedger
from naively.errors import InputError
from naively.families.blocks.matrix import ArrayBlock
from naively.families.categorical import trimmed
from naively.names import Index
from naively.read.detect import missing_entries
from naively.read.frame import Frame
from naively.read.label_codes import encode, sorted_index
from naively.read.matrix import ROW, RowError, Rows, RowTypeError, is_sparse_matrix, native
from naively.score.table import CodeTable
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class CategoryArrayBlock(ArrayBlock):
    """The rows of an array, each column of which holds categories.

    `least` is the least number of categories of each column of codes (None: none); `named`: numbers are names of
    categories, as text is.
    """

    least: tuple[int, ...] | None = None
    named: bool = False

    tables = (CodeTable,)

    def no_features(self) -> Categories:
        columns = super().no_features()
        least = self.least or (0,) * columns.size
        return Categories(columns, tuple(Index(n) for n in least))

    def count(self, frame: Frame, codes: Array, classes: Index, features: Categories, weight: Array | None) -> Any:
        rows, features = category_codes(frame.whole, features, grow=True, named=self.named)
        return self.family.count(rows, codes, classes, features, weight)

    def read(self, frame: Frame, features: Categories) -> Rows:
        return category_codes(frame.whole, features, grow=False, named=self.named)[0]

    def features_of(self, table: Any) -> Categories:
        return table.categories

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        features = forgotten.cells.features()
        if len(ledger.take(features).features()) == len(features):
            return ledger
        least = np.array(self.least or (0,) * ledger.features.columns.size)
        return PartLedger(ledger.classes, (trimmed(ledger.total, least),))

    def columns_of(self, drawn: Array, features: Categories) -> dict[str, Any]:
        """Replace codes by their categories."""
        missing = drawn == np.iinfo(np.int64).min
        if all(v.names is None for v in features.values) and not missing.any():
            return {self.name: drawn}
        result = np.empty(drawn.shape, dtype=object)
        for j, values in enumerate(features.values):
            here = ~missing[:, j]
            result[here, j] = drawn[here, j] if values.names is None else values.names[drawn[here, j].astype(int)]
        return {self.name: result}


def category_codes(X: Any, known: Categories, *, grow: bool, named: bool) -> tuple[Rows, Categories]:
    """Rows of category codes, and the categories with those that came new where they may `grow`.

    A column of numbers holds its codes, unless they are `named`; a column of names gets a code for each. An unknown
    one is then coded as one more than there are.
    """
    text = [j for j, column in enumerate(known.values) if column.names is not None and column.names.dtype.kind != "f"]
    if is_sparse_matrix(X) and text:
        raise _changed(known.columns.name(text[0]), "text", "numbers")
    if not named and (is_sparse_matrix(X) or (X.dtype.kind not in "OUSmM" and not text)):
        return native(X), known
    X = X.toarray() if is_sparse_matrix(X) else X
    X = X if X.dtype.kind in "OUS" else X.astype(object)
    codes = np.empty(X.shape, dtype=np.float64)
    values = list(known.values)
    for j in range(X.shape[1]):
        codes[:, j], values[j] = _column_codes(X[:, j], values[j], known.columns.name(j), grow, named)
    same = all(a is b for a, b in zip(values, known.values, strict=True))
    return codes, known if same else Categories(known.columns, tuple(values))


def _changed(name: Any, before: str, now: str) -> InputError:
    return InputError(f"column {name!r}: its categories were {before}, now {now}; convert them to {before}")


def _column_codes(column: Array, known: Index, name: Any, grow: bool, named: bool) -> tuple[Array, Index]:
    mask = missing_entries(column)
    result = np.full(len(column), np.nan)
    present = column[~mask]
    if not len(present):
        return result, known
    if _is_text(column, mask, name):
        if known.size and (known.names is None or known.names.dtype.kind == "f"):
            raise _changed(name, "numbers", "text")
    else:
        if known.names is not None and known.names.dtype.kind != "f":
            raise _changed(name, "text", "numbers")
        present = present.astype(np.float64)
        if not named:
            result[~mask] = present
            return result, known
        _check_names(column, mask, present, name)
    result[~mask], index = _name_codes(present, known, grow)
    return result, index


def _is_text(column: Array, mask: Array, name: Any) -> bool:
    """True if the known values are text; raise if they are neither all text nor all numbers."""
    if column.dtype != object:
        return True
    texts = np.array([isinstance(v, str) for v in column[~mask]])
    if texts.all():
        return True
    wrong = [i for i, v in enumerate(column) if not mask[i] and not isinstance(v, (str, *_NUMBERS))]
    if wrong:
        got = type(column[wrong[0]]).__name__
        message = f"row {ROW}, column {name!r}: argument must be a string or a number, got {got}"
        raise RowTypeError(message, wrong[0])
    if texts.any():
        row = int(np.flatnonzero(~mask)[np.argmin(texts)])
        mixed = f"row {ROW}, column {name!r}: text and numbers are mixed, got {column[row]!r}; convert one kind"
        raise RowError(mixed, row)
    return False


_NUMBERS = (int, float, bool, np.number, np.bool_)
_EXACT = float(1 << 53)


def _check_names(column: Array, mask: Array, present: Array, name: Any) -> None:
    """Raise InputError if a number that names a category has no exact value."""
    bad = ~(np.abs(present) < _EXACT)
    if bad.any():
        row = int(np.flatnonzero(~mask)[np.argmax(bad)])
        raise RowError(
            f"row {ROW}, column {name!r}: a number that names a category must be finite and within 2^53, "
            f"got {column[row]!r}; convert the column to text",
            row,
        )


def _name_codes(present: Array, known: Index, grow: bool) -> tuple[Array, Index]:
    codes, distinct = encode(present + 0.0 if present.dtype.kind == "f" else present)
    index = known
    if grow:
        index = sorted_index(distinct) if known.names is None else known.extended(distinct.tolist())
    places = index.locate(distinct)
    return np.where(places >= 0, places, index.size)[codes], index
