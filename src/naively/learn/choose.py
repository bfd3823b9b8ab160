"""Chooses the recipe of a text classifier from the texts that it learns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from numbers import Real
from typing import Any

import numpy as np

from naively import _core
from naively.families.words.block import Words
from naively.families.words.rows import WordRows, read_all
from naively.families.words.selection import Selection
from naively.learn.estimates import digits_of, margin_of, with_margin
from naively.learn.folded_texts import FOLDS, FoldedRows, Labelled, text_numbers
from naively.learn.recipes import (
    ALPHAS,
    PAIRS,
    Candidates,
    Progress,
    Recipe,
    Trial,
    choose,
)
from naively.learn.sample import KeptRows, Limits
from naively.names import Index
from naively.read.texts import Texts
from naively.report import Report, Sheet
from naively.score.priors import Prior
from naively.store.damage import LARGEST, need
from naively.store.registry import stored

FEWEST = 100
"""With fewer different texts no recipes are compared."""
SAMPLED = Limits(rows=50_000, size=16 << 20, of_class=50)
"""The sample of texts that recipes are compared on."""
CHOSEN = ("family", "weighting", "ngrams")
"""The parameters that may be chosen besides alpha."""
RECIPE = (*CHOSEN, "min_df", "alpha")


@dataclass(frozen=True, eq=False)
class Chosen(Report, Mapping[str, Any]):
    """The recipe of a text classifier: parameters that were given, and the choice for those that are "auto".

    `accuracy` estimates the share of other texts like these that the model gets right, give or take `margin` (two
    standard errors): from `texts` different texts that were held out, each scored by a recipe that was picked without
    it. All three are None if no recipes were compared, and `why` says why. `tried` holds all recipes compared, the
    chosen one first.
    """

    family: str
    weighting: str
    ngrams: tuple[int, int]
    min_df: Any
    alpha: Any
    accuracy: float | None = None
    margin: float | None = None
    texts: int | None = None
    tried: tuple[Trial, ...] = ()
    why: str | None = None

    def __getitem__(self, name: str) -> Any:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values())

    def __len__(self) -> int:
        return len(self._values())

    def _values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*RECIPE, "accuracy", "margin", "texts")}

    def __repr__(self) -> str:
        recipe = {name: getattr(self, name) for name in RECIPE}
        inside = ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v!r}" for k, v in recipe.items())
        if self.accuracy is None or self.margin is None:
            return f"Chosen({inside}, accuracy=None)"
        return f"Chosen({inside}, accuracy={with_margin(self.accuracy, self.margin)})"

    def _sheets(self) -> tuple[Sheet, ...]:
        lines = tuple(
            (
                *(r.family, r.weighting, str(r.ngrams), f"{r.min_df}", f"{r.alpha:g}", f"{round(t.rows)}"),
                f"{t.accuracy:.{digits_of(margin_of(t.accuracy, t.rows))}f}",
            )
            for t in self.tried
            for r in [t.recipe]
        )
        return (Sheet((*RECIPE, "texts", "accuracy"), lines, self._estimate(), align="lllr"),) if lines else ()

    @property
    def _head(self) -> str:
        return repr(self) if self.why is None else f"{self!r}\nno recipes were compared: {self.why}"

    def __str__(self) -> str:
        return "\n".join([self._head, *map(str, self._sheets())])

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self._head)}</pre>{super()._repr_html_()}"

    def _estimate(self) -> str:
        """Return a sentence on how the accuracy was estimated."""
        if self.accuracy is None or self.margin is None:
            return "accuracy of each recipe on texts that it has not counted, from which the best was picked:"
        return (
            f"accuracy {with_margin(self.accuracy, self.margin)} on texts like these ({self.texts:,} different texts, "
            "held out in folds, each judged by a recipe picked without it);\nbelow, accuracies of the folds, which "
            "flatter the first line, since it was picked for its own:"
        )


def _check_choice(choice: Choice) -> None:
    need(len(choice.tried) > 0, "the recipes that were tried")
    need(0.0 <= choice.accuracy <= 1.0 and 0.0 < choice.margin <= LARGEST, "the accuracy of a choice")
    need(choice.texts >= 0, "the texts of a choice")


@stored(check=_check_choice)
@dataclass(frozen=True, eq=False)
class Choice:
    """All recipes that were tried, the chosen one first, the prior of the trials, and the estimated accuracy.

    `complete`: recipes were compared on all texts, not on some of them.
    """

    tried: tuple[Trial, ...]
    prior: Prior
    accuracy: float
    margin: float
    texts: int
    complete: bool

    @property
    def recipe(self) -> Recipe:
        return self.tried[0].recipe

    @staticmethod
    def whole(parameters: Mapping[str, Any]) -> bool:
        """True if these parameters select words only in ways that recipes were compared with."""
        limits = Selection(*(parameters[name] for name in ("min_df", "max_df", "max_features", "select")))
        return limits.by_rows and not parameters["norm"]


@dataclass(frozen=True, eq=False)
class Question:
    """A question for the search: the parameters, the prior, and how the words of a text are read."""

    family: Words
    parameters: Mapping[str, Any]
    prior: Prior

    @property
    def key(self) -> tuple[Any, ...]:
        """All that the choice depends on besides the texts, and that may change while texts are learnt."""
        return (*(repr(self.parameters[name]) for name in (*RECIPE, "choose")), repr(self.prior))


def orders_to_count(parameters: Mapping[str, Any]) -> tuple[tuple[int, int], ...]:
    """Return the lengths of sequences of words that the recipes to compare count."""
    return tuple(ngrams for ngrams, _ in _orders(parameters)) if is_open(parameters) else (_plain_ngrams(parameters),)


def choose_recipe(
    question: Question, sample: KeptRows, classes: Index, n_rows: float, progress: Progress = lambda done: None
) -> Choice | str:
    """Compare all recipes that the parameters leave open, on a sample of `n_rows` texts; or say why none is chosen.

    They are compared with all words that are in enough texts; other limits are ignored. The choice depends on the
    sample alone, but for the estimated accuracy, which depends on the number of texts (in powers of two of the sample).
    """
    family, parameters = question.family, question.parameters
    n_classes, candidates = len(np.unique(sample.codes)), _candidates(parameters, len(np.unique(sample.codes)))
    if len(candidates.ways) * len(candidates.alphas) < 2:
        return "the parameters leave nothing to choose"
    if n_classes < 2:
        return "all texts are of one class"
    if FEWEST * classes.size > FOLDS * PAIRS:
        return f"with {classes.size:,} classes, judging even {FEWEST} texts would cost too much"
    if 2 * n_classes > n_rows:
        return f"{n_rows:,.0f} texts are fewer than two for each of {n_classes:,} classes"
    if len(sample) < FEWEST:
        return TOO_FEW
    texts = sample.frame.whole
    judged = replace(SAMPLED, of_class=0).kept(sample.sizes, sample.codes, classes.size)
    complete = float(sample.weight.sum()) >= n_rows * (1 - 1e-9)
    weight = None if (sample.weight == 1.0).all() else sample.weight
    everything = read_sample(family.with_ngrams(candidates.longest), sample)
    text = text_numbers(everything)
    labelled = Labelled(sample.codes.astype(np.int32), classes, question.prior, weight, text, judged)
    if text.max() + 1 < FEWEST:
        return TOO_FEW
    readings = _readings(family, candidates, everything, texts, labelled)
    tried, found = choose(readings, candidates, family.threads, sample.level(n_rows), progress)
    return Choice(tuple(tried), question.prior, found.accuracy, found.margin, found.rows, complete)


TOO_FEW = f"there are fewer than {FEWEST} different texts"


def is_open(parameters: Mapping[str, Any]) -> bool:
    """True if a parameter is "auto" and recipes can be compared quickly: an α above 0, no Bernoulli."""
    alpha = parameters["alpha"]
    added = alpha == "auto" if isinstance(alpha, str) else isinstance(alpha, Real) and float(alpha) > 0
    usable = parameters["choose"] and added and parameters["family"] != "bernoulli"
    return bool(usable) and any(isinstance(parameters[n], str) and parameters[n] == "auto" for n in CHOSEN)


def _candidates(parameters: Mapping[str, Any], classes: int) -> Candidates:
    usual = Candidates()
    families = usual.families if classes > 2 else ("multinomial",)  # all others of one of two are the other one
    family, weighting, alpha = (parameters[name] for name in ("family", "weighting", "alpha"))
    weightings = tuple(w for w in usual.weightings if w != "tfidf" or parameters["weights"])
    return Candidates(
        families if family == "auto" else (family,),
        weightings if weighting == "auto" else (weighting,),
        _orders(parameters),
        ALPHAS if isinstance(alpha, str) else (float(alpha),),
    )


def _orders(parameters: Mapping[str, Any]) -> tuple[tuple[tuple[int, int], int], ...]:
    """Return the lengths of sequences of words to compare, each with its `min_df`."""
    least = parameters["min_df"]
    fewest = int(least) if isinstance(least, (int, np.integer)) else 1
    every = isinstance(parameters["ngrams"], str) and parameters["tokens"] != "chars"
    if every and parameters["vocabulary"] is None:
        return tuple((ngrams, max(min_df, fewest)) for ngrams, min_df in Candidates().ngrams)
    return ((_plain_ngrams(parameters), fewest),)


def _plain_ngrams(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return the lengths of sequences that are given, or the default ones."""
    given = parameters["ngrams"]
    return _usual_ngrams(parameters) if isinstance(given, str) else tuple(given)


def _readings(
    family: Words, candidates: Candidates, everything: WordRows, texts: Texts, labelled: Labelled
) -> dict[Any, FoldedRows]:
    """Return rows for each length of sequences; `everything` has the longest ones."""
    whole = everything if family.vocabulary is None else _given_words(family, everything)
    weights = "tfidf" in candidates.weightings
    given = None if family.vocabulary is None else len(family.vocabulary)
    readings = {}
    for ngrams, min_df in candidates.ngrams:
        rows = whole if ngrams == candidates.longest else _read_shorter(family, ngrams, whole, texts)
        readings[ngrams, min_df] = FoldedRows.of(rows, labelled, min_df, given, weights=weights)
    return readings


def read_sample(family: Words, sample: KeptRows, n_rows: int | None = None) -> WordRows:
    """Read the first texts of a sample (None: all), with a vocabulary of their own: the same for the same texts."""
    n_rows = len(sample) if n_rows is None else n_rows
    kept = readings_of(sample).get(family.tokens)
    return _read(family, sample.frame.whole[0:n_rows]) if kept is None else kept[0:n_rows]


def readings_of(sample: KeptRows) -> dict[Any, WordRows]:
    """Return the texts of the sample that were read already, by their tokens; the caller may add to it."""
    readings: dict[Any, WordRows] = sample.found.setdefault("readings", {})
    return readings


def _read(family: Words, texts: Texts) -> WordRows:
    n_threads = family.n_threads(texts)
    if family.buckets is not None:
        starts, number, count = _core.read_buckets(texts.core, family.tokens.core, n_threads, family.buckets, False)
        return WordRows(Index(family.buckets), starts, number, count, texts.missing)
    return read_all(family.tokens.core, texts, n_threads)


def _given_words(family: Words, rows: WordRows) -> WordRows:
    given = np.zeros(rows.words.size, bool)
    places = rows.words.locate(family.vocabulary, split=family.split)
    given[places[places >= 0]] = True
    return rows.masked(given)


def _read_shorter(family: Words, ngrams: tuple[int, int], longer: WordRows, texts: Texts) -> WordRows:
    if ngrams != (1, 1) or family.buckets is not None:
        return _read(family.with_ngrams(ngrams), texts)
    single = longer.words.to_arrays()[1] >= 0
    return longer.only(single)


def resolved_recipe(recipe: Recipe | None, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters with every "auto" but that of alpha resolved."""
    resolved = dict(parameters)
    for name, usual in (("family", "multinomial"), ("weighting", "counts")):
        if resolved[name] == "auto":
            resolved[name] = usual if recipe is None else getattr(recipe, name)
    if isinstance(resolved["ngrams"], str):
        resolved["ngrams"] = _usual_ngrams(parameters) if recipe is None else recipe.ngrams
        if recipe is not None and isinstance(resolved["min_df"], (int, np.integer)):
            resolved["yields"] = recipe.min_df > resolved["min_df"]
            resolved["min_df"] = max(recipe.min_df, int(resolved["min_df"]))
    way = recipe is not None and (resolved["family"], resolved["weighting"]) == (recipe.family, recipe.weighting)
    if way and recipe is not None and isinstance(resolved["alpha"], str):
        resolved["alpha"] = recipe.alpha
    return resolved


def _usual_ngrams(parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Return the default lengths of sequences: one word, or up to the longest given name; one to four characters."""
    if parameters["tokens"] == "chars":
        return (1, 4)
    given = parameters["vocabulary"]
    longest = 1 if given is None else max((len(str(name).split(" ")) for name in given), default=1)
    return (1, 1 if callable(parameters["tokens"]) else longest)
