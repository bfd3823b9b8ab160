"""The kernels that sum a path of smoothings at once equal plain NumPy, and never read out of bounds."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from naively import _core

TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]
small = settings(max_examples=30)


@st.composite
def cell_paths(draw: st.DrawFn) -> dict[str, Any]:
    """Sparse rows, cells of some of their features, and paths."""
    rows, features, classes = draw(st.integers(0, 12)), draw(st.integers(1, 9)), draw(st.integers(1, 6))
    width, lines = 4 * draw(st.integers(1, 3)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dtype, index = draw(st.sampled_from(TYPES)), draw(st.sampled_from([np.int32, np.int64]))
    X = sparse.csr_matrix(rng.integers(0, 4, (rows, features)).astype(dtype))
    many = rng.integers(0, classes + 1, features)
    klass = [np.sort(rng.choice(classes, n, replace=False)) for n in many.tolist()]
    return {
        "data": X.data,
        "indices": X.indices.astype(index),
        "indptr": X.indptr.astype(index),
        "starts": np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        "klass_of": np.concatenate(klass).astype(np.int32),
        "row_of": rng.integers(0, lines, many.sum()),
        "path": rng.normal(size=(lines, width)),
        "base": rng.normal(size=(classes, width)),
        "many": draw(st.integers(0, width)),
        "threads": draw(st.sampled_from([1, 3])),
    }


def plain(a: dict[str, Any]) -> Any:
    rows, classes = len(a["indptr"]) - 1, len(a["base"])
    out = np.zeros((a["many"], rows, classes))
    for i in range(rows):
        for j in range(a["indptr"][i], a["indptr"][i + 1]):
            x, f = float(a["data"][j]), a["indices"][j]
            out[:, i] += x * a["base"][:, : a["many"]].T
            for cell in range(a["starts"][f], a["starts"][f + 1]):
                out[:, i, a["klass_of"][cell]] += x * a["path"][a["row_of"][cell], : a["many"]]
    return out


@small
@given(cell_paths())
def test_scores_along_a_path_equal_plain_sums(arguments: dict[str, Any]) -> None:
    found = _core.score_paths(*arguments.values())
    assert found.shape == plain(arguments).shape
    np.testing.assert_allclose(found, plain(arguments), rtol=1e-12, atol=1e-12)


@st.composite
def log_paths(draw: st.DrawFn) -> dict[str, Any]:
    rows, width = draw(st.integers(0, 12)), 4 * draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    many = rng.integers(0, 5, rows)
    left = rng.choice([0.0, 1.0, 2.0, 0.5, 8191.0, 8192.0, 8192.5, 1e9, 1e-9], many.sum())
    return {
        "x": rng.random(many.sum()) * 3,
        "left": left,
        "starts": np.concatenate([[0], np.cumsum(many)]).astype(np.int64),
        "alpha": rng.random(width) + 1e-3,
        "threads": draw(st.sampled_from([1, 3])),
    }


@small
@given(log_paths())
def test_sums_of_logarithms_equal_plain_sums(a: dict[str, Any]) -> None:
    found = _core.sum_log_paths(*a.values())
    ends = list(zip(a["starts"][:-1], a["starts"][1:], strict=True))
    want = [(a["x"][b:e, None] * np.log(a["left"][b:e, None] + a["alpha"])).sum(axis=0) for b, e in ends]
    np.testing.assert_allclose(found, np.reshape(want, (len(ends), len(a["alpha"]))), rtol=1e-12, atol=1e-12)


def test_many_rows_on_many_threads_do_not_change_a_bit() -> None:
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.poisson(0.5, (20_000, 8)).astype(float))
    starts, klass_of = np.arange(0, 25, 3), np.tile(np.arange(3, dtype=np.int32), 8)
    row_of, path, base = rng.integers(0, 5, 24), rng.normal(size=(5, 8)), rng.normal(size=(3, 8))
    cells = starts, klass_of, row_of, path, base, 7
    one, many = (_core.score_paths(X.data, X.indices, X.indptr, *cells, threads) for threads in (1, 5))
    np.testing.assert_array_equal(one, many)
    left, begin = np.floor(rng.random(X.nnz) * 9), X.indptr.astype(np.int64)
    one, many = (_core.sum_log_paths(X.data, left, begin, path[0] ** 2 + 0.1, threads) for threads in (1, 5))
    np.testing.assert_array_equal(one, many)


GOOD: dict[str, Any] = {
    "data": np.array([1.0, 2.0, 3.0]),
    "indices": np.array([0, 1, 0], np.int32),
    "indptr": np.array([0, 2, 3], np.int32),
    "starts": np.array([0, 2, 3]),
    "klass_of": np.array([0, 1, 1], np.int32),
    "row_of": np.array([0, 1, 0]),
    "path": np.ones((2, 4)),
    "base": np.ones((2, 4)),
    "many": 4,
    "threads": 1,
}


DAMAGE: list[dict[str, Any]] = [
    {"indices": np.array([0, 7, 0], np.int32)},
    {"indices": np.array([0, -1, 0], np.int32)},
    {"indices": np.array([0, 2**31 - 1, 0], np.int32)},
    {"indices": np.array([0, 1], np.int32)},
    {"data": np.ones(2)},
    {"indptr": np.array([0, 2, 9], np.int32)},
    {"indptr": np.array([0, 3, 2], np.int32)},
    {"indptr": np.array([-5, 2, 3], np.int32)},
    {"indptr": np.array([2**31 - 1, 2**31 - 1, 3], np.int32)},
    {"indptr": np.zeros(0, np.int32)},
    {"starts": np.zeros(0, np.int64)},
    {"starts": np.array([0, 2])},
    {"starts": np.array([0, 2, 9])},
    {"starts": np.array([-3, 2, 3])},
    {"starts": np.array([0, 2**62, 3])},
    {"starts": np.array([-(2**62), 0, 3])},
    {"klass_of": np.array([0, 2, 1], np.int32)},
    {"klass_of": np.array([0, -1, 1], np.int32)},
    {"klass_of": np.array([0, 1], np.int32)},
    {"row_of": np.array([0, 2, 0])},
    {"row_of": np.array([0, -1, 0])},
    {"row_of": np.array([0, 2**62, 0])},
    {"row_of": np.array([0])},
    {"path": np.ones((2, 3)), "base": np.ones((2, 3)), "many": 3},
    {"path": np.ones((2, 8))},
    {"path": np.ones((0, 4))},
    {"base": np.ones((2, 8))},
    {"base": np.ones((1, 4))},
    {"base": np.ones((0, 4))},
    {"many": 5},
    {"data": np.array([1.0, np.inf, 1.0])},
]
RUN = """
import pickle, sys
from naively import _core
calls, first = pickle.loads(sys.stdin.buffer.read())
for i, call in enumerate(calls[first:], first):
    try:
        _core.score_paths(*call)
        told = "nothing was told"
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
    print(i, told, flush=True)
"""


@pytest.fixture(scope="module")
def outcomes() -> dict[int, str]:
    """What each damaged call comes to, in a process of its own, so that one that dies takes no tests along."""
    calls = [tuple({**GOOD, **damage, "threads": threads}.values()) for threads in (1, 4) for damage in DAMAGE]
    found: dict[int, str] = {}
    while len(found) < len(calls):
        told = subprocess.run([sys.executable, "-c", RUN], input=pickle.dumps((calls, len(found))), capture_output=True)
        found |= {int(line.split()[0]): line.partition(" ")[2] for line in told.stdout.decode().splitlines()}
        if told.returncode:
            found[len(found)] = f"the process died with {told.returncode}"
    return found


@pytest.mark.parametrize(
    "place", range(2 * len(DAMAGE)), ids=lambda i: f"{DAMAGE[i % len(DAMAGE)]}, {i // len(DAMAGE)}"
)
def test_damaged_paths_are_told_and_never_followed(outcomes: dict[int, str], place: int) -> None:
    assert outcomes[place].startswith("ValueError: ")


@pytest.mark.parametrize("damage", [{"many": -1}, {"path": np.ones(4)}, {"data": None}], ids=repr)
def test_paths_of_other_types_are_refused(damage: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        _core.score_paths(*{**GOOD, **damage}.values())


def test_cells_that_fall_add_nothing() -> None:
    found = _core.score_paths(*{**GOOD, "starts": np.array([2, 0, 3])}.values())
    assert np.isfinite(found).all()


def test_a_missing_value_adds_nothing_and_other_nan_stay_where_they_are() -> None:
    found = _core.score_paths(*{**GOOD, "data": np.array([1.0, 2.0, np.nan])}.values())
    assert found[:, 1].tolist() == [[0.0, 0.0]] * 4
    np.testing.assert_array_equal(found[:, 0], _core.score_paths(*GOOD.values())[:, 0])
    base = np.array([[np.nan] * 4, [1.0] * 4])
    found = _core.score_paths(*{**GOOD, "base": base}.values())
    assert np.isnan(found[:, :, 0]).all()
    assert np.isfinite(found[:, :, 1]).all()


SUMS: dict[str, Any] = {
    "x": np.ones(3), "left": np.ones(3), "starts": np.array([0, 2, 3]), "alpha": np.ones(4), "threads": 1,
}  # fmt: skip


@pytest.mark.parametrize(
    "damage",
    [
        {"x": np.ones(2)},
        {"left": np.ones(4)},
        {"starts": np.zeros(0, np.int64)},
        {"starts": np.array([0, 2, 4])},
        {"starts": np.array([0, 3, 2])},
        {"starts": np.array([-1, 2, 3])},
        {"starts": np.array([0, 2**62, 3])},
        {"starts": np.array([-(2**62)])},
        {"starts": np.array([4])},
        {"alpha": np.ones(3)},
        {"alpha": np.ones(5)},
    ],
    ids=repr,
)
def test_damaged_sums_are_told_and_never_followed(damage: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w+"):
        _core.sum_log_paths(*{**SUMS, **damage}.values())


@pytest.mark.parametrize("left", [np.nan, np.inf, -np.inf, -5.0, -1.0, 1e300, -0.0])
def test_odd_numbers_are_summed_as_numpy_does(left: float) -> None:
    found = _core.sum_log_paths(np.ones(1), np.array([left]), np.array([0, 1]), np.ones(4), 1)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found, np.log(np.full((1, 4), left + 1.0)))


@pytest.mark.parametrize("damage", [{"x": None}, {"alpha": np.ones((2, 4))}], ids=repr)
def test_sums_of_other_types_are_refused(damage: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        _core.sum_log_paths(*{**SUMS, **damage}.values())


@given(st.lists(st.lists(st.integers(0, 6), max_size=6), min_size=1, max_size=6))
@settings(max_examples=50)
def test_a_column_named_twice_is_noticed(rows: list[list[int]]) -> None:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    indices = np.array([column for row in rows for column in row])
    expected = any(len(set(row)) < len(row) for row in rows)
    for kind in (np.int32, np.int64):
        assert _core.names_twice(indices.astype(kind), indptr.astype(kind), 7) == expected


@pytest.mark.parametrize(
    ("indices", "indptr", "columns"),
    [([0, 7], [0, 2], 7), ([-1], [0, 1], 7), ([0], [0, 2], 7), ([0, 1], [0, 2, 1], 7), ([0], [-1, 1], 7), ([], [], 7)],
)
def test_damaged_rows_are_not_followed(indices: list[int], indptr: list[int], columns: int) -> None:
    with pytest.raises(ValueError, match=r"range|empty"):
        _core.names_twice(np.array(indices, np.int64), np.array(indptr, np.int64), columns)
