"""Errors about the arguments of a method: they name the class that was used and the nearest parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from types import FunctionType
from typing import Any

from naively.errors import nearest

_EXPLAINED = "_explains_calls"


def explain_calls(kind: type) -> None:
    """Make the public methods of a class, inherited ones too, explain arguments that they do not take."""
    members = {name: member for base in reversed(kind.__mro__) for name, member in vars(base).items()}
    for name, method in members.items():
        if isinstance(method, FunctionType) and not name.startswith("_") and not hasattr(method, _EXPLAINED):
            setattr(kind, name, explained(method))


def explained(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return this method with Python's error about its arguments replaced by one that helps.

    >>> from naively import BernoulliNB
    >>> BernoulliNB().fit([[0, 1]], ["a"], smple_weight=[1.0])
    Traceback (most recent call last):
    TypeError: BernoulliNB.fit() has no parameter 'smple_weight'; did you mean 'sample_weight'?
    >>> BernoulliNB().predict()
    Traceback (most recent call last):
    TypeError: BernoulliNB.predict() missing 1 required positional argument: 'X'
    """

    @functools.wraps(method)
    def call(self: Any, *values: Any, **named: Any) -> Any:
        try:
            return method(self, *values, **named)
        except TypeError as error:
            unknown = _unknown_argument(method, named)
            if unknown is not None:
                message = f"{type(self).__name__}.{method.__name__}() has no parameter {unknown}"
            elif error.__traceback__ is not None and error.__traceback__.tb_next is None:
                message = str(error).replace(method.__qualname__, f"{type(self).__name__}.{method.__name__}")
            else:
                raise  # raised inside the method: its arguments were accepted
        raise TypeError(message)

    setattr(call, _EXPLAINED, True)
    return call


def _unknown_argument(method: Callable[..., Any], named: Iterable[str]) -> str | None:
    """Return the first argument that a method does not take, with the nearest parameters; None if it takes all."""
    parameters = inspect.signature(method).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    unknown = unknown_name([name for name in parameters if name != "self"], named)
    return None if unknown is None else f"{unknown[0]!r}{unknown[1]}"


def unknown_name(known: Collection[str], names: Iterable[str]) -> tuple[str, str] | None:
    """Return the first unknown name, with the nearest parameters; None if all names are known."""
    name = next((name for name in names if name not in known), None)
    if name is None:
        return None
    alike = nearest(name, known) or nearest(name, known, cutoff=0.5)
    return name, alike or f"; its parameters are {', '.join(known)}"
