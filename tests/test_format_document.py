"""The description of the file format: it lists every value that a file may hold, with its fields."""

from __future__ import annotations

import importlib
import pkgutil
import re
from dataclasses import fields
from pathlib import Path

import pytest

import naively
from naively.store.registry import CLASSES, StoredClass

DOCUMENT = (Path(__file__).parents[1] / "docs" / "format.md").read_text(encoding="utf-8")
OF_ONE_VERSION = {"Ledger", "PartLedger", "Sample", "KeptRows", "Limits"}

for module in pkgutil.walk_packages(naively.__path__, "naively."):
    if module.name.startswith(
        ("naively.count", "naively.families", "naively.learn", "naively.score", "naively.smooth")
    ):
        importlib.import_module(module.name)

STORED = {name: entry for name, entry in CLASSES.items() if entry.kind.__module__.startswith("naively.")}


def described() -> dict[str, list[str]]:
    """The fields of each value, as the tables of the document list them."""
    rows = re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|$", DOCUMENT[DOCUMENT.index("## Values") :], re.MULTILINE)
    return {name: re.findall(r"`(\w+)`: ", cell) for names, cell in rows for name in re.findall(r"`([\w.]+)`", names)}


@pytest.mark.parametrize(
    "entry", [STORED[name] for name in sorted(STORED.keys() - OF_ONE_VERSION)], ids=lambda e: e.name
)
def test_the_document_lists_the_fields_of_each_value(entry: StoredClass) -> None:
    found = [field.name for field in fields(entry.kind)] + list(entry.derived)  # type: ignore[arg-type]
    assert described().get(entry.name) == found, "write the fields into the tables of docs/format.md"


def test_the_document_lists_nothing_else() -> None:
    assert described().keys() <= STORED.keys()
