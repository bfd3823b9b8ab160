"""The hand-written stubs of the core say what the compiled module says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import naively
from naively import _core

Overloads = list[list[str]]
"""For each overload of a function, the names of its arguments."""


def names(arguments: ast.arguments) -> list[str]:
    return [argument.arg for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def in_stub(body: list[ast.stmt], prefix: str = "") -> dict[str, Overloads]:
    """Every function, and every method and property of a class, as the stub has it."""
    found: dict[str, Overloads] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            found.setdefault(prefix + node.name, []).append(names(node.args))
        elif isinstance(node, ast.ClassDef):
            found |= in_stub(node.body, f"{prefix}{node.name}.")
    return found


def in_core(holder: Any, prefix: str = "") -> dict[str, Overloads]:
    """The same, as the compiled module tells it."""
    found: dict[str, Overloads] = {}
    for name, value in vars(holder).items():
        told = getattr(getattr(value, "fget", value), "__nb_signature__", None)
        if isinstance(value, type):
            found |= in_core(value, f"{prefix}{name}.")
        elif told is not None:
            found[prefix + name] = [arguments(signature) for signature, *_ in told]
    return found


def arguments(signature: str) -> list[str]:
    """The names in a signature such as `def f(x: ndarray[dtype=int32, shape=(*)], y: int) -> tuple`."""
    before, *rest = signature.replace("def (", "def getter(").split("ndarray[")
    without_arrays = before + "".join("object" + part[part.index("]") + 1 :] for part in rest)
    (function,) = ast.parse(without_arrays + ": ...").body
    assert isinstance(function, ast.FunctionDef)
    return names(function.args)


STUB = ast.parse((Path(naively.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
STUBS, CORE = in_stub(STUB.body), in_core(_core)


def test_every_function_of_the_core_has_a_stub_and_every_stub_a_function() -> None:
    assert sorted(STUBS) == sorted(CORE)


@pytest.mark.parametrize("name", sorted(CORE))
def test_a_stub_has_the_arguments_of_its_function(name: str) -> None:
    assert STUBS.get(name) == CORE[name]


def test_every_stub_says_in_one_line_what_it_does() -> None:
    functions = [node for node in ast.walk(STUB) if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions if "\n" in (ast.get_docstring(node) or "\n")] == []
