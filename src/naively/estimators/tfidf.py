"""Tf-idf: counts of words, weighed by how few texts hold each word."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import sklearn.feature_extraction.text as theirs
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from naively.arrays import Array
from naively.errors import InputError
from naively.estimators.vectorizers import WORD_PATTERN, CountVectorizer

_CONSTRAINTS: dict[str, Any] = {
    "norm": [StrOptions({"l1", "l2"}), None],
    "use_idf": ["boolean"],
    "smooth_idf": ["boolean"],
    "sublinear_tf": ["boolean"],
}
_SET = "partial_fit cannot add to an idf_ that was set, as the rows behind it are not known; use fit"


class TfidfTransformer(theirs.TfidfTransformer, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Rows of counts to rows of tf-idf: scikit-learn's `TfidfTransformer`, which also learns in batches.

    >>> from naively import TfidfTransformer
    >>> tfidf = TfidfTransformer(norm=None).fit([[2, 0], [1, 1]])
    >>> tfidf.transform([[2, 1]]).toarray().round(3).tolist()
    [[2.0, 1.405]]
    >>> tfidf.partial_fit([[0, 1]]).idf_.round(3).tolist()
    [1.288, 1.288]

    Parameters, attributes and results are those of scikit-learn's class of that name. `partial_fit` is added: the
    number of rows and the rows that hold each column are counted, so that batches give what all rows together give.

    Parameters
    ----------
    norm, use_idf, smooth_idf, sublinear_tf
        As in scikit-learn.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Any:
        """Count the rows that hold each column.

        Parameters
        ----------
        X : sparse or dense array of shape (n_samples, n_features)
            Counts.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        self._counted: tuple[int, Array] | None = None
        return self._count(X, True)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Count the rows that hold each column, on top of those counted before.

        Parameters
        ----------
        X : sparse or dense array of shape (n_samples, n_features)
            Counts.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        first = getattr(self, "_counted", None) is None
        if first and hasattr(self, "idf_"):
            raise InputError(
                "partial_fit cannot add to an idf_ that was set: the rows behind it are not known; use fit"
            )
        return self._count(X, first)

    def _count(self, X: Any, first: bool) -> Any:
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=first)
        X = X if sparse.issparse(X) else sparse.csr_array(X)
        holding = np.bincount(X.indices, minlength=X.shape[1]) if X.format == "csr" else np.diff(X.indptr)
        self._add(X.shape[0], holding, X.dtype)
        return self

    def _add(self, rows: int, holding: Array, dtype: Any) -> None:
        """Add rows, and for each column the number of rows that hold it; there may be more columns than before."""
        before = getattr(self, "_counted", None)
        if before is not None:
            rows += before[0]
            holding = holding.astype(np.int64)
            holding[: len(before[1])] += before[1]
        self._counted = rows, holding.astype(np.int64)
        self.n_features_in_ = len(holding)
        if self.use_idf:
            self.idf_ = self._derived(np.dtype(dtype))

    def _derived(self, dtype: Any) -> Array:
        """idf from the counts: ln((n + s) / (df + s)) + 1, where s is 1 if it is smoothed, else 0."""
        assert self._counted is not None
        rows, holding = self._counted
        frequency: Any = holding.astype(np.float32 if dtype == np.float32 else np.float64)
        frequency += float(self.smooth_idf)
        return np.log(np.full_like(frequency, rows + int(self.smooth_idf)) / frequency) + 1.0

    def save(self, path: Any) -> None:
        """Write the transformer to a file, whole or not at all; `naively.load` reads it.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced once the new one is on disk.
        """
        from naively.estimators.vectorizer_files import save

        save(self, path)


class TfidfVectorizer(CountVectorizer):
    """Texts to rows of tf-idf: scikit-learn's `TfidfVectorizer`, with the compiled tokeniser under it.

    >>> from naively import TfidfVectorizer
    >>> vectorizer = TfidfVectorizer()
    >>> vectorizer.fit_transform(["one fish two fish", "red fish"]).toarray().round(2).tolist()
    [[0.71, 0.5, 0.0, 0.5], [0.58, 0.0, 0.81, 0.0]]
    >>> vectorizer.partial_fit(["blue fish"]).idf_.round(2).tolist()
    [1.0, 1.69, 1.69, 1.69, 1.69]

    Parameters, attributes and results are those of scikit-learn's class of that name. Three things are added, as to
    `CountVectorizer`: `partial_fit`, and the parameters `tokens` and `threads`.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, analyzer, stop_words, \
token_pattern, ngram_range, max_df, min_df, max_features, vocabulary, binary, dtype, norm, use_idf, smooth_idf, \
sublinear_tf
        As in scikit-learn.
    tokens : {"sklearn", "words", "chars"}, default="sklearn"
        What a word is, as in `TextClassifier`. Other than "sklearn" replaces analyzer, tokenizer and token_pattern.
    threads : int, default=None
        Number of threads; None: one for each core, if there is enough work.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**CountVectorizer._parameter_constraints, **_CONSTRAINTS}

    def __init__(
        self,
        *,
        input: Any = "content",
        encoding: Any = "utf-8",
        decode_error: Any = "strict",
        strip_accents: Any = None,
        lowercase: Any = True,
        preprocessor: Any = None,
        tokenizer: Any = None,
        analyzer: Any = "word",
        stop_words: Any = None,
        token_pattern: Any = WORD_PATTERN,
        ngram_range: Any = (1, 1),
        max_df: Any = 1.0,
        min_df: Any = 1,
        max_features: Any = None,
        vocabulary: Any = None,
        binary: Any = False,
        dtype: Any = np.float64,
        norm: Any = "l2",
        use_idf: Any = True,
        smooth_idf: Any = True,
        sublinear_tf: Any = False,
        tokens: Any = "sklearn",
        threads: Any = None,
    ):
        super().__init__(
            input=input, encoding=encoding, decode_error=decode_error, strip_accents=strip_accents, lowercase=lowercase,
            preprocessor=preprocessor, tokenizer=tokenizer, stop_words=stop_words, token_pattern=token_pattern,
            ngram_range=ngram_range, analyzer=analyzer, max_df=max_df, min_df=min_df, max_features=max_features,
            vocabulary=vocabulary, binary=binary, dtype=dtype, tokens=tokens, threads=threads,
        )  # fmt: skip
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    @property
    def idf_(self) -> Any:
        """The weight of each word; it can be set, to take over the weights of another."""
        if not hasattr(self, "_tfidf"):
            raise NotFittedError(f"{type(self).__name__} is not fitted yet. Call 'fit' before using this attribute.")
        return self._tfidf.idf_

    @idf_.setter
    def idf_(self, value: Any) -> None:
        if not self.use_idf:
            raise InputError("`idf_` cannot be set when `use_idf=False`.")
        self._validate_vocabulary()
        words = getattr(self, "vocabulary_", value)
        if len(words) != len(value):
            raise InputError(f"idf length = {len(value)} must be equal to vocabulary size = {len(words)}")
        self._tfidf = self._transformer()
        self._tfidf.idf_ = value

    def fit(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the words of these texts, and count the texts that hold each.

        Parameters
        ----------
        raw_documents : iterable
            Texts, or files or their names, as `input` says.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the words of these texts, and return the texts as rows of tf-idf.

        Parameters
        ----------
        raw_documents : iterable
            Texts, or files or their names, as `input` says.
        y : None
            Not used.

        Returns
        -------
        X : sparse array of shape (n_samples, n_features)
        """
        rows = self._learn(raw_documents)
        return self._tfidf.transform(rows, copy=False)

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the words of these texts as well, and count the texts that hold each; known words keep their columns.

        Parameters
        ----------
        raw_documents : iterable
            Texts.
        y : None
            Not used.

        Returns
        -------
        self : object
        """
        documents = raw_documents if hasattr(raw_documents, "__len__") else list(raw_documents)
        transformer = getattr(self, "_tfidf", None) or self._transformer()
        if hasattr(transformer, "idf_") and getattr(transformer, "_counted", None) is None:
            raise InputError(
                "partial_fit cannot add to an idf_ that was set: the texts behind it are not known; use fit"
            )
        super().partial_fit(documents)
        if self.vocabulary_:
            rows = super().transform(documents)
            transformer._add(rows.shape[0], np.bincount(rows.indices, minlength=rows.shape[1]), rows.dtype)
        else:
            transformer._add(len(documents), np.zeros(0, np.int64), self.dtype)
        self._tfidf = transformer
        return self

    def transform(self, raw_documents: Any) -> Any:
        """Return these texts as rows of tf-idf of the words that are known.

        Parameters
        ----------
        raw_documents : iterable
            Texts.

        Returns
        -------
        X : sparse array of shape (n_samples, n_features)
        """
        check_is_fitted(self, "_tfidf", msg="The TF-IDF vectorizer is not fitted")
        return self._tfidf.transform(super().transform(raw_documents), copy=False)

    def _transformer(self) -> TfidfTransformer:
        return TfidfTransformer(
            norm=self.norm, use_idf=self.use_idf, smooth_idf=self.smooth_idf, sublinear_tf=self.sublinear_tf
        )

    def _learn(self, raw_documents: Any) -> Any:
        """Learn words and weights; return the rows of counts."""
        if self.dtype not in FLOAT_DTYPES:
            name = np.dtype(self.dtype).name
            problem = f"Only float32 or float64 'dtype' should be used. {name} is converted to float64."
            warnings.warn(problem, UserWarning, stacklevel=3)
        rows = super().fit_transform(raw_documents)
        self._tfidf = self._transformer().fit(rows)
        return rows
