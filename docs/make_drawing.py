"""Draw docs/architecture.svg from the folders, their docstrings and the layers of pyproject.toml: `make docs`."""

from __future__ import annotations

import ast
import re
import textwrap
from html import escape
from pathlib import Path

ROOT = Path(__file__).parents[1]
TARGET = Path(__file__).parent / "architecture.svg"

WIDTH, LEFT, GAP, LINE = 1000, 48, 12, 17
STEPS = [
    *(("rows", "read · sources"), ("Tally", "count"), ("Table", "smooth · families"), ("Scores", "score")),
    ("labels, Explanation", "score"),
]
"""The values of the chain, each with the folders that make it."""

STYLE = """
text { font: 13px sans-serif; fill: #222 }
.title { font-weight: bold }
.small { font-size: 12px; fill: #555 }
.layer { fill: #eef3f8; stroke: #7a94ad }
.step { fill: #fdf3dc; stroke: #b8943c }
.core { fill: #eaf3ea; stroke: #6f9b6f }
"""


def layers() -> list[list[str]]:
    """Return the names of each layer, the uppermost first, as `pyproject.toml` lists them."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    found = re.search(r"^layers = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert found, "pyproject.toml lists no layers"
    return [re.findall(r"\w+", layer) for layer in re.findall(r'"(.*?)"', found[1])]


def core_folders() -> list[str]:
    """Return the folders of the core in the order in which they may include each other, as docs/design.md says."""
    text = (ROOT / "docs/design.md").read_text("utf-8")
    found = re.search(r"`native/`: `([a-z `,]+)`", text)
    assert found, "docs/design.md does not name the folders of native/"
    return found[1].replace("`", "").split(", ")


def about(name: str) -> str:
    """Return the first sentence of a module's or package's docstring, without the word before its colon."""
    module = ROOT / "src/naively" / name
    path = module / "__init__.py" if module.is_dir() else module.with_suffix(".py")
    sentence = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0].rstrip(".")
    head, colon, rest = " ".join(sentence.split()).partition(": ")
    return (rest if colon and " " not in head else " ".join(sentence.split())).replace("`", "")


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{kind}" text-anchor="{anchor}">{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" class="{kind}"/>'


def row(y: float, number: str, items: list[tuple[str, str]], kind: str) -> tuple[float, list[str]]:
    """Return the lower edge and the elements of a row of boxes of equal width, each with a title and a note."""
    width = (WIDTH - LEFT - GAP - (len(items) - 1) * GAP) / len(items)
    notes = [textwrap.wrap(note, int(width / 7)) for _, note in items]
    height = 30 + LINE * max(map(len, notes))
    shapes = [text(GAP, y + 21, number, "title")]
    for i, ((title, _), lines) in enumerate(zip(items, notes, strict=True)):
        x = LEFT + i * (width + GAP)
        shapes += [box(x, y, width, height, kind), text(x + 10, y + 21, title, "title")]
        shapes += [text(x + 10, y + 21 + LINE * (k + 1), line, "small") for k, line in enumerate(lines)]
    return y + height, shapes


def drawing() -> str:
    """Return the drawing: the chain of values, the layers and the folders of the core."""
    y, shapes = 34.0, [text(GAP, 22, "Each step hands an immutable value to the next", "title")]
    y, more = row(y, "", [(value, f"made by {folders}") for value, folders in STEPS], "step")
    shapes += more
    shapes.append(text(GAP, y + 34, "Each layer imports only those below it", "title"))
    y += 46
    groups = layers()
    for number, names in zip(range(len(groups), 0, -1), groups, strict=True):
        y, more = row(y, str(number), [(name, about(name)) for name in names], "layer")
        shapes, y = shapes + more, y + GAP
    shapes.append(text(GAP, y + 22, "The compiled core, native/: each folder includes only those to its left", "title"))
    y, more = row(y + 34, "", [(name, "") for name in core_folders()], "core")
    height = y + GAP
    size = f'width="{WIDTH}" height="{height:g}" viewBox="0 0 {WIDTH} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="Architecture of naively">'
    background = f'<rect width="{WIDTH}" height="{height:g}" fill="white"/>'
    return "\n".join([head, f"<style>{STYLE}</style>", background, *shapes, *more, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
