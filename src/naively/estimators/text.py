"""Classifiers of raw text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from operator import is_
from typing import Any, ClassVar

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from naively.cells import Array
from naively.errors import InputError
from naively.estimators.base import CountingClassifier
from naively.estimators.model import Model
from naively.estimators.rows import check_labels, check_weights, number_labels
from naively.explain import Explanation, explain_row
from naively.families.words import FAMILIES, WEIGHTINGS, Words, without_lost_words
from naively.ledger import Ledger
from naively.log_odds import top_words
from naively.names import Index
from naively.priors import PRIORS, Empirical, Prior, prior_of
from naively.scores import Scores
from naively.select import Best, Limits
from naively.smoothing import Additive, Epsilon
from naively.tally import Tally
from naively.texts import Texts
from naively.tokens import Tokens

_BLOCK = 1 << 12
COUNTED = (
    "tokens", "ngrams", "lowercase", "negation", "accents", "stop_words", "vocabulary", "hashing", "weights",
)  # fmt: skip
"""The parameters that say what is counted; the others can be changed at any time."""


class TextClassifier(CountingClassifier):
    """Naive Bayes on raw text: words are counted as they are read, and everything else is decided afterwards.

    >>> from naively import TextClassifier
    >>> clf = TextClassifier().fit(["a fine film", "a dull film", "fine acting"], ["pos", "neg", "pos"])
    >>> clf.predict(["fine", "so dull"]).tolist()
    ['pos', 'neg']
    >>> clf.partial_fit(["bellissimo"], ["italian"]).predict(["bellissimo"]).tolist()
    ['italian']
    >>> clf.refit(family="complement", weighting="tfidf", alpha=0.1).predict(["dull"]).tolist()
    ['neg']

    Texts may come as a list, a NumPy array, a column of pandas, polars or Arrow (read where it lies), as str or
    bytes; or, larger than memory, as an iterator of (texts, labels) batches. A missing text (None, NaN) adds nothing,
    and is predicted by the prior. Bytes that are no UTF-8 part words, as a blank would.

    Parameters
    ----------
    family : {"multinomial", "complement", "bernoulli"}, default="multinomial"
        How words make up a score.
    weighting : {"counts", "binary", "tfidf"}, default="counts"
        What a word in a text comes to: how often it is there, that it is there, or its sub-linear tf-idf with texts
        brought to one length. (The Bernoulli family only knows whether it is there.)
    alpha : float or rule (`Additive`, `Epsilon`, `Unsmoothed`), default=1.0
        What is added to every count.
    prior : rule (`Empirical`, `Smoothed`, `Uniform`, `Given`) or array-like, default=None
        What is expected of the classes beforehand; None: their shares of the texts.
    tokens : {"words", "sklearn", "chars"} or callable, default="words"
        What a word is. "words": runs of letters, marks, digits and connectors; in scripts that are written without
        spaces, every two neighbouring characters. "sklearn": what scikit-learn's `CountVectorizer` takes by default.
        "chars": `ngrams` characters in a row inside words. A callable makes a list of tokens of a text.
    ngrams : tuple (from, to), default=(1, 1)
        How many words in a row (or characters) count as one.
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
        In how many texts (or what share of them) a word must be, and may be at most.
    max_features : int, default=None
        Only so many of the most frequent words.
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
    threads : int, default=None
        How many to use; None: one for each core, where there is enough to do.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "family": [StrOptions(set(FAMILIES))],
        "weighting": [StrOptions(set(WEIGHTINGS))],
        "alpha": [Interval(Real, 0, None, closed="left"), Additive, Epsilon],
        "prior": ["array-like", None, *PRIORS],
        "tokens": [StrOptions({"words", "sklearn", "chars"}), callable],
        "ngrams": [tuple, list],
        "negation": ["boolean"],
        "lowercase": ["boolean"],
        "accents": [StrOptions({"unicode", "ascii"}), None],
        "stop_words": [StrOptions({"english"}), "array-like", set, frozenset, None],
        "min_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_df": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="both")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "select": [Best, None],
        "vocabulary": ["array-like", set, frozenset, dict, None],
        "hashing": [Interval(Integral, 1, 30, closed="both"), None],
        "weights": ["boolean"],
        "norm": ["boolean"],
        "threads": [Interval(Integral, 1, 1024, closed="both"), None],
    }

    def __init__(
        self,
        *,
        family: Any = "multinomial",
        weighting: Any = "counts",
        alpha: Any = 1.0,
        prior: Any = None,
        tokens: Any = "words",
        ngrams: Any = (1, 1),
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
        self.threads = threads

    # --- rules

    def _family(self) -> Words:
        parameters = {name: getattr(self, name) for name in self._parameter_constraints}
        return words_family(type(self).__name__, parameters)

    def _rule(self) -> Any:
        rule = self.alpha if isinstance(self.alpha, (Additive, Epsilon)) else Additive(self.alpha)
        if rule.per_feature:
            raise InputError("alpha must be one number for all words: their number is not known beforehand")
        if self.family == "complement" and not isinstance(rule, Additive):
            raise InputError(f"family='complement' is smoothed by a number or Additive(alpha) only, got {rule!r}")
        return rule

    def _prior_rule(self) -> Prior:
        return prior_of(self.prior, Empirical())

    def _counted(self) -> dict[str, Any]:
        return {name: _frozen(getattr(self, name)) for name in COUNTED}

    def _check_counted(self, model: Model) -> None:
        self._validate_params()
        for name, value in model.counted.items():
            now = _frozen(getattr(self, name))
            if now != value:
                raise InputError(f"counted with {name}={_shown(value)}, now it is {_shown(now)}; fit again")

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
            `threads`.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        for name in parameters:
            if name in COUNTED:
                raise InputError(f"{name} says what is counted, so it needs the texts: fit again")
        with self._all_or_nothing():
            self.set_params(**parameters)
            self._validate_params()
            self._settle(self._model)
            _ = self.table_
        return self

    def _count(self, X: Any, y: Any, classes: Index | None, features: Any, sample_weight: Any, *, reset: bool) -> Tally:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        family = self._family()
        texts = family.tokens.texts(X)
        y = check_labels(y, len(texts))
        if not len(texts):
            raise InputError("Found array with 0 sample(s): there is no text to count")
        known = ~texts.missing if len(texts.missing) else np.ones(len(texts), bool)
        if classes is None and not known.any():
            raise InputError("every text is missing, so there is nothing to count")
        codes = np.zeros(len(texts), np.int32)
        codes[known], classes = number_labels(y[known], classes)
        weight = check_weights(sample_weight, len(texts))
        return family.count(texts, codes, classes, family.no_words() if features is None else features, weight)

    def _tidied(self, ledger: Ledger, gone: Tally) -> Ledger:
        return without_lost_words(ledger, gone, self._family())

    # --- scoring

    def _decided(self) -> tuple[Model, Words, Any, Array]:
        """The model, and family, rule and log-prior as the parameters say; made anew only when one of them changes."""
        if "_model" not in self.__dict__:
            check_is_fitted(self)
        model = self._model  # read once: another thread may be learning
        parameters = [self.__dict__[name] for name in self._parameter_constraints]
        decided = model.decided
        if decided is None or not all(map(is_, decided[0], parameters)):
            self._check_counted(model)
            decided = parameters, self._family(), self._rule(), self._log_prior(model)
            model.decided = decided
        return model, *decided[1:]

    def _ready(self, X: Any) -> tuple[Texts, Any]:
        return self._decided()[1].tokens.texts(X), np.float64

    def _scores(self, rows: Texts) -> Scores:
        model, family, rule, prior = self._decided()
        parts = [model.scores(family, rule, prior, rows[block]) for block in rows.blocks(_BLOCK)]
        return Scores.joined(parts) if parts else model.scores(family, rule, prior, rows)

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
        model, family, rule, prior = self._decided()
        rows = family.tokens.texts(X)
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
        return explain_row(self.table_, rows)

    # --- what was learnt

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
        check_is_fitted(self)
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
        check_is_fitted(self)
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.sparse = False
        return tags


def words_family(who: str, parameters: Mapping[str, Any]) -> Words:
    """The family that these parameters of `TextClassifier` stand for."""
    stop, vocabulary, hashing = (parameters[name] for name in ("stop_words", "vocabulary", "hashing"))
    if vocabulary is not None and hashing is not None:
        raise InputError("vocabulary and hashing exclude each other: give one of them")
    if stop is not None:
        stop = ENGLISH_STOP_WORDS if isinstance(stop, str) else frozenset(_words(stop, "stop_words"))
    return Words(
        who=who,
        family=parameters["family"],
        weighting=parameters["weighting"],
        norm=bool(parameters.get("norm", False)),
        tokens=Tokens(
            parameters["tokens"], tuple(parameters["ngrams"]), parameters["lowercase"], parameters["negation"],
            parameters["accents"], stop,
        ),
        limits=Limits(*(parameters[name] for name in ("min_df", "max_df", "max_features", "select"))),
        vocabulary=None if vocabulary is None else tuple(sorted(_words(vocabulary, "vocabulary"))),
        buckets=None if hashing is None else 1 << hashing,
        weights=bool(parameters.get("weights", True)),
        threads=parameters.get("threads"),
    )  # fmt: skip


def _frozen(value: Any) -> Any:
    """A parameter as it is now, whatever becomes of a list later: pairs as tuples, words as a set of them."""
    if value is None or callable(value) or isinstance(value, (str, Real)):
        return value
    listed = list(value)
    return frozenset(listed) if listed and isinstance(listed[0], str) else tuple(listed)


def _shown(value: Any) -> str:
    return repr(sorted(value)) if isinstance(value, frozenset) else repr(value)


def _words(words: Iterable[Any], what: str) -> list[str]:
    listed = list(words)
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"{what} must be words, got {word!r} ({type(word).__name__})")
    if len(set(listed)) != len(listed):
        twice = next(word for i, word in enumerate(listed) if word in listed[:i])
        raise InputError(f"{what}: {twice!r} is there twice")
    return listed
