"""Functions in files: by their import path alone, and only where the reader of the file trusts that path."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib import import_module

from naively.errors import FileError, InputError


def import_path(function: object, where: str) -> str:
    """Return the import path of a function, from which the same one can be imported.

    >>> import json
    >>> import_path(json.dumps, "tokens")
    'json:dumps'
    """
    owner = getattr(function, "__objclass__", function)
    module, name = getattr(owner, "__module__", None), getattr(function, "__qualname__", None)
    called = getattr(function, "__name__", repr(function))[:60]
    if module == "__main__":
        raise InputError(
            f"{where} cannot be saved: {called} is defined in the program that runs (no file holds code); move it to a "
            "module, and import it from there"
        )
    found: object = sys.modules.get(str(module))
    for part in str(name).split("."):
        found = getattr(found, part, None)
    if found is not function:
        raise InputError(
            f"{where} cannot be saved: {called} cannot be imported (no file holds code); define a function at the top "
            "of a module, and import it from there"
        )
    return f"{module}:{name}"


def imported(path: object, trust: Iterable[str]) -> object:
    """Return the function at an import path, which must be trusted, or its module; raise FileError where it is not."""
    module, colon, name = path.partition(":") if isinstance(path, str) else ("", "", "")
    if not (colon and name and module):
        raise FileError("the file is damaged (a function without an import path)")
    dotted = f"{module}.{name}"
    if not {module, path, dotted} & set(trust):
        raise FileError(
            f"the model calls the function {dotted}, which no file holds; if it is yours, load with trust={dotted!r}"
        )
    try:
        found: object = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise FileError(f"the model calls the function {dotted}, which cannot be imported: {error}") from None
    if not callable(found):
        raise FileError(f"the model calls {dotted}, which is no function but {type(found).__name__}")
    return found


def trusted(trust: str | Iterable[str]) -> frozenset[str]:
    """Return import paths, given as one text or several, as a set."""
    listed = [trust] if isinstance(trust, str) else list(trust)
    wrong = [path for path in listed if not isinstance(path, str)]
    if wrong:
        raise InputError(f"trust: expected import paths such as 'my_module.split', got {wrong[0]!r}")
    return frozenset(listed)
