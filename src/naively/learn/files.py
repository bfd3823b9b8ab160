"""Saving: a learner as a file, and back.

A file holds what was counted and the table made of it, so that a model can go on learning as well as predict at once;
or, frozen, the table alone. The same counts make the same bytes, in whatever order they were counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively import __version__
from naively.count.ledger import Ledger, Uncounted
from naively.count.stored_vocabulary import in_order
from naively.count.tally import Tally
from naively.count.vocabulary import Buckets, Vocabulary, WordSubset
from naively.errors import FileError, InputError
from naively.families.words.block import Words
from naively.families.words.table import TextTable
from naively.learn.calibrate import Calibrated
from naively.learn.checks import check_numbers, check_table
from naively.learn.held_out import ledger_of
from naively.learn.model import Model
from naively.names import Index
from naively.score.table import CodeTable, CovarianceTable, LinearTable, NormalTable
from naively.store.codec import Reader, Writer
from naively.store.container import Contents, read, write

_ATTRIBUTES = ("n_features_in_", "feature_names_in_")
"""What scikit-learn keeps of the rows that an estimator was fitted on."""


@dataclass(frozen=True, eq=False)
class Ready:
    """Counts in order, and the table made of them; they do not depend on how the learner was judged."""

    ledger: Any
    table: Any

    @classmethod
    def of(cls, learner: Any) -> Ready:
        model = learner._model
        if not isinstance(model.ledger, Uncounted):
            model = _ordered(model)
        table = model.table(*rules(learner, model))
        if isinstance(table, TextTable):
            table = replace(table, words=replace(table.words, threads=None))  # which is a matter of one machine
        return cls(model.ledger, table)


def save(
    learner: Any, path: str | os.PathLike[str], *, frozen: bool = False, about: Any = None, ready: Ready | None = None
) -> None:
    """Write a learner to a file, whole or not at all."""
    learner._check_fitted()
    if not type(learner).__module__.startswith("naively."):
        raise InputError(
            f"{type(learner).__name__} is a class of your own, which a file cannot name; pickle it instead"
        )
    model = learner._model
    if hasattr(learner, "_settle_judgement"):
        learner._settle_judgement(model)
    ready = Ready.of(learner) if ready is None else ready
    table, counted = _alone(ready.table, ready.ledger) if frozen else (ready.table, ready.ledger.total)
    writer = Writer()
    document = {
        "kind": learner._who,
        "naively": __version__,
        "frozen": frozen,
        "about": writer.put(about or {}, "about"),
        "parameters": writer.put({name: learner._value(name) for name in learner.parameters()}, "parameters"),
        "attributes": writer.put({k: v for k, v in vars(learner).items() if k in _ATTRIBUTES}, "attributes"),
        "model": _put_model(writer, model, counted),
        "table": writer.put(table, "table"),
    }
    write(path, document, writer.arrays)


def rules(learner: Any, model: Any) -> tuple[Any, Any, Any]:
    """Family, smoothing and prior of a learner in one state, which its table depends on."""
    return learner._family_of(model), learner._rule_for(model), learner._log_prior(model)


def _alone(table: Any, ledger: Any) -> tuple[Any, Uncounted]:
    """A table without counts, and with no other words than it is made of."""
    features = ledger.features
    if isinstance(table, TextTable):
        table = _of_own_words(table)
        features = table.features.words
    elif _is_mixed(table):
        tables = {n: _of_own_words(t) if isinstance(t, TextTable) else t for n, t in table.tables.items()}
        features = {n: tables[n].features.words if isinstance(tables[n], TextTable) else f for n, f in features.items()}
        left: Any = Uncounted(ledger.classes, ledger.rows, features)
        table = replace(table, tables=tables, ledger=left)
    return table, Uncounted(ledger.classes, ledger.rows, features)


def _of_own_words(table: TextTable) -> TextTable:
    words, numbers = table.features.words, table.features.numbers
    assert numbers is not None
    if not isinstance(words, Vocabulary) or table.holes is not None or len(numbers) == words.size:
        return table
    fewer, moved = words.subset(numbers)
    fewer, again = in_order(fewer)
    own = WordSubset.among(fewer, again[moved[numbers]])
    return replace(table, features=own, linear=replace(table.linear, features=own))


def _put_model(writer: Writer, model: Any, counted: Any) -> dict[str, Any]:
    fields = {name: getattr(model, name) for name in ("declared", "counted", "chosen")}
    fields["judged"] = None if model.judged is None else model.judged.without_sample()
    schema = {"schema": model.schema} if hasattr(model, "schema") else {}
    parts = {"tally": counted, "dtype": np.dtype(model.dtype).name, **fields, **schema}
    return {name: writer.put(value, name) for name, value in parts.items()}


def _ordered(model: Any) -> Any:
    """The same state with classes and words in an order that does not depend on how they came."""
    total = model.ledger.total
    ordered = tally_in_order(total)
    if ordered is total:
        return model
    return model.after(ledger_of(ordered))


def tally_in_order(tally: Any) -> Any:
    """A tally with its classes and its words in order."""
    if isinstance(tally, Tally):
        return _counts_in_order(tally)
    from naively.count.column_counts import Numbers
    from naively.families.blocks import BlockTally

    if isinstance(tally, BlockTally):
        parts = {name: tally_in_order(part) for name, part in tally.parts.items()}
        if all(parts[name] is part for name, part in tally.parts.items()) and tally.classes.order is None:
            return tally
        return BlockTally(_sorted(tally.classes), _by_class(tally), parts)
    if isinstance(tally, Numbers):
        moments, grid = tally_in_order(tally.moments), tally_in_order(tally.grid)
        return tally if moments is tally.moments and grid is tally.grid else Numbers(moments, grid)
    return tally if tally.classes.order is None else _emptied(tally) + tally


def _counts_in_order(tally: Tally) -> Tally:
    if tally.classes.order is not None:
        tally = _emptied(tally) + tally
    if isinstance(tally.features, Buckets) and len(tally.features.parts) > 1:
        return replace(tally, features=Buckets(tally.features.size, (tally.features.votes,)))
    if isinstance(tally.features, Vocabulary):
        words, moved = in_order(tally.features)
        if words is not tally.features:
            return replace(tally, features=words, cells=tally.cells.renumbered(moved.__getitem__, None))
    return tally


def _emptied(tally: Any) -> Any:
    """Nothing counted yet, of the same features, with the classes in order."""
    classes = _sorted(tally.classes)
    if isinstance(tally, Tally):
        return Tally.empty(tally.kind, classes, tally.features)
    return type(tally).empty(classes, tally.features)


def _sorted(classes: Any) -> Any:
    return classes if classes.order is None else type(classes).of(classes.names[classes.order])


def _by_class(tally: Any) -> Any:
    return tally.rows if tally.classes.order is None else tally.rows[tally.classes.order]


def _is_mixed(table: Any) -> bool:
    """Whether it is the table of several blocks, which a model of texts does not wait for."""
    from naively.families.blocks.mixed import MixedTable

    return isinstance(table, MixedTable)


def _check_attributes(attributes: dict[str, Any], learner: Any, ledger: Any) -> None:
    """Whether the number and the names of columns are those of what was counted; texts and tables have neither."""
    expected: dict[str, Any] = {}
    if not hasattr(learner, "reads_text"):
        columns = getattr(ledger.features, "columns", ledger.features)
        expected["n_features_in_"] = columns.size
        if columns.names is not None:
            expected["feature_names_in_"] = columns.names
    sound = isinstance(attributes, dict) and set(attributes) == set(expected)
    for name in expected if sound else ():
        found, right = attributes[name], expected[name]
        sound = sound and type(found) is type(right) and np.array_equal(found, right)
    if not sound:
        raise FileError("the file is damaged (the number and the names of its columns)")


def _check_together(table: Any, model: Any, family: Any) -> None:
    """Whether a table is one of this family, over the classes and features of this model."""
    ledger = model.ledger
    if hasattr(model, "schema"):
        sound = _is_mixed(table) and table.family == family
    elif isinstance(family, Words):
        sound = isinstance(table, TextTable) and replace(table.words, threads=None) == replace(family, threads=None)
        sound = sound and _same_words(table.features.words, ledger.features)
    else:
        sound = isinstance(table, (LinearTable, CodeTable, NormalTable, CovarianceTable))
        if sound and not isinstance(table, CodeTable):
            sound = table.features.size == ledger.features.size
    if not sound or table.classes.names.tolist() != ledger.classes.names.tolist():
        raise FileError("the file is damaged (counts and table do not belong together)")


def _try_out(learner: Any) -> None:
    """Let a learner explain a row of which nothing is known: what a forged value breaks is then broken at once."""
    if not hasattr(learner, "reads_text"):
        return
    row: Any = "a"
    if not learner.reads_text:
        import pyarrow as pa

        row = {column.name: pa.nulls(1) for column in learner._model.schema.columns}  # of [None] it would load pandas
    try:
        learner.explain(row)
        learner.scores([row] if learner.reads_text else row).decide()
    except Exception as error:
        raise FileError(f"the file is damaged ({type(error).__name__}: {str(error)[:200]})") from None


def _same_words(mine: Any, other: Any) -> bool:
    return mine is other or (isinstance(mine, Buckets) and isinstance(other, Buckets) and mine.size == other.size)


class FiledLedger(Ledger):
    """Counts as they lie in a file: looked at, all of them, before they are first used."""

    def __init__(self, tally: Any, check: Callable[[], None]):
        fields = {
            "classes": tally.classes,
            "rows": tally.rows,
            "count_histogram": None,
            "_tally": tally,
            "_check": check,
        }
        self.__dict__.update(fields, features=getattr(tally, "features", None))

    @cached_property
    def levels(self) -> tuple[Any, ...]:
        self.__dict__["_check"]()
        return (self.__dict__["_tally"],)


@dataclass(frozen=True, eq=False)
class Saved:
    """A file that was opened, and can be made a learner of."""

    contents: Contents

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Saved:
        return cls.of(read(path))

    @classmethod
    def of(cls, contents: Contents) -> Saved:
        needed = ("kind", "frozen", "about", "parameters", "attributes", "model", "table")
        if not all(name in contents.document for name in needed):
            raise FileError(f"{contents.path}: a file of naively, but no model")
        return cls(contents)

    @property
    def kind(self) -> str:
        """The class of estimators that was saved."""
        return str(self.contents.document["kind"])

    @property
    def frozen(self) -> bool:
        return bool(self.contents.document["frozen"])

    @property
    def version(self) -> str:
        """That of the library which has written it."""
        return str(self.contents.document.get("naively"))

    @cached_property
    def about(self) -> dict[str, Any]:
        """Where the data came from, as the file says."""
        try:
            about = self._reader.get(self.contents.document["about"])
        except FileError as error:
            raise FileError(f"{self.contents.path}: {error}") from None
        return about if isinstance(about, dict) else {}

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.contents.arrays, thorough=self.contents.verified)

    def learner(self, kinds: dict[str, Any]) -> Any:
        """The learner that was saved, of one of these classes."""
        kind = kinds.get(self.kind)
        if kind is None:
            raise FileError(f"{self.contents.path}: holds a {self.kind[:40]!r}, which is not known here")
        try:
            return self._made(kind)
        except FileError as error:
            path = self.contents.path
            raise FileError(str(error) if str(error).startswith(path) else f"{path}: {error}") from None
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError) as error:
            raise FileError(f"{self.contents.path}: the file is damaged ({error})") from None

    def _made(self, kind: Any) -> Any:
        document = self.contents.document
        learner = kind(**self._reader.get(document["parameters"]))
        learner._validate_params()
        fields = {name: self._reader.get(value) for name, value in document["model"].items()}
        table = self._reader.get(document["table"])
        check_table(table, thorough=self.contents.verified)
        model = self._model(fields)
        attributes = self._reader.get(document["attributes"])
        _check_attributes(attributes, learner, model.ledger)
        for name, value in attributes.items():
            setattr(learner, name, value)
        learner._commit(model)
        learner._check_counted(model)
        decided = rules(learner, model)
        _check_together(table, model, decided[0])
        model.keep(table, *decided)
        if self.contents.verified:
            _try_out(learner)
        return learner

    def _model(self, fields: dict[str, Any]) -> Any:
        if set(fields) - {"schema"} != {"tally", "dtype", "declared", "counted", "chosen", "judged"}:
            raise FileError("the file is damaged (the parts of a model)")
        if not isinstance(fields["declared"], Index) or not isinstance(fields["judged"], (Calibrated, type(None))):
            raise FileError("the file is damaged (the parts of a model)")
        tally, schema = fields.pop("tally"), fields.pop("schema", None)
        dtype = {"float64": np.float64, "float32": np.float32}[fields.pop("dtype")]
        if schema is None:
            return Model(self._ledger(tally), dtype, **fields)
        from naively.families.blocks import BlockLedger, BlockTally
        from naively.learn.block_model import BlockModel

        ledger = tally
        if isinstance(tally, BlockTally):
            ledger = BlockLedger(tally.classes, tally.rows, {n: self._ledger(p) for n, p in tally.parts.items()})
        return BlockModel(ledger, dtype, **fields, schema=schema)

    def _ledger(self, tally: Any) -> Any:
        if isinstance(tally, Uncounted):
            return tally
        if self.contents.verified:
            check_numbers(tally)
        return FiledLedger(tally, lambda: self._check(tally))

    def _check(self, tally: Any) -> None:
        """Before the first use of counts."""
        self.contents.verify()
        try:
            check_numbers(tally)
        except FileError as error:
            raise FileError(f"{self.contents.path}: {error}") from None
