"""Other libraries that save models: skops and mlflow."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.datasets import load_iris

import naively

X, Y = load_iris(return_X_y=True)
TEXTS = [" ".join(f"w{int(value)}" for value in row) for row in X]
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(t=TEXTS, kind=pd.Categorical(np.where(X[:, 0] > 5, "u", "v")))
CASES: list[tuple[Any, Any]] = [
    (naively.MultinomialNB(), X.round()),
    (naively.ComplementNB(), X.round()),
    (naively.BernoulliNB(), X),
    (naively.PoissonNB(), X.round()),
    (naively.CategoricalNB(), X.astype(int)),
    (naively.GaussianNB(), X),
    (naively.GaussianClassifier(), X),
    (naively.NaiveBayes(), TABLE),
    (naively.NaiveBayes(columns={"a": naively.Gamma(), "t": naively.Text(ngrams=(1, 2))}), TABLE),
    (naively.TextClassifier(), TEXTS),
    (naively.TextClassifier(tokens=textwrap.wrap), TEXTS),
    (naively.TextClassifier(hashing=8), TEXTS),
    (naively.CountVectorizer(), TEXTS),
    (naively.TfidfVectorizer(), TEXTS),
    (naively.HashingVectorizer(n_features=64), TEXTS),
    (naively.TfidfTransformer(), X.round()),
]


def answers(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows) if hasattr(model, "predict_proba") else model.transform(rows).toarray()


def reloaded(model: Any) -> Any:
    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


def titled(value: Any) -> str:
    """Return an estimator as the name of a case; a function has an address that no two processes share."""
    return repr(value).partition(" at 0x")[0][:60] if hasattr(value, "fit") else ""


@pytest.mark.parametrize("asked_before", [False, True])
@pytest.mark.parametrize(("model", "rows"), CASES, ids=titled)
def test_skops_reloads_every_estimator(model: Any, rows: Any, asked_before: bool) -> None:
    model = model.fit(rows, Y)
    if asked_before:
        answers(model, rows)
    again = reloaded(model)
    np.testing.assert_array_equal(answers(again, rows), answers(model, rows))
    if hasattr(model, "tally_"):
        assert again.tally_ == model.tally_
        again.partial_fit(rows[:50], Y[:50])
        model.partial_fit(rows[:50], Y[:50])
        np.testing.assert_array_equal(answers(again, rows), answers(model, rows))


def test_skops_reloads_a_model_that_was_read_from_a_file(tmp_path: Path) -> None:
    naively.TextClassifier().fit(TEXTS, Y).save(tmp_path / "model.nb")
    model = naively.load(tmp_path / "model.nb")
    again = reloaded(model)
    np.testing.assert_array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))
    assert again.partial_fit(["new"], [3]).classes_.tolist() == [0, 1, 2, 3]


def test_mlflow_logs_and_loads_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install 'naively[neighbours]'")
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    for kind, rows in ((naively.GaussianNB, X), (naively.NaiveBayes, TABLE), (naively.TextClassifier, TEXTS)):
        model = kind().fit(rows, Y)
        with mlflow.start_run():
            trusted = skops.io.get_untrusted_types(data=skops.io.dumps(model))
            logged = mlflow.sklearn.log_model(model, name="model", skops_trusted_types=trusted, pip_requirements=[])
        again = mlflow.sklearn.load_model(logged.model_uri)
        np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
        served = mlflow.pyfunc.load_model(logged.model_uri)
        np.testing.assert_array_equal(served.predict(rows), model.predict(rows))
