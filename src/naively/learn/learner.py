"""Learners: count rows, alone or on top of earlier ones, and forget them again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.errors import InputError
from naively.families.blocks.blocks import Blocks
from naively.learn.model import NO_CLASSES, Model
from naively.learn.predicting import Predictor
from naively.names import Index, same_names
from naively.read.frame import Frame
from naively.read.label_codes import check_labels, encode, known_classes, sorted_index
from naively.read.labels import labelled_rows
from naively.read.matrix import RowError
from naively.read.shapes import label_array

if TYPE_CHECKING:
    from typing_extensions import Self

    from naively.learn.parts import CountedPart


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows with a weight above 0, the numbers of their classes, the classes, and their weights.

    `mask` marks them among the rows that were passed (None: all).
    """

    frame: Frame
    codes: Array
    classes: Index
    weight: Array | None
    mask: Array | None = None


class Learner(Predictor):
    """A classifier that counts.

    A subclass converts the arguments of a user to a batch of rows (`_batch`), and reads rows that were counted before
    (`_labelled`). It may look at the first rows before they are counted (`_begun`).
    """

    _classes_come_first = False

    def _counted(self) -> Any:
        """Return the parameter that counting depends on, by name and value; it cannot be changed after `fit`."""
        return None

    def _check_counted(self, model: Model) -> None:
        if model.counted != self._counted():
            name, value = model.counted or (self._counted()[0], "the default")
            raise InputError(f"counted with {name}={value!r}, now it is {self._value(name)!r}; fit again")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Count these rows, and nothing from before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows. Missing values (NaN, None, pandas.NA) add nothing.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        self : object
        """
        with self._all_or_nothing():
            self._copy_parameters()
            self._commit(self._learnt(None, X, y, None, sample_weight))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Count these rows on top of those from before; costs what the rows hold.

        Several threads may call this on one model; they wait for each other, while others predict. Of tables, the first
        call chooses the families of columns, and columns that come later are left out.

        Parameters
        ----------
        X : rows
            As for `fit`, in one batch.
        y : array-like of shape (n_samples,)
            Labels, as for `fit`; one that was never seen becomes a new class.
        classes : array-like of shape (n_classes,), default=None
            Labels known in advance.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for; a row of weight 0 adds nothing, not even its label.

        Returns
        -------
        self : object
        """
        with self._all_or_nothing():
            model = self.__dict__.get("_state")
            if model is None:
                self._validate_params()
                self._copy_parameters()
            else:
                self._check_counted(model)
            known = self._check_classes(classes, model)
            self._commit(self._learnt(model, X, y, known, sample_weight))
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Forget these rows, as if they had never been counted.

        Features that only they had are removed too: classes (unless named in advance), categories and words; when all
        rows are gone, the last classes stay. Forgetting more than was counted (a count below zero, a negative
        variance, an unknown class) raises and changes nothing. A sum does not remember its rows, so forget only rows
        that were counted, and each once.

        Parameters
        ----------
        X : rows
            Rows that were counted before, as for `fit`.
        y : array-like of shape (n_samples,)
            Their labels, as for `fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted for.

        Returns
        -------
        self : object
        """
        with self._all_or_nothing():
            self._check_fitted()
            model = self._state
            self._check_counted(model)
            self._commit(self._without(model, X, y, sample_weight))
        return self

    def plan(self, X: Any = None, y: Any = None) -> CountedPart:
        """Return the plan by which the parts of some rows are counted: in other processes, on other machines.

        A plan holds the parameters and, of a table, the schema that some of its rows give; it has counted none of them.
        `plan.count(X, y)` counts rows, `plan.merge(parts)` adds parts up, `part.finish()` is the estimator.

        Parameters
        ----------
        X : rows, default=None
            Some of the rows; of texts, none are needed.
        y : array-like or str, default=None
            Their labels, which are not looked at, or the name of the column of a table that holds them.

        Returns
        -------
        plan : CountedPart
        """
        from naively.learn.parts import CountedPart

        learner = self._fresh()
        learner._validate_params()
        learner._copy_parameters()
        learner._state = learner._planned(X, y)
        return CountedPart(learner)

    def _planned(self, X: Any, y: Any) -> Model:
        """Return the state that has counted no row, with what some rows decide of the counting."""
        raise NotImplementedError

    def _fit_distributed(self, fit: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """Take over the model that an engine makes of rows on many machines."""
        with self._all_or_nothing():
            self._copy_parameters()
            self._commit(fit(self, X, y, sample_weight)._state)
        return self

    def _uncounted(self, blocks: Blocks, dtype: Any = np.float64, schema: Any = None) -> Model:
        """Return the state of these blocks that has counted no row."""
        nothing = blocks.empty(Index.of(np.zeros(0, object)), blocks.no_features())
        return Model(Ledger.of(nothing), dtype, counted=self._counted(), schema=schema)

    def decay(self, factor: float) -> Any:
        """Let all rows that were learnt so far count `factor` times as much as they did.

        Called before each `partial_fit`, it makes older rows count ever less. Counts are rounded down to units of
        2^-64, sums of numbers after 512 bits; times a power of two, they are exact until bits fall off at that end. A
        row is forgotten with the weight that it has by then (`forget(X, y, sample_weight=...)`).

        >>> from naively import GaussianNB
        >>> model = GaussianNB().fit([[1.0], [5.0]], ["a", "b"])
        >>> model.decay(0.5).partial_fit([[2.5]], ["a"]).theta_.tolist()
        [[2.0], [5.0]]

        Parameters
        ----------
        factor : float
            Above 0 and up to 1.

        Returns
        -------
        self : object
        """
        if isinstance(factor, bool) or not isinstance(factor, Real) or not 0 < factor <= 1:
            raise InputError(f"factor must be a number above 0 and up to 1, got {factor!r}")
        with self._all_or_nothing():
            self._check_fitted()
            if factor < 1:
                self._commit(self._state.decayed(float(factor)))
        return self

    def _learnt(self, model: Model | None, X: Any, y: Any, classes: Index | None, sample_weight: Any) -> Model:
        """Return the state with these rows counted; the learner itself is not changed."""
        blocks = None if model is None else self._counting_blocks(model)
        batch = self._batch(model, blocks, X, y, classes, sample_weight)
        try:
            if model is None or blocks is None:
                learnt = self._begun(batch, classes or NO_CLASSES)
            else:
                model, blocks = self._widened(model, blocks, batch)
                tally = blocks.count(batch.frame, batch.codes, batch.classes, model.ledger.features, batch.weight)
                learnt = model.after(model.ledger.add(tally))
        except RowError as error:
            raise error.among(batch.mask) from None
        self._after_learning(learnt, batch)
        return self._with_sample(learnt, model, batch)

    def _widened(self, model: Model, blocks: Blocks, batch: Batch) -> tuple[Model, Blocks]:
        """Return the state and its blocks with the columns that a batch adds."""
        return model, blocks

    def _begun(self, batch: Batch, declared: Index) -> Model:
        """Return the state with the first rows counted."""
        blocks = self._counting_blocks(None)
        tally = blocks.count(batch.frame, batch.codes, batch.classes, blocks.no_features(), batch.weight)
        return Model(Ledger.of(tally), self._dtype_of(batch.frame), declared, self._counted())

    def _counting_blocks(self, model: Model | None) -> Blocks:
        """Return the blocks that rows are counted by (None: the first rows)."""
        return self._blocks_of(model)

    def _without(self, model: Model, X: Any, y: Any, sample_weight: Any) -> Model:
        """Return the state without these rows; the learner itself is not changed."""
        ledger, blocks = model.ledger, self._counting_blocks(model)
        batch = self._batch(model, blocks, X, y, ledger.classes, sample_weight)
        known_classes(batch.classes, ledger.classes)
        try:
            forgotten = blocks.count(batch.frame, batch.codes, batch.classes, model.ledger.features, batch.weight)
        except RowError as error:
            raise error.among(batch.mask) from None
        left = blocks.tidied(ledger.subtract(forgotten), forgotten)
        return self._without_sample(model.after(left).tidied(), batch)

    def _batch(
        self, model: Model | None, blocks: Blocks | None, X: Any, y: Any, classes: Index | None, sample_weight: Any
    ) -> Batch:
        """Return the rows with a weight above 0, with their labels; `classes` are those known already.

        `blocks` are those of the model; both are None before any row was counted.
        """
        raise NotImplementedError

    def _dtype_of(self, frame: Frame) -> Any:
        """The type of the probabilities of rows like these."""
        return np.float64

    def _after_learning(self, model: Model, batch: Batch) -> None:
        """Warn of rows or counts that are probably a mistake."""

    def _finish_calibration(self, model: Model) -> Any:
        """Return the calibration; a learner that does not calibrate has none."""
        return None

    def _with_sample(self, learnt: Model, before: Model | None, batch: Batch) -> Model:
        """Return the state with these rows in its sample, if it keeps one."""
        return learnt

    def _without_sample(self, left: Model, batch: Batch) -> Model:
        """Return the state with these rows taken out of its sample."""
        return left

    def _commit(self, model: Model) -> None:
        """Take over a new state, once the rules can work with it."""
        if "_copies" not in vars(self):
            self._copy_parameters()
        self._rule_for(model)
        self._prior_rule().check(model.ledger.classes)
        with self._lock:  # another thread may be learning on top of the state before
            self._state = model

    def _state_to_merge(self, learner: Any) -> Model:
        """Return the state of a learner, with the parts that this one has."""
        state: Model = learner._state
        return state

    def _check_classes(self, classes: Any, model: Model | None) -> Index | None:
        known = None if model is None else model.ledger.classes
        if classes is None:
            if model is None and self._classes_come_first:
                raise InputError("classes must be passed on the first call to partial_fit.")
            return known
        try:
            listed = label_array(classes)
            if listed.ndim != 1:
                raise InputError(f"must be a list of labels, got {classes!r}")
            given = np.sort(encode(check_labels(listed, len(listed)))[1])
        except (InputError, TypeError) as error:
            raise InputError(f"classes: {error}") from None
        if known is None:
            return sorted_index(given)
        if len(given) < len(listed) or not same_names(given, self.classes_):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}; "
                "leave it out: a label that comes new becomes a new class"
            )
        return known

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Keep other threads from learning meanwhile; if anything goes wrong, leave the estimator as it was before.

        Threads that predict do not wait: they read `_state`, which is replaced as a whole.
        """
        with self._lock:
            before = self.__dict__.copy()
            try:
                yield
            except BaseException:
                for name in self.__dict__.keys() - before.keys():
                    del self.__dict__[name]
                self.__dict__.update(before)
                raise

    @property
    def _lock(self) -> Any:
        """The lock that a thread holds while this estimator learns; made when first needed, and never copied."""
        return self.__dict__.get("_lock_of_learning") or self.__dict__.setdefault("_lock_of_learning", RLock())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock_of_learning"}

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Array, Array | None]:
        """Return rows that the model has counted, the numbers of their classes, and their weights."""
        raise NotImplementedError

    def _fit_and_read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Array, Array | None]:
        """Fit, and return what `_labelled` returns for the same rows."""
        self.fit(X, y, sample_weight)
        return self._labelled(self._model, X, y, sample_weight)

    def _rows_with_label(self, X: Any, y: Any) -> tuple[Array | None, int]:
        """Return the numbers of the rows that have a label (None: all have), and the number of all rows."""
        return labelled_rows(y)

    # --- files

    def save(self, path: Any, *, frozen: bool = False) -> None:
        """Write the model to a file, whole or not at all; `naively.load` reads it.

        The file holds the counts and the table made of them, and no code: see docs/format.md.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced once the new one is on disk.
        frozen : bool, default=False
            Whether the table alone is written: enough to predict, smaller, and nothing can be learnt on top of it.
        """
        from naively.learn.files import save

        save(self, path, frozen=frozen)

    def to_bytes(self, *, frozen: bool = False) -> bytes:
        """Return the bytes of the file that `save` writes; `from_bytes` and `naively.from_bytes` read them.

        >>> from naively import MultinomialNB
        >>> model = MultinomialNB().fit([[2, 0], [0, 1]], ["x", "y"])
        >>> MultinomialNB.from_bytes(model.to_bytes()).tally_ == model.tally_
        True

        Parameters
        ----------
        frozen : bool, default=False
            Whether the table alone is written: enough to predict, smaller, and nothing can be learnt on top of it.
        """
        from naively.learn.files import to_bytes

        return to_bytes(self, frozen=frozen)

    @classmethod
    def from_bytes(cls, data: Any, *, trust: Any = ()) -> Self:
        """Return the model of this class that `to_bytes` wrote; checked as `naively.load` checks a file.

        Parameters
        ----------
        data : bytes-like
            The bytes of a file, which may be compressed with zstd.
        trust : str or iterable of str, default=()
            Import paths of functions of your own that the model calls, or of their modules.
        """
        from naively.learn.files import Saved

        learner: Self = Saved.from_bytes(data, trust).learner({cls.__name__: cls})
        return learner
