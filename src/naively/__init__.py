"""naively: Naive Bayes is counting. Count once; decide everything else afterwards."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def _read_homes() -> dict[str, str]:
    """Return the module of each public name; the imports in the stub beside this file are the one list of them."""
    with open(f"{__file__}i", encoding="utf-8") as stub:
        imports = [line.split() for line in stub if line.startswith("from ")]
    return {name: module for _, module, _, name, *_ in imports}


_HOMES = _read_homes()
_RENAMED = {
    "BlockTally": "naively.Tally",
    "Comoments": "naively.ExactPairs",
    "Moments": "naively.ExactSums",
    "NeverCounted": "naively.NegativeCount",
    "Numbers": "naively.NumberCounts",
    "judging": "naively.judge",
    "learning": "naively.learn",
}

_ENGINES = ("dask", "ray", "spark")
"""Modules that need a library of the same name; the extras are called so as well."""

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Public names are loaded when first used (PEP 562)."""
    if name in _ENGINES:
        return _engine(name)
    home = _HOMES.get(name)
    if home is None:
        advice = f"; it is now {_RENAMED[name]}" if name in _RENAMED else ""
        raise AttributeError(f"module 'naively' has no attribute {name!r}{advice}")
    from importlib import import_module

    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def _engine(name: str) -> Any:
    """Return the module of an engine, whose library must be installed."""
    from importlib import import_module

    try:
        return import_module(f"naively.engines.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "naively":
            raise
        needed = f"naively.{name} needs {error.name}: pip install 'naively[{name}]'"
        raise ImportError(needed, name=error.name) from None


def __dir__() -> list[str]:
    return __all__
