"""What the package shows, and what importing it loads."""

import ast
import os
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import naively
from naively import estimators

PACKAGE = Path(naively.__file__).parent
ROOT = Path(__file__).parents[1]
FOLDERS = sorted(folder for folder in [PACKAGE, *PACKAGE.rglob("*")] if (folder / "__init__.py").exists())
MODULES = sorted(PACKAGE.rglob("*.py"))

TABLES = {"pandas", "polars", "duckdb", "pyarrow", "matplotlib"}


def loaded_after(statements):
    """The top-level modules that a fresh interpreter holds after some statements."""
    code = f"import sys\n{statements}\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_public_names_are_sorted_and_each_once():
    assert list(naively.__all__) == sorted(set(naively.__all__))


@pytest.mark.parametrize("name", naively.__all__)
def test_every_public_name_can_be_had(name):
    assert getattr(naively, name) is not None


def test_every_estimator_is_public():
    assert set(estimators.__all__) <= set(naively.__all__)


def test_dir_shows_the_public_names():
    assert dir(naively) == list(naively.__all__)


def test_an_unknown_name_is_refused():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        naively.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("old", "new"), [*{"learning": "naively.learn", "NeverCounted": "naively.NegativeCount"}.items()]
)
def test_a_name_that_has_moved_says_where_to(old, new):
    with pytest.raises(AttributeError, match=new):
        getattr(naively, old)


def test_importing_naively_alone_loads_nothing_heavy():
    assert not loaded_after("import naively") & {"numpy", "scipy", "sklearn", "rich", *TABLES}


def test_importing_every_estimator_loads_no_table_library():
    # scikit-learn itself loads pandas where it finds it, so it is loaded first and finds none.
    hidden = f"sys.modules.update(dict.fromkeys({TABLES}))\nimport sklearn.naive_bayes"
    shown = f"for name in {TABLES}: del sys.modules[name]"
    assert not loaded_after(f"{hidden}\n{shown}\nfrom naively.estimators import *") & TABLES


HEAVY = {"sklearn", "scipy", "rich", *TABLES}


def test_importing_estimators_loads_nothing_but_numpy():
    assert not loaded_after("from naively import GaussianNB, NaiveBayes, TextClassifier") & HEAVY


@pytest.mark.parametrize("told", ["alpha=1, calibrate=False", "alpha=1, family='bernoulli', weighting='counts'", ""])
def test_learning_from_texts_predicting_and_explaining_does_without_scikit_learn(told):
    work = f"""
from naively import TextClassifier, merge
texts, labels = ["a fine film", "a dull film", "fine acting", "dull"] * 8, ["pos", "neg", "pos", "neg"] * 8
learner = TextClassifier({told}).fit(texts, labels).partial_fit(["fine"], ["pos"]).forget(["fine"], ["pos"])
assert merge(learner, learner).predict(["so dull"]).tolist() == ["neg"]
learner.predict_proba(["fine"]), learner.top(["fine"]), learner.explain("a fine film"), learner.sample(2, 0)
learner.top_words(2), learner.refit(alpha=0.5)
"""
    loaded = loaded_after(work)
    assert not loaded & (HEAVY - {"scipy"})
    assert "scipy" not in loaded or "calibrate=False" not in told


def test_a_model_of_texts_is_saved_judged_and_loaded_without_what_only_tables_need(tmp_path):
    work = f"""
import naively
from naively import TextClassifier
texts, labels = ["a fine film", "a dull film"] * 20, ["pos", "neg"] * 20
learner = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1)).fit(texts, labels)
learner.judge(texts, labels)
learner.save({str(tmp_path / "m.nb")!r})
assert naively.load({str(tmp_path / "m.nb")!r}).predict(["fine"]) == ["pos"]
tables = ("naively.families.blocks.categories", "naively.families.columns.declared", "naively.count.exact_sums")
assert not [name for name in sys.modules if name.startswith(tables)]
"""
    assert "naively" in loaded_after(work)


def test_learning_from_tables_does_without_scikit_learn():
    work = """
from naively import NaiveBayes
table = {"price": [7.5, 8.0, None, 30.0, 28.5, 31.0] * 9, "city": ["Rome", "Oslo", "Rome", None, "Oslo", "Oslo"] * 9}
learner = NaiveBayes().fit(table, ["again", "again", "again", "never", "never", "never"] * 9)
assert learner.predict({"city": ["Rome"], "price": [9.0]}).tolist() == ["again"]
learner.predict_proba(table), learner.explain({"city": ["Rome"]}), learner.schema_, learner.sample(2, 0)
"""
    assert not loaded_after(work) & {"sklearn", "polars", "duckdb", "rich"}  # pyarrow itself loads pandas to look


def dotted(path):
    return ".".join(["naively", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


def imports(path):
    """The modules of naively that a module imports when it is loaded; not those that its functions import later."""
    found, waiting = set(), list(ast.parse(path.read_text("utf-8")).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "naively":
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = names & set(map(dotted, MODULES))
            found |= modules if modules == names else modules | {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & set(map(dotted, MODULES))
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
            waiting += node.body + node.orelse
        elif isinstance(node, (ast.Try, ast.ClassDef, ast.With)):
            waiting += node.body
    return found - {"naively"}


def test_modules_import_each_other_without_cycles():
    assert list(TopologicalSorter({dotted(path): imports(path) - {dotted(path)} for path in MODULES}).static_order())


def test_pyproject_lists_the_layers_that_the_design_draws():
    drawing = re.findall(r"^\d  (\w+(?: · \w+)*)", (ROOT / "docs/design.md").read_text("utf-8"), re.MULTILINE)
    drawn = [set(line.split(" · ")) for line in drawing]
    layers = re.search(r"^layers = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    listed = [set(re.findall(r"\w+", layer)) for layer in re.findall(r'"(.*?)"', layers[1])]
    assert listed == drawn
    assert len(listed) <= 9
    assert set.union(*listed) == {folder.name for folder in FOLDERS if folder.parent == PACKAGE} | FLAT


FLAT = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}


def test_folders_of_the_core_include_only_those_before_them():
    drawn = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    order = re.search(r"`native/`: `([a-z `,]+)`", drawn)[1].replace("`", "").split(", ")
    assert sorted(order) == sorted(folder.name for folder in (ROOT / "native").iterdir())
    for path in (ROOT / "native").glob("*/*.[ch]pp"):
        text = path.read_text(encoding="utf-8")
        for folder in re.findall(r'#include "(\w+)/', text):
            assert order.index(folder) <= order.index(path.parent.name), f"{path} includes {folder}"
        assert path.parent.name == "bind" or ("nanobind" not in text and "Python.h" not in text), path


def test_few_modules_lie_flat():
    assert len(FLAT) <= 8


@pytest.mark.parametrize("path", MODULES, ids=dotted)
def test_no_module_is_named_as_one_of_the_standard_library(path):
    assert path.stem not in sys.stdlib_module_names - {"__init__", "__main__"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_naively_can_be_imported_from_every_folder_of_the_package(folder):
    code = "import naively; naively.MultinomialNB().fit([[1, 0], [0, 1]], [0, 1]).predict([[1, 0]])"
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, check=True)


def test_modules_are_named_by_strings_only_where_public_names_and_commands_are_loaded():
    named = {dotted(path) for path in MODULES if "import_module(" in path.read_text("utf-8")}
    # The report names extras such as matplotlib; the store imports functions that whoever loads a file trusts.
    assert named == {"naively", "naively.cli", "naively.report", "naively.store.functions"}


def private_attributes(path):
    """The private attributes that a module reads of anything but `self`."""
    return [
        f"{path.name}:{node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and re.match("_(?!_)", node.attr)
        and ast.unparse(node.value) != "self"
        and ast.unparse(node) != "os._exit"  # which is public
    ]


def test_commands_use_public_methods_only():
    found = [line for path in sorted((PACKAGE / "cli").rglob("*.py")) for line in private_attributes(path)]
    assert found == []


def test_a_private_attribute_is_found(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("self._mine = learner._model._cache\nlearner.public.__dict__\n")
    assert private_attributes(path) == ["module.py:1: learner._model._cache", "module.py:1: learner._model"]
