"""Comparison: evaluate several models on the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.base import clone

from naively.arrays import Value
from naively.errors import InputError, nearest
from naively.estimators import TextClassifier
from naively.families.words.selection import Best
from naively.judge.cross_validation import Counted, changed, check_model, method_of, uncalibrated, whole_number
from naively.judge.evaluation import Evaluation, evaluate
from naively.learn import held_out
from naively.learn.words import COUNTED
from naively.report import RowReport, Sheet, frame_of, number, tracked

COLUMNS = ("accuracy", "f1_micro", "f1_macro", "f1_weighted", "log_loss")
DECIDED = frozenset(
    ("family", "weighting", "alpha", "prior", "min_df", "max_df", "max_features", "select", "norm", "threads")
)
"""The parameters of `TextClassifier` that do not change its counts, as in `refit`."""
WORDS = (10, 50, 100, 500, 1000)


@dataclass(frozen=True)
class ComparisonRow:
    """The figures of one model."""

    name: str
    accuracy: float
    f1_micro: float
    f1_macro: float
    f1_weighted: float
    log_loss: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(RowReport, Value):
    """The evaluations of several models on the same rows, the best model first.

    `comparison[name]` is the whole `Evaluation` of a model.
    """

    evaluations: dict[str, Evaluation]
    by: str = "accuracy"

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        """Name and figures of each model, the best first."""
        found = self.evaluations.items()
        return tuple(ComparisonRow(name, *(getattr(e, column) for column in COLUMNS)) for name, e in found)

    @property
    def best(self) -> str:
        """The name of the best model; of equals, the first that was given."""
        return next(iter(self.evaluations))

    def __getitem__(self, name: str) -> Evaluation:
        if name not in self.evaluations:
            raise KeyError(f"{name!r}{nearest(name, self.evaluations)}")
        return self.evaluations[name]

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, indexed by name."""
        columns = {column: [getattr(row, column) for row in self.rows] for column in COLUMNS}
        return frame_of(columns, list(self.evaluations), "method")

    def __repr__(self) -> str:
        first = getattr(self.evaluations[self.best], self.by)
        return f"Comparison({len(self)} models, best by {self.by}: {self.best} {first:.4f})"

    def _sheets(self) -> Sequence[Sheet]:
        rows = self.rows
        best = frozenset(i for i, row in enumerate(rows) if getattr(row, self.by) == getattr(rows[0], self.by))
        cells = tuple(
            ("*" if i in best else "", row.name, *(number(getattr(row, column)) for column in COLUMNS))
            for i, row in enumerate(rows)
        )
        return (Sheet(("", "method", *COLUMNS), cells, align="llr", best=best),)


def compare(
    models: Mapping[str, Any] | None, X: Any, y: Any, *, test: Any = None, folds: int = 10, by: str = "accuracy",
    random_state: int = 0, words: Sequence[int] = WORDS, progress: bool = True,
) -> Comparison:  # fmt: skip
    """Evaluate several models on the same rows; texts are counted once for all models that count them alike.

    >>> from naively import compare, film_reviews
    >>> texts, labels = film_reviews()
    >>> found = compare(None, texts, labels, words=(5, 50))
    >>> len(found), found["all words"]
    (9, Evaluation(480 rows, 2 classes, accuracy 0.8..., f1_macro 0.8..., log-loss 0.3...))

    Words are selected for each fold, from the other folds only. Probabilities are calibrated as each model says: for
    folds on other held-out rows, for `test` on the training rows.

    Parameters
    ----------
    models : dict of estimators by name, or None
        Models of naively, which are fitted here. None, for texts: a multinomial `TextClassifier` with all words, and
        with the best words by chi-square and by mutual information, selected per label and overall.
    X, y : rows and their labels
        As for `fit`.
    test : tuple (X, y), default=None
        Rows to evaluate on, after training on all of X. None: X is split into folds.
    folds : int, default=10
        Number of folds, which are the same for all models; at most the number of rows.
    by : {"accuracy", "f1_micro", "f1_macro", "f1_weighted", "log_loss"}, default="accuracy"
        The figure that ranks the models.
    random_state : int, default=0
        Seed of the random numbers.
    words : sequence of int, default=(10, 50, 100, 500, 1000)
        Numbers of words to select, if `models` is None.
    progress : bool, default=True
        Show a progress bar on terminals.

    Returns
    -------
    comparison : Comparison
    """
    if by not in COLUMNS:
        raise InputError(f"by must be one of {', '.join(map(repr, COLUMNS))}, got {by!r}{nearest(by, COLUMNS)}")
    if models is not None and not isinstance(models, Mapping):
        raise InputError(f"models must be estimators by name, {{name: estimator}}, got {type(models).__name__}")
    named = selections(words) if models is None else dict(models)
    if not named:
        raise InputError("models: there is none to compare; give one or more by name")
    if test is not None and not (isinstance(test, tuple) and len(test) == 2):
        raise InputError(f"test must be (X, y), rows and their labels, got {type(test).__name__}")
    n_folds, seed = whole_number(folds, "folds", 2), whole_number(random_state, "random_state", 0)
    for model in named.values():
        check_model(model)
        model._validate_params()
    trained = _Trained(X, y)
    found: dict[str, Evaluation] = {}
    for name, model in tracked(named.items(), "comparing", len(named), progress):
        found[name] = trained.folded(model, n_folds, seed) if test is None else evaluate(trained.fitted(model), *test)
    sign = 1.0 if by == "log_loss" else -1.0
    order = sorted(found, key=lambda name: sign * getattr(found[name], by))
    return Comparison({name: found[name] for name in order}, by)


def selections(words: Sequence[int] = WORDS) -> dict[str, TextClassifier]:
    """Return multinomial models of texts by name: one with all words, others with the best words only.

    >>> list(selections([50]))
    ['all words', 'chi2, 50 words per label', 'mutual information, 50 words per label', 'chi2, 50 words',
     'mutual information, 50 words']
    """
    plain = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0, calibrate=False)
    models = {"all words": plain}
    for per, suffix in (("label", " per label"), ("all", "")):
        for n in words:
            for criterion in ("chi2", "mutual_information"):
                name = f"{criterion.replace('_', ' ')}, {n} words{suffix}"
                models[name] = clone(plain).set_params(select=Best(n, by=criterion, per=per))
    return models


@dataclass(frozen=True, eq=False)
class _Trained:
    """Models fitted on the same rows; texts are read and counted once for all models that count them alike."""

    X: Any
    y: Any
    models: dict[Any, Any] = field(default_factory=dict)
    read: dict[Any, Counted] = field(default_factory=dict)

    def fitted(self, model: Any) -> Any:
        key = counting_key(model)
        if key is None:
            return clone(model).fit(self.X, self.y)
        if key not in self.models:
            self.models[key] = clone(model).fit(self.X, self.y)
        decided = {name: value for name, value in model.get_params(deep=False).items() if name in DECIDED}
        return changed(self.models[key], **decided)

    def counted(self, model: Any) -> Counted:
        key, fitted = counting_key(model), self.fitted(model)
        if key is None:
            return Counted.of(fitted, self.X, self.y)
        if key not in self.read:
            self.read[key] = Counted.of(fitted, self.X, self.y)
        return replace(self.read[key], model=fitted)

    def folded(self, model: Any, folds: int, seed: int) -> Evaluation:
        counted = replace(self.counted(uncalibrated(model)), method=method_of(model))
        fold = held_out.folds(len(counted), folds, seed, counted.codes)
        return evaluate(counted.by_groups(counted.rules(None), fold)[0])


def counting_key(model: Any) -> Any:
    """Return a key that is equal for models that count texts alike; None if a model cannot share its counts.

    >>> plain = selections()["all words"]
    >>> counting_key(plain) == counting_key(clone(plain).set_params(family="bernoulli", select=Best(10)))
    True
    """
    if type(model) is not TextClassifier:
        return None
    for name, value in model.get_params(deep=False).items():
        chosen = name != "alpha" and isinstance(value, str) and value == "auto"
        other = name not in DECIDED and name not in COUNTED and value not in (None, False)
        if chosen or other:  # chosen in `fit`, for its own parameters
            return None
    return tuple(sorted(model._counted().items()))
