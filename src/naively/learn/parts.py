"""Parts of the rows, counted apart by one plan and added up; everything is decided after the last one is added."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from naively import __version__
from naively.arrays import Value
from naively.count.ledger import Ledger
from naively.errors import FileError, InputError
from naively.learn.files import ATTRIBUTES
from naively.learn.merge import merged_learner
from naively.learn.model import Model
from naively.store import container
from naively.store.codec import Reader, Writer
from naively.store.container import Contents
from naively.store.packed import packed


@dataclass(frozen=True, eq=False)
class CountedPart(Value):
    """Rows that were counted by a plan; the plan itself is the part with no rows.

    >>> from naively import NaiveBayes
    >>> table = {"size": [1.5, 2.0, 7.5, 9.0], "kind": ["cat", "cat", "dog", "dog"]}
    >>> plan = NaiveBayes().plan(table, "kind")
    >>> parts = [plan.count({"size": [1.5, 7.5], "kind": ["cat", "dog"]}, "kind"), plan]
    >>> parts += [plan.count({"size": [2.0, 9.0], "kind": ["cat", "dog"]}, "kind")]
    >>> model = plan.merge(parts).finish()
    >>> model.to_bytes() == NaiveBayes().fit(table, "kind").to_bytes()
    True

    Each part carries those of its rows that recipe and calibration may be learnt from; `finish` learns both from the
    rows of all parts and drops them. Parts can be pickled, and sent as bytes, which are those of a model file.
    """

    learner: Any

    @property
    def n_rows(self) -> float:
        """Weight of all counted rows."""
        return float(self.learner._state.ledger.rows.sum())

    def count(self, X: Any, y: Any, sample_weight: Any = None) -> CountedPart:
        """Return the part with these rows counted as well.

        Parameters
        ----------
        X : rows
            As for `partial_fit` of the estimator.
        y : array-like of shape (n_samples,), or str
            Their labels; for a table, also the name of the column that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        part : CountedPart
        """
        learner = copy.copy(self.learner)
        before: Model = learner._state
        known = before.ledger.classes if before.ledger.classes.size else None
        learner._state = learner._learnt(before, X, y, known, sample_weight)
        return CountedPart(learner)

    def merge(self, parts: Iterable[CountedPart]) -> CountedPart:
        """Return the sum of parts that were counted by this plan; each is taken when the one before it was added.

        Parameters
        ----------
        parts : iterable of CountedPart
            In any order.

        Returns
        -------
        part : CountedPart
        """
        counted = self._counted(parts)
        first = next(counted, None)
        if first is None:
            return self
        return CountedPart(merged_learner(chain([first], counted)))

    def _counted(self, parts: Iterable[CountedPart]) -> Iterator[Any]:
        """Yield the learners that have counted a row: this one first, if it has."""
        for part in chain([self], parts):
            if not isinstance(part, CountedPart):
                raise InputError(f"merge takes parts, got {type(part).__name__}; count rows by plan.count(X, y)")
            if part.n_rows:
                yield part.learner

    def finish(self) -> Any:
        """Return the estimator: decided and calibrated as if it had counted all rows at once, without any row."""
        if not self.n_rows:
            raise InputError("no row was counted, so there is nothing to learn from")
        learner = copy.copy(self.learner)
        learner._commit(learner._state)
        model = learner._model
        calibrated = learner._finish_calibration(model)
        learner._state = replace(model, sample=None, calibrated=calibrated, began=0.0)
        return learner

    # --- bytes

    def to_bytes(self) -> bytes:
        """Return the part as bytes, compressed where that pays; `naively.from_bytes` reads them."""
        from naively.learn.checkpoints import put_state

        learner, writer = self.learner, Writer()
        model = learner._state
        document = {
            "part": learner._who,
            "naively": __version__,
            "parameters": writer.put({name: learner._value(name) for name in learner.parameters()}, "parameters"),
            "attributes": writer.put({k: v for k, v in vars(learner).items() if k in ATTRIBUTES}, "attributes"),
            "model": put_state(writer, model.after(Ledger.of(model.ledger.total))),
        }
        return packed(container.to_bytes(document, writer.arrays))


def holds_part(contents: Contents) -> bool:
    """True if an open file holds a part, not a model."""
    return "part" in contents.document


def part_of(contents: Contents, kinds: dict[str, Any], trust: frozenset[str]) -> CountedPart:
    """Return the part in an open file, of an estimator of one of these classes; another version's is refused."""
    document, path = contents.document, contents.path
    if document.get("naively") != __version__:
        version = str(document.get("naively"))[:40]
        raise FileError(
            f"{path}: the part is of naively {version}, here is {__version__}; install one version on all machines"
        )
    contents.verify()
    try:
        return _restored(kinds[str(document["part"])], document, Reader(contents.arrays, trust=trust))
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise FileError(f"{path}: the part is damaged ({error})") from None


def _restored(kind: Any, document: dict[str, Any], reader: Reader) -> CountedPart:
    from naively.learn.checkpoints import get_state

    learner = kind(**reader.by_name(document["parameters"]))
    learner._validate_params()
    learner._copy_parameters()
    for name, value in reader.by_name(document["attributes"]).items():
        if name not in ATTRIBUTES:
            raise FileError(f"an attribute {name[:40]!r}")
        setattr(learner, name, value)
    learner._state = get_state(learner, reader, document["model"])
    learner._check_counted(learner._state)
    return CountedPart(learner)
