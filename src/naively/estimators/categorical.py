"""The estimator of categories."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.errors import InputError
from naively.estimators.counts import SmoothedClassifier
from naively.estimators.validation import Between, OneOf
from naively.families.base import Family
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.category_array import CategoryArrayBlock
from naively.families.categorical import LARGEST_TABLE, Categorical
from naively.read.frame import Frame
from naively.score.table import with_infinities
from naively.smooth.backgrounds import ADDED


class CategoricalNB(SmoothedClassifier):
    """Categorical Naive Bayes: each column holds one of a few categories, as text or as codes 0, 1, 2, ...

    >>> from naively import CategoricalNB
    >>> X = [["red", "round"], ["red", None], ["green", "long"]]
    >>> clf = CategoricalNB().fit(X, ["apple", "apple", "cucumber"])
    >>> clf.predict([["green", "long"], ["red", "square"]]).tolist()
    ['cucumber', 'apple']

    p(v | j, c) = (N_cjv + α) / (N_cj + αK_j). Parameters, methods and attributes are those of scikit-learn's class of
    that name, and two more.

    Parameters
    ----------
    alpha : float or rule (`Additive`, `Epsilon`, `Unsmoothed`) or "auto", default=1.0
        What is added to every count.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to that.
    fit_prior : bool, default=True
        Whether the classes' share of the rows counts, or all are alike.
    class_prior : array-like of shape (n_classes,) or rule (`Empirical`, `Smoothed`, `Uniform`, `Given`), default=None
        Probabilities of the classes, in sorted order.
    min_categories : int, array-like of shape (n_features,) or None, default=None
        The least number of categories of a column of codes.
    unseen : {"smooth", "ignore"}, default="smooth"
        A category never seen has the probability of one with a count of 0, or is left out like a missing value.
    numbers : {"codes", "names"}, default="codes"
        Numbers are codes 0, 1, 2, ..., of which those below the largest exist even if unseen, and fractions are
        refused; or names of categories, as text is: half a star (3.5), a post code (90210).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SmoothedClassifier._parameter_constraints,
        "min_categories": [None, "array-like", Between(Integral, 1)],
        "alpha": [Between(Real, 0), OneOf("auto"), *ADDED],
        "unseen": [OneOf("smooth", "ignore")],
        "numbers": [OneOf("codes", "names")],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: Any = True,
        fit_prior: Any = True,
        class_prior: Any = None,
        min_categories: Any = None,
        unseen: Any = "smooth",
        numbers: Any = "codes",
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unseen = unseen
        self.numbers = numbers

    def _counted(self) -> Any:
        return None if self.numbers == "codes" else ("numbers", self.numbers)

    def _family(self) -> Family:
        return Categorical(type(self).__name__, self.unseen)

    def _rule(self) -> Any:
        rule = super()._rule()
        if rule.per_feature:
            raise InputError(f"{type(self).__name__} takes one alpha for all columns, got {self.alpha!r}")
        return rule

    def _blocks_of(self, model: Any) -> Blocks:
        array: Any = super()._blocks_of(model).blocks[0]
        least = tuple(self._least_categories(self.n_features_in_).tolist())
        named = self.numbers == "names"
        return Blocks(type(self).__name__, (CategoryArrayBlock(array.family, array.columns, least, named),))

    def _least_categories(self, columns: int) -> Array:
        given = self._value("min_categories")
        if given is None or self.numbers == "names":
            return np.zeros(columns, np.int64)
        least = np.array(given)
        if not np.issubdtype(least.dtype, np.signedinteger):
            raise InputError(f"'min_categories' should have integral type. Got {least.dtype} instead.")
        if least.shape not in ((), (columns,)):
            raise InputError(
                f"'min_categories' should have shape ({columns},) when an array-like is provided. "
                f"Got {least.shape} instead."
            )
        least = np.broadcast_to(least, columns)
        if least.min(initial=1) < 1 or least.sum(dtype=np.float64) > LARGEST_TABLE:
            raise InputError(f"'min_categories' should be 1 or more, {LARGEST_TABLE:_} in all at most, got {given!r}")
        return least

    @staticmethod
    def _as_given(X: Any) -> Any:
        """A list of lists keeps text, numbers and what is missing apart."""
        return np.array(X, dtype=object) if isinstance(X, list) and X and isinstance(X[0], (list, tuple)) else X

    def _frame_of(self, X: Any) -> Frame:
        return Frame.of_rows(X)

    def _categories(self, name: str) -> Categories:
        """The categories of all columns, for the attribute of this name."""
        model = self._fitted(name)
        [block] = self._blocks_of(model).blocks
        return model.features.get(block.name) or block.features_of(model.cache(block.name).kept_table)

    @property
    def n_categories_(self) -> Array:
        """Number of categories of each column."""
        return self._categories("n_categories_").sizes

    @property
    def categories_(self) -> list[Array]:
        """The categories of each column, in the order of their codes."""
        values = self._categories("categories_").values
        return [np.arange(v.size) if v.names is None else v.names for v in values]

    @property
    def category_count_(self) -> list[Array]:
        """For each column: how often each class has each category."""
        tally = self._fitted("category_count_").ledger.total.part
        counts = [np.zeros((len(tally.rows), size)) for size in tally.features.sizes.tolist()]
        column, code = tally.cells.feature >> CODE_BITS, tally.cells.feature & MISSING
        for j, count in enumerate(counts):
            here = (column == j) & (code != MISSING)
            count[tally.cells.klass[here], code[here]] = tally.cells.values[0, here]
        return [self._by_class(count) for count in counts]

    @property
    def feature_log_prob_(self) -> list[Array]:
        """For each column: the log-probability of each category in each class."""
        self._fitted("feature_log_prob_")
        table = self.table_.block
        impossible = None if table.impossible is None else table.impossible[0][:, : table.classes.size]
        weights = with_infinities(table.weights[:, : table.classes.size], impossible)
        return [
            self._by_class(np.ascontiguousarray(weights[start : start + size].T))
            for start, size in zip(table.offsets.tolist(), table.sizes.tolist(), strict=True)
        ]

    @property
    def _positive_only(self) -> bool:
        return self.numbers == "codes"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
