"""Parameters: what a learner is told when it is made, by name."""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

from naively.errors import InputError, nearest


@cache
def defaults_of(kind: Any) -> dict[str, Any]:
    """The parameters of a class and their defaults, from the signature of its `__init__`."""
    found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return {p.name: p.default for p in found if p.kind is not p.VAR_KEYWORD}


class Parameters:
    """Has its parameters as attributes of the same names.

    >>> from naively.learning import TextLearner
    >>> TextLearner(alpha=0.5).set_params(ngrams=(1, 2))
    TextLearner(alpha=0.5, ngrams=(1, 2))
    """

    def parameters(self) -> dict[str, Any]:
        """The value of each parameter."""
        return {name: getattr(self, name) for name in self._usual()}

    def set_params(self, **parameters: Any) -> Any:
        """Other values for some parameters.

        Parameters
        ----------
        **parameters
            Values by name.

        Returns
        -------
        self : object
        """
        known = self._usual()
        for name in parameters:
            if name not in known:
                raise InputError(f"Invalid parameter {name!r} for {type(self).__name__}{nearest(name, known)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def _usual(self) -> dict[str, Any]:
        kind: Any = type(self)
        return defaults_of(kind)

    def _fresh(self) -> Any:
        """Another one with these parameters, which has learnt nothing."""
        return type(self)(**self.parameters())

    def _validate_params(self) -> None:
        """Raises where a parameter is nothing that it may be; here whoever sets them is trusted."""

    def __repr__(self) -> str:
        usual = self._usual()
        told = {name: value for name, value in self.parameters().items() if value is not usual[name]}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"
