"""What the package shows, and what importing it loads."""

import subprocess
import sys

import pytest

import naively
from naively import estimators

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


def test_importing_naively_alone_loads_nothing_heavy():
    assert not loaded_after("import naively") & {"numpy", "scipy", "sklearn", "rich", *TABLES}


def test_importing_every_estimator_loads_no_table_library():
    # scikit-learn itself loads pandas where it finds it, so it is loaded first and finds none.
    hidden = f"sys.modules.update(dict.fromkeys({TABLES}))\nimport sklearn.naive_bayes"
    shown = f"for name in {TABLES}: del sys.modules[name]"
    assert not loaded_after(f"{hidden}\n{shown}\nfrom naively.estimators import *") & TABLES


HEAVY = {"sklearn", "scipy", "rich", *TABLES}


def test_importing_learners_loads_nothing_but_numpy():
    assert not loaded_after("from naively.learning import TextLearner, TableLearner") & HEAVY


@pytest.mark.parametrize("told", ["alpha=1, calibrate=False", "alpha=1, family='bernoulli', weighting='counts'", ""])
def test_learning_from_texts_predicting_and_explaining_does_without_scikit_learn(told):
    work = f"""
from naively.learning import TextLearner, merge
texts, labels = ["a fine film", "a dull film", "fine acting", "dull"] * 8, ["pos", "neg", "pos", "neg"] * 8
learner = TextLearner({told}).fit(texts, labels).partial_fit(["fine"], ["pos"]).forget(["fine"], ["pos"])
assert merge(learner, learner).predict(["so dull"]).tolist() == ["neg"]
learner.predict_proba(["fine"]), learner.top(["fine"]), learner.explain("a fine film"), learner.sample(2, 0)
learner.top_words(2), learner.refit(alpha=0.5)
"""
    loaded = loaded_after(work)
    assert not loaded & (HEAVY - {"scipy"})
    assert "scipy" not in loaded or "calibrate=False" not in told


def test_a_model_of_texts_is_saved_judged_and_loaded_without_what_only_tables_need(tmp_path):
    work = f"""
from naively.learning import TextLearner
from naively.learning.saving import Saved, save
texts, labels = ["a fine film", "a dull film"] * 20, ["pos", "neg"] * 20
learner = TextLearner(family="multinomial", weighting="counts", ngrams=(1, 1)).fit(texts, labels)
learner.judge(texts, labels)
save(learner, {str(tmp_path / "m.nb")!r})
assert Saved.open({str(tmp_path / "m.nb")!r}).learner({{"TextClassifier": TextLearner}}).predict(["fine"]) == ["pos"]
assert not [name for name in sys.modules if name.startswith(("naively.blocks", "naively.columns", "naively.moments"))]
"""
    assert "naively" in loaded_after(work)


def test_learning_from_tables_does_without_scikit_learn():
    work = """
from naively.learning import TableLearner
table = {"price": [7.5, 8.0, None, 30.0, 28.5, 31.0] * 9, "city": ["Rome", "Oslo", "Rome", None, "Oslo", "Oslo"] * 9}
learner = TableLearner().fit(table, ["again", "again", "again", "never", "never", "never"] * 9)
assert learner.predict({"city": ["Rome"], "price": [9.0]}).tolist() == ["again"]
learner.predict_proba(table), learner.explain({"city": ["Rome"]}), learner.schema_, learner.sample(2, 0)
"""
    assert not loaded_after(work) & {"sklearn", "polars", "duckdb", "rich"}  # pyarrow itself loads pandas to look
