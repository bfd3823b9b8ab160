"""Parameters of a text classifier, as a family of words and a smoothing rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from naively.errors import InputError
from naively.families.words.block import Words
from naively.families.words.selection import Selection
from naively.read.tokens import Tokens
from naively.smooth.backgrounds import ADDED, SMOOTHINGS, rule_of
from naively.smooth.rules import Additive, Evidence

COUNTED = (
    "tokens", "ngrams", "lowercase", "negation", "accents", "stop_words", "vocabulary", "hashing", "weights", "choose",
)  # fmt: skip
"""The parameters that counts depend on; the others can be changed at any time."""


def words_family(who: str, parameters: Mapping[str, Any]) -> Words:
    """Return the family that these parameters of `TextClassifier` stand for."""
    stop, vocabulary, hashing = (parameters[name] for name in ("stop_words", "vocabulary", "hashing"))
    if vocabulary is not None and hashing is not None:
        raise InputError("vocabulary and hashing exclude each other: give one of them")
    if stop is not None:
        stop = _english() if isinstance(stop, str) else frozenset(_words(stop, "stop_words"))
    return Words(
        who=who,
        family=parameters["family"],
        weighting=parameters["weighting"],
        norm=bool(parameters.get("norm", False)),
        tokens=Tokens(
            parameters["tokens"], tuple(parameters["ngrams"]), bool(parameters["lowercase"]),
            bool(parameters["negation"]), parameters["accents"], stop,
        ),
        limits=Selection(
            parameters["min_df"], parameters["max_df"], parameters["max_features"], parameters["select"],
            parameters.get("yields", False),
        ),
        vocabulary=None if vocabulary is None else tuple(sorted(_words(vocabulary, "vocabulary"))),
        buckets=None if hashing is None else 1 << hashing,
        weights=bool(parameters.get("weights", True)),
        threads=parameters.get("threads"),
    )  # fmt: skip


def words_rule(alpha: Any, family: str) -> Any:
    """Return the rule that smooths words."""
    rule = rule_of(alpha)
    if rule.per_feature:
        raise InputError("alpha must be one number for all words: their number is not known beforehand")
    fits = {"multinomial": SMOOTHINGS, "complement": (Additive, Evidence), "bernoulli": ADDED}[family]
    if not isinstance(rule, fits):
        names = ", ".join(sorted(kind.__name__ for kind in fits))
        raise InputError(f"family={family!r} is smoothed by a number, 'auto', {names}; got {rule!r}")
    return rule


def frozen(value: Any) -> Any:
    """Return an immutable copy of a parameter: lists as tuples, lists of words as frozen sets."""
    if value is None or callable(value) or isinstance(value, (str, Real)):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    listed = list(value)
    return frozenset(listed) if listed and isinstance(listed[0], str) else tuple(listed)


def value_text(value: Any) -> str:
    """Return the repr of a parameter for a message, sets in sorted order."""
    return repr(sorted(value)) if isinstance(value, frozenset) else repr(value)


def _english() -> frozenset[str]:
    """Return scikit-learn's list of stop words; scikit-learn is loaded for it only here."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    return ENGLISH_STOP_WORDS


def _words(words: Iterable[Any], what: str) -> list[str]:
    listed = list(words)
    for word in listed:
        if not isinstance(word, str):
            raise InputError(f"{what} must be words, got {word!r} ({type(word).__name__})")
    if len(set(listed)) != len(listed):
        twice = next(word for i, word in enumerate(listed) if word in listed[:i])
        raise InputError(f"{what}: {twice!r} is there twice")
    return listed
