"""The estimator of raw text."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from naively.estimators.sklearn_protocol import CALIBRATE, SklearnProtocol, validated
from naively.estimators.validation import Between, OneOf
from naively.families.words.block import FAMILIES, WEIGHTINGS
from naively.families.words.selection import Best
from naively.learn.text import TextLearner
from naively.score.priors import PRIORS
from naively.smooth.backgrounds import SMOOTHINGS


class TextClassifier(SklearnProtocol, TextLearner):
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

    What is "auto" is chosen by the first batch of texts that is learnt (`chosen_`): some dozens of recipes are judged
    by folds that are taken out of the counts. With fewer than a hundred different texts, fewer than two for each class,
    or more than 26,000 classes, and where alpha is a rule or 0, it is multinomial, by counts of single words.

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
        What is expected of the classes beforehand; None: their shares of the texts.
    tokens : {"words", "sklearn", "chars"} or callable, default="words"
        What a word is. "words": runs of letters, marks, digits and connectors; in scripts that are written without
        spaces, every two neighbouring characters. "sklearn": what scikit-learn's `CountVectorizer` takes by default.
        "chars": `ngrams` characters in a row inside words. A callable makes a list of tokens of a text.
    ngrams : tuple (from, to) or "auto", default="auto"
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
    calibrate : bool, "temperature", "per class" or "isotonic", default=True
        How probabilities are brought to what they are worth on held-out texts: by one number that scores are divided by
        (True, "temperature"), a constant for each class as well ("per class"), or a rising function for each class
        ("isotonic").
    threads : int, default=None
        How many to use; None: one for each core, where there is enough to do.
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
        "calibrate": CALIBRATE,
        "threads": [Between(Integral, 1, 1024), None],
    }

    fit = validated(TextLearner.fit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags
