"""Learning from raw text."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from operator import is_
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.count.vocabulary import Vocabulary
from naively.errors import DataWarning, InputError
from naively.families.words.block import Words, without_lost_words
from naively.families.words.log_odds import top_words
from naively.families.words.rows import read_all
from naively.learn.calibrate import CalibratingLearner
from naively.learn.choose import CHOSEN, Chosen, chosen_recipe, settled_recipe
from naively.learn.model import NO_CLASSES, Model
from naively.learn.parameters import defaults_of
from naively.learn.words import COUNTED, frozen, shown, words_family, words_rule
from naively.names import Index
from naively.read.label_codes import check_labels, check_weights, counted_codes, number_labels, rows_that_count
from naively.read.matrix import RowError
from naively.read.row_keys import text_keys
from naively.read.texts import Texts
from naively.score.explanation import Explanation, explain_row
from naively.score.priors import Empirical, Prior, prior_of
from naively.score.scores import Scores
from naively.threads import threads

_BLOCK = 1 << 12


class TextLearner(CalibratingLearner):
    """Learns from raw text, as `TextClassifier` does, whose parameters it has.

    >>> from naively.learn.text import TextLearner
    >>> learner = TextLearner(alpha=1.0).fit(["a fine film", "a dull film"], ["pos", "neg"])
    >>> learner.predict(["dull"]).tolist()
    ['neg']
    """

    reads_text = True

    def __init__(
        self,
        *,
        family: Any = "auto",
        weighting: Any = "auto",
        alpha: Any = "auto",
        prior: Any = None,
        tokens: Any = "words",
        ngrams: Any = "auto",
        negation: Any = False,
        lowercase: Any = True,
        accents: Any = None,
        stop_words: Any = None,
        min_df: Any = 1,
        max_df: Any = 1.0,
        max_features: Any = None,
        select: Any = None,
        vocabulary: Any = None,
        hashing: Any = None,
        weights: Any = True,
        norm: Any = False,
        calibrate: Any = True,
        threads: Any = None,
    ):
        self.family = family
        self.weighting = weighting
        self.alpha = alpha
        self.prior = prior
        self.tokens = tokens
        self.ngrams = ngrams
        self.negation = negation
        self.lowercase = lowercase
        self.accents = accents
        self.stop_words = stop_words
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.select = select
        self.vocabulary = vocabulary
        self.hashing = hashing
        self.weights = weights
        self.norm = norm
        self.calibrate = calibrate
        self.threads = threads

    @property
    def _who(self) -> str:
        return "TextClassifier" if type(self) is TextLearner else super()._who

    # --- rules

    def _settled(self, model: Model | None) -> dict[str, Any]:
        """The parameters with what was chosen in place of "auto"."""
        return settled_recipe(None if model is None else _recipe(model), self._told())

    def _told(self) -> dict[str, Any]:
        """The parameters; of a subclass, those that it has from here."""
        return {name: self._value(name) for name in defaults_of(TextLearner)}

    def _family(self) -> Words:
        return self._family_of(self.__dict__.get("_model"))

    def _family_of(self, model: Model | None) -> Words:
        return words_family(self._who, self._settled(model))

    def _rule(self) -> Any:
        return self._rule_for(self.__dict__.get("_model"))

    def _rule_for(self, model: Model | None) -> Any:
        settled = self._settled(model)
        return words_rule(settled["alpha"], settled["family"])

    def _prior_rule(self) -> Prior:
        return prior_of(self._value("prior"), Empirical())

    def _counted(self) -> dict[str, Any]:
        return {name: frozen(self._value(name)) for name in COUNTED}

    def _check_counted(self, model: Model) -> None:
        self._validate_params()
        for name, value in model.counted.items():
            now = frozen(self._value(name))
            if now != value:
                raise InputError(f"counted with {name}={shown(value)}, now it is {shown(now)}; fit again")

    def _identity(self) -> tuple[Any, ...]:
        """What was chosen is no difference, but for what was counted."""
        settled = settled_recipe(None, self._told())
        counted = {**settled, "ngrams": self._settled(self._model)["ngrams"]}
        family = words_family(self._who, counted)
        return family, words_rule(settled["alpha"], settled["family"]), self._prior_rule()

    # --- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Count these texts, and nothing from before.

        Parameters
        ----------
        X : column of texts, or iterator of batches (texts, labels) or (texts, labels, weights)
            Texts.
        y : array-like of shape (n_samples,), default=None
            Labels; without them where batches bring their own.
        sample_weight : array-like of shape (n_samples,), default=None
            What each text counts for.

        Returns
        -------
        self : object
        """
        if y is None and isinstance(X, Iterator):
            return self._fit_batches(X)
        return super().fit(X, y, sample_weight)

    def _fit_batches(self, batches: Iterator[Any]) -> Any:
        with self._all_or_nothing():
            self.__dict__.pop("_model", None)
            for number, batch in enumerate(batches):
                if not isinstance(batch, tuple) or len(batch) not in (2, 3):
                    raise InputError(f"batch {number}: expected (texts, labels), got {type(batch).__name__}")
                texts, labels, *weight = batch
                self.partial_fit(texts, labels, sample_weight=weight[0] if weight else None)
            if "_model" not in self.__dict__:
                raise InputError("no batch came, so there is nothing to count")
        return self

    def refit(self, **parameters: Any) -> Any:
        """Decide anew how words are weighed, smoothed and selected; no text is read again.

        Parameters
        ----------
        **parameters
            Any of `family`, `weighting`, `alpha`, `prior`, `min_df`, `max_df`, `max_features`, `select`, `norm`,
            `calibrate`, `threads`. Probabilities are calibrated for other parameters then, so they are taken as they
            are until `recalibrate` is called.

        Returns
        -------
        self : object
        """
        self._check_fitted()
        for name in parameters:
            if name in COUNTED:
                raise InputError(f"{name} says what is counted, so it needs the texts: fit again")
        with self._all_or_nothing():
            self.set_params(**parameters)
            self._validate_params()
            self._commit(self._model)
            _ = self.table_
        self._warn_if_uncalibrated()
        return self

    def _learn(self, X: Any, y: Any, model: Any, classes: Index | None, sample_weight: Any) -> None:
        family, rows = self._family_of(model), None
        texts, codes, index, weight = self._checked(family, X, y, classes, sample_weight)
        if model is None:
            parameters = self._told()
            choice, rows = chosen_recipe(family, parameters, self._prior_rule(), texts, codes, index, weight)
            if choice is not None:
                family = words_family(self._who, settled_recipe(choice.recipe, parameters))
            tally = family.count(texts if rows is None else rows, codes, index, family.no_words(), weight)
            learnt = Model(Ledger((tally,)), np.float64, classes or NO_CLASSES, self._counted(), choice)
        else:
            tally = family.count(texts, codes, index, model.ledger.features, weight)
            learnt = model.after(model.ledger.add(tally))
        if not any(len(level.cells) for level in learnt.ledger.levels):
            warnings.warn(
                "no text has a word that is counted, so the model knows nothing but how frequent each class is",
                DataWarning,
                stacklevel=5,
            )
        self._rule_for(learnt)
        self._commit(self._calibrated(learnt, texts if rows is None else rows, codes, weight, texts))

    def learn_batches(self, batches: Iterable[tuple[Any, Any]]) -> Iterator[int]:
        """Count batches of (texts, labels) on top of what was counted before, several at a time.

        They are added up in order. After each, its number of texts is told, and the model is the one that has learnt it
        and those before it. Nothing is calibrated on the way: see `judge`.

        Parameters
        ----------
        batches : iterable of (texts, labels)
            As for `partial_fit`.
        """
        from concurrent.futures import ThreadPoolExecutor

        self._validate_params()
        begun: deque[tuple[Any, int]] = deque()
        model = self.__dict__.get("_model")
        classes = None if model is None else model.ledger.classes
        many = self.threads or threads()
        with ThreadPoolExecutor(many) as pool:
            try:
                for X, y in batches:
                    if "_model" not in self.__dict__ and not begun:
                        self.partial_fit(X, y)  # which settles what is to be chosen
                        classes = self._model.ledger.classes
                        yield len(y)
                        continue
                    family = replace(self._family_of(self._model), threads=1)
                    texts, codes, classes, _ = self._checked(family, X, y, classes, None)
                    features = self._model.ledger.features
                    alone = features if family.vocabulary is not None or family.buckets is not None else Vocabulary()
                    begun.append((pool.submit(family.count, texts, codes, classes, alone, None), len(y)))
                    if len(begun) >= many:
                        yield self._take_up(*begun.popleft())
                while begun:
                    yield self._take_up(*begun.popleft())
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _take_up(self, counted: Any, rows: int) -> int:
        tally = counted.result()
        with self._lock:
            model = self._model
            tally = self._family_of(model).placed(tally, model.ledger.features)
            self._commit(model.after(model.ledger.add(tally)))
        return rows

    def _count(self, X: Any, y: Any, classes: Index | None, features: Any, sample_weight: Any, *, reset: bool) -> Tally:
        family = self._family()
        texts, codes, index, weight = self._checked(family, X, y, classes, sample_weight)
        return family.count(texts, codes, index, features, weight)

    def _checked(
        self, family: Words, X: Any, y: Any, classes: Index | None, sample_weight: Any, *, every: bool = False
    ) -> tuple[Texts, Array, Index, Array | None]:
        """Texts, the numbers of their classes, the classes and the weights; those of weight 0 only where `every`."""
        if y is None:
            raise InputError(f"{self._who} requires y to be passed, but the target y is None")
        texts = family.tokens.texts(X)
        y = check_labels(y, len(texts))
        if not len(texts):
            raise InputError("Found array with 0 sample(s): there is no text to count")
        weight = check_weights(sample_weight, len(texts))
        kept = None if every else rows_that_count(weight)
        if kept is not None and weight is not None:
            texts, y, weight = texts.take(np.flatnonzero(kept)), y[kept], weight[kept]
        try:
            codes, index = number_labels(y, classes)
        except RowError as error:
            raise error.among(kept) from None
        return texts, codes, index, weight

    def _labelled(self, model: Model, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        family = self._family_of(model)
        texts, codes, classes, weight = self._checked(family, X, y, model.ledger.classes, sample_weight, every=True)
        codes = counted_codes(codes, classes, model.ledger.classes, weight)
        return family.read(texts, model.ledger.features), codes, weight

    def _keys(self, model: Any, rows: Any, codes: Array, classes: Index) -> Array:
        return text_keys(rows, codes, classes)

    def _labelled_keys(self, model: Any, X: Any, rows: Any, codes: Array) -> Array:
        return text_keys(self._family_of(model).tokens.texts(X), codes, model.ledger.classes)

    def _after_forgetting(self, model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        if model.judged is None:
            return model
        texts, codes, index, weight = self._checked(self._family_of(model), X, y, model.ledger.classes, sample_weight)
        return self._calibrated_without(model, texts, codes, index, weight)

    def _fit_and_read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Reads the texts once for both, where nothing is to be chosen or known beforehand."""
        self._validate_params()
        self._copy_parameters()
        chooses = any(isinstance(getattr(self, name), str) and getattr(self, name) == "auto" for name in CHOSEN)
        weightless = sample_weight is not None and not np.all(sample_weight)
        if chooses or self.vocabulary is not None or self.hashing is not None or weightless:
            return super()._fit_and_read(X, y, sample_weight)
        family = self._family_of(None)
        texts, codes, index, weight = self._checked(family, X, y, None, sample_weight)
        rows = read_all(family.tokens.core, texts, family.many_threads(texts))
        tally = family.count(rows, codes, index, rows.words, weight)
        self._commit(Model(Ledger((tally,)), np.float64, NO_CLASSES, self._counted()))
        return rows, codes, weight

    def _tidied(self, ledger: Ledger, gone: Tally) -> Ledger:
        return without_lost_words(ledger, gone, self._family())

    # --- scoring

    def _decided(self) -> tuple[Model, Words, Any, Array, Any]:
        """The model, and family, rule and log-prior as the parameters say; made anew only when one of them changes."""
        if "_model" not in self.__dict__:
            self._check_fitted()
        model = self._model  # read once: another thread may be learning
        values = {**self.__dict__, **self._copies}
        parameters = [values[name] for name in defaults_of(TextLearner)]
        decided = model.decided
        if decided is None or not all(map(is_, decided[0], parameters)):
            self._check_counted(model)
            rules = self._family_of(model), self._rule_for(model), self._log_prior(model)
            decided = parameters, *rules, self._calibration(model)
            model.decided = decided
        return model, *decided[1:]

    def _ready(self, X: Any) -> tuple[Texts, Any]:
        return self._decided()[1].tokens.texts(X), np.float64

    def _scores(self, rows: Texts) -> Scores:
        model, family, rule, prior, calibration = self._decided()
        parts = [model.scores(family, rule, prior, rows[block]) for block in rows.blocks(_BLOCK)]
        scores = Scores.joined(parts) if parts else model.scores(family, rule, prior, rows)
        return self._finished(scores, model).at(calibration)

    def predict(self, X: Any) -> Array:
        """The most probable class of each text.

        Parameters
        ----------
        X : column of texts, or iterator of such
            Texts.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        if isinstance(X, Iterator):
            return np.concatenate([self.predict([]), *(self.predict(batch) for batch in X)])
        model, family, rule, prior, calibration = self._decided()
        rows = family.tokens.texts(X)
        if calibration is not None and not calibration.keeps_order:
            return self._scores(rows).decide()
        if 0 < len(rows) <= _BLOCK:
            return model.scores(family, rule, prior, rows).decide()
        parts = [model.scores(family, rule, prior, rows[block]).decide() for block in rows.blocks(_BLOCK)]
        return np.concatenate(parts) if parts else self.classes_[:0]

    def explain(self, X: Any) -> Explanation:
        """What the prior and each word of one text add to the score of each class.

        Parameters
        ----------
        X : str, or column of one text
            A text.

        Returns
        -------
        explanation : Explanation
        """
        rows, _ = self._ready([X] if isinstance(X, (str, bytes)) else X)
        if len(rows) != 1:
            raise InputError(f"explain takes one text, got {len(rows)}")
        model = self._model
        table = model.table(self._family_of(model), self._rule(), self._log_prior(model))
        return explain_row(table, rows, lambda scores: self._finished(scores, model))

    # --- what was learnt

    @property
    def chosen_(self) -> Chosen:
        """How words are weighed: what was given, and what was chosen where a parameter is "auto"."""
        self._check_fitted()
        model = self._model
        settled = self._settled(model)
        rule: Any = self._rule_for(model)
        alpha = self._family_of(model).settled_by(model.ledger, rule).pseudo(None) if rule.adds else rule
        words = settled["family"], settled["weighting"], tuple(settled["ngrams"]), settled["min_df"]
        choice = model.chosen
        if choice is None:
            return Chosen(*words, alpha)
        same = (*words, alpha) == (*choice.recipe.way, choice.recipe.alpha)
        if same and choice.whole(settled) and choice.prior == self._prior_rule():
            return Chosen(*words, alpha, choice.accuracy, choice.margin, choice.texts, choice.tried)
        return Chosen(*words, alpha, tried=choice.tried)

    def top_words(self, n: int = 10, *, strength: float = 1000.0) -> dict[Any, list[tuple[str, float]]]:
        """The words that speak most for each class, with how sure that is, in standard deviations.

        By log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008).

        Parameters
        ----------
        n : int, default=10
            How many for each class.
        strength : float, default=1000.0
            How many words the prior, which is that of all texts together, stands for.

        Returns
        -------
        words : dict of lists of (word, z-score)
        """
        self._check_fitted()
        if not (isinstance(n, Integral) and n >= 0):
            raise InputError(f"n must be a whole number, 0 or more, got {n!r}")
        if not (isinstance(strength, Real) and 0 < strength < np.inf):
            raise InputError(f"strength must be a number above 0, got {strength!r}")
        return top_words(self.tally_, self._family().kept(self.tally_), int(n), float(strength))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The words that the table is made of, sorted.

        Parameters
        ----------
        input_features : any, default=None
            Not used.

        Returns
        -------
        words : ndarray of str
        """
        self._check_fitted()
        features: Any = self._model.ledger.features
        return np.array(sorted(features.names_of(self._family().kept(self.tally_))), dtype=object)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[list[str], Array]:
        """Texts drawn from the model: a class by its prior, then words from that class.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            Where chance comes from.

        Returns
        -------
        X, y : texts and their labels
        """
        return super().sample(n, random_state)

    def _drawn_rows(self, drawn: dict[int, Any], klass: Array) -> list[str]:
        each = {k: iter(texts) for k, texts in drawn.items()}
        return [next(each[k]) for k in klass.tolist()]


def _recipe(model: Model) -> Any:
    """What was chosen; None where nothing was compared."""
    return None if model.chosen is None else model.chosen.recipe
