"""Tuning: find the parameters that do best on held-out rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from naively.arrays import Array
from naively.errors import InputError, nearest
from naively.estimators.text import TextClassifier
from naively.judge.cross_validation import Counted, changed, check_model, method_of, uncalibrated, whole_number
from naively.learn import held_out
from naively.learn.choose import CHOSEN
from naively.learn.held_out import HeldOut
from naively.learn.words import COUNTED
from naively.report import Report, Sheet, frame_of, tracked
from naively.score.calibration import Losses

SELECTING = ("select", "max_df", "max_features")
"""Parameters that select words from all rows, so that leaving out single rows would overrate the selection."""
MEASURES = {"accuracy": 1.0, "log_loss": -1.0}


@dataclass(frozen=True, eq=False)
class Attempt:
    """A combination of parameters, and its figures on held-out rows.

    Probabilities are calibrated if a model with these parameters calibrates. If it does not, the log-loss is taken at
    the best temperature.
    """

    parameters: dict[str, Any]
    accuracy: float
    log_loss: float
    temperature: float


@dataclass(frozen=True, eq=False)
class Tuned(Report):
    """The combinations that were tried, the best first, and a model fitted with the best."""

    attempts: tuple[Attempt, ...]
    model: Any
    by: str
    judged: str

    @property
    def best(self) -> dict[str, Any]:
        """The parameters that did best."""
        return self.attempts[0].parameters

    def _sheets(self) -> tuple[Sheet, ...]:
        names = tuple(self.best)
        rows = tuple(
            (
                *(_value_text(a.parameters[n]) for n in names),
                f"{a.accuracy:.4f}",
                f"{a.log_loss:.4f}",
                f"{a.temperature:.3g}",
            )
            for a in self.attempts
        )
        head = (*names, "accuracy", "log-loss", "temperature")
        return (
            Sheet(
                head, rows, f"{len(rows)} tried, by {self.by}, {self.judged}", "l" * len(names) + "r", frozenset({0})
            ),
        )

    def to_frame(self) -> Any:
        """Return the attempts as a pandas DataFrame, the best first."""
        columns: dict[str, Any] = {n: [a.parameters[n] for a in self.attempts] for n in self.best}
        for name in ("accuracy", "log_loss", "temperature"):
            columns[name] = [getattr(a, name) for a in self.attempts]
        return frame_of(columns)

    def __repr__(self) -> str:
        first = self.attempts[0]
        return f"Tuned({len(self.attempts)} tried, best {self.best!r}, {self.by} {getattr(first, self.by):.4f})"


def tune(
    model: Any, X: Any, y: Any, grid: Mapping[str, Sequence[Any]], *, by: str = "accuracy", folds: int | None = None,
    groups: Any = None, sample_weight: Any = None, random_state: int = 0, progress: bool = True,
) -> Tuned:  # fmt: skip
    """Try every combination of some parameters on held-out rows, and fit a model with the best.

    >>> from naively import MultinomialNB, tune
    >>> X, y = [[2, 1, 0], [1, 2, 0], [0, 1, 3], [0, 2, 2]], ["sport", "sport", "politics", "politics"]
    >>> tune(MultinomialNB(), X, y, {"alpha": [1.0, 0.1]}, by="log_loss").best
    {'alpha': 0.1}

    Rows are counted once for all parameters that do not change the counts, and a whole path of α costs little more
    than one. Each row is left out by itself or, with `folds` or `groups`, together with others. If the grid varies the
    selection of words, ten folds are used, because words are otherwise selected with the row that is left out.

    Parameters
    ----------
    model : estimator
        A model of naively; it may be fitted or not.
    X, y : rows and their labels
        As for `fit`.
    grid : dict
        Values for each parameter by name: `{"alpha": [1, 0.1, WittenBell()], "family": ["multinomial", "complement"]}`.
    by : {"accuracy", "log_loss"}, default="accuracy"
        The figure that ranks the combinations; of equals, the first in the order of the grid is best.
    folds : int, default=None
        Number of folds to leave out instead of single rows.
    groups : array-like of shape (n_samples,), default=None
        Leave out the rows of one group together.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.
    random_state : int, default=0
        Seed of the random numbers.
    progress : bool, default=True
        Show a progress bar on terminals.

    Returns
    -------
    tuned : Tuned
    """
    if by not in MEASURES:
        raise InputError(f"by must be 'accuracy' or 'log_loss', got {by!r}{nearest(by, MEASURES)}")
    if folds is not None and groups is not None:
        raise InputError("folds and groups exclude each other: give one of them")
    candidates = _candidates(model, grid)
    random_state = whole_number(random_state, "random_state", 0)
    if folds is None and groups is None and any(name in SELECTING for name in grid):
        folds = 10
    plan = _Plan(model, X, y, sample_weight, folds, groups, random_state)
    attempts = list(plan.attempts(candidates, progress))
    order = sorted(range(len(attempts)), key=lambda i: -MEASURES[by] * getattr(attempts[i], by))
    best = clone(model).set_params(**attempts[order[0]].parameters).fit(X, y, sample_weight)
    return Tuned(tuple(attempts[i] for i in order), best, by, plan.description)


def _candidates(model: Any, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    check_model(model)
    known = model.get_params(deep=False)
    if not isinstance(grid, Mapping) or not grid:
        raise InputError(f"grid must be a dict of parameters and their values, got {grid!r}")
    for name, values in grid.items():
        if name not in known:
            raise InputError(f"{type(model).__name__} has no parameter {name!r}{nearest(name, known)}")
        if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)) or not len(values):
            raise InputError(f"grid[{name!r}] must be a list of values, got {values!r}")
    candidates = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    for parameters in candidates:
        clone(model).set_params(**parameters)._validate_params()
    return candidates


@dataclass(frozen=True, eq=False)
class _Plan:
    """The data that candidates are evaluated on, and the rows that are left out together."""

    model: Any
    X: Any
    y: Any
    weight: Any
    folds: int | None
    groups: Any
    seed: int

    @property
    def description(self) -> str:
        if self.groups is not None:
            return "leaving one group out"
        return "leaving one row out" if self.folds is None else f"in {self.folds} folds"

    def attempts(self, candidates: list[dict[str, Any]], progress: bool) -> Iterator[Attempt]:
        """Evaluate the candidates and yield an attempt for each, in their order."""
        found: dict[int, Attempt] = {}
        counts: dict[Any, Counted] = {}
        paths = _paths(self.model, candidates)
        for path in tracked(paths, "tuning", len(paths), progress):
            first = candidates[path[0]]
            estimator = clone(self.model).set_params(**first)
            key = tuple((n, repr(v)) for n, v in estimator.get_params(deep=False).items() if _is_counted(estimator, n))
            if key not in counts:
                counts = {key: Counted.of(uncalibrated(estimator), self.X, self.y, self.weight)}
            counted = counts[key]
            model = changed(counted.model, **first)
            counted = replace(counted, model=model)
            rules = [changed(model, **candidates[i])._rule() for i in path]
            for i, result in zip(path, self._left_out(counted, rules), strict=True):
                found[i] = _attempt(candidates[i], result, method_of(estimator))
        return (found[i] for i in range(len(candidates)))

    def _left_out(self, counted: Counted, rules: list[Any]) -> list[HeldOut]:
        if self.groups is not None:
            return counted.by_groups(rules, counted.groups(self.groups))
        if self.folds is None:
            return counted.leave_one_out(rules)
        return counted.by_groups(rules, self._fold(counted.codes))

    def _fold(self, codes: Array) -> Array:
        assert self.folds is not None
        return held_out.folds(len(codes), self.folds, self.seed, codes)


def _is_counted(model: Any, name: str) -> bool:
    """True if a parameter changes the counts, or is chosen again for each candidate."""
    if isinstance(model, TextClassifier):
        chooses = any(isinstance(v := getattr(model, n), str) and v == "auto" for n in CHOSEN)
        return name in COUNTED or (chooses and name in (*CHOSEN, "alpha", "min_df", "prior"))
    return name not in ("alpha", "var_smoothing", "fit_prior", "class_prior", "prior", "norm", "calibrate")


def _paths(model: Any, candidates: list[dict[str, Any]]) -> list[list[int]]:
    """Group candidates that differ only in their smoothing; groups with the same counts follow each other."""
    smoothing = "alpha" if "alpha" in model.get_params(deep=False) else "var_smoothing"
    paths: dict[tuple[str, str], list[int]] = {}
    for i, parameters in enumerate(candidates):
        estimator = clone(model).set_params(**parameters)
        rest = {n: v for n, v in parameters.items() if n != smoothing or _is_counted(estimator, smoothing)}
        counted = {n: v for n, v in parameters.items() if _is_counted(estimator, n)}
        paths.setdefault((repr(counted), repr(rest)), []).append(i)
    return [paths[key] for key in sorted(paths)]


def _attempt(parameters: dict[str, Any], result: HeldOut, method: str | None) -> Attempt:
    temperature = Losses.of(result.scores.below, result.truth, result.weight).temperature
    used = replace(result, scores=result.scores.at(temperature)) if method is None else result.as_used(method)
    return Attempt(parameters, used.accuracy, used.log_loss, temperature.value)


def _value_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
