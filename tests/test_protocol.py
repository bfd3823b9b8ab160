"""scikit-learn's protocol without its classes: what uses estimators takes ours, and predicting does without it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import validate_data

import naively
from naively.errors import InputError, NaivelyError
from naively.estimators.rows import check_rows
from naively.estimators.validation import Between, InvalidParameter, OneOf, check

NUMBERS = np.random.default_rng(7).integers(0, 4, (60, 3))
LABELS = np.where(NUMBERS[:, 0] + NUMBERS[:, 1] > 3, "high", "low")
TEXTS = [" ".join(f"w{j}{value}" for j, value in enumerate(row)) for row in NUMBERS.tolist()]
ON_ARRAYS = [
    naively.BernoulliNB(),
    naively.CategoricalNB(),
    naively.ComplementNB(),
    naively.GaussianClassifier(),
    naively.GaussianNB(),
    naively.MultinomialNB(),
    naively.PoissonNB(),
    naively.NaiveBayes(calibrate=False),
]
ON_TEXTS = naively.TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), calibrate=False)
CASES = [(model, NUMBERS) for model in ON_ARRAYS] + [(ON_TEXTS, np.array(TEXTS, object))]
SMOOTHING = {"GaussianNB": "var_smoothing", "GaussianClassifier": "var_smoothing"}

over_all_estimators = pytest.mark.parametrize(("model", "X"), CASES, ids=lambda case: type(case).__name__)


def smoothing_of(model: Any) -> str:
    return SMOOTHING.get(type(model).__name__, "alpha")


META_ESTIMATORS: dict[str, Any] = {
    "Pipeline": lambda model: Pipeline([("same", FunctionTransformer()), ("model", model)]),
    "ColumnTransformer": lambda model: make_pipeline(
        FunctionTransformer() if model is ON_TEXTS else ColumnTransformer([("some", "passthrough", [0, 1, 2])]), model
    ),
    "GridSearchCV": lambda model: GridSearchCV(model, {smoothing_of(model): [0.5, 1.0]}, cv=3),
    "VotingClassifier": lambda model: VotingClassifier([("one", model), ("other", clone(model))], voting="soft"),
    "StackingClassifier": lambda model: StackingClassifier([("one", model)], LogisticRegression(), cv=3),
    "CalibratedClassifierCV": lambda model: CalibratedClassifierCV(model, cv=3),
    "OneVsRestClassifier": OneVsRestClassifier,
}


@pytest.mark.parametrize("meta", META_ESTIMATORS)
@over_all_estimators
def test_meta_estimators_take_every_estimator(meta: str, model: Any, X: Any) -> None:
    fitted = META_ESTIMATORS[meta](model).fit(X, LABELS)
    assert fitted.score(X, LABELS) > 0.5
    assert set(fitted.predict(X[:5])) <= {"high", "low"}
    assert fitted._repr_html_()
    assert type(model).__name__ in repr(fitted)


@pytest.mark.parametrize("model", ON_ARRAYS, ids=lambda model: type(model).__name__)
def test_bagging_takes_every_estimator_of_arrays(model: Any) -> None:
    assert BaggingClassifier(model, 3, random_state=0).fit(NUMBERS, LABELS).score(NUMBERS, LABELS) > 0.5


@over_all_estimators
def test_cross_validation_cloning_and_pickling_take_every_estimator(model: Any, X: Any, tmp_path: Path) -> None:
    assert is_classifier(model)
    assert not isinstance(model, BaseEstimator)
    assert cross_val_score(model, X, LABELS, cv=3).mean() > 0.5
    fitted = clone(model).fit(X, LABELS)
    assert repr(clone(fitted)) == repr(model)
    joblib.dump(fitted, tmp_path / "model")
    for again in (pickle.loads(pickle.dumps(fitted)), joblib.load(tmp_path / "model")):
        assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))


@over_all_estimators
def test_weights_are_routed_where_they_are_requested(model: Any, X: Any) -> None:
    weights = np.where(LABELS == "high", 1.0, 3.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        asking = clone(asking).set_partial_fit_request(sample_weight="weights")
        routed = get_routing_for_object(asking)
        assert routed.fit.requests == {"sample_weight": True}
        assert routed.partial_fit.requests == {"sample_weight": "weights", "classes": None}
        fitted = clone(asking).fit(X, LABELS)
        for copied in (clone(fitted), pickle.loads(pickle.dumps(fitted)), naively.merge(fitted, fitted)):
            assert str(get_routing_for_object(copied)) == str(routed)
        pipe = make_pipeline(FunctionTransformer(), asking).fit(X, LABELS, sample_weight=weights)
        np.testing.assert_array_equal(
            pipe.predict_proba(X), clone(model).fit(X, LABELS, sample_weight=weights).predict_proba(X)
        )
        scores = cross_validate(asking, X, LABELS, cv=3, params={"sample_weight": weights})
        assert scores["test_score"].shape == (3,)
        with pytest.raises(TypeError, match=r"Unexpected args: .*groups.* in fit"):
            asking.set_fit_request(groups=True)
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            cross_validate(model, X, LABELS, cv=3, params={"sample_weight": weights})
    with pytest.raises(RuntimeError, match="only available when metadata routing is enabled"):
        model.set_fit_request(sample_weight=True)


def test_frames_that_a_pipeline_sets_as_output_keep_their_column_names() -> None:
    pipe = make_pipeline(MinMaxScaler(), naively.GaussianNB()).set_output(transform="pandas")
    pipe.fit(pd.DataFrame(NUMBERS, columns=["a", "b", "c"]), LABELS)
    assert pipe[-1].feature_names_in_.tolist() == ["a", "b", "c"]


def test_parameters_of_parameters_are_reached_by_two_underscores() -> None:
    class Outer(naively.MultinomialNB):
        def __init__(self, inner: Any = None):
            super().__init__()
            self.inner = inner

    outer = Outer(naively.GaussianNB())
    assert "inner__var_smoothing" in outer.get_params()
    assert list(outer.get_params(deep=False)) == ["inner"]
    assert outer.set_params(inner__var_smoothing=0.5).inner.var_smoothing == 0.5
    with pytest.raises(InputError, match="Invalid parameter 'iner' for Outer; did you mean 'inner'"):
        outer.set_params(iner__var_smoothing=0.5)


@pytest.mark.parametrize(
    ("model", "printed"),
    [
        (naively.MultinomialNB(alpha=float("1.0")), "MultinomialNB()"),
        (naively.GaussianNB(var_smoothing=0.5, priors=[0.5, 0.5]), "GaussianNB(priors=[0.5, 0.5], var_smoothing=0.5)"),
        (naively.TextClassifier(ngrams=(1, 2)), "TextClassifier(ngrams=(1, 2))"),
    ],
)
def test_only_parameters_that_differ_are_printed(model: Any, printed: str) -> None:
    assert repr(model) == printed


def test_a_long_parameter_is_printed_without_its_middle() -> None:
    assert len(repr(naively.TextClassifier(stop_words=[f"word{i}" for i in range(10_000)]))) < 800


@over_all_estimators
def test_a_notebook_shows_parameters_classes_rows_and_features(model: Any, X: Any) -> None:
    assert type(model).__name__ in model._repr_html_()
    changed = clone(model).set_params(**{smoothing_of(model): 0.25})
    page = changed.fit(X, LABELS)._repr_html_()
    features = {naively.NaiveBayes: [], naively.TextClassifier: ["features", "12"]}.get(type(model), ["features", "3"])
    for cell in (smoothing_of(model), "0.25", "2: high, low", "60", *features):
        assert f">{cell}</td>" in page
    assert "<script" not in page


def test_what_a_notebook_shows_is_text_and_no_markup() -> None:
    page = naively.TextClassifier(stop_words=["<b>"]).fit(["one", "two"], ["<i>", "x"])._repr_html_()
    assert "<b>" not in page
    assert "<i>" not in page


@over_all_estimators
def test_an_estimator_that_is_not_fitted_says_so(model: Any, X: Any) -> None:
    with pytest.raises(NotFittedError, match=f"This {type(model).__name__} instance is not fitted yet. Call 'fit'"):
        clone(model).predict(X)
    assert not hasattr(clone(model), "classes_")


@pytest.mark.parametrize(
    ("rules", "value", "message"),
    [
        ([Between(Integral, 1, 30)], 31, "must be an int in the range [1, 30]. Got 31 instead."),
        ([Between(Real, 0), OneOf("auto")], np.inf, "must be a float in the range [0.0, inf) or a str among {'auto'}."),
        (["boolean"], 1, "must be an instance of 'bool' or an instance of 'numpy.bool"),
        (["array-like", None], 1, "must be an array-like or None. Got 1 instead."),
        ([callable, OneOf("a", "b"), dict], 1, "must be a callable, a str among {'a', 'b'} or an instance of 'dict'."),
        ([naively.Additive], "x", "must be an instance of 'naively.smooth.rules.Additive'. Got 'x' instead."),
    ],
)
def test_a_value_that_a_parameter_does_not_accept_is_refused_in_scikit_learns_words(
    rules: Any, value: Any, message: str
) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        check({"name": rules}, {"name": value}, "Model")
    assert str(caught.value).startswith(f"The 'name' parameter of Model {message}")


def test_scikit_learns_configuration_can_leave_parameters_unchecked() -> None:
    with sklearn.config_context(skip_parameter_validation=True):
        naively.MultinomialNB(fit_prior=1).fit(NUMBERS, LABELS)
    with pytest.raises(InvalidParameterError, match="fit_prior"):
        naively.MultinomialNB(fit_prior=1).fit(NUMBERS, LABELS)


# --- without scikit-learn

PREDICT = """
import sys
class Hide:  # as if these were not installed
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
import naively, numpy
print(naively.load({path!r}).predict({rows}).tolist())
print(*sorted({{name.partition(".")[0] for name in sys.modules}}))
"""
HIDDEN = ("sklearn", "pandas")


def run(code: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("hidden", [(), HIDDEN], ids=["installed", "missing"])
@over_all_estimators
def test_a_loaded_model_predicts_without_scikit_learn_and_pandas(
    model: Any, X: Any, hidden: tuple[str, ...], tmp_path: Path
) -> None:
    fitted = clone(model).fit(X, LABELS)
    fitted.save(tmp_path / "model.nb")
    rows = X[:4].tolist() if model is ON_TEXTS else f"numpy.array({X[:4].tolist()})"
    predicted, loaded = run(PREDICT.format(hidden=hidden, path=str(tmp_path / "model.nb"), rows=rows))
    assert predicted == str(fitted.predict(X[:4]).tolist())
    assert not {"sklearn", "pandas"} & set(loaded.split())


@pytest.mark.parametrize("hidden", [(), HIDDEN], ids=["installed", "missing"])
def test_a_loaded_model_reads_tables_without_scikit_learn_and_pandas(hidden: tuple[str, ...], tmp_path: Path) -> None:
    table = {
        "price": [7.5, None, 30.0, 31.0] * 4,
        "rooms": [1, 2, None, 5] * 4,
        "open": [True, None, True, False] * 4,
        "city": ["Rome", "Oslo", None, "Oslo"] * 4,
        "note": ["a fine film", None, "a dull film", "so dull"] * 4,
    }
    model = naively.NaiveBayes(columns={"note": naively.Text(), "rooms": naively.Poisson()})
    model.fit(table, ["again", "again", "never", "never"] * 4).save(tmp_path / "model.nb")
    predicted, loaded = run(PREDICT.format(hidden=hidden, path=str(tmp_path / "model.nb"), rows=table))
    assert predicted == str(model.predict(table).tolist())
    assert not {"sklearn", "pandas"} & set(loaded.split())


def test_without_scikit_learn_errors_are_of_the_same_kinds() -> None:
    code = """
import sys
sys.modules["sklearn"] = None
import naively
for error, work in [
    ((ValueError, AttributeError), lambda: naively.MultinomialNB().predict([[1]])),
    ((ValueError, TypeError), lambda: naively.MultinomialNB(alpha=-1).fit([[1], [2]], [0, 1])),
]:
    try:
        work()
    except naively.NaivelyError as caught:
        assert all(isinstance(caught, kind) for kind in error)
        print(caught)
"""
    assert run(code) == [
        "This MultinomialNB instance is not fitted yet. Call 'fit' with appropriate arguments before using this "
        "estimator.",
        *[line for line in run(code)[1:] if line.startswith("The 'alpha' parameter of MultinomialNB must be a float")],
    ]
    assert issubclass(InvalidParameter, NaivelyError)


# --- rows

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
ROWS: dict[str, Any] = {
    "list": [[1, 2], [3, 4]],
    "float32": np.ones((2, 2), np.float32),
    "frame": FRAME,
    "frame of float32": FRAME.astype(np.float32),
    "flags and numbers": pd.DataFrame({"a": [True, False], "b": [0.5, 1.5]}),
    "nullable": pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.array([True, False], "boolean")}),
    "text and numbers": pd.DataFrame({"a": ["x", None], "b": [1, 2]}),
    "categories": pd.DataFrame({"a": ["x", "y"], "b": ["y", "y"]}, dtype="category"),
    "numbered columns": pd.DataFrame(np.ones((2, 2))),
    "sparse frame": pd.DataFrame({"a": [0, 1], "b": [1, 0]}).astype(pd.SparseDtype(int, 0)),
    "polars": pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}),
    "csc": sparse.csc_matrix([[0, 1], [2, 0]]),
    "coo": sparse.coo_array([[0, 1], [2, 0]]),
    "long indices": sparse.csr_array((np.ones(2), np.array([0, 1], np.int64), np.array([0, 1, 2], np.int64)), (2, 2)),
    "complex": np.ones((2, 2)) * 1j,
    "complex and sparse": sparse.csr_matrix([[1j]]),
    "no rows": np.ones((0, 2)),
    "no columns": np.ones((2, 0)),
    "one dimension": np.ones(2),
    "three dimensions": np.ones((2, 2, 2)),
    "series": pd.Series([1, 2]),
    "text": "ab",
    "nothing": None,
    "matrix": np.matrix([[1, 2]]),
    "ragged": [[1, 2], [3]],
    "mixed names": pd.DataFrame([[1, 2]], columns=["a", 1]),
    "three columns": np.ones((2, 3)),
    "another order": FRAME[["b", "a"]],
    "other names": FRAME.rename(columns={"a": "c"}),
}


class Checked(BaseEstimator):  # type: ignore[misc]
    """An estimator that both can check rows for."""


@pytest.mark.parametrize("before", ["none", "list", "frame"])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_are_checked_as_scikit_learn_checks_them(rows: str, before: str) -> None:
    def tried(check_them: Any) -> Any:
        estimator: Any = Checked()
        if before != "none":
            check_them(estimator, ROWS[before], True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                X = check_them(estimator, ROWS[rows], before == "none")
            except (ValueError, TypeError) as error:
                return TypeError if isinstance(error, TypeError) else ValueError, str(error).split("\n")[0][:40]
        names = getattr(estimator, "feature_names_in_", None)
        values = X.toarray() if sparse.issparse(X) else X
        told = [str(w.message) for w in caught]
        kept = estimator.n_features_in_, None if names is None else names.tolist(), type(X), told
        return (*kept, values.dtype, [str(value) for value in values.ravel().tolist()])

    def theirs(estimator: Any, X: Any, reset: bool) -> Any:
        return validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False)

    assert tried(lambda estimator, X, reset: check_rows(estimator, X, reset=reset)) == tried(theirs)
