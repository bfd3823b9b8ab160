"""scikit-learn's protocol for classifiers without its classes: it is imported only where its objects are needed."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import sys
from collections.abc import Callable
from html import escape
from typing import Any, ClassVar

from naively.arrays import Array
from naively.errors import InputError
from naively.estimators.validation import OneOf, check
from naively.learn.learner import Learner
from naively.learn.parameters import defaults_of, refuse_unknown
from naively.report import Sheet
from naively.score.calibration import METHODS

CALIBRATE = ["boolean", OneOf(*METHODS)]
"""The values that `calibrate` accepts."""


class NotFitted(InputError, AttributeError):
    """Raised by an unfitted estimator, in place of scikit-learn's error where that is missing."""


def validated(fit: Callable[..., Any]) -> Any:
    """Make a `fit` that checks the parameters first, unless scikit-learn is configured not to."""

    @functools.wraps(fit)
    def checked(self: Any, *values: Any, **named: Any) -> Any:
        if not _configured("skip_parameter_validation"):
            self._validate_params()
        return fit(self, *values, **named)

    return checked


def _configured(option: str) -> bool:
    """True if this option of `sklearn.set_config` is on; scikit-learn is not imported to find out."""
    get_config = getattr(sys.modules.get("sklearn"), "get_config", None)
    return get_config is not None and bool(get_config()[option])


# --- metadata routing

_ROUTED = ("fit", "partial_fit", "score")
"""The methods that take more than rows and labels."""


def _metadata(kind: type, method: str) -> list[str]:
    """The names of what a method takes besides rows and labels, such as `sample_weight`."""
    found = list(inspect.signature(getattr(kind, method)).parameters.values())[1:]
    return [p.name for p in found if p.name not in ("X", "y") and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _setter(method: str) -> Any:
    """Make the method `set_..._request` for one routed method."""

    def set_request(self: Any, **requests: Any) -> Any:
        if not _configured("enable_metadata_routing"):
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. "
                "You can enable it using sklearn.set_config(enable_metadata_routing=True)."
            )
        known = _metadata(type(self), method)
        unknown = set(requests) - set(known)
        if unknown:
            raise TypeError(f"Unexpected args: {unknown} in {method}. Accepted arguments are: {set(known)}")
        from sklearn.utils.metadata_routing import UNCHANGED

        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            if alias is not UNCHANGED:
                getattr(routing, method).add_request(param=name, alias=alias)
        self._metadata_request = routing
        return self

    set_request.__name__ = f"set_{method}_request"
    set_request.__qualname__ = f"SklearnProtocol.{set_request.__name__}"
    set_request.__doc__ = f"""Choose which metadata a meta-estimator passes to `{method}`.

        Needs `sklearn.set_config(enable_metadata_routing=True)`.

        Parameters
        ----------
        **requests : bool, None or str
            By name, such as sample_weight: True to pass it, False not to, None to refuse it, or the name by which
            the caller passes it to the meta-estimator.

        Returns
        -------
        self : object
        """
    return set_request


class SklearnProtocol(Learner):
    """Adds scikit-learn's protocol to a learner; a class lists this before the learner."""

    _parameter_constraints: ClassVar[dict[str, Any]]
    _metadata_request: Any
    n_features_in_: int

    # --- parameters

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the value of each parameter.

        Parameters
        ----------
        deep : bool, default=True
            Whether parameters of parameters are returned as well, as `outer__inner`.

        Returns
        -------
        parameters : dict
        """
        values = self.parameters()
        if deep:
            outer = [(name, v) for name, v in values.items() if hasattr(v, "get_params") and not isinstance(v, type)]
            values |= {f"{name}__{inner}": of for name, v in outer for inner, of in v.get_params().items()}
        return values

    def set_params(self, **parameters: Any) -> Any:
        """Set some parameters, also those of parameters, as `outer__inner`."""
        refuse_unknown(type(self).__name__, self._usual(), (name.partition("__")[0] for name in parameters))
        nested = {name: value for name, value in parameters.items() if "__" in name}
        super().set_params(**{name: value for name, value in parameters.items() if name not in nested})
        for name, value in nested.items():
            outer, _, inner = name.partition("__")
            getattr(self, outer).set_params(**{inner: value})
        return self

    def _validate_params(self) -> None:
        """Raise InputError if a parameter does not accept its value; values that were checked before cost little."""
        kind: Any = type(self)
        values = [getattr(self, name) for name in defaults_of(kind)]
        checked = vars(self).get("_checked_parameters", ())
        if len(values) != len(checked) or not all(map(operator.is_, values, checked)):
            check(self._parameter_constraints, self.parameters(), kind.__name__)
            self._checked_parameters = values

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_checked_parameters"}

    def _fresh(self) -> Any:
        """Return an unfitted estimator with the same parameters and metadata requests."""
        fresh = super()._fresh()
        if "_metadata_request" in vars(self):
            fresh._metadata_request = copy.deepcopy(self._metadata_request)
        return fresh

    # --- fitted or not

    def _check_fitted(self) -> None:
        if "_state" in vars(self):
            return
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            NotFittedError = NotFitted
        raise NotFittedError(
            f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
            "using this estimator."
        )

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in vars(self)

    # --- fitted attributes

    @property
    def class_prior_(self) -> Array:
        """Prior probability of each class."""
        ledger = self._fitted("class_prior_").ledger
        return self._by_class(self._prior_rule().share(ledger.classes, ledger.rows))

    @property
    def class_log_prior_(self) -> Array:
        """Logarithm of the prior probability of each class."""
        return self._by_class(self._log_prior(self._fitted("class_log_prior_")))

    # --- used by scikit-learn

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted.

        Parameters
        ----------
        X : rows
            As for `predict`.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        accuracy : float
        """
        from sklearn.metrics import accuracy_score

        return accuracy_score(y, self.predict(X), sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        tags = Tags("classifier", TargetTags(required=True), classifier_tags=ClassifierTags())
        tags.input_tags.allow_nan = True
        return tags

    def get_metadata_routing(self) -> Any:
        """Return which metadata, such as `sample_weight`, a meta-estimator passes to each method.

        Returns
        -------
        routing : sklearn.utils.metadata_routing.MetadataRequest
        """
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if "_metadata_request" in vars(self):
            return get_routing_for_object(self._metadata_request)
        routing = MetadataRequest(owner=type(self).__name__)
        for method in _ROUTED:
            for name in _metadata(type(self), method):
                getattr(routing, method).add_request(param=name, alias=None)
        return routing

    set_fit_request = _setter("fit")
    set_partial_fit_request = _setter("partial_fit")
    set_score_request = _setter("score")

    # --- in notebooks

    def _repr_html_(self) -> str:
        facts = list(self._changed().items())
        if "_state" in vars(self):
            names = self.classes_
            listed = ", ".join(map(str, names[:10])) + (", ..." if len(names) > 10 else "")
            facts += [("classes", f"{len(names)}: {listed}"), ("rows", f"{self._model.ledger.rows.sum():,g}")]
            for features in self._model.features.values() if self._model.schema is None else ():
                facts.append(("features", f"{getattr(features, 'columns', features).size:,}"))
        if not facts:
            return f"<pre>{escape(repr(self))}</pre>"
        return Sheet((type(self).__name__, ""), tuple(facts)).html()
