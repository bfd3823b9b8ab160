"""Tf-idf: scikit-learn's rows of any texts and counts, learnt at once or in batches, and kept in files."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

import naively
from naively import FileError, InputError

TEXTS = ["one fish two fish", "red fish blue fish", "", "one red two blue", "naïve café"]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "norm": st.sampled_from(["l1", "l2", None]),
        "use_idf": st.booleans(),
        "smooth_idf": st.booleans(),
        "sublinear_tf": st.booleans(),
    },
)
WORDS = st.lists(st.sampled_from(["aa", "bb", "cc", "dd", "ee"]), max_size=8).map(" ".join)


def assert_same(found: Any, expected: Any) -> None:
    assert (found.shape, found.dtype, type(found)) == (expected.shape, expected.dtype, type(expected))
    places = [sparse.csr_array(rows) for rows in (found, expected)]
    for rows in places:
        rows.sort_indices()
    np.testing.assert_array_equal(places[0].indptr, places[1].indptr)
    np.testing.assert_array_equal(places[0].indices, places[1].indices)
    np.testing.assert_allclose(places[0].data, places[1].data, rtol=1e-5 if found.dtype == np.float32 else 1e-12)


@given(
    st.lists(st.one_of(WORDS, st.text(max_size=20)), min_size=1, max_size=6),
    OPTIONS,
    st.sampled_from([{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (1, 3)}, {"binary": True}]),
    st.sampled_from([np.float64, np.float32]),
)
def test_texts_become_the_rows_that_scikit_learn_makes(
    texts: list[str], weighing: dict[str, Any], counting: dict[str, Any], dtype: Any
) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    mine = naively.TfidfVectorizer(**weighing, **counting, dtype=dtype)
    theirs = TfidfVectorizer(**weighing, **counting, dtype=dtype)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            mine.fit_transform(texts)
        assert not hasattr(mine, "_tfidf")
        return
    assert_same(mine.fit_transform(texts), expected)
    assert mine.vocabulary_ == theirs.vocabulary_
    assert hasattr(mine._tfidf, "idf_") == hasattr(theirs._tfidf, "idf_")
    others = [*texts[::-1], "aa zz"]
    assert_same(mine.transform(others), theirs.transform(others))
    assert_same(naively.TfidfVectorizer(**weighing, **counting, dtype=dtype).fit(texts).transform(texts), expected)


@given(
    st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=8),
    OPTIONS,
    st.sampled_from([np.asarray, sparse.csr_array, sparse.csc_array]),
    st.sampled_from([np.int64, np.float64, np.float32]),
)
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
def test_counts_become_the_rows_that_scikit_learn_makes(rows: Any, weighing: Any, kind: Any, dtype: Any) -> None:
    X = kind(np.array(rows, dtype))
    assume_seen = weighing.get("smooth_idf", True) or np.array(rows).any(axis=0).all()
    mine, theirs = naively.TfidfTransformer(**weighing), TfidfTransformer(**weighing)
    found, expected = mine.fit(X).transform(X), theirs.fit(X).transform(X)
    if weighing.get("use_idf", True):
        np.testing.assert_array_equal(mine.idf_, theirs.idf_)
    if assume_seen:
        assert_same(found, expected)


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@given(st.lists(WORDS, min_size=1, max_size=8), st.integers(1, 4), OPTIONS)
def test_batches_give_the_weights_that_all_texts_together_give(
    texts: list[str], size: int, weighing: dict[str, Any]
) -> None:
    batches, whole = naively.TfidfVectorizer(**weighing), naively.TfidfVectorizer(**weighing)
    if not any(texts):
        return
    whole.fit(texts)
    for start in range(0, len(texts), size):
        batches.partial_fit(texts[start : start + size])
    order = [batches.vocabulary_[name] for name in whole.get_feature_names_out()]
    np.testing.assert_allclose(batches.transform(texts).toarray()[:, order], whole.transform(texts).toarray())
    counts = naively.CountVectorizer(vocabulary=whole.vocabulary_).transform(texts)
    rows = naively.TfidfTransformer(**weighing)
    for start in range(0, len(texts), size):
        rows.partial_fit(counts[start : start + size])
    assert_same(rows.transform(counts), naively.TfidfTransformer(**weighing).fit(counts).transform(counts))


def test_fit_forgets_what_was_counted_before() -> None:
    twice = naively.TfidfVectorizer().fit(["aa bb"]).fit(TEXTS)
    np.testing.assert_array_equal(twice.idf_, naively.TfidfVectorizer().fit(TEXTS).idf_)


def test_weights_can_be_set_but_not_added_to() -> None:
    vectorizer = naively.TfidfVectorizer(vocabulary=["fish", "red"], norm=None)
    vectorizer.idf_ = np.array([2.0, 3.0])
    assert vectorizer.transform(["red fish fish"]).toarray().tolist() == [[4.0, 3.0]]
    with pytest.raises(InputError, match="length = 3 must be equal to vocabulary size = 2"):
        vectorizer.idf_ = np.ones(3)
    grown = naively.TfidfVectorizer().fit(TEXTS)
    grown.idf_ = grown.idf_ + 1
    with pytest.raises(InputError, match="cannot add to an idf_ that was set"):
        grown.partial_fit(["green fish"])
    assert "green" not in grown.vocabulary_
    with pytest.raises(InputError, match="`idf_` cannot be set when `use_idf=False`"):
        naively.TfidfVectorizer(use_idf=False).idf_ = [1.0]


def test_counts_that_are_whole_numbers_become_doubles_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="int32 is converted to float64"):
        rows = naively.TfidfVectorizer(dtype=np.int32).fit_transform(TEXTS)
    assert rows.dtype == np.float64


@pytest.mark.parametrize("options", [{}, {"dtype": np.float32, "ngram_range": (1, 2)}, {"use_idf": False}])
def test_a_file_holds_words_and_counts(tmp_path: Path, options: dict[str, Any]) -> None:
    model = naively.TfidfVectorizer(**options).fit(TEXTS)
    model.save(tmp_path / "words")
    again = naively.load(tmp_path / "words", verify=True)
    assert again.get_params() == model.get_params()
    assert_same(again.transform(TEXTS), model.transform(TEXTS))
    assert_same(again.partial_fit(["red sea"]).transform(TEXTS), model.partial_fit(["red sea"]).transform(TEXTS))
    rows = naively.CountVectorizer().fit_transform(TEXTS)
    naively.TfidfTransformer().fit(rows).save(tmp_path / "weights")
    loaded = naively.load(tmp_path / "weights")
    assert_same(loaded.transform(rows), naively.TfidfTransformer().fit(rows).transform(rows))


def test_a_file_holds_weights_that_were_set(tmp_path: Path) -> None:
    model = naively.TfidfVectorizer().fit(TEXTS)
    model.idf_ = np.arange(1.0, len(model.vocabulary_) + 1)
    model.save(tmp_path / "words")
    np.testing.assert_array_equal(naively.load(tmp_path / "words").idf_, model.idf_)


def test_a_vectorizer_that_has_learnt_nothing_can_be_saved(tmp_path: Path) -> None:
    for fresh in (naively.TfidfVectorizer(norm="l1"), naively.TfidfTransformer(norm="l1")):
        fresh.save(tmp_path / "fresh")
        assert naively.load(tmp_path / "fresh").get_params() == fresh.get_params()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1, exclude_max=True))
def test_a_damaged_file_is_refused(tmp_path: Path, place: float) -> None:
    path = tmp_path / "words"
    naively.TfidfVectorizer().fit(TEXTS).save(path)
    data = path.read_bytes()
    at = int(place * len(data))
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(FileError):
        naively.load(path)
