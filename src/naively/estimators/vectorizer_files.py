"""Vectorizers as files: their parameters, and the words that they know."""

from __future__ import annotations

import codecs
import os
import re
from typing import Any

import numpy as np

from naively import __version__
from naively.count.vocabulary import spelt
from naively.errors import FileError, InputError
from naively.store.codec import Reader, Writer
from naively.store.container import Contents, write


def save(vectorizer: Any, path: str | os.PathLike[str]) -> None:
    """Write a vectorizer to a file, whole or not at all."""
    if not type(vectorizer).__module__.startswith("naively."):
        name = type(vectorizer).__name__
        raise InputError(f"{name} is a class of your own, which a file cannot name; pickle it instead")
    writer = Writer()
    parameters = vectorizer.get_params(deep=False)
    if "dtype" in parameters:
        parameters["dtype"] = np.dtype(vectorizer.dtype).name
    words = getattr(vectorizer, "vocabulary_", None)
    document = {
        "kind": type(vectorizer).__name__,
        "naively": __version__,
        "parameters": writer.put(parameters, "parameters"),
        "words": None if words is None else writer.put(_listed(words), "words"),
        "fixed": bool(getattr(vectorizer, "fixed_vocabulary_", False)),
        "weights": writer.put(_weights(_transformer(vectorizer)), "weights"),
    }
    write(path, document, writer.arrays)


def _listed(words: dict[str, int]) -> dict[str, Any]:
    names = sorted(words, key=words.__getitem__)
    spelled = [name.encode("utf-8", "surrogatepass") for name in names]
    return {
        "bytes": np.frombuffer(b"".join(spelled), np.uint8),
        "length": np.array([len(name) for name in spelled], np.int64),
        "column": np.array([words[name] for name in names], np.int64),
    }


def _transformer(vectorizer: Any) -> Any:
    """Return the part that weighs counts; None for vectorizers that only count, or that have learnt nothing."""
    return getattr(vectorizer, "_tfidf", None) if hasattr(vectorizer, "build_analyzer") else vectorizer


def _weights(transformer: Any) -> dict[str, Any] | None:
    """Return what the weights of words are computed from, or the weights themselves if they were set."""
    if transformer is None:
        return None
    counted, idf = getattr(transformer, "_counted", None), getattr(transformer, "idf_", None)
    if counted is None:
        return None if idf is None else {"idf": np.asarray(idf, np.float64)}
    kind = "float64" if idf is None else idf.dtype.name
    return {"rows": counted[0], "holding": counted[1], "kind": kind}


def loaded(kind: Any, contents: Contents, trust: frozenset[str]) -> Any:
    """Return the vectorizer that was saved, of this class; `trust` are import paths of functions that it may call."""
    try:
        return _loaded(kind, contents, trust)
    except FileError as error:
        raise FileError(f"{contents.path}: {error}") from None
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError, RecursionError, re.error) as error:
        raise FileError(f"{contents.path}: the file is damaged ({error})") from None


def _loaded(kind: Any, contents: Contents, trust: frozenset[str]) -> Any:
    document, reader = contents.document, Reader(contents.arrays, trust=trust)
    contents.verify()
    parameters: dict[str, Any] = reader.by_name(document["parameters"])
    if "dtype" in parameters:
        parameters["dtype"] = np.dtype(parameters["dtype"]).type
        codecs.lookup(parameters["encoding"])
    vectorizer = kind(**parameters)
    vectorizer._validate_params()
    words: dict[str, Any] | None = None
    if document["words"] is not None:
        words = reader.by_name(document["words"])
        vectorizer.vocabulary_ = _known(**words)
        vectorizer.fixed_vocabulary_ = bool(document["fixed"])
    if document["weights"] is not None:
        weights = reader.by_name(document["weights"])
        _weigh(vectorizer, None if words is None else len(words["column"]), weights)
    if "dtype" in parameters:
        _try_out(vectorizer)
    return vectorizer


def _weigh(vectorizer: Any, n_words: int | None, weights: dict[str, Any]) -> None:
    """Give a vectorizer the weights of its words, or what they are computed from."""
    transformer = vectorizer
    if n_words is not None:
        transformer = vectorizer._tfidf = vectorizer._transformer()
    numbers = weights["idf"] if "idf" in weights else weights["holding"]
    if "idf" in weights:
        transformer.idf_ = numbers
        sound = np.isfinite(numbers).all()
    else:
        sound = numbers.dtype == np.int64 and ((numbers >= 0) & (numbers <= weights["rows"])).all()
    if not sound or numbers.ndim != 1 or n_words not in (None, len(numbers)):
        raise FileError("the file is damaged (weights that are none)")
    if "holding" in weights:
        transformer._add(weights["rows"], numbers, np.dtype(weights["kind"]))


def _try_out(vectorizer: Any) -> None:
    """Find the words of a text, so that a pattern or a parameter that cannot work raises now."""
    if np.dtype(vectorizer.dtype).kind not in "biuf":
        raise FileError(f"the file is damaged (counts cannot be {vectorizer.dtype.__name__})")
    vectorizer._validate_ngram_range()
    analyze = vectorizer.build_analyzer()
    if vectorizer.input != "content":  # a text would be taken for the name of a file
        return
    analyze("a")
    if hasattr(vectorizer, "vocabulary_") or not hasattr(vectorizer, "vocabulary"):
        vectorizer.transform(["a"])


def _known(bytes: Any, length: Any, column: Any) -> dict[str, int]:
    sound = (length >= 0).all() and int(length.sum()) == len(bytes) and len(length) == len(column)
    names = spelt(bytes.tobytes(), np.cumsum(length)) if sound else []
    known = dict(zip(names, column.tolist(), strict=True))
    if not sound or len(known) != len(column) or sorted(known.values()) != list(range(len(known))):
        raise FileError("the file is damaged (words that are none)")
    return known
