"""Vectorizers: texts as sparse rows of counts, for every other model."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import sklearn.feature_extraction.text as theirs
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval, StrOptions

from naively import _core
from naively.arrays import Array
from naively.count.vocabulary import Vocabulary
from naively.errors import InputError
from naively.families.words.selection import Selection
from naively.learn.parameters import Named, refuse_unknown
from naively.read.texts import Texts
from naively.read.tokens import Tokens
from naively.threads import threads

try:
    from sklearn.utils._sparse import _align_api_if_sparse as _in_house_style
except ImportError:  # scikit-learn before 1.9

    def _in_house_style(X: Any) -> Any:
        return sparse.csr_matrix(X)


WORD_PATTERN = r"(?u)\b\w\w+\b"
_KINDS = {"word": "sklearn", "char_wb": "chars", "char": "stream"}


_ADDED: dict[str, Any] = {
    "tokens": [StrOptions({"sklearn", "words", "chars"})],
    "threads": [Interval(Integral, 1, 1024, closed="both"), None],
}
"""The parameters that scikit-learn's classes do not have."""


class FastTokens(Named):
    """A vectorizer that uses the compiled tokeniser unless a parameter needs Python code."""

    tokens: Any
    threads: Any
    _methods = ("build_analyzer", "build_tokenizer", "build_preprocessor", "decode")

    def _tokens(self: Any) -> Tokens | None:
        """The rule for the compiled tokeniser; None where tokens must be found by scikit-learn's own code."""
        self._validate_ngram_range()
        if self.tokens != "sklearn":
            kind, stop = self.tokens, self.get_stop_words() if self.tokens == "words" else None
        elif callable(self.analyzer) or self.preprocessor is not None or self._overridden():
            return None
        else:
            kind, stop = _KINDS.get(self.analyzer), None
            if kind == "sklearn":
                if self.tokenizer is not None or self.token_pattern != WORD_PATTERN:
                    return None
                stop = self.get_stop_words()
                self._check_stop_words_consistency(stop, self.build_preprocessor(), self.build_tokenizer())
        if kind is None or (self.strip_accents and self.strip_accents not in ("unicode", "ascii")):
            return None
        ngrams = tuple(self.ngram_range)
        if not all(1 <= n <= 255 for n in ngrams):
            return None
        return Tokens(
            kind,
            ngrams,
            bool(self.lowercase),
            False,
            self.strip_accents or None,
            None if stop is None else frozenset(stop),
        )

    def _overridden(self: Any) -> bool:
        """True if a subclass has its own analyzer or tokenizer."""
        ours = next(cls for cls in type(self).__mro__ if cls.__module__ == __name__)
        return any(getattr(type(self), name) is not getattr(ours, name) for name in self._methods)

    def _texts(self: Any, documents: Any, rule: Tokens) -> Texts | None:
        """Return texts for the core; None if one of them is no text."""
        if isinstance(documents, (bytes, str)):
            raise InputError("Iterable over raw text documents expected, string object received.")
        if self.input != "content":
            return rule.texts([self.decode(document) for document in documents])
        if hasattr(documents, "to_pylist") and "binary" in str(getattr(documents, "type", "")):
            documents = documents.to_pylist()
        in_python = isinstance(documents, (list, tuple, np.ndarray)) or str(getattr(documents, "dtype", "")) == "object"
        if in_python and any(isinstance(d, bytes) for d in documents):
            documents = self._plain(list(documents))
        try:
            texts = rule.texts(documents)
        except InputError:
            return None
        if len(texts.missing):
            return None
        return texts

    def _plain(self: Any, documents: Any) -> Any:
        """Documents as scikit-learn's own code takes them; what comes as bytes is decoded."""
        if not isinstance(documents, (list, tuple)) and self.input == "content" and not isinstance(documents, str):
            documents = list(documents.to_pylist() if hasattr(documents, "to_pylist") else documents)
        if self.input == "content" and any(isinstance(d, bytes) for d in documents):
            documents = [self.decode(d) if isinstance(d, bytes) else d for d in documents]
        return documents

    def _n_threads(self: Any, texts: Texts) -> int:
        return threads(texts.core.bytes) if self.threads is None else self.threads

    def set_params(self: Any, **parameters: Any) -> Any:
        """Change some parameters.

        Parameters
        ----------
        **parameters
            Values by name.

        Returns
        -------
        self : object
        """
        known, names = self.get_params(deep=False), (name.partition("__")[0] for name in parameters)
        refuse_unknown(type(self).__name__, known, names)
        return super().set_params(**parameters)  # type: ignore[misc]

    def save(self: Any, path: Any) -> None:
        """Write the vectorizer to a file, whole or not at all; `naively.load` reads it.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced once the new one is on disk.
        """
        from naively.estimators.vectorizer_files import save

        save(self, path)

    def build_analyzer(self: Any) -> Any:
        """A function from a text to its tokens; equal ones stand together, unless tokens="sklearn".

        Returns
        -------
        analyzer : callable
        """
        if self.tokens == "sklearn":
            return super().build_analyzer()  # type: ignore[misc]
        rule = self._tokens()

        def analyze(document: Any) -> list[str]:
            words = Vocabulary()
            read = _core.read_growing(rule.texts([self.decode(document)]).core, rule.core, 1, words.table)
            names = Vocabulary.all_of(words.table).names_of(read[1].astype(np.int64))
            return [name for name, count in zip(names, read[2].tolist(), strict=True) for _ in range(count)]

        return analyze


class CountVectorizer(FastTokens, theirs.CountVectorizer):
    """Texts to rows of word counts: scikit-learn's `CountVectorizer`, with the compiled tokeniser under it.

    >>> from naively import CountVectorizer
    >>> vectorizer = CountVectorizer()
    >>> vectorizer.fit_transform(["one fish two fish", "red fish"]).toarray().tolist()
    [[2, 1, 0, 1], [1, 0, 1, 0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['fish', 'one', 'red', 'two']
    >>> vectorizer.partial_fit(["blue fish"]).transform(["blue fish"]).toarray().tolist()
    [[1, 0, 0, 0, 1]]

    Parameters, attributes and results are those of scikit-learn's class of that name. Three things are added:
    `partial_fit`, which gives new words the columns behind those there are, and two parameters. Tokenisers,
    preprocessors, analysers and patterns of the user's own work as there, at the same speed as there.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern, \
ngram_range, analyzer, max_df, min_df, max_features, vocabulary, binary, dtype
        As in scikit-learn.
    tokens : {"sklearn", "words", "chars"}, default="sklearn"
        What a word is, as in `TextClassifier`. Other than "sklearn" replaces analyzer, tokenizer and token_pattern.
    threads : int, default=None
        Number of threads; None: one for each core, if there is enough work.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **theirs.CountVectorizer._parameter_constraints,
        **_ADDED,
    }

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
        stop_words: Any = None,
        token_pattern: Any = WORD_PATTERN,
        ngram_range: Any = (1, 1),
        analyzer: Any = "word",
        max_df: Any = 1.0,
        min_df: Any = 1,
        max_features: Any = None,
        vocabulary: Any = None,
        binary: Any = False,
        dtype: Any = np.int64,
        tokens: Any = "sklearn",
        threads: Any = None,
    ):
        super().__init__(
            input=input, encoding=encoding, decode_error=decode_error, strip_accents=strip_accents, lowercase=lowercase,
            preprocessor=preprocessor, tokenizer=tokenizer, stop_words=stop_words, token_pattern=token_pattern,
            ngram_range=ngram_range, analyzer=analyzer, max_df=max_df, min_df=min_df, max_features=max_features,
            vocabulary=vocabulary, binary=binary, dtype=dtype,
        )  # fmt: skip
        self.tokens = tokens
        self.threads = threads

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the words of these texts, and count them.

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
        rule = self._tokens()
        if rule is None or self.vocabulary is not None:
            return super().fit_transform(raw_documents, y)
        self._warn_for_unused_params()
        documents = _held(raw_documents)
        texts = self._texts(documents, rule)
        if texts is None:
            return super().fit_transform(self._plain(documents), y)
        self._validate_vocabulary()
        words = Vocabulary()
        n_threads = self._n_threads(texts)
        read = _core.read_growing(texts.core, rule.core, n_threads, words.table)
        words = Vocabulary.all_of(words.table)
        numbers = np.unique(read[1]).astype(np.int64) if rule.ngrams[0] > 1 else np.arange(words.size)
        if not len(numbers):
            raise InputError("empty vocabulary; perhaps the documents only contain stop words")
        selected = self._limited(words, numbers, read, len(texts))
        selected = selected[words.order_of(selected)]
        place = np.full(words.size, -1, np.int32)
        place[selected] = np.arange(len(selected), dtype=np.int32)
        self.vocabulary_ = dict(zip(words.names_of(selected), range(len(selected)), strict=True))
        self._reader = self.vocabulary_, len(selected), rule, words, place
        return self._matrix(*_core.reorder(*read, place, n_threads))

    def _limited(self, words: Vocabulary, numbers: Array, read: tuple[Array, Array, Array], rows: int) -> Array:
        """Return the words within the limits of document frequency, and of those only the most frequent."""
        bounds: list[Any] = [v if isinstance(v, Integral) else v * rows for v in (self.max_df, self.min_df)]
        high, low = bounds
        if high < low:
            raise InputError("max_df corresponds to < documents than min_df")
        if low <= 1 and high >= rows and self.max_features is None:
            return numbers
        documents = np.bincount(read[1], minlength=words.size)[numbers]
        selected = numbers[(documents >= low) & (documents <= high)]
        limit = self.max_features
        if limit is not None and len(selected) > limit:
            selected = selected[words.order_of(selected)]
            often = np.bincount(read[1], weights=None if self.binary else read[2], minlength=words.size)[selected]
            selected = selected[np.argsort(-often.astype(np.int64))[:limit]]
        if not len(selected):
            raise InputError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")
        return selected

    def partial_fit(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the words of these texts as well; known words keep their columns.

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
        self._validate_params()
        rule = self._tokens()
        if rule is None:
            raise InputError("partial_fit needs tokens that the compiled core finds; leave analyzer and the like alone")
        if self.vocabulary is not None:
            raise InputError("partial_fit cannot add to a vocabulary that was given")
        if not Selection(self.min_df, self.max_df, self.max_features).none:
            raise InputError("partial_fit keeps every word; leave min_df, max_df and max_features alone, or use fit")
        texts = self._texts(_held(raw_documents), rule)
        if texts is None:
            raise InputError("partial_fit takes texts; one of these is none")
        self._validate_vocabulary()
        fresh = Vocabulary()
        read = _core.read_growing(texts.core, rule.core, self._n_threads(texts), fresh.table)
        fresh = Vocabulary.all_of(fresh.table)
        numbers = np.unique(read[1]).astype(np.int64)
        known = dict(getattr(self, "vocabulary_", {}))
        for name in fresh.names_of(numbers[fresh.order_of(numbers)]):
            known.setdefault(name, len(known))
        self.vocabulary_ = known
        return self

    def transform(self, raw_documents: Any) -> Any:
        """Count the words of these texts that are known.

        Parameters
        ----------
        raw_documents : iterable
            Texts.

        Returns
        -------
        X : sparse array of shape (n_samples, n_features)
        """
        documents = _held(raw_documents)
        counted = self._counted(documents)
        return super().transform(self._plain(documents)) if counted is None else counted

    def _counted(self, documents: Any) -> Any:
        """Rows of known words; None if scikit-learn's own code has to count, or to raise."""
        rule = self._tokens()
        texts = None if rule is None else self._texts(documents, rule)
        if rule is None or texts is None:
            return None
        self._check_vocabulary()
        words, place = self._known(rule)
        n_threads = self._n_threads(texts)
        read = _core.read_fixed(texts.core, rule.core, n_threads, words.table, place, words.size)
        return self._matrix(*_core.reorder(*read, np.arange(len(self.vocabulary_), dtype=np.int32), n_threads))

    def _count_vocab(self, raw_documents: Any, fixed_vocab: bool) -> tuple[Any, Any]:
        documents = _held(raw_documents)
        counted = self._counted(documents) if fixed_vocab else None
        if counted is None:
            return super()._count_vocab(documents, fixed_vocab)
        return self.vocabulary_, counted

    def _known(self, rule: Tokens) -> tuple[Vocabulary, Array]:
        """The words of `vocabulary_`, and the column of each by its number."""
        reader = getattr(self, "_reader", None)
        if reader is not None and reader[0] is self.vocabulary_ and reader[1:3] == (len(self.vocabulary_), rule):
            return reader[3], reader[4]
        names = [name for name in self.vocabulary_ if isinstance(name, str)]
        words = Vocabulary.of(names, split=not rule.spelt)
        place = np.full(words.size, -1, np.int32)
        place[words.locate(names, split=not rule.spelt)] = [self.vocabulary_[name] for name in names]
        self._reader = self.vocabulary_, len(self.vocabulary_), rule, words, place
        return words, place

    def _matrix(self, starts: Array, column: Array, count: Array) -> Any:
        data = np.ones(len(count), self.dtype) if self.binary else count.astype(self.dtype)
        X = _rows_of(starts, column, data, len(self.vocabulary_))
        X.has_sorted_indices = True
        return _in_house_style(X)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_reader"}


class HashingVectorizer(FastTokens, theirs.HashingVectorizer):
    """Texts to rows of hashed word counts: scikit-learn's `HashingVectorizer`, with the compiled tokeniser under it.

    >>> from naively import HashingVectorizer
    >>> HashingVectorizer(n_features=8, norm=None).transform(["one fish two fish"]).toarray().tolist()
    [[1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 2.0]]

    Parameters and results are those of scikit-learn's class of that name, to the same columns.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, token_pattern, \
ngram_range, analyzer, n_features, binary, norm, alternate_sign, dtype
        As in scikit-learn.
    tokens : {"sklearn", "words", "chars"}, default="sklearn"
        What a word is, as in `TextClassifier`. Other than "sklearn" replaces analyzer, tokenizer and token_pattern.
    threads : int, default=None
        Number of threads; None: one for each core, if there is enough work.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **theirs.HashingVectorizer._parameter_constraints,
        **_ADDED,
    }

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
        stop_words: Any = None,
        token_pattern: Any = WORD_PATTERN,
        ngram_range: Any = (1, 1),
        analyzer: Any = "word",
        n_features: Any = 2**20,
        binary: Any = False,
        norm: Any = "l2",
        alternate_sign: Any = True,
        dtype: Any = np.float64,
        tokens: Any = "sklearn",
        threads: Any = None,
    ):
        super().__init__(
            input=input, encoding=encoding, decode_error=decode_error, strip_accents=strip_accents, lowercase=lowercase,
            preprocessor=preprocessor, tokenizer=tokenizer, stop_words=stop_words, token_pattern=token_pattern,
            ngram_range=ngram_range, analyzer=analyzer, n_features=n_features, binary=binary, norm=norm,
            alternate_sign=alternate_sign, dtype=dtype,
        )  # fmt: skip
        self.tokens = tokens
        self.threads = threads

    def transform(self, X: Any) -> Any:
        """Count the words of these texts in the columns that their hashes name.

        Parameters
        ----------
        X : iterable
            Texts.

        Returns
        -------
        X : sparse array of shape (n_samples, n_features)
        """
        rule = self._tokens()
        if rule is None:
            return super().transform(X)
        documents = _held(X)
        texts = self._texts(documents, rule)
        if texts is None:
            return super().transform(self._plain(documents))
        starts, column, count = _core.read_buckets(
            texts.core, rule.core, self._n_threads(texts), int(self.n_features), bool(self.alternate_sign)
        )
        rows = _rows_of(starts, column, count.astype(self.dtype), int(self.n_features))
        rows.sum_duplicates()
        if self.binary:
            rows.data.fill(1)
        if self.norm is not None:
            rows = normalize(rows, norm=self.norm, copy=False)
        return _in_house_style(rows)


def _rows_of(starts: Array, column: Array, data: Array, n_columns: int) -> Any:
    """Return a sparse array, with narrow indices where these suffice."""
    wide = np.int32 if len(data) <= np.iinfo(np.int32).max else np.int64
    parts = data, column.astype(wide, copy=False), starts.astype(wide)
    return sparse.csr_array(parts, shape=(len(starts) - 1, n_columns))


def _held(documents: Any) -> Any:
    """Return documents that can be iterated more than once."""
    return list(documents) if hasattr(documents, "__next__") else documents
