"""scikit-learn's own tests of its Naive Bayes classes and vectorizers, and of their users, run with ours in place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

NAIVE_BAYES = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")
VECTORIZERS = ("CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer")
LEFT_OUT = {
    "test_gnb_check_update_with_no_data": "reaches for the private GaussianNB._update_mean_variance",
    "test_gnb": "pins that a label not named in classes is refused; here it becomes a new class",
    "test_discretenb_provide_prior_with_partial_fit[CategoricalNB]": "pins that fractions are cut down to categories",
}
TEXT_LEFT_OUT = {"test_tfidf_vectorizer_setter": "pins an error that misspells the parameter use_idf"}
"""The only tests not run, each with its reason."""

CONFTEST = """
import {module} as theirs
import naively

for name in {names}:
    setattr(theirs, name, getattr(naively, name))

from sklearn.conftest import *


def pytest_collection_modifyitems(config, items):
    left_out = {left_out}
    gone = [item for item in items if item.name in left_out]
    config.hook.pytest_deselected(items=gone)
    items[:] = [item for item in items if item.name not in left_out]
"""


@pytest.mark.parametrize(
    ("suite", "module", "names", "left_out", "least"),
    [
        ("tests/test_naive_bayes.py", "sklearn.naive_bayes", NAIVE_BAYES, LEFT_OUT, 60),
        ("feature_extraction/tests/test_text.py", "sklearn.feature_extraction.text", VECTORIZERS, TEXT_LEFT_OUT, 100),
    ],
)
def test_scikit_learns_own_tests_pass_with_our_classes_in_place_of_theirs(
    tmp_path: Path, suite: str, module: str, names: tuple[str, ...], left_out: dict[str, str], least: int
) -> None:
    theirs = Path(sklearn.__file__).parent / suite
    conftest = CONFTEST.replace("{module}", module).replace("{names}", repr(names))
    (tmp_path / "conftest.py").write_text(conftest.replace("{left_out}", repr(set(left_out))))
    (tmp_path / "test_theirs.py").write_text(theirs.read_text())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "test_theirs.py"]
    environment = {"SCIPY_ARRAY_API": "1", "SKLEARN_RUN_FLOAT32_TESTS": "1", "PATH": "/usr/bin:/bin"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    summary = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else run.stderr
    assert run.returncode == 0, run.stdout[-4000:]
    if left_out:
        assert f"{len(left_out)} deselected" in summary, summary
    passed = int(summary.split(" passed")[0].split()[-1])
    assert passed >= least, summary


USERS = (
    "ensemble/tests/test_voting.py", "model_selection/tests/test_search.py", "tests/test_calibration.py",
    "tests/test_multiclass.py",
)  # fmt: skip
SLOW = {
    "test_gridsearch": "fits forests",
    "test_search_with_2d_array": "searches over a pipeline of transformers",
}
"""The only tests of these suites that mention a class of ours and are not run."""

USERS_CONFTEST = """
import inspect

import sklearn.naive_bayes as theirs
import naively

for name in {names}:
    setattr(theirs, name, getattr(naively, name))

from sklearn.conftest import *


def pytest_collection_modifyitems(config, items):
    used = [i for i in items if any(name in inspect.getsource(i.function) for name in {names}) and i.name not in {slow}]
    config.hook.pytest_deselected(items=[item for item in items if item not in used])
    items[:] = used
"""


def test_scikit_learns_tests_of_what_uses_naive_bayes_pass_with_our_classes(tmp_path: Path) -> None:
    conftest = USERS_CONFTEST.replace("{names}", repr(NAIVE_BAYES)).replace("{slow}", repr(set(SLOW)))
    (tmp_path / "conftest.py").write_text(conftest)
    for suite in USERS:
        theirs = Path(sklearn.__file__).parent / suite
        (tmp_path / theirs.name).write_text(theirs.read_text())
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ".", "."]
    environment = {"SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    summary = run.stdout.strip().splitlines()[-1] if run.stdout.strip() else run.stderr
    assert run.returncode == 0, run.stdout[-4000:]
    assert int(summary.split(" passed")[0].split()[-1]) >= 40, summary
