"""Loading estimators from files."""

from __future__ import annotations

import os
from typing import Any

import naively
from naively.learn.files import Saved
from naively.learn.parts import holds_part, part_of
from naively.store import container
from naively.store.container import Contents, read

_CLASSIFIERS = (
    "BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianClassifier", "GaussianNB", "MultinomialNB", "NaiveBayes",
    "PoissonNB", "TextClassifier",
)  # fmt: skip
_VECTORIZERS = ("CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer")


def classifier(kind: str) -> dict[str, Any]:
    """The class of this name, by its name, if a file may hold such classifiers; other classes are not loaded."""
    return {kind: getattr(naively, kind)} if kind in _CLASSIFIERS else {}


def load(path: str | os.PathLike[str], *, verify: bool = False) -> Any:
    """The estimator that was saved to a file.

    >>> import naively, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.nb"
    >>> naively.TextClassifier().fit(["a fine film", "a dull film"], ["pos", "neg"]).save(file)
    >>> naively.load(file).predict(["so dull"]).tolist()
    ['neg']

    Nothing in a file is executed, and what is damaged is refused. Arrays are read where they lie, so that a large model
    is there at once; those of a file larger than 16 MB are compared with their digests when something is first learnt
    on top of them, or at once with `verify`. A pipe is refused: write what comes from it to a file.

    Parameters
    ----------
    path : str or path-like
        The file.
    verify : bool, default=False
        Whether to look at all of it, however large it is.

    Returns
    -------
    estimator : object
    """
    return _estimator(read(path), verify)


def from_bytes(data: Any, *, verify: bool = False) -> Any:
    """Return the estimator or the part whose bytes `to_bytes` made, or the estimator of a file that `save` wrote.

    >>> import naively
    >>> model = naively.TextClassifier().fit(["a fine film", "a dull film"], ["pos", "neg"])
    >>> naively.from_bytes(model.to_bytes()).predict(["so dull"]).tolist()
    ['neg']

    Bytes are checked as `load` checks a file.

    Parameters
    ----------
    data : bytes-like
        The bytes, compressed or not.
    verify : bool, default=False
        Whether to compare all of them with their digests, however many there are.

    Returns
    -------
    estimator : object
    """
    return _estimator(container.from_bytes(data), verify)


def _estimator(contents: Contents, verify: bool) -> Any:
    """Return the estimator in an open file, or the part."""
    if holds_part(contents):
        return part_of(contents, classifier(str(contents.document["part"])))
    if verify:
        contents.verify()
    kind = str(contents.document.get("kind"))
    if kind not in _VECTORIZERS:
        return Saved.of(contents).learner(classifier(kind))
    from naively.estimators import vectorizer_files  # which imports scikit-learn

    return vectorizer_files.loaded(getattr(naively, kind), contents)
