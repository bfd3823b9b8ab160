"""The hand-written stubs of the core say what the compiled module says."""

import ast
from pathlib import Path

import pytest

import naively
from naively import _core

STUB = ast.parse((Path(naively.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))


def arguments_in_stub(name):
    """The argument names of each overload."""
    return [
        [argument.arg for argument in node.args.args]
        for node in STUB.body
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]


def arguments_in_core(name):
    """The same, as the compiled function tells them."""
    result = []
    for signature, *_ in getattr(_core, name).__nb_signature__:
        arguments = ast.parse(quoted(signature) + ": ...").body[0].args
        result.append([argument.arg for argument in arguments.args])
    return result


def quoted(signature):
    """A signature without the types of its arrays, which are not Python."""
    before, *rest = signature.split("ndarray[")
    return before + "".join("object" + part[part.index("]") + 1 :] for part in rest)


NAMES = sorted(name for name in dir(_core) if not name.startswith("_"))


def test_every_function_of_the_core_has_a_stub_and_every_stub_a_function():
    stubs = {node.name for node in STUB.body if isinstance(node, ast.FunctionDef)}
    assert stubs == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_stub_has_the_arguments_of_its_function(name):
    assert arguments_in_stub(name) == arguments_in_core(name)


def test_every_stub_says_in_one_line_what_it_does():
    functions = [node for node in STUB.body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in functions if "\n" in (ast.get_docstring(node) or "\n")] == []
