"""The estimator of raw text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.estimators.from_counts import TextsFromCounts
from naively.estimators.sklearn_protocol import CALIBRATE, SklearnProtocol, validated
from naively.estimators.validation import Between, OneOf
from naively.families.words.block import FAMILIES, WEIGHTINGS
from naively.families.words.log_odds import top_words
from naively.families.words.rows import read_all
from naively.families.words.selection import Best
from naively.learn.choose import (
    Choice,
    Chosen,
    is_open,
)
from naively.learn.model import NO_CLASSES, Model
from naively.learn.parameters import defaults_of
from naively.learn.text_learner import TextLearner
from naively.learn.words import COUNTED
from naively.read.detect import engine_for
from naively.read.frame import Frame
from naively.score.explanation import Explanation
from naively.score.priors import PRIORS
from naively.smooth.backgrounds import SMOOTHINGS
from naively.smooth.rules import Settled


class TextClassifier(TextsFromCounts, SklearnProtocol, TextLearner):
    """Naive Bayes on raw text: words are counted as they are read, and everything else is decided afterwards.

    >>> from naively import TextClassifier
    >>> clf = TextClassifier().fit(["a fine film", "a dull film", "fine acting", "dull"], ["pos", "neg", "pos", "neg"])
    >>> clf.predict(["fine", "so dull"]).tolist()
    ['pos', 'neg']
    >>> clf.partial_fit(["bellissimo"], ["italian"]).predict(["bellissimo"]).tolist()
    ['italian']
    >>> clf.refit(family="complement", weighting="tfidf", alpha=0.1).predict(["dull"]).tolist()
    ['neg']

    Texts may come as a list, a NumPy array, a column of pandas, polars or Arrow (read where it lies), as str or
    bytes; or, larger than memory, as an iterator of (texts, labels) batches. A text that is empty or missing (None,
    NaN) counts for its class and adds no words; a missing one is predicted by the prior. Bytes that are no UTF-8 part
    words, as a blank would.

    Parameters that are "auto" are chosen (`chosen_`): some dozens of recipes are tried on folds of a sample of the
    texts, which no order of the texts can change. With fewer than a hundred different texts, fewer than two for each
    class, or more than 26,000 classes, and where alpha is a rule or 0, it is multinomial, by counts of single words.

    Parameters
    ----------
    family : {"auto", "multinomial", "complement", "bernoulli"}, default="auto"
        How words make up a score.
    weighting : {"auto", "counts", "binary", "tfidf"}, default="auto"
        What a word in a text comes to: how often it is there, that it is there, or its sub-linear tf-idf with texts
        brought to one length. (The Bernoulli family only knows whether it is there.)
    alpha : float, rule or "auto", default="auto"
        What is added to every count; "auto": chosen with the others or, where these are given, the α that makes the
        counts most probable. Rules are `Additive`, `Epsilon`, `Unsmoothed`, `JelinekMercer`, `Dirichlet`,
        `AbsoluteDiscount` and `WittenBell`.
    prior : rule (`Empirical`, `Smoothed`, `Uniform`, `Given`) or array-like, default=None
        Prior of the classes; None: their shares of the texts.
    tokens : {"words", "sklearn", "chars"} or callable, default="words"
        What a word is. "words": runs of letters, marks, digits and connectors; in scripts that are written without
        spaces, every two neighbouring characters. "sklearn": what scikit-learn's `CountVectorizer` takes by default.
        "chars": `ngrams` characters in a row inside words. A callable makes a list of tokens of a text.
    ngrams : tuple (from, to) or "auto", default="auto"
        Shortest and longest sequence of words (or characters) that is counted.
    negation : bool, default=False
        Whether words behind a negation ("not", "n't", "never", "no", ...), up to the next punctuation, count as
        other words (`NOT_word`).
    lowercase : bool, default=True
        Whether capitals are small letters.
    accents : {"unicode", "ascii"}, default=None
        Whether accents are left out, by Unicode's decomposition, and whether then only ASCII is left.
    stop_words : iterable of str or "english", default=None
        Words that are not counted.
    min_df, max_df : int or float, default=1 and 1.0
        Smallest and largest number of texts with a word, or share of the texts, for a word to be used.
    max_features : int, default=None
        Number of the most frequent words to use; None: all.
    select : Best, default=None
        Only the words that say most of the labels.
    vocabulary : iterable of str, default=None
        The only words to count.
    hashing : int, default=None
        Words are hashed to 2 ** hashing buckets, so that memory has a bound.
    weights : bool, default=True
        Whether what weighting="tfidf" needs is counted as well.
    norm : bool, default=False
        Whether the complement's weights are divided by their sum.
    choose : bool, default=True
        Whether recipes are compared; False: what is "auto" is multinomial, by counts of single words, which is faster.
    calibrate : bool, "temperature", "per class" or "isotonic", default=True
        How probabilities are brought to what they are worth on held-out texts: by one number that scores are divided by
        (True, "temperature"), a constant for each class as well ("per class"), or a rising function for each class
        ("isotonic").
    threads : int, default=None
        Number of threads; None: one for each core, if there is enough work.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [OneOf("auto", *FAMILIES)],
        "weighting": [OneOf("auto", *WEIGHTINGS)],
        "alpha": [Between(Real, 0), OneOf("auto"), *SMOOTHINGS],
        "prior": ["array-like", None, *PRIORS],
        "tokens": [OneOf("words", "sklearn", "chars"), callable],
        "ngrams": [OneOf("auto"), tuple, list],
        "negation": ["boolean"],
        "lowercase": ["boolean"],
        "accents": [OneOf("unicode", "ascii"), None],
        "stop_words": [OneOf("english"), "array-like", set, frozenset, None],
        "min_df": [Between(Integral, 1), Between(Real, 0, 1)],
        "max_df": [Between(Integral, 1), Between(Real, 0, 1)],
        "max_features": [Between(Integral, 1), None],
        "select": [Best, None],
        "vocabulary": ["array-like", set, frozenset, dict, None],
        "hashing": [Between(Integral, 1, 30), None],
        "weights": ["boolean"],
        "norm": ["boolean"],
        "choose": ["boolean"],
        "calibrate": CALIBRATE,
        "threads": [Between(Integral, 1, 1024), None],
    }

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
        choose: Any = True,
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
        self.choose = choose
        self.calibrate = calibrate
        self.threads = threads

    # --- rules

    def _parameters(self) -> dict[str, Any]:
        """The parameters; of a subclass, those that it has from here."""
        return {name: self._value(name) for name in defaults_of(TextClassifier)}

    # --- learning

    @validated
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
        engine = engine_for(X)
        if engine is not None:
            return self._fit_distributed(engine, X, y, sample_weight)
        if y is None and isinstance(X, Iterator):
            return self._fit_batches(X)
        with self._all_or_nothing():
            super().fit(X, y, sample_weight)
            self.settle()
        return self

    def _fit_batches(self, batches: Iterator[Any]) -> Any:
        with self._all_or_nothing():
            self.__dict__.pop("_state", None)
            for number, batch in enumerate(batches):
                if not isinstance(batch, tuple) or len(batch) not in (2, 3):
                    raise InputError(f"batch {number}: expected (texts, labels), got {type(batch).__name__}")
                texts, labels, *weight = batch
                self.partial_fit(texts, labels, sample_weight=weight[0] if weight else None)
            if "_state" not in self.__dict__:
                raise InputError("no batch came, so there is nothing to count")
            self.settle()
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
            self._commit(self._state)
            _ = self.table_
        self._warn_if_uncalibrated()
        return self

    def _fit_and_read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Array, Array | None]:
        """Fit, and return the texts as `_labelled` does; they are read once if nothing has to be chosen first."""
        self._validate_params()
        self._copy_parameters()
        chooses = is_open(self._parameters())
        weightless = sample_weight is not None and not np.all(sample_weight)
        if chooses or self.vocabulary is not None or self.hashing is not None or weightless:
            return super()._fit_and_read(X, y, sample_weight)
        words, blocks = self._words(None), self._counting_blocks(None)
        batch = self._checked(words, X, y, None, sample_weight)
        texts = batch.frame.whole
        rows = read_all(words.tokens.core, texts, words.n_threads(texts))
        batch = replace(batch, frame=Frame.of_rows(rows))
        self._commit(self._counted_first(blocks, batch, NO_CLASSES, {"words": rows.words}))
        return batch.frame, batch.codes, batch.weight

    # --- scoring

    def _frame(self, X: Any) -> tuple[Frame, Any]:
        self._check_fitted()
        weighing = self._model.weighing or self._weighed_by()[1]  # no parameter changes how a fitted model reads texts
        family: Any = weighing.blocks.blocks[0].family
        return Frame.of_rows(family.tokens.texts(X)), np.float64

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
        return super().predict(X)

    def explain(self, X: Any) -> Explanation:
        """Return the share of the prior and of each word in the score of each class, for one text or a list of one."""
        return super().explain([X] if isinstance(X, (str, bytes)) else X)

    # --- what was learnt

    @property
    def chosen_(self) -> Chosen:
        """The recipe: parameters that were given, and the choice for those that are "auto".

        Of a model that was saved without its counts, an `alpha` that was found from them is None.
        """
        self._check_fitted()
        model = self._model
        resolved = self._resolved(model)
        alpha = self._alpha(model)
        words = resolved["family"], resolved["weighting"], tuple(resolved["ngrams"]), resolved["min_df"]
        choice = model.chosen
        if not isinstance(choice, Choice):
            return Chosen(*words, alpha, why=choice)
        same = (*words, alpha) == (*choice.recipe.way, choice.recipe.alpha)
        if same and choice.whole(resolved) and choice.prior == self._prior_rule():
            return Chosen(*words, alpha, choice.accuracy, choice.margin, choice.texts, choice.tried)
        return Chosen(*words, alpha, tried=choice.tried)

    def _alpha(self, model: Model) -> Any:
        """Return what is added to each count, or a rule that adds nothing; None: it was found from counts now gone."""
        rule: Any = self._rule_for(model)
        if not rule.adds:
            return rule
        if model.ledger.parts is None:
            return rule.pseudo(None) if isinstance(rule, Settled) else None
        [part] = model.ledger.counted.values()
        return self._words(model).settled_by(part, rule).pseudo(None)

    @property
    def n_words_(self) -> int:
        """Number of different words that were counted; of a model saved without its counts, those of its table."""
        self._fitted("n_words_")
        features = self._model.features
        return int((features["words"] if features else self.table_.block.features.words).size)

    def top_words(self, n: int = 10, *, strength: float = 1000.0) -> dict[Any, list[tuple[str, float]]]:
        """The words that speak most for each class, with how sure that is, in standard deviations.

        By log-odds with an informative Dirichlet prior (Monroe, Colaresi and Quinn 2008).

        Parameters
        ----------
        n : int, default=10
            Number of words for each class.
        strength : float, default=1000.0
            Number of words in the prior, which has the frequencies of all texts together.

        Returns
        -------
        words : dict of lists of (word, z-score)
        """
        self._check_fitted()
        if not (isinstance(n, Integral) and n >= 0):
            raise InputError(f"n must be a whole number, 0 or more, got {n!r}")
        if not (isinstance(strength, Real) and 0 < strength < np.inf):
            raise InputError(f"strength must be a number above 0, got {strength!r}")
        [part] = self._model.ledger.counted.values()
        return top_words(part, self._words(self._model).kept(part.total), int(n), float(strength))

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
        return self._named_words()[1]

    def _named_words(self) -> tuple[Array, Array, Array]:
        """Return the numbers of the words of the table, their names in sorted order, and the places of these."""
        [part] = self._model.ledger.counted.values()
        numbers = self._words(self._model).kept(part.total)
        names = np.array(part.features.names_of(numbers), dtype=object)
        order = np.argsort(names, kind="stable")
        return numbers, names[order], order

    @property
    def feature_count_(self) -> Array:
        """Counts, classes by words in the order of `get_feature_names_out`: occurrences, texts or sums of tf-idf."""
        self._fitted("feature_count_")
        model, (numbers, _, order) = self._model, self._named_words()
        [part] = model.ledger.counted.values()
        return self._by_class(self._words(model).dense_counts(part, numbers))[:, order]

    @property
    def feature_log_prob_(self) -> Array:
        """Log-probability of each word in each class, as `feature_count_`; of the complement family, the weights."""
        self._fitted("feature_log_prob_")
        model, (numbers, _, order) = self._model, self._named_words()
        [part] = model.ledger.counted.values()
        return self._by_class(self._words(model).log_shares(part, numbers, self._rule_for(model)))[:, order]

    def _drawn_rows(self, drawn: dict[int, dict[str, Any]], klass: Array) -> list[str]:
        each = {k: iter(next(iter(columns.values()))) for k, columns in drawn.items()}
        return [next(each[k]) for k in klass.tolist()]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
