"""Loading estimators from files."""

from __future__ import annotations

import os
from typing import Any

import naively
from naively.learn.files import Saved
from naively.learn.learner import Learner
from naively.learn.parts import holds_part, part_of
from naively.store import container
from naively.store.container import Contents, read
from naively.store.functions import trusted


def _public_class(name: str) -> type | None:
    found = getattr(naively, name) if name in naively.__all__ else None
    return found if isinstance(found, type) else None


def classifier(kind: str) -> dict[str, Any]:
    """Return the class of this name if a file may hold such classifiers; other classes are not loaded."""
    found = _public_class(kind)
    return {kind: found} if found is not None and issubclass(found, Learner) else {}


def load(path: str | os.PathLike[str], *, verify: bool = False, trust: Any = ()) -> Any:
    """The estimator that was saved to a file.

    >>> import naively, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "model.nb"
    >>> naively.TextClassifier().fit(["a fine film", "a dull film"], ["pos", "neg"]).save(file)
    >>> naively.load(file).predict(["so dull"]).tolist()
    ['neg']

    Nothing in a file is executed, and what is damaged is refused. Of a tokeniser of your own the file has the import
    path alone: it is imported if that is in `trust`, and the file is refused otherwise. Arrays are read where they lie,
    so that a large model is there at once; those of a file larger than 16 MB are compared with their digests when
    something is first learnt on top of them, or at once with `verify`. A pipe is refused: write what comes from it to a
    file.

    Parameters
    ----------
    path : str or path-like
        The file.
    verify : bool, default=False
        Whether to look at all of it, however large it is.
    trust : str or iterable of str, default=()
        Import paths of functions of your own that the model calls (`"my_tokens.split"`), or of their modules.

    Returns
    -------
    estimator : object
    """
    return _estimator(read(path), verify, trust)


def from_bytes(data: Any, *, verify: bool = False, trust: Any = ()) -> Any:
    """Return the estimator or the part whose bytes `to_bytes` made, or the estimator of a file that `save` wrote.

    >>> import naively
    >>> model = naively.TextClassifier().fit(["a fine film", "a dull film"], ["pos", "neg"])
    >>> naively.from_bytes(model.to_bytes()).predict(["so dull"]).tolist()
    ['neg']

    Bytes are checked as `load` checks a file.

    Parameters
    ----------
    data : bytes-like
        The bytes, which may be compressed with zstd.
    verify : bool, default=False
        Whether to compare all of them with their digests, however many there are.
    trust : str or iterable of str, default=()
        Import paths of functions of your own that the model calls, or of their modules.

    Returns
    -------
    estimator : object
    """
    return _estimator(container.from_bytes(data), verify, trust)


def _estimator(contents: Contents, verify: bool, trust: Any) -> Any:
    """Return the estimator in an open file, or the part."""
    if holds_part(contents):
        return part_of(contents, classifier(str(contents.document["part"])), trusted(trust))
    if verify:
        contents.verify()
    kind = str(contents.document.get("kind"))
    found = _public_class(kind)
    if found is None or issubclass(found, Learner) or not hasattr(found, "save"):
        return Saved.of(contents, trust).learner(classifier(kind))
    from naively.estimators import vectorizer_files  # this imports scikit-learn

    return vectorizer_files.loaded(found, contents, trusted(trust))
