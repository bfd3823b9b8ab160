"""Estimators of numbers: Gaussian Naive Bayes, and the Gaussian model of which it is the diagonal case."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.estimators.base import CountingClassifier
from naively.estimators.from_counts import NumbersFromCounts
from naively.estimators.validation import Between, OneOf
from naively.families.base import Family
from naively.families.densities.covariance import SHRINKAGES, GaussianModel, epsilon
from naively.families.densities.gaussian import COVARIANCES
from naively.score.priors import PRIORS, Empirical, Prior, prior_of
from naively.score.table import CovarianceTable


class NormalClassifier(CountingClassifier):
    """Base of both Gaussian estimators."""

    priors: Any
    var_smoothing: Any

    def _prior_rule(self) -> Prior:
        return prior_of(self._value("priors"), Empirical())

    def _commit(self, model: Any) -> None:
        family: Any = self._family()
        for part in (model.ledger.parts or {}).values():
            family.check(part, self._rule())
        super()._commit(model)

    @property
    def class_prior_(self) -> Array:
        """Prior probability of each class."""
        model = self._fitted("class_prior_")
        ledger = model.ledger
        return self._by_class(self._prior_rule().share(ledger.classes, ledger.rows)).astype(model.dtype)

    @property
    def class_count_(self) -> Array:
        """Number of rows in each class, by weight."""
        return super().class_count_.astype(self._fitted("class_count_").dtype)

    @property
    def epsilon_(self) -> float:
        """The number that is added to every variance."""
        return epsilon(self._fitted("epsilon_").ledger.total.part, self.var_smoothing)

    @property
    def theta_(self) -> Array:
        """Mean of each feature in each class."""
        model = self._fitted("theta_")
        return self._by_class(_means(self.table_.block)).astype(model.dtype)


class GaussianNB(NumbersFromCounts, NormalClassifier):
    """Gaussian Naive Bayes: numbers, normally distributed in each class, each feature by itself.

    >>> from naively import GaussianNB
    >>> clf = GaussianNB().fit([[1.0, 9.0], [2.0, None], [8.0, 1.0], [9.0, 2.0]], ["a", "a", "b", "b"])
    >>> clf.predict([[1.5, None]]).tolist()
    ['a']
    >>> clf.theta_.tolist()
    [[1.5, 9.0], [8.5, 1.5]]

    Parameters, methods and attributes are those of scikit-learn's class of that name.

    Parameters
    ----------
    priors : array-like of shape (n_classes,) or rule (`Empirical`, `Smoothed`, `Uniform`, `Given`), default=None
        Probabilities of the classes, in sorted order.
    var_smoothing : float, default=1e-9
        The share of the largest variance of any feature that is added to all variances.
    """

    _classes_come_first = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "priors": ["array-like", None, *PRIORS],
        "var_smoothing": [Between(Real, 0)],
    }

    def __init__(self, *, priors: Any = None, var_smoothing: Any = 1e-9):
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _family(self) -> Family:
        return GaussianModel(type(self).__name__)

    def _rule(self) -> Any:
        return float(self.var_smoothing), 0.0

    @property
    def var_(self) -> Array:
        """Variance of each feature in each class, with `epsilon_` in it."""
        model = self._fitted("var_")
        return self._by_class(self.table_.block.parameters[1]).astype(model.dtype)


class GaussianClassifier(NormalClassifier):
    """The Gaussian class-conditional model: one mean and one covariance for each class.

    >>> from naively import GaussianClassifier
    >>> X = [[0.0, 0.0], [1.0, 1.1], [2.0, 1.9], [0.0, 2.0], [1.0, 0.9], [2.0, 0.1]]
    >>> clf = GaussianClassifier(covariance="full", shrinkage=0.1).fit(X, list("aaabbb"))
    >>> clf.predict([[2.0, 2.0], [2.0, 0.0]]).tolist()
    ['a', 'b']

    Streams, merges and forgets like every other estimator; a row with missing values is scored by the others.

    Parameters
    ----------
    covariance : {"spherical", "diagonal", "tied", "full"}, default="full"
        One variance for all features; one for each (Gaussian Naive Bayes); a covariance matrix that all classes
        share (linear discriminants); one for each class (quadratic ones).
    shrinkage : float from 0 to 1, "auto" or "ledoit-wolf", default=0.0
        How far covariances are drawn to a multiple of the identity: (1 - s) Σ + s (tr Σ / D) I. The others find s from
        the counts alone (Chen et al. 2010): "auto" by oracle approximating shrinkage, "ledoit-wolf" by the estimate of
        Ledoit and Wolf, taking rows for normally distributed.
    priors : array-like of shape (n_classes,) or rule (`Empirical`, `Smoothed`, `Uniform`, `Given`), default=None
        Probabilities of the classes, in sorted order.
    var_smoothing : float, default=1e-9
        The share of the largest variance of any feature that is added to all variances.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "covariance": [OneOf(*COVARIANCES)],
        "shrinkage": [Between(Real, 0, 1), OneOf(*SHRINKAGES)],
        "priors": ["array-like", None, *PRIORS],
        "var_smoothing": [Between(Real, 0)],
    }

    def __init__(
        self, *, covariance: Any = "full", shrinkage: Any = 0.0, priors: Any = None, var_smoothing: Any = 1e-9
    ):
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _family(self) -> Family:
        return GaussianModel(type(self).__name__, covariance=self.covariance)

    def _rule(self) -> Any:
        return float(self.var_smoothing), self.shrinkage

    @property
    def covariance_(self) -> Array:
        """Covariances as they are used: (n_classes, n_features, n_features), or one matrix where tied."""
        self._fitted("covariance_")
        table = self.table_.block
        if self.covariance == "tied":
            return table.covariance[0]
        if self.covariance == "full":
            return self._by_class(table.covariance)
        return self._by_class(np.array([np.diag(v) for v in table.parameters[1]]))

    def decision_function(self, X: Any) -> Array:
        """Return log p(row, class) of each class; of two classes, how much that of the second is above the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes), or (n_samples,) for two classes
        """
        joint = self.predict_joint_log_proba(X)
        return joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint

    @property
    def coef_(self) -> Array:
        """Weights of the features in the linear score of each class, Σ⁻¹μ; of two classes, the difference.

        Only classes that share a covariance (`covariance="tied"`) have linear scores: X @ coef_.T + intercept_ is the
        log p(row, class), up to a constant for each row.
        """
        return self._linear("coef_")[0]

    @property
    def intercept_(self) -> Array:
        """Constants of the linear scores: log p(class) - μ'Σ⁻¹μ / 2; of two classes, the difference."""
        return self._linear("intercept_")[1]

    def _linear(self, name: str) -> tuple[Array, Array]:
        self._fitted(name)
        if self.covariance != "tied":
            raise AttributeError(f"{name} needs covariance='tied': with {self.covariance!r} scores are not linear")
        mean = self._by_class(_means(self.table_.block))
        weights = np.linalg.solve(self.covariance_, mean.T).T
        constants = self.class_log_prior_ - np.einsum("kj,kj->k", mean, weights) / 2
        if len(mean) == 2:
            return weights[1:] - weights[:1], constants[1:] - constants[:1]
        return weights, constants


def _means(table: Any) -> Array:
    return table.mean if isinstance(table, CovarianceTable) else table.parameters[0]
