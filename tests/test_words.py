"""Sources use plain words: CONTRIBUTING has the glossary."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYTHON = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.pyi"), *(ROOT / "native").rglob("*.py")])
NATIVE = sorted([*(ROOT / "native").rglob("*.hpp"), *(ROOT / "native").rglob("*.cpp")])

WORDS = {
    *("told", "asked", "shown", "trouble", "troubles", "ahead", "holes", "manners"),
    *("complain", "complains", "complained", "complaint", "complaints"),
}
"""Words that do not say who does what: the noun or the verb that they stand for is wanted."""

NAMES = {
    *("Accepts", "AnyNumbers", "BlockLedger", "BlockModel", "BlockTally", "CodedColumns", "Contest", "FiledLedger"),
    *("Judged", "Manners", "Mixed", "MixedTable", "NeverCounted", "Overdrawn", "OwnCodes", "Shown", "Taken", "Tried"),
    *("Uncounted", "Weighed", "changed_kinds", "in_line", "localised", "make_holes", "put_together", "spectral"),
}
"""Former names, for which there are better ones."""

FRAGMENT = re.compile(r"(What|Of|How many|Whether)\b")

Found = Iterator[tuple[int, str]]


def parts_of(name: str) -> list[str]:
    """Split a name into its words: `read_ahead`, `readAhead` and `ReadAhead` alike."""
    return re.findall(r"[a-z]+|[A-Z][a-z]*", name.replace("_", " "))


def bad_words(text: str) -> list[str]:
    return [word for word in re.findall(r"\b[a-z]+\b", text.lower()) if word in WORDS]


def bad_name(name: str) -> list[str]:
    return [name] if name in NAMES else [part for part in parts_of(name) if part.lower() in WORDS]


def docstrings(source: str) -> Found:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def python_faults(source: str) -> Found:
    before = -1  # the line of the comment before
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        if token.type == tokenize.NAME:
            yield from ((line, word) for word in bad_name(token.string))
        elif token.type != tokenize.OP:
            yield from ((line, word) for word in bad_words(token.string))
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("# ")
            if line != before + 1 and FRAGMENT.match(text):
                yield line, text
            before = line
    yield from ((line, text.split("\n")[0]) for line, text in docstrings(source) if FRAGMENT.match(text))


def native_faults(source: str) -> Found:
    before = -1
    for number, line in enumerate(source.split("\n"), 1):
        code, mark, comment = line.partition("//")
        texts = re.findall(r'"(?:[^"\\]|\\.)*"', code)
        names = re.findall(r"\b[A-Za-z_]\w*\b", re.sub(r'"(?:[^"\\]|\\.)*"', "", code))
        yield from ((number, word) for name in names for word in bad_name(name))
        yield from ((number, word) for text in [*texts, comment] for word in bad_words(text))
        if mark and (code.strip() or number != before + 1) and FRAGMENT.match(comment.strip()):
            yield number, comment.strip()
        before = number if mark else before


def listed(path: Path, faults: Found) -> str:
    return "\n".join(f"{path.relative_to(ROOT)}:{line}: {text}" for line, text in faults)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_use_plain_words(path: Path) -> None:
    assert listed(path, python_faults(path.read_text())) == ""


@pytest.mark.parametrize("path", NATIVE, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_core_uses_plain_words(path: Path) -> None:
    assert listed(path, native_faults(path.read_text())) == ""


@pytest.mark.parametrize("path", [path for path in NATIVE if path.suffix == ".hpp"], ids=lambda path: path.name)
def test_a_header_begins_with_what_it_holds_and_what_it_promises(path: Path) -> None:
    first = re.match(r"(//.*\n)+", path.read_text())
    assert first, "a header begins with a comment"
    text = " ".join(line.strip("/ ") for line in first[0].split("//\n")[0].split("\n"))
    assert len(re.findall(r"[.:](?=\s|$)", text)) >= 2, f"two sentences are wanted, got: {text}"


def test_faults_are_found() -> None:
    python = 'def read_ahead(x):\n    """What it is."""\n    return "nothing was told"  # Of a kind\n'
    assert [line for line, _ in python_faults(python)] == [1, 3, 3, 2]
    native = (
        '// Whether it fits.\nint holes = 1;  // of which none is shown\nfail("it was asked for");\nstruct Accepts;\n'
    )
    assert [line for line, _ in native_faults(native)] == [1, 2, 2, 3, 4]
