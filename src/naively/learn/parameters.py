"""Parameters: the arguments of a learner, by name."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from numbers import Number
from types import MappingProxyType
from typing import Any

import numpy as np

from naively.errors import InputError
from naively.learn.calls import explain_calls, unknown_name


@cache
def defaults_of(kind: Any) -> dict[str, Any]:
    """Return the parameters of a class and their defaults, from the signature of its `__init__`."""
    found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return {p.name: p.default for p in found if p.kind is not p.VAR_KEYWORD}


@cache
def inherited_names(kind: Any) -> tuple[str, ...]:
    """Return the parameters of a class and of the classes of this package that it inherits from."""
    bases = [b for b in kind.__mro__[1:] if "__init__" in vars(b) and b.__module__.partition(".")[0] == "naively"]
    return tuple(dict.fromkeys(name for each in (kind, *bases) for name in defaults_of(each)))


@cache
def _takes_names_only(kind: Any) -> bool:
    """True if `__init__` takes keyword arguments of fixed names and nothing else."""
    found = list(inspect.signature(kind.__init__).parameters.values())[1:]
    return bool(found) and all(p.kind is p.KEYWORD_ONLY for p in found)


def refuse_unknown(who: str, known: Mapping[str, Any], names: Iterable[str]) -> None:
    """Raise the InputError of `set_params` for the first name that is not a known parameter."""
    unknown = unknown_name(known, names)
    if unknown is not None:
        raise InputError(f"Invalid parameter {unknown[0]!r} for {who}{unknown[1]}")


class Named:
    """A class whose parameters are passed by name; errors name the class that was called, and the nearest parameters.

    >>> from naively import TextClassifier
    >>> TextClassifier(ngram_range=(1, 2))
    Traceback (most recent call last):
    TypeError: TextClassifier has no parameter 'ngram_range'; did you mean 'ngrams'?
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        explain_calls(cls)

    def __new__(cls, *values: Any, **parameters: Any) -> Any:
        kind: Any = cls
        if _takes_names_only(kind):
            if values:
                example = next(iter(defaults_of(kind)))
                raise TypeError(
                    f"{cls.__name__} takes its parameters by name, got {values[0]!r} without one; "
                    f"write {cls.__name__}({example}=...)"
                )
            unknown = unknown_name(defaults_of(kind), parameters)
            if unknown is not None:
                raise TypeError(f"{cls.__name__} has no parameter {unknown[0]!r}{unknown[1]}")
        return super().__new__(cls)


def _copied(value: Any) -> Any:
    """Return a copy of a list, dict, set or array; anything else as it is."""
    if isinstance(value, (list, dict, set)):
        return copy.copy(value)
    fixed = value is None or isinstance(value, (str, bytes, Number, np.generic, tuple, frozenset))
    if fixed or callable(value) or is_dataclass(value) or not hasattr(value, "__len__"):
        return value
    keyed = hasattr(value, "to_dict") or isinstance(value, Mapping)  # a Series is read by its index
    return copy.deepcopy(value) if keyed else np.array(value, subok=True)


def _shortened(text: str, longest: int = 700) -> str:
    """Shorten a long text by leaving out its middle."""
    return text if len(text) <= longest else f"{text[: longest // 2]}...{text[-longest // 2 :]}"


class Parameters(Named):
    """A class whose parameters are attributes of the same names.

    >>> from naively import TextClassifier
    >>> TextClassifier(alpha=0.5).set_params(ngrams=(1, 2))
    TextClassifier(alpha=0.5, ngrams=(1, 2))
    """

    _copies: Mapping[str, Any] = MappingProxyType({})

    def parameters(self) -> dict[str, Any]:
        """The value of each parameter."""
        return {name: getattr(self, name) for name in self._usual()}

    def _value(self, name: str) -> Any:
        """Return the value of a parameter that a fitted model uses: its own copy of the caller's list or array."""
        return self._copies[name] if name in self._copies else getattr(self, name)

    def _copy_parameters(self) -> None:
        """Copy every list, dict, set and array among the parameters; called when a model is fitted from nothing."""
        copies = {name: _copied(value) for name, value in self.parameters().items()}
        self._copies = {name: value for name, value in copies.items() if value is not getattr(self, name)}

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if "_copies" in self.__dict__ and name in self._usual():
            others = {other: own for other, own in self._copies.items() if other != name}
            copied = _copied(value)
            super().__setattr__("_copies", others if copied is value else {**others, name: copied})

    def set_params(self, **parameters: Any) -> Any:
        """Set some parameters.

        Parameters
        ----------
        **parameters
            Values by name.

        Returns
        -------
        self : object
        """
        refuse_unknown(type(self).__name__, self._usual(), parameters)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def _usual(self) -> dict[str, Any]:
        kind: Any = type(self)
        return defaults_of(kind)

    def _fresh(self) -> Any:
        """Return an unfitted learner with these parameters."""
        return type(self)(**self.parameters())

    def _validate_params(self) -> None:
        """Raise InputError if a parameter has a value that it must not have; here all values are accepted."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self._changed().items())})"

    def _changed(self) -> dict[str, str]:
        """Return the parameters that differ from their defaults, as they are printed, in the order of their names."""
        usual, values = self._usual(), sorted(self.parameters().items())
        printed = {name: repr(value) for name, value in values if value is not usual[name]}
        return {name: _shortened(text) for name, text in printed.items() if text != repr(usual[name])}
