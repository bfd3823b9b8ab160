"""Loading estimators from files."""

from __future__ import annotations

import os
from typing import Any

from naively.estimators.categorical import CategoricalNB
from naively.estimators.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
from naively.estimators.gaussian import GaussianClassifier, GaussianNB
from naively.estimators.table import NaiveBayes
from naively.estimators.text import TextClassifier
from naively.estimators.vectorizer_files import loaded
from naively.estimators.vectorizers import CountVectorizer, HashingVectorizer
from naively.learn.files import Saved
from naively.store.container import read

KINDS = {
    kind.__name__: kind
    for kind in (
        BernoulliNB, CategoricalNB, ComplementNB, GaussianClassifier, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB,
        TextClassifier,
    )
}  # fmt: skip
"""The classifiers that a file may hold, by name."""
VECTORIZERS = {kind.__name__: kind for kind in (CountVectorizer, HashingVectorizer)}


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
    contents = read(path)
    if verify:
        contents.verify()
    kind = VECTORIZERS.get(str(contents.document.get("kind")))
    return Saved.of(contents).learner(KINDS) if kind is None else loaded(kind, contents)
