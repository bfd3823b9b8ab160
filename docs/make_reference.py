"""Write docs/reference.md, the list of all public names, from signatures and docstrings: `make docs`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import naively
from naively.learn.learner import Learner

TARGET = Path(__file__).parent / "reference.md"

HEAD = """# Reference

All names that `naively` exports, from their docstrings. `make docs` writes this file. The docstrings have examples too:
`help(naively.MultinomialNB)`.
"""

GROUPS = {
    "estimators": "Estimators and files",
    "families": "Families of columns and choice of words",
    "smooth": "Smoothing rules",
    "score": "Priors, scores and explanations",
    "count": "Counts",
    "learn": "Merging, parts and held-out rows",
    "judge": "Judging and tuning",
    "data": "Data",
    "errors": "Errors and warnings",
}
"""The folders of public names, in the order of the page."""


HIDDEN = re.compile(r"_|set_\w+_request$|get_metadata_routing$")
"""Private members, and those that only scikit-learn's meta-estimators call."""


def folder_of(value: Any) -> str:
    return str(value.__module__).split(".")[1]


def signature_of(value: Any) -> str:
    """Return the parameters of a callable with their defaults, without types and without `self`."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except ValueError:
        return "(...)"
    plain = [parameter.replace(annotation=parameter.empty) for parameter in parameters if parameter.name != "self"]
    text = re.sub(r"<(?:function|class) '?(?:\w+\.)*(\w+)'?(?: at 0x\w+)?>", r"\1", str(inspect.Signature(plain)))
    return re.sub(r"<(?:function )?[\w.]+(?:<\w+>| object) at 0x\w+>", "...", text)


def text_of(value: Any) -> str:
    """Return a docstring as Markdown: without its examples, with its sections as lists."""
    lines, result = (inspect.getdoc(value) or "").split("\n"), []
    paragraphs = re.split(r"\n\s*\n", "\n".join(lines))
    for paragraph in paragraphs:
        if paragraph.lstrip().startswith(">>>"):
            continue
        title, mark, items = paragraph.partition("\n---")
        result.append(f"{title}:\n\n{listed(items.lstrip('-').strip())}" if mark else paragraph)
    return "\n\n".join(result)


def listed(items: str) -> str:
    """Return `name : type` lines and the indented lines below each as a list."""
    found = re.findall(r"^(\S.*)((?:\n[ \t]+.*)*)", items, re.MULTILINE)
    lines = []
    for head, text in found:
        name, _, kind = head.partition(" : ")
        lines.append(f"- **{name}**{f' ({kind})' if kind else ''}: {' '.join(text.split())}".rstrip())
    return "\n".join(lines)


def summary(value: Any) -> str:
    """Return the first sentence of a docstring in one line."""
    first = " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split())
    return first.replace("|", "\\|")


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield public methods and properties that a class of this package defines, by name."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("naively"):
            found.update({name: value for name, value in vars(base).items() if not HIDDEN.match(name)})
    for name, value in sorted(found.items()):
        if isinstance(value, property | cached_property | classmethod | staticmethod) or inspect.isfunction(value):
            yield name, value


def rows_of(kind: type) -> list[str]:
    """Return a row of a table for each public member of a class."""
    rows = []
    for name, value in members(kind):
        if isinstance(value, property | cached_property):
            rows.append(f"| `{name}` | {summary(value)} |")
        else:
            call = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            parameters = re.sub(r"\(cls(?:, )?", "(", signature_of(call)).replace("|", "\\|")
            rows.append(f"| `{name}{parameters}` | {summary(call)} |")
    return rows


def table(rows: list[str]) -> str:
    return "\n".join(["| member | summary |", "|---|---|", *rows, ""]) if rows else ""


def entry(name: str, value: Any, shared: list[str]) -> str:
    """Return the part of the page about one public name; `shared` rows are not repeated for classifiers."""
    lines = [f"### {name}", "", f"`{name}{signature_of(value)}`", "", text_of(value), ""]
    if inspect.isclass(value) and not issubclass(value, Exception):
        common = shared if issubclass(value, Learner) else []
        lines.append(table([row for row in rows_of(value) if row not in common]))
    return "\n".join(lines).rstrip() + "\n"


def page() -> str:
    """Return the whole page."""
    public = {name: getattr(naively, name) for name in naively.__all__ if not name.startswith("_")}
    classifiers = [value for value in public.values() if inspect.isclass(value) and issubclass(value, Learner)]
    shared = [row for row in rows_of(classifiers[0]) if all(row in rows_of(kind) for kind in classifiers)]
    parts = [HEAD]
    for folder, title in GROUPS.items():
        names = [name for name, value in public.items() if folder_of(value) == folder]
        parts.append(f"## {title}\n")
        if folder == "estimators":
            parts.append(f"All classifiers have these methods and attributes:\n\n{table(shared)}")
        parts += [entry(name, public[name], shared) for name in names]
    unknown = {folder_of(value) for value in public.values()} - set(GROUPS)
    assert not unknown, f"GROUPS has no title for {unknown}"
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
