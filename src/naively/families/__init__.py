"""Families: what to count of a row, and how to weigh it.

A family supplies `count` (rows to a tally), `table` (counts and rules to a table), `sample` (rows from a table) and
how many parameters it has. Everything else is the same for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["Bernoulli", "Categorical", "Complement", "Gaussian", "Multinomial", "Poisson", "Words"]

if TYPE_CHECKING:
    from naively.families.bernoulli import Bernoulli as Bernoulli
    from naively.families.categorical import Categorical as Categorical
    from naively.families.complement import Complement as Complement
    from naively.families.gaussian import Gaussian as Gaussian
    from naively.families.multinomial import Multinomial as Multinomial
    from naively.families.poisson import Poisson as Poisson
    from naively.families.words import Words as Words


def __getattr__(name: str) -> Any:
    """Loaded when first used, so that a model of texts does not wait for those of numbers."""
    if name not in __all__:
        raise AttributeError(f"module 'naively.families' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"naively.families.{name.lower()}"), name)
