"""scikit-learn's own tests of its Naive Bayes classes and vectorizers, run with ours in their place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

NAIVE_BAYES = ("BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB")
VECTORIZERS = ("CountVectorizer", "HashingVectorizer")
LEFT_OUT = {
    "test_gnb_check_update_with_no_data": "reaches for the private GaussianNB._update_mean_variance",
    "test_gnb": "pins that a label not named in classes is refused; here it becomes a new class",
    "test_discretenb_provide_prior_with_partial_fit[CategoricalNB]": "pins that fractions are cut down to categories",
}
TEXT_LEFT_OUT: dict[str, str] = {}
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
