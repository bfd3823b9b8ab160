"""Choice of the recipe of a text classifier, from the texts that it learns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.errors import warn_caller
from naively.families.words.block import Words
from naively.families.words.rows import WordRows, read_all
from naively.families.words.selection import Selection
from naively.learn.estimates import digits_of, margin_of, with_margin
from naively.learn.recipes import (
    ALPHAS,
    FOLDS,
    PAIRS,
    Candidates,
    FoldedRows,
    Labelled,
    Recipe,
    Trial,
    choose,
    text_numbers,
)
from naively.names import Index
from naively.read.texts import Texts
from naively.score.priors import Prior
from naively.store.registry import stored

FEWEST = 100
"""With fewer different texts no recipes are compared."""
MOST_BYTES = 24 << 20
"""Recipes are compared on a sample of at most so much text."""
CHOSEN = ("family", "weighting", "ngrams")
"""The parameters that may be chosen besides alpha."""
RECIPE = (*CHOSEN, "min_df", "alpha")


@dataclass(frozen=True, eq=False)
class Chosen(Mapping[str, Any]):
    """The recipe of a text classifier: parameters that were given, and the choice for those that are "auto".

    `accuracy` estimates the share of other texts like these that the model gets right, give or take `margin` (two
    standard errors): from `texts` different texts that were held out, each scored by a recipe that was picked without
    it. All three are None if no recipes were compared. `tried` holds all recipes compared, the chosen one first.
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

    def __str__(self) -> str:
        head = f"{'family':12} {'weighting':10} {'ngrams':8} {'min_df':>6} {'alpha':>6} {'texts':>7} {'accuracy':>9}"
        lines = [
            f"{r.family:12} {r.weighting:10} {r.ngrams!s:8} {r.min_df:>6} {r.alpha:>6g} {round(t.rows):>7} "
            f"{t.accuracy:>9.{digits_of(margin_of(t.accuracy, t.rows))}f}"
            for t in self.tried
            for r in [t.recipe]
        ]
        return "\n".join([repr(self), *([self._estimate(), head, *lines] if lines else [])])

    def _estimate(self) -> str:
        """Return a sentence on how the accuracy was estimated."""
        if self.accuracy is None or self.margin is None:
            return "accuracy of each recipe on texts that it has not counted, from which the best was picked:"
        return (
            f"accuracy {with_margin(self.accuracy, self.margin)} on texts like these ({self.texts:,} different texts, "
            "held out in folds, each judged by a recipe picked without it);\nbelow, accuracies of the folds, which "
            "flatter the first line, since it was picked for its own:"
        )


@stored()
@dataclass(frozen=True, eq=False)
class Choice:
    """All recipes that were tried, the chosen one first, the prior of the trials, and the estimated accuracy.

    `seen` is the number of texts that were at hand for the choice.
    """

    tried: tuple[Trial, ...]
    prior: Prior
    accuracy: float
    margin: float
    texts: int
    seen: int

    @property
    def recipe(self) -> Recipe:
        return self.tried[0].recipe

    @staticmethod
    def whole(parameters: Mapping[str, Any]) -> bool:
        """True if these parameters select words only in ways that recipes were compared with."""
        limits = Selection(*(parameters[name] for name in ("min_df", "max_df", "max_features", "select")))
        return limits.by_rows and not parameters["norm"]


def chosen_recipe(
    family: Words, parameters: Mapping[str, Any], prior: Prior, texts: Texts, codes: Array, classes: Index,
    weight: Array | None,
) -> tuple[Choice | None, WordRows | None]:  # fmt: skip
    """Compare all recipes that the parameters leave open; None if there is no choice, or too few texts.

    They are compared with all words that are in enough texts; other limits are ignored. If all texts were read for the
    comparison, they are returned as rows of the words that the chosen recipe counts.
    """
    known = ~texts.missing if len(texts.missing) else np.ones(len(texts), bool)
    if weight is not None:
        known &= weight > 0
    if not _open(parameters) or known.sum() < FEWEST:
        return None, None
    seen = int(known.sum())
    n_classes = len(np.unique(codes[known]))
    candidates = _candidates(parameters, n_classes)
    if (
        len(candidates.ways) * len(candidates.alphas) < 2
        or n_classes < 2
        or _too_many_classes(n_classes, classes.size, seen)
    ):
        return None, None
    rows = _sample(texts, np.flatnonzero(known))
    texts_read = texts if len(rows) == seen else texts.take(rows)  # with those that are missing, to be counted as well
    read = _read(family.with_ngrams(candidates.longest), texts_read)
    weight = None if weight is None else weight[rows]
    labelled = Labelled(codes[rows], classes, prior, weight)
    sample = (read, texts_read) if len(rows) == len(read) else (read.take(rows), texts.take(rows))
    readings = _readings(family, candidates, *sample, labelled)
    if not readings:
        return None, None
    tried, found = choose(readings, candidates, family.threads, seen)
    choice = Choice(tuple(tried), prior, found.accuracy, found.margin, found.rows, seen)
    if texts_read is not texts or family.vocabulary is not None or family.buckets is not None:
        return choice, None
    ngrams = choice.recipe.ngrams
    return choice, read if ngrams == candidates.longest else read.single_words() if ngrams == (1, 1) else None


def _too_many_classes(seen: int, classes: int, texts: int) -> bool:
    """Warn, and return True, if recipes cannot be compared: too few texts per class, or a model too large."""
    if 2 * seen > texts:
        why = f"{texts:,} texts are fewer than two for each of {seen:,} classes"
    elif FEWEST * classes > FOLDS * PAIRS:
        why = f"with {classes:,} classes, judging even {FEWEST} texts would cost too much"
    else:
        return False
    warn_caller(
        f"no recipe was chosen, since {why}; single words are counted with family='multinomial': give family, "
        "weighting and ngrams to decide it yourself",
    )
    return True


def _open(parameters: Mapping[str, Any]) -> bool:
    """True if a parameter is "auto" and recipes can be compared quickly: an α above 0, no Bernoulli."""
    alpha = parameters["alpha"]
    added = alpha == "auto" if isinstance(alpha, str) else isinstance(alpha, Real) and float(alpha) > 0
    return added and parameters["family"] != "bernoulli" and any(parameters[name] == "auto" for name in CHOSEN)


def _candidates(parameters: Mapping[str, Any], classes: int) -> Candidates:
    usual = Candidates()
    families = usual.families if classes > 2 else ("multinomial",)  # all others of one of two are the other one
    family, weighting, ngrams, alpha, least = (
        parameters[name] for name in ("family", "weighting", "ngrams", "alpha", "min_df")
    )
    weightings = tuple(w for w in usual.weightings if w != "tfidf" or parameters["weights"])
    whole = isinstance(least, (int, np.integer))
    fewest = int(least) if whole else 1
    if ngrams == "auto" and parameters["tokens"] != "chars" and parameters["vocabulary"] is None:
        orders = tuple((n, max(d, fewest)) for n, d in usual.ngrams)
    else:
        orders = ((_usual_ngrams(parameters) if ngrams == "auto" else tuple(ngrams), fewest),)
    return Candidates(
        families if family == "auto" else (family,),
        weightings if weighting == "auto" else (weighting,),
        orders,
        ALPHAS if isinstance(alpha, str) else (float(alpha),),
    )


def _sample(texts: Texts, rows: Array) -> Array:
    """Return a random sample of rows, always the same, that holds about MOST_BYTES of text."""
    share = MOST_BYTES / max(texts.core.bytes, 1)
    if share >= 1:
        return rows
    n_rows = max(int(len(rows) * share), FEWEST)
    return np.sort(np.random.default_rng(0).choice(rows, min(n_rows, len(rows)), replace=False))


def _readings(
    family: Words, candidates: Candidates, everything: WordRows, texts: Texts, labelled: Labelled
) -> dict[Any, FoldedRows]:
    """Return rows for each length of sequences; `everything` has the longest ones. Empty if too few texts differ."""
    text = text_numbers(everything)
    if text.max() + 1 < FEWEST:
        return {}
    labelled = replace(labelled, text=text)
    whole = everything if family.vocabulary is None else _given_words(family, everything)
    weights = "tfidf" in candidates.weightings
    given = None if family.vocabulary is None else len(family.vocabulary)
    readings = {}
    for ngrams, min_df in candidates.ngrams:
        rows = whole if ngrams == candidates.longest else _read_shorter(family, ngrams, whole, texts)
        readings[ngrams, min_df] = FoldedRows.of(rows, labelled, min_df, given, weights=weights)
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
