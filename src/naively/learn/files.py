"""Saving: learners as files, and loading them.

A file holds the counts and the table made of them, so that a model can continue to learn and can predict at once; or,
frozen, the table alone. The same counts give the same bytes, in whatever order they were counted.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from naively import __version__
from naively.arrays import Array
from naively.count.columns import Categories
from naively.count.ledger import Ledger, PartLedger
from naively.count.stored_vocabulary import in_order
from naively.count.tally import Tally
from naively.count.vocabulary import Buckets, Vocabulary, WordSubset
from naively.errors import FileError, InputError
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.matrix import ArrayBlock
from naively.families.words.table import TextTable
from naively.learn.calibrate import Calibrated
from naively.learn.model import Model
from naively.names import Index
from naively.score.table import Table
from naively.store import container
from naively.store.codec import Reader, Writer
from naively.store.container import Contents, read, write
from naively.store.damage import need
from naively.store.functions import trusted
from naively.store.verify import verify

_PARTS = "the parts of a model"
ATTRIBUTES = ("n_features_in_", "feature_names_in_")
"""Attributes of scikit-learn's protocol that describe the rows of `fit`."""


@dataclass(frozen=True, eq=False)
class Ready:
    """Counts in order, and the table made of them; neither depends on the calibration of the learner."""

    ledger: Any
    table: Any

    @classmethod
    def of(cls, learner: Any) -> Ready:
        model = learner._model
        if model.ledger.parts is not None:
            model = _ordered(model)
        return cls(model.ledger, _for_any_machine(model.table(*rules(learner, model))))


def _for_any_machine(table: Table) -> Table:
    """Return the table without a number of threads."""
    blocks = {
        name: replace(own, words=replace(own.words, threads=None)) if isinstance(own, TextTable) else own
        for name, own in table.blocks.items()
    }
    return replace(table, blocks=blocks)


def save(
    learner: Any, path: str | os.PathLike[str], *, frozen: bool = False, about: Any = None, ready: Ready | None = None
) -> None:
    """Write a learner to a file, whole or not at all."""
    write(path, *_document(learner, frozen, about, ready))


def to_bytes(learner: Any, *, frozen: bool = False) -> bytes:
    """Return the bytes that `save` would write."""
    return container.to_bytes(*_document(learner, frozen, None, None))


def _document(learner: Any, frozen: bool, about: Any, ready: Ready | None) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the document and the arrays of a file."""
    learner._check_fitted()
    if not type(learner).__module__.startswith("naively."):
        raise InputError(
            f"{type(learner).__name__} is a class of your own, which a file cannot name; pickle it instead"
        )
    model = learner._model
    calibrated = learner._finish_calibration(model)
    ready = Ready.of(learner) if ready is None else ready
    ledger, table = ready.ledger, ready.table
    counted = ledger.total if not frozen else Tally(ledger.classes, ledger.exact_rows, {})
    writer = Writer()
    document = {
        "kind": learner._who,
        "naively": __version__,
        "frozen": frozen,
        "about": writer.put(about or {}, "about"),
        "parameters": writer.put({name: learner._value(name) for name in learner.parameters()}, "parameters"),
        "attributes": writer.put({k: v for k, v in vars(learner).items() if k in ATTRIBUTES}, "attributes"),
        "model": _put_model(writer, model, counted, calibrated),
        "table": writer.put(_of_own_words(table) if frozen else table, "table"),
    }
    return document, writer.arrays


def rules(learner: Any, model: Any) -> tuple[Any, Any, Any]:
    """Return the blocks, smoothing and prior of a learner in one state; its table depends on these."""
    blocks = learner._blocks_of(model)
    return blocks, learner._rule_for(model), learner._score_prior(model, blocks)


def _of_own_words(table: Table) -> Table:
    """Return the table with its own words only."""
    return replace(table, blocks={name: _own_words(own) for name, own in table.blocks.items()})


def _own_words(table: Any) -> Any:
    if not isinstance(table, TextTable):
        return table
    words, numbers = table.features.words, table.features.numbers
    assert numbers is not None
    if not isinstance(words, Vocabulary) or table.unknown is not None or len(numbers) == words.size:
        return table
    fewer, moved = words.subset(numbers)
    fewer, again = in_order(fewer)
    own = WordSubset.among(fewer, again[moved[numbers]])
    return replace(table, features=own, linear=replace(table.linear, features=own))


def _put_model(writer: Writer, model: Any, counted: Any, calibrated: Any) -> dict[str, Any]:
    fields = {name: getattr(model, name) for name in ("declared", "counted", "chosen")}
    fields["judged"] = calibrated
    parts = {"tally": counted, "dtype": np.dtype(model.dtype).name, **fields, "schema": model.schema}
    return {name: writer.put(value, name) for name, value in parts.items()}


def _ordered(model: Any) -> Any:
    """Return the same state with classes and words sorted, whatever order they came in."""
    total = model.ledger.total
    ordered = tally_in_order(total)
    return model if ordered is total else model.after(Ledger.of(ordered))


def tally_in_order(tally: Tally) -> Tally:
    """Return a tally with its classes and its words in order."""
    tally = tally.in_order()
    parts = {name: _in_order(part) for name, part in tally.parts.items()}
    same = all(parts[name] is part for name, part in tally.parts.items())
    return tally if same else replace(tally, parts=parts)


def _in_order(part: Any) -> Any:
    """Return a part with its words in order."""
    features = getattr(part, "features", None)
    if isinstance(features, Buckets) and len(features.parts) > 1:
        return replace(part, features=Buckets(features.size, (features.votes,)))
    if isinstance(features, Vocabulary):
        words, moved = in_order(features)
        if words is not features:
            return replace(part, features=words, cells=part.cells.renumbered(moved.__getitem__, None))
    return part


def _check_attributes(attributes: dict[str, Any], features: dict[str, Any]) -> None:
    """Raise FileError unless the number and names of columns are those of the counts; only arrays have them."""
    expected: dict[str, Any] = {}
    if ArrayBlock.name in features:
        columns = getattr(features[ArrayBlock.name], "columns", features[ArrayBlock.name])
        expected["n_features_in_"] = columns.size
        if columns.names is not None:
            expected["feature_names_in_"] = columns.names
    sound = isinstance(attributes, dict) and set(attributes) == set(expected)
    for name in expected if sound else ():
        found, right = attributes[name], expected[name]
        sound = sound and type(found) is type(right) and np.array_equal(found, right)
    if not sound:
        raise FileError("the file is damaged (the number and the names of its columns)")


def _check_together(table: Table, model: Any, blocks: Blocks) -> None:
    """Raise FileError unless a table has these blocks, and the classes and features of this model."""
    ledger, classes = model.ledger, _class_names(model.ledger)
    sound = set(table.blocks) == {block.name for block in blocks.blocks}
    sound = sound and (table.missingness is not None) == blocks.informative
    sound = sound and _class_names(table) == classes
    for block in blocks.blocks if sound else ():
        own: Any = table.blocks[block.name]
        sound = sound and isinstance(own, block.tables) and _same_family(own, block)
        sound = sound and _class_names(own) == classes
        if sound and ledger.parts is not None:
            sound = _same_features(block.features_of(own), ledger.features[block.name])
    if not sound:
        raise FileError("the file is damaged (counts and table do not belong together)")


def _class_names(value: Any) -> list[Any]:
    return [] if value.classes.names is None else value.classes.names.tolist()


def _same_family(table: Any, block: Any) -> bool:
    """True if a table of texts reads them as its block does."""
    if not isinstance(table, TextTable):
        return True
    return replace(table.words, threads=None) == replace(block.family, threads=None)


def _same_features(mine: Any, other: Any) -> bool:
    """True if a table has the features that were counted; those of categories are compared by their numbers."""
    if mine is None or mine is other:
        return True
    if isinstance(mine, Categories):
        return isinstance(other, Categories) and np.array_equal(mine.sizes, other.sizes)
    if isinstance(mine, Index):
        return isinstance(other, Index) and mine.size == other.size
    return isinstance(mine, Buckets) and isinstance(other, Buckets) and mine.size == other.size


def _try_out(learner: Any) -> None:
    """Explain a row of missing values, so that a forged file fails when it is loaded."""
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


class FiledPart(PartLedger):
    """A part of the counts in a file; all counts are checked before their first use."""

    def __init__(self, classes: Index, part: Any, check: Callable[[], None]):
        features = getattr(part, "features", None)
        self.__dict__.update(classes=classes, exact_rows=part.exact_rows, features=features, _part=part, _check=check)

    @cached_property
    def levels(self) -> tuple[Any, ...]:
        self.__dict__["_check"]()
        return (self.__dict__["_part"],)


@dataclass(frozen=True, eq=False)
class Saved:
    """An open file of a learner."""

    contents: Contents
    trust: frozenset[str] = frozenset()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Saved:
        return cls.of(read(path))

    @classmethod
    def from_bytes(cls, data: Any, trust: Any = ()) -> Saved:
        return cls.of(container.from_bytes(data), trust)

    @classmethod
    def of(cls, contents: Contents, trust: Any = ()) -> Saved:
        """Return the model in an open file; `trust` are the import paths of functions that it may call."""
        needed = ("kind", "frozen", "about", "parameters", "attributes", "model", "table")
        if not all(name in contents.document for name in needed):
            raise FileError(f"{contents.path}: a file of naively, but no model")
        return cls(contents, trusted(trust))

    @property
    def kind(self) -> str:
        """Return the class of the saved estimator."""
        return str(self.contents.document["kind"])

    @property
    def frozen(self) -> bool:
        return bool(self.contents.document["frozen"])

    @property
    def version(self) -> str:
        """Return the version of the library that wrote the file."""
        return str(self.contents.document.get("naively"))

    @cached_property
    def about(self) -> dict[str, Any]:
        """Return the record of the data's source that the file holds."""
        try:
            about = self._reader.get(self.contents.document["about"])
        except FileError as error:
            raise FileError(f"{self.contents.path}: {error}") from None
        return about if isinstance(about, dict) else {}

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.contents.arrays, thorough=self.contents.verified, trust=self.trust)

    def learner(self, kinds: dict[str, Any]) -> Any:
        """Return the saved learner, which must be of one of these classes."""
        kind = kinds.get(self.kind)
        if kind is None:
            wanted = f"not a {', '.join(kinds)}; naively.from_bytes reads any" if kinds else "which is not known here"
            raise FileError(f"{self.contents.path}: holds a {self.kind[:40]!r}, {wanted}")
        try:
            return self._made(kind)
        except FileError as error:
            path = self.contents.path
            raise FileError(str(error) if str(error).startswith(path) else f"{path}: {error}") from None
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError) as error:
            raise FileError(f"{self.contents.path}: the file is damaged ({error})") from None

    def _made(self, kind: Any) -> Any:
        document = self.contents.document
        learner = kind(**self._reader.by_name(document["parameters"]))
        learner._validate_params()
        fields = {name: self._reader.get(value) for name, value in self.contents.part("model").items()}
        table = self._reader.of(Table, document["table"])
        if self.contents.verified:
            verify(table)
        model = self._model(fields)
        attributes = self._reader.by_name(document["attributes"])
        _check_attributes(attributes, model.features or _features_of(table))
        for name, value in attributes.items():
            setattr(learner, name, value)
        learner._commit(model)
        learner._check_counted(model)
        blocks, rule, prior = rules(learner, model)
        _check_together(table, model, blocks)
        if not np.array_equal(table.prior, prior):
            raise FileError("the file is damaged (the prior of a table)")
        model.keep(table, blocks, rule)
        if self.contents.verified:
            _try_out(learner)
        return learner

    def _model(self, fields: dict[str, Any]) -> Any:
        need(fields.keys() == {"tally", "dtype", "declared", "counted", "chosen", "judged", "schema"}, _PARTS)
        need(isinstance(fields["declared"], Index), _PARTS)
        need(isinstance(fields["judged"], (Calibrated, type(None))), _PARTS)
        need(fields["schema"] is None or hasattr(fields["schema"], "blocks_of"), _PARTS)
        tally = fields.pop("tally")
        need(isinstance(tally, Tally), _PARTS)
        dtype = {"float64": np.float64, "float32": np.float32}[fields.pop("dtype")]
        return Model(self._ledger(tally), dtype, calibrated=fields.pop("judged"), **fields)

    def _ledger(self, tally: Tally) -> Ledger:
        if self.frozen:
            return Ledger(tally.classes, tally.exact_rows, None)
        if self.contents.verified:
            verify(tally)
        parts = {name: FiledPart(tally.classes, part, lambda: self._check(tally)) for name, part in tally.parts.items()}
        return Ledger(tally.classes, tally.exact_rows, parts)  # type: ignore[arg-type]

    def _check(self, tally: Tally) -> None:
        """Check the counts once, before their first use."""
        self.contents.verify()
        try:
            verify(tally)
        except FileError as error:
            raise FileError(f"{self.contents.path}: {error}") from None


def _features_of(table: Table) -> dict[str, Any]:
    """Return the features of the tables of a frozen model, by block."""
    return {name: getattr(own, "categories", getattr(own, "features", None)) for name, own in table.blocks.items()}
