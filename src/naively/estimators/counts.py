"""Estimators of counts: multinomial, complement, Bernoulli, Poisson."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.errors import InputError, warn_caller
from naively.estimators.base import CountingClassifier
from naively.estimators.from_counts import FeaturesFromCounts
from naively.estimators.validation import Between, OneOf
from naively.families.base import Family
from naively.families.bernoulli import Bernoulli
from naively.families.complement import Complement
from naively.families.counts import dense_weights
from naively.families.multinomial import Multinomial
from naively.families.poisson import Poisson
from naively.score.priors import PRIORS, Empirical, Prior, Uniform, prior_of
from naively.score.table import with_infinities
from naively.smooth.backgrounds import ADDED, BACKGROUNDS, SMOOTHINGS
from naively.smooth.rules import Additive, Evidence

_ALPHA_MIN = 1e-10


class SmoothedClassifier(CountingClassifier):
    """An estimator of counts with scikit-learn's parameters for smoothing and priors.

    `alpha` may also be a rule (`Epsilon(1e-9)`), and `class_prior` one too (`Smoothed(1.0)`). Changing them after
    fitting takes effect at once: the counts stay.
    """

    alpha: Any
    force_alpha: Any
    fit_prior: Any
    class_prior: Any
    _classes_come_first = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Between(Real, 0), "array-like", OneOf("auto"), *ADDED],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None, *PRIORS],
        "force_alpha": ["boolean"],
    }

    def _check_alpha(self) -> Any:
        """Return alpha as a number or an array of one for each feature, not below 1e-10 unless forced."""
        given = self._value("alpha")
        alpha: Any = given if isinstance(given, Real) else np.asarray(given, dtype=np.float64)
        if isinstance(alpha, np.ndarray):
            if alpha.ndim != 1 or len(alpha) != self.n_features_in_:
                raise InputError(
                    "When alpha is an array, it should contains `n_features` numbers, one for each. "
                    f"Got {alpha.shape} for {self.n_features_in_} features."
                )
            if np.min(alpha) < 0:
                raise InputError("All values in alpha must be greater than 0.")
        if not self.force_alpha and np.min(alpha) < _ALPHA_MIN:
            warn_caller(
                f"alpha too small will result in numeric errors, setting alpha = {_ALPHA_MIN:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
            )
            return np.maximum(alpha, _ALPHA_MIN)
        return alpha

    def _rule(self) -> Any:
        if isinstance(self.alpha, str) and self.alpha == "auto":
            return Evidence()
        if isinstance(self.alpha, SMOOTHINGS):
            given = getattr(self.alpha, "alpha", None)
            if isinstance(given, tuple) and len(given) != self.n_features_in_:
                got = f"{len(given)} for {self.n_features_in_} features"
                raise InputError(f"Additive: one alpha is needed, or one for each feature, got {got}")
            return self.alpha
        return Additive(self.alpha if type(self.alpha) is float and self.force_alpha else self._check_alpha())

    def _prior_rule(self) -> Prior:
        return prior_of(self._value("class_prior"), Empirical() if self.fit_prior else Uniform())

    @property
    def _positive_only(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        tags.input_tags.positive_only = self._positive_only
        return tags


class FeatureCounts(FeaturesFromCounts, SmoothedClassifier):
    """An estimator whose counts and log-probabilities are arrays, classes by features, made at first use."""

    @property
    def feature_count_(self) -> Array:
        """Counts, classes by features."""
        self._fitted("feature_count_")
        return self._by_class(self.tally_.part.dense()).astype(np.float64)

    @property
    def feature_log_prob_(self) -> Array:
        """Log-probability of each feature in each class."""
        self._fitted("feature_log_prob_")
        return self._by_class(self._feature_log_prob())

    def _feature_log_prob(self) -> Array:
        return dense_weights(self.table_.block)


class MultinomialNB(FeatureCounts):
    """Multinomial Naive Bayes: every occurrence of a feature is one draw from its class.

    >>> from naively import MultinomialNB
    >>> clf = MultinomialNB().fit([[2, 1, 0], [0, 1, 3]], ["sport", "politics"])
    >>> clf.predict([[1, 1, 0]]).tolist()
    ['sport']
    >>> clf.partial_fit([[0, 0, 5]], ["weather"]).predict([[0, 0, 4]]).tolist()
    ['weather']
    >>> clf.forget([[0, 0, 5]], ["weather"]).tally_
    Tally(2 rows, 2 classes, 3 features)

    p(w | c) = (N_cw + α) / (N_c + αV). Parameters, methods and attributes are those of scikit-learn's class of that
    name.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,), rule or "auto", default=1.0
        What is added to every count; "auto": the α that makes the counts most probable. Rules are `Additive`,
        `Epsilon`, `Unsmoothed`, `JelinekMercer`, `Dirichlet`, `AbsoluteDiscount` and `WittenBell`.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to that.
    fit_prior : bool, default=True
        Whether the classes' share of the rows counts, or all are alike.
    class_prior : array-like of shape (n_classes,) or rule (`Empirical`, `Smoothed`, `Uniform`, `Given`), default=None
        Probabilities of the classes, in sorted order.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeatureCounts._parameter_constraints,
        "alpha": [*FeatureCounts._parameter_constraints["alpha"], *BACKGROUNDS],
    }

    def __init__(self, *, alpha: Any = 1.0, force_alpha: Any = True, fit_prior: Any = True, class_prior: Any = None):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self) -> Family:
        return Multinomial(type(self).__name__)


class ComplementNB(FeatureCounts):
    """Complement Naive Bayes: weighs a feature by how rarely the other classes use it.

    >>> from naively import ComplementNB
    >>> ComplementNB().fit([[2, 1, 0], [0, 1, 3]], ["a", "b"]).predict([[0, 1, 1]]).tolist()
    ['b']

    Counts as `MultinomialNB` does. Parameters, methods and attributes are those of scikit-learn's class of that name.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,) or Additive, default=1.0
        What is added to every count.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to that.
    fit_prior : bool, default=True
        Only matters where there is one class.
    class_prior : array-like of shape (n_classes,), default=None
        Only matters where there is one class.
    norm : bool, default=False
        Whether the weights of each class are divided by their sum.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeatureCounts._parameter_constraints,
        "norm": ["boolean"],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: Any = True,
        fit_prior: Any = True,
        class_prior: Any = None,
        norm: Any = False,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.norm = norm

    def _family(self) -> Family:
        return Complement(type(self).__name__, bool(self.norm))

    def _rule(self) -> Any:
        rule = super()._rule()
        if not rule.adds:
            raise InputError(f"{type(self).__name__} is smoothed by Additive(alpha) or 'auto' only, got {rule!r}")
        return rule

    @property
    def feature_all_(self) -> Array:
        """Count of each feature in all classes together."""
        self._fitted("feature_all_")
        return self.tally_.part.dense().sum(axis=0).astype(np.float64)


class BernoulliNB(FeatureCounts):
    """Bernoulli Naive Bayes: a feature is there or not, and its absence counts too.

    >>> from naively import BernoulliNB
    >>> BernoulliNB().fit([[1, 0], [0, 1]], ["a", "b"]).predict_proba([[1, 0]]).round(3).tolist()
    [[0.8, 0.2]]

    Parameters, methods and attributes are those of scikit-learn's class of that name.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,), rule (`Additive`, `Epsilon`, `Unsmoothed`) or "auto", default=1.0
        What is added to the count of presences and to that of absences.
    force_alpha : bool, default=True
        If False, an alpha below 1e-10 is raised to that.
    binarize : float or None, default=0.0
        A value above this is a presence. None: values are 0 to 1 already.
    fit_prior : bool, default=True
        Whether the classes' share of the rows counts, or all are alike.
    class_prior : array-like of shape (n_classes,) or rule (`Empirical`, `Smoothed`, `Uniform`, `Given`), default=None
        Probabilities of the classes, in sorted order.
    """

    _entries_once = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeatureCounts._parameter_constraints,
        "binarize": [None, Between(Real, 0)],
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: Any = True,
        binarize: Any = 0.0,
        fit_prior: Any = True,
        class_prior: Any = None,
    ):
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _counted(self) -> Any:
        return "binarize", self.binarize

    def _family(self) -> Family:
        return Bernoulli(type(self).__name__, None if self.binarize is None else float(self.binarize))

    @property
    def _positive_only(self) -> bool:
        return self.binarize is None

    def _feature_log_prob(self) -> Array:
        [part] = self._model.ledger.counted.values()
        view, family = part.view(), Bernoulli()
        settled = family.settle(self._rule(), view)
        shares = (family.log_shares(view, settled, klass) for klass in range(view.classes.size))
        return np.array([with_infinities(*of_class) for of_class in shares])


class PoissonNB(FeatureCounts):
    """Poisson Naive Bayes: a feature is a number of events, with a rate for each class.

    >>> from naively import PoissonNB
    >>> clf = PoissonNB().fit([[3, 0], [5, 1], [0, 9]], ["a", "a", "b"])
    >>> clf.rate_.tolist()
    [[3.0, 0.6666666666666666], [0.5, 5.0]]
    >>> clf.predict([[4, 1]]).tolist()
    ['a']

    λ = (S + α) / (n + α), S being the events and n the rows of the class in which they are known.

    Parameters
    ----------
    alpha : float, array-like of shape (n_features,), rule (`Additive`, `Epsilon`, `Unsmoothed`) or "auto", default=1.0
        As if each class had α more rows with one event each.
    fit_prior : bool, default=True
        Whether the classes' share of the rows counts, or all are alike.
    class_prior : array-like of shape (n_classes,) or rule (`Empirical`, `Smoothed`, `Uniform`, `Given`), default=None
        Probabilities of the classes, in sorted order.
    """

    _classes_come_first = False
    _entries_once = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        key: value for key, value in FeatureCounts._parameter_constraints.items() if key != "force_alpha"
    }
    force_alpha = True

    def __init__(self, *, alpha: Any = 1.0, fit_prior: Any = True, class_prior: Any = None):
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _family(self) -> Family:
        return Poisson(type(self).__name__)

    @property
    def rate_(self) -> Array:
        """The rate of each feature in each class."""
        self._check_fitted()
        return np.exp(self.feature_log_prob_)
