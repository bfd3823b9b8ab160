"""Roles: which column holds the label, and which columns are the features."""

from __future__ import annotations

import re
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from naively.cli.exit import UsageError
from naively.errors import DataWarning, InputError
from naively.sources.errors import SourceError
from naively.sources.source import Source


@dataclass(frozen=True)
class Roles:
    """The column of labels, and either the column of texts that a model reads, or the columns of its table."""

    target: str | None = None
    text: str | None = None
    columns: tuple[str, ...] = ()
    given_texts: tuple[str, ...] = ()  # columns of a table that --text names

    @property
    def read(self) -> list[str]:
        """All columns that must be read."""
        features = [self.text] if self.text is not None else list(self.columns)
        return [*features, *([self.target] if self.target is not None else [])]

    def rows(self, batch: Any) -> Any:
        """Return the features of some rows: a column of texts or a table."""
        return batch.column(self.text) if self.text is not None else batch.select(list(self.columns))

    def labels(self, batch: Any, classes: Any = None) -> Any:
        """Return the labels of some rows as an array; as text if the known classes are text."""
        from naively.read.label_codes import CodedLabels

        found = self.coded_labels(batch, classes)
        return found.distinct[found.codes] if isinstance(found, CodedLabels) else found

    def coded_labels(self, batch: Any, classes: Any = None) -> Any:
        """Return the labels of some rows as a learner takes them: text by number, so that it is looked at once."""
        import numpy as np
        import pyarrow as pa

        from naively.read.columns import coded
        from naively.read.label_codes import CodedLabels

        column = batch.column(self.target)
        self._check_labels(column)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            codes, distinct = coded(column)
            labels = CodedLabels(codes, np.array(distinct))
            written = classes is None or not len(classes) or isinstance(classes.tolist()[0], str)
            return labels if written else self._numbered(labels.distinct[codes], classes)
        listed = column.to_pylist()
        if pa.types.is_decimal(column.type) or pa.types.is_temporal(column.type):  # types that no model can store
            listed = list(map(str, listed))
        if classes is not None and len(classes) and isinstance(classes.tolist()[0], str):
            listed = [label if isinstance(label, str) else _text(label) for label in listed]
        return np.array(listed)

    def _check_labels(self, column: Any) -> None:
        """Raise for labels that cannot name a class: nested values, and numbers with a fraction."""
        import numpy as np
        import pyarrow as pa

        kind = column.type
        if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
            advice = f'labels are text, whole numbers or flags: take them out by --sql "select ... as {self.target}"'
            raise SourceError(f"holds values of type {kind}; {advice}", column=self.target)
        if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return
        values = column.cast(pa.float64(), safe=False).to_numpy()
        parts = values[~np.isnan(values) & ~(np.isfinite(values) & (values == np.floor(values)))]
        if len(parts):
            advice = (
                f'bin them, for instance by --sql "select * replace ({self.target} > 10 as {self.target}) from ..."'
            )
            raise SourceError(
                f"is continuous, with values like {parts[0]}; labels are classes: {advice}", column=self.target
            )

    def _numbered(self, labels: Any, classes: Any) -> Any:
        """Convert labels that are text to numbers or flags, as the known classes are."""
        import numpy as np

        known = classes.tolist()[0]
        flags = {"true": True, "false": False} if isinstance(known, bool) else {}
        try:
            return np.array([flags[label.lower()] if flags else type(known)(label) for label in labels.tolist()])
        except (ValueError, KeyError):
            known_labels = ", ".join(map(repr, classes.tolist()[:3]))
            others = ", ".join(map(repr, sorted(set(labels.tolist()))[:3]))
            raise InputError(
                f"column {self.target!r}: the model's labels are like {known_labels}, here are {others}"
            ) from None

    def has_label(self, batch: Any) -> Any:
        """Return a mask of the rows that have a label."""
        import numpy as np
        import pyarrow as pa

        labels = batch.column(self.target)
        if pa.types.is_floating(labels.type):
            return ~np.isnan(labels.to_numpy())
        return labels.is_valid().to_numpy() if labels.null_count else np.ones(batch.num_rows, bool)

    def labelled(self, batch: Any) -> Any:
        """Return the rows that have a label."""
        mask = self.has_label(batch)
        return batch if mask.all() else batch.filter(mask)


_LABELS = (
    "BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT", "DOUBLE",
)  # fmt: skip
_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__")


def _text(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def roles_for_training(arguments: Namespace, source: Source) -> Roles:
    """Find the roles of columns from the arguments; what they leave open follows from the format or the values."""
    target = arguments.target or source.label
    if target is None:
        raise UsageError(f"--target names the column with the labels; the columns are: {', '.join(source.columns)}")
    target = source.column(target)
    texts = [source.column(name) for name in arguments.text or ()]
    dropped = {source.column(name) for name in getattr(arguments, "drop", None) or ()}
    chosen = [source.column(name) for name in getattr(arguments, "columns", None) or ()]
    if target in (*texts, *chosen):
        raise UsageError(f"column {target!r} is the target, so that it cannot tell itself: leave it out")
    twice = dropped & {*texts, *chosen}
    if twice:
        raise UsageError(f"column {min(twice)!r} is to be used and in --drop")
    # Numbers are labels as they are; other labels (yes, 1 May) are read as text, whatever they look like.
    source.as_text(texts if source.columns[target] in _LABELS else [target, *texts])
    if not chosen:
        dropped |= _index_columns(source, target, {*texts, *dropped})
    others = [name for name in chosen or source.columns if name != target and name not in dropped and name not in texts]
    if not texts and not chosen and source.text is not None:
        return Roles(target, source.text)
    if len(texts) == 1 and not chosen:
        return Roles(target, texts[0])
    if not texts and len(others) == 1 and _holds_long_texts(source, others[0]):
        return Roles(target, others[0])
    columns = tuple(texts + (others if chosen or not texts else []))
    if not columns:
        raise InputError(f"there is no column besides the target {target!r}, so there is nothing to tell it by")
    return Roles(target, None, columns, tuple(texts))


def _index_columns(source: Source, target: str, named: set[str]) -> set[str]:
    """Return the columns that pandas has written as the index of a table, and warn that they are left out."""
    found = [name for name in source.columns if _INDEX.fullmatch(name) and name != target and name not in named]
    for name in found:
        warnings.warn(
            f"column {name!r} is the index of a table: left out; --columns names it to use it",
            DataWarning,
            stacklevel=2,
        )
    return set(found)


def _holds_long_texts(source: Source, name: str) -> bool:
    """True if most of the first values differ and have several words."""
    from naively.learn.schema import looks_long

    if source.columns[name] != "VARCHAR":
        return False
    batches = source.batches([name])
    first = next(iter(batches), None)
    _close(batches)
    return first is not None and looks_long(first.column(name))


def _close(batches: Iterator[Any]) -> None:
    close = getattr(batches, "close", None)
    if close is not None:
        close()


def roles_for_model(
    arguments: Namespace, source: Source, about: dict[str, Any], learner: Any, *, target: bool
) -> Roles:
    """Find the roles of columns as the model was trained, unless the arguments say otherwise."""
    wanted = None
    if target:
        named = arguments.target or about.get("target") or source.label
        if named is None:
            raise UsageError(f"--target names the column with the labels; the columns are: {', '.join(source.columns)}")
        wanted = source.column(named if arguments.target or named in source.columns else source.label or named)
        if isinstance(learner.classes_.tolist()[0], str):
            source.as_text([wanted])
    if learner.reads_text:
        texts = arguments.text or ()
        if len(texts) > 1:
            raise UsageError("this model reads one text: name one column with --text")
        _refuse_other_formats(arguments, source, [about.get("text"), about.get("target")])
        text = source.column(texts[0]) if texts else _text_column(source, about, wanted)
        source.as_text([text])
        return Roles(wanted, text)
    _refuse_other_formats(arguments, source, learner.feature_names_in_)
    known = [name for name in learner.feature_names_in_ if name in source.columns]
    if not known:
        names = ", ".join(map(str, learner.feature_names_in_))
        raise InputError(f"{source.called}: none of the columns that the model reads is there; it reads {names}")
    types = learner.column_types_
    source.as_text([name for name in known if "string" in types[name]])
    return Roles(wanted, None, tuple(known))


def _text_column(source: Source, about: dict[str, Any], target: str | None) -> str:
    """Return the column that the model was trained on, that of the format, or the only column."""
    named = about.get("text")
    if isinstance(named, str) and named in source.columns:
        return named
    if source.text is not None:
        return source.text
    others = [name for name in source.columns if name != target]
    if len(others) == 1:
        _refuse_text_as_name(source, others[0])
        return others[0]
    return source.column(named) if isinstance(named, str) else _ask_for_text(others)


def _refuse_text_as_name(source: Source, name: str) -> None:
    """Raise if the header looks like a text, which would be lost."""
    if source.format in ("csv", "tsv") and (len(name.split()) >= 3 or len(name) >= 30):
        raise InputError(
            f"{source.called}, line 1: {name!r} looks like a text, not like the name of a column; pass --no-header if "
            "it is one, or name the column by --text"
        )


def _refuse_other_formats(arguments: Namespace, source: Source, names: Sequence[Any]) -> None:
    """Raise if standard input is read as lines of text without --format, but looks like JSON Lines or CSV."""
    if source.first_line is None or getattr(arguments, "format", None) is not None:
        return
    first = source.first_line.strip()
    fields = [field.strip().strip('"') for delimiter in ",;\t|" for field in first.split(delimiter)]
    if first.startswith("{"):
        raise UsageError("standard input begins like JSON Lines: pass --format jsonl, or --format lines for plain text")
    if any(name in fields for name in names):
        raise UsageError(
            f"standard input begins like CSV, with the header {first[:80]!r}: pass --format csv, or --format lines for "
            "plain text"
        )


def _ask_for_text(columns: list[str]) -> str:
    raise UsageError(f"--text names the column with the texts; the columns are: {', '.join(columns)}")
