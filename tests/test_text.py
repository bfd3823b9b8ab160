"""Classifying raw text: what goes in, what is decided afterwards, and what is refused."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from families import plain_text
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import mutual_info_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

import naively
from naively import Best, InputError, NegativeCount, testing

REVIEWS, LABELS = (np.array(part) for part in naively.film_reviews())
TEXTS: list[str] = REVIEWS.tolist()
SHORT = ["a fine film", "a dull, dull film", "fine acting", "不错的电影", "não é bom"]
KINDS = ["pos", "neg", "pos", "pos", "neg"]
Array = np.ndarray[Any, Any]

FORMS: dict[str, Callable[[list[str]], Any]] = {
    "tuple": tuple,
    "generator's list": lambda x: list(iter(x)),
    "object array": lambda x: np.array(x, dtype=object),
    "str array": np.array,
    "column array": lambda x: np.array(x, dtype=object)[:, None],
    "bytes": lambda x: [text.encode() for text in x],
    "bytearrays": lambda x: [bytearray(text.encode()) for text in x],
    "pandas object": lambda x: pd.Series(x, dtype=object, index=range(7, 7 + len(x))),
    "pandas str": lambda x: pd.Series(x, dtype="string"),
    "pandas frame": lambda x: pd.DataFrame({"text": x}),
    "polars": pl.Series,
    "polars frame": lambda x: pl.DataFrame({"text": x}),
    "arrow": pa.array,
    "arrow large": lambda x: pa.array(x, pa.large_string()),
    "arrow binary": lambda x: pa.array([text.encode() for text in x], pa.binary()),
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
    "arrow slice": lambda x: pa.array(["before", *x, "behind"])[1:-1],
    "arrow chunks": lambda x: pa.chunked_array([x[:1], [], x[1:]], pa.string()),
    "arrow table": lambda x: pa.table({"text": x}),
}


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_of_input_gives_the_same_tally_and_prediction(form: str) -> None:
    plain, other = plain_text().fit(SHORT, KINDS), plain_text().fit(FORMS[form](SHORT), KINDS)
    assert other.tally_ == plain.tally_
    np.testing.assert_array_equal(other.predict_proba(FORMS[form](SHORT)), plain.predict_proba(SHORT))


MISSING: dict[str, Callable[[list[Any]], Any]] = {
    "None": lambda x: [None if text is None else text for text in x],
    "NaN": lambda x: [np.nan if text is None else text for text in x],
    "NA": lambda x: [pd.NA if text is None else text for text in x],
    "pandas": lambda x: pd.Series(x, dtype="string"),
    "polars": pl.Series,
    "arrow": pa.array,
    "chunks": lambda x: pa.chunked_array([x[:2], x[2:]], pa.string()),
}


@pytest.mark.parametrize("form", MISSING, ids=str)
@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
def test_a_missing_text_adds_no_word_and_is_judged_by_the_prior(form: str, family: str) -> None:
    holed = [SHORT[0], None, *SHORT[1:], None]
    labels = [KINDS[0], "unheard of", *KINDS[1:], "neg"]
    plain = plain_text(family=family).fit(SHORT, KINDS)
    other = plain_text(family=family).fit(MISSING[form](holed), labels)
    assert other.tally_ != plain.tally_
    assert other.tally_.part.cells.same(plain.tally_.part.cells)
    assert other.class_count_.tolist() == [*(plain.class_count_ + np.array([1, 0])), 1]
    scores = other.scores(MISSING[form](holed))
    np.testing.assert_array_equal(scores.likelihood[1], 0.0)
    empty = plain.scores([""]).likelihood[0]
    assert (empty == 0.0).all() == (family != "bernoulli")  # an empty text lacks every word, a missing one does not


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", "got a single one"),
        (["fine", 3], r"row 1: expected text, got 3 \(int\)"),
        (["fine", ["nested"]], r"row 1: expected text, got \['nested'\]"),
        ([b"fine", {"a": 1}], "row 1: expected text"),
        (np.array([1.0, 2.0]), "row 0: expected text, got 1.0"),
        (np.array([["a", "b"], ["c", "d"]]), r"shape \(2, 2\)"),
        (pa.array([1, 2]), "got one of int64"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}), "expected one column of texts, got 2"),
        (pl.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}), "expected one column of texts, got 2"),
        ({"a": 1, "b": 2}, "it has no order"),
        (5, "pass a list"),
        ([], "inconsistent|0 sample"),
        (["a", "b", "c"], "inconsistent numbers of samples"),
    ],
)
def test_what_is_no_column_of_texts_is_refused_by_row_and_changes_nothing(texts: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plain_text().fit(texts, ["a", "b"])
    clf = plain_text().fit(SHORT, KINDS)
    before = clf.tally_
    with pytest.raises(InputError, match=message):
        clf.partial_fit(texts, ["pos", "neg"])
    assert clf.tally_ == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tokens": "sentences"}, "tokens"),
        ({"ngrams": (2, 1)}, "ngrams must be two whole numbers"),
        ({"ngrams": (0, 1)}, "ngrams"),
        ({"min_df": 0}, "min_df"),
        ({"max_df": 1.5}, "max_df"),
        ({"min_df": 3, "max_df": 2}, "fewer documents than min_df"),
        ({"min_df": 4}, "no word is left"),
        ({"min_df": 100}, "fewer documents than min_df"),
        ({"family": "gaussian"}, "family"),
        ({"weighting": "tfidf", "weights": False}, "weights=True"),
        ({"alpha": -1.0}, "alpha"),
        ({"family": "complement", "alpha": naively.Epsilon(1e-9)}, "complement"),
        ({"alpha": naively.Additive((1.0, 2.0))}, "one number for all words"),
        ({"vocabulary": ["a"], "hashing": 10}, "exclude each other"),
        ({"vocabulary": ["a", "a"]}, "'a' is there twice"),
        ({"vocabulary": [1]}, "must be words"),
        ({"stop_words": [1]}, "must be words"),
        ({"negation": True, "tokens": "chars"}, "negation marks words"),
        ({"stop_words": ["a"], "tokens": "chars"}, "stop words are words"),
        ({"tokens": lambda text: text}, "must give a list of tokens"),
        ({"tokens": lambda text: [1]}, "row 0: tokens must be text, got 1"),
        ({"threads": 0}, "threads"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain_text(**options).fit(SHORT, KINDS).predict(SHORT)


def test_broken_encodings_part_words_and_never_crash() -> None:
    clf = plain_text().fit([b"fine\xff\xfefilm", "dull\ud800plot", "a\0b", b"\xf0\x9f\x98"], list("xyzx"))
    assert clf.get_feature_names_out().tolist() == ["a", "b", "dull", "film", "fine", "plot"]
    assert clf.predict([b"\x80fine", "plot\udfff", "\0b"]).tolist() == ["x", "y", "z"]


@settings(max_examples=50)
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5))
def test_any_bytes_at_all_can_be_learnt_judged_and_forgotten(texts: list[bytes]) -> None:
    clf = plain_text(ngrams=(1, 2), negation=True).fit([b"known", *texts], range(len(texts) + 1))
    assert not np.isnan(clf.predict_proba(texts)).any()
    clf.forget(texts, range(1, len(texts) + 1))
    assert clf.tally_ == plain_text(ngrams=(1, 2), negation=True).fit([b"known"], [0]).tally_


def test_huge_and_empty_texts_are_no_trouble() -> None:
    endless, spaced = "x" * 9_000_000, "word " * 2_000_000
    clf = plain_text(ngrams=(1, 2)).fit([endless, spaced, "中" * 3_000_000], list("abc"))
    assert clf.predict(["word word", "中中", "x"]).tolist() == ["b", "c", "a"]
    assert clf.tally_.part.cells.values[0].max() == 2_999_999
    many = plain_text().fit([""] * 1_000_000, ["a", "b"] * 500_000)
    assert repr(many.tally_) == "Tally(1_000_000 rows, 2 classes, 0 words)"
    assert many.predict([""]).tolist() == ["a"]


# --- everything is decided afterwards


def expected_scores(family: str, weighting: str, alpha: float) -> Array:
    """scikit-learn's scores from a matrix of counts; tf-idf in the form that needs one pass."""
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(TEXTS)
    T = X
    if weighting == "tfidf":
        X = TfidfTransformer(use_idf=False, sublinear_tf=True).fit_transform(X)
        T = TfidfTransformer(sublinear_tf=True).fit_transform(vectorizer.transform(TEXTS))
    elif weighting == "binary":
        X = T = (X > 0).astype(int)
    peer = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}[family]
    return peer(alpha=alpha).fit(X, LABELS).predict_joint_log_proba(T)


COMBINATIONS = [(f, w) for f in ("multinomial", "complement") for w in ("counts", "binary", "tfidf")]


@pytest.mark.parametrize(("family", "weighting"), [*COMBINATIONS, ("bernoulli", "counts")])
@pytest.mark.parametrize("alpha", [1.0, 0.1])
def test_refit_gives_the_scores_of_every_family_and_weighting_without_reading_again(
    family: str, weighting: str, alpha: float
) -> None:
    clf = plain_text(tokens="sklearn").fit(TEXTS, LABELS)
    clf.refit(family=family, weighting=weighting, alpha=alpha)
    found = clf.predict_joint_log_proba(TEXTS)
    expected = expected_scores(family, weighting, alpha)
    np.testing.assert_allclose(found, expected, rtol=1e-7 if weighting == "tfidf" else 1e-11)
    fresh = plain_text(tokens="sklearn", family=family, weighting=weighting, alpha=alpha).fit(TEXTS, LABELS)
    np.testing.assert_array_equal(found, fresh.predict_joint_log_proba(TEXTS))


def test_refit_refuses_what_needs_the_texts_and_what_makes_no_sense_and_changes_nothing() -> None:
    clf = plain_text().fit(SHORT, KINDS)
    for name, value in {"ngrams": (1, 2), "tokens": "sklearn", "negation": True, "hashing": 4}.items():
        with pytest.raises(InputError, match=f"{name} says what is counted"):
            clf.refit(**{name: value})
    with pytest.raises(ValueError, match="family"):
        clf.refit(family="gaussian", alpha=0.5)
    with pytest.raises(InputError, match="no word is left"):
        clf.refit(min_df=4)
    assert clf.get_params() == plain_text().get_params()
    clf.set_params(ngrams=(1, 2))
    with pytest.raises(InputError, match="counted with ngrams=\\(1, 1\\), now it is \\(1, 2\\); fit again"):
        clf.predict(SHORT)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_threads_give_the_same_tally(threads: int) -> None:
    for options in ({}, {"ngrams": (1, 3)}, {"hashing": 12}, {"tokens": "chars", "ngrams": (2, 4)}):
        one, more = (plain_text(threads=n, **options).fit(TEXTS, LABELS) for n in (1, threads))
        assert one.tally_ == more.tally_
        np.testing.assert_allclose(one.predict_proba(TEXTS), more.predict_proba(TEXTS), rtol=1e-9)


def test_weights_count_as_repetitions_do() -> None:
    times = np.arange(len(TEXTS)) % 3
    weighted = plain_text().fit(TEXTS, LABELS, sample_weight=times)
    repeated = plain_text().fit(np.repeat(REVIEWS, times), np.repeat(LABELS, times))
    assert weighted.tally_ == repeated.tally_
    halves = plain_text().fit(TEXTS, LABELS, sample_weight=times / 2)
    np.testing.assert_allclose(halves.tally_.part.cells.values * 2, repeated.tally_.part.cells.values)


def test_batches_larger_than_memory_come_from_an_iterator() -> None:
    batches = ((TEXTS[i : i + 50], LABELS[i : i + 50]) for i in range(0, len(TEXTS), 50))
    streamed, whole = plain_text().fit(batches), plain_text().fit(TEXTS, LABELS)
    assert streamed.tally_ == whole.tally_
    parts = (TEXTS[i : i + 50] for i in range(0, len(TEXTS), 50))
    assert streamed.predict(parts).tolist() == whole.predict(TEXTS).tolist()
    with pytest.raises(InputError, match="batch 0: expected \\(texts, labels\\)"):
        streamed.fit(iter([TEXTS]))
    assert streamed.tally_ == whole.tally_
    with pytest.raises(InputError, match="no batch came"):
        plain_text().fit(iter([]))


def test_forgetting_takes_words_along_that_nothing_else_had() -> None:
    clf = plain_text(ngrams=(1, 2)).fit([*SHORT, "quixotic endeavour"], [*KINDS, "odd"])
    clf.forget(["quixotic endeavour"], ["odd"])
    plain = plain_text(ngrams=(1, 2)).fit(SHORT, KINDS)
    assert clf.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()
    np.testing.assert_array_equal(clf.predict_proba(SHORT), plain.predict_proba(SHORT))
    with pytest.raises(NegativeCount, match=r"'quixotic'|'odd'"):
        clf.forget(["quixotic"], ["pos"])


# --- selecting


def test_a_few_words_are_selected_as_scikit_learn_prunes_them() -> None:
    for options in (
        {"min_df": 3},
        {"max_df": 0.05},
        {"max_features": 40},
        {"min_df": 2, "max_df": 30, "max_features": 9},
    ):
        mine = plain_text(tokens="sklearn", **options).fit(TEXTS, LABELS)
        theirs = CountVectorizer(**options).fit(TEXTS)
        assert mine.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        peer = MultinomialNB().fit(theirs.transform(TEXTS), LABELS)
        np.testing.assert_allclose(
            mine.predict_log_proba(TEXTS), peer.predict_log_proba(theirs.transform(TEXTS)), rtol=1e-9, atol=1e-12
        )


def qualities(by: str, label: str | None) -> dict[str, float]:
    """How good each word is, by other people's formulas."""
    vectorizer = CountVectorizer(binary=True)
    X = vectorizer.fit_transform(TEXTS).toarray()
    own = LABELS if label is None else label == LABELS
    found = {}
    for name, column in vectorizer.vocabulary_.items():
        if by == "chi2":
            table = [[np.sum((X[:, column] == a) & (own == b)) for b in (0, 1)] for a in (0, 1)]
            found[name] = float(chi2_contingency(table, correction=False).statistic)
        else:
            found[name] = mutual_info_score(own, X[:, column])
    return found


@pytest.mark.parametrize("by", ["chi2", "mutual_information"])
def test_the_best_words_per_label_are_those_of_other_peoples_formulas(by: str) -> None:
    clf = plain_text(tokens="sklearn", select=Best(20, by=by, per="label")).fit(TEXTS, LABELS)
    expected: set[str] = set()
    for label in np.unique(LABELS):
        quality = qualities(by, label)
        expected |= set(sorted(quality, key=lambda word: (-round(quality[word], 9), word))[:20])
    assert set(clf.get_feature_names_out()) == expected


def test_information_gain_is_mutual_information_with_all_labels() -> None:
    clf = plain_text(tokens="sklearn", select=Best(30, by="information_gain")).fit(TEXTS, LABELS)
    quality = qualities("mutual_information", None)
    assert set(clf.get_feature_names_out()) == set(
        sorted(quality, key=lambda word: (-round(quality[word], 9), word))[:30]
    )


def test_ties_are_broken_by_name_whatever_the_order_of_the_texts() -> None:
    texts, labels = ["delta", "alpha", "charlie", "bravo"], [0, 0, 1, 1]
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        mine = plain_text(select=Best(2)).fit([texts[i] for i in order], [labels[i] for i in order])
        assert mine.get_feature_names_out().tolist() == ["alpha", "bravo"]
    for n in (0, "many"):
        with pytest.raises(InputError, match="n must be a whole number above 0"):
            Best(n)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="information gain is of all labels"):
        Best(5, by="information_gain", per="label")


# --- what was learnt


def test_top_words_lean_to_their_label_by_the_published_formula() -> None:
    clf = plain_text().fit(TEXTS, LABELS)
    top = clf.top_words(5, strength=500.0)
    assert list(top) == clf.classes_.tolist()
    word, score = top["positive"][0]
    words = {k: " ".join(REVIEWS[k == LABELS]).lower().replace(",", " ").replace(".", " ").split() for k in top}
    here, elsewhere = words["positive"].count(word), words["negative"].count(word)
    totals = clf.tally_.part.totals[0]
    own, other = totals[clf.tally_.classes.locate(["positive", "negative"])]
    prior = 500.0 * (here + elsewhere) / (own + other)
    odds = [np.log((n + prior) / (total + 500.0 - n - prior)) for n, total in ((here, own), (elsewhere, other))]
    z = (odds[0] - odds[1]) / np.sqrt(1 / (here + prior) + 1 / (elsewhere + prior))
    assert score == pytest.approx(z, abs=1e-4)
    assert all(a[1] >= b[1] for words in top.values() for a, b in pairwise(words))


def test_sampled_texts_are_made_of_known_words_and_are_recognised() -> None:
    clf = plain_text(alpha=0.01).fit(TEXTS, LABELS)
    texts, labels = clf.sample(200, random_state=0)
    assert (texts, labels.tolist()) == (lambda pair: (pair[0], pair[1].tolist()))(clf.sample(200, random_state=0))
    assert {word for text in texts for word in text.split()} <= set(clf.get_feature_names_out())
    assert clf.score(texts, labels) > 0.85


def test_explanations_name_words_and_add_up() -> None:
    clf = plain_text(ngrams=(1, 2)).fit(SHORT, KINDS)
    told = clf.explain("a dull film")
    assert set(told.features) == {"a", "dull", "film", "a dull", "dull film"} & set(clf.get_feature_names_out())
    testing.shares_sum_to_the_score(clf, "a dull film")


def test_negation_tells_apart_what_single_words_cannot() -> None:
    happy, unhappy = "I am happy to see this movie", "I am not happy to see this movie"
    assert set(plain_text(negation=True).fit([unhappy], ["neg"]).get_feature_names_out()) == {
        "i", "am", "not", "NOT_happy", "NOT_to", "NOT_see", "NOT_this", "NOT_movie",
    }  # fmt: skip
    clf = plain_text(negation=True).fit([happy, unhappy], ["pos", "neg"])
    assert clf.predict(["happy", "I don't think so: happy", "never happy"]).tolist() == ["pos", "pos", "neg"]


def test_hashed_words_keep_the_names_that_were_seen_most() -> None:
    plain, hashed = plain_text().fit(TEXTS, LABELS), plain_text(hashing=18).fit(TEXTS, LABELS)
    named = {name for name in hashed.get_feature_names_out() if not name.startswith("bucket ")}
    assert named <= set(plain.get_feature_names_out())
    assert len(named) > 0.95 * len(plain.get_feature_names_out())
    assert (hashed.predict(TEXTS) == plain.predict(TEXTS)).mean() > 0.98
    small = plain_text(hashing=3).fit(TEXTS, LABELS)
    assert len(small.get_feature_names_out()) == 8
    with pytest.raises(InputError, match="hashed to"):
        _ = small.tally_ + hashed.tally_


def test_a_classifier_of_texts_keeps_the_manners_of_scikit_learn() -> None:
    clf = plain_text(ngrams=(1, 2), tokens=str.split).fit(TEXTS, LABELS)
    again = pickle.loads(pickle.dumps(clf))
    assert again.tally_ == clf.tally_
    np.testing.assert_allclose(again.predict_proba(TEXTS), clf.predict_proba(TEXTS), rtol=1e-12)
    assert clone(clf).get_params() == clf.get_params()
    assert cross_val_score(plain_text(), TEXTS, LABELS, cv=3).mean() > 0.6
    search = GridSearchCV(plain_text(), {"family": ["multinomial", "complement"], "alpha": [0.1, 1.0]}, cv=3)
    assert search.fit(TEXTS, LABELS).best_score_ > 0.6
    merged = naively.merge(*(plain_text().fit(TEXTS[i::3], LABELS[i::3]) for i in range(3)))
    assert merged.tally_ == plain_text().fit(TEXTS, LABELS).tally_


def test_many_threads_may_judge_while_one_learns() -> None:
    clf = plain_text().fit(TEXTS, LABELS)
    failures: list[BaseException] = []
    done = threading.Event()

    def judge() -> None:
        try:
            while not done.is_set():
                assert set(clf.predict(TEXTS[:20]).tolist()) <= {"positive", "negative"}
                assert len(clf.get_feature_names_out()) > 100
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=judge) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(200):
        clf.partial_fit([f"new{i} words{i} come and go"], ["positive"])
    done.set()
    for reader in readers:
        reader.join()
    assert failures == []
    assert {"new0", "words199"} <= set(clf.get_feature_names_out())


# --- vectorizers


@settings(max_examples=100)
@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=6),
    st.sampled_from([{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (1, 3)}, {"binary": True}]),
)
def test_count_vectorizer_makes_scikit_learns_matrix_of_any_text(texts: list[str], options: dict[str, Any]) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    mine, theirs = naively.CountVectorizer(**options), CountVectorizer(**options)
    try:
        expected = theirs.fit_transform(texts)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            mine.fit_transform(texts)
        return
    found = mine.fit_transform(texts)
    assert mine.vocabulary_ == theirs.vocabulary_
    assert (found != expected).nnz == 0
    assert (found.dtype, found.shape, type(found)) == (expected.dtype, expected.shape, type(expected))
    again, other = mine.transform(texts[::-1]), theirs.transform(texts[::-1])
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(again, part), getattr(other, part))
    assert pickle.loads(pickle.dumps(mine)).transform(texts).nnz == found.nnz


def test_count_vectorizer_grows_and_keeps_its_columns() -> None:
    vectorizer = naively.CountVectorizer().fit(["b d", "bb dd"])
    before = dict(vectorizer.vocabulary_)
    vectorizer.partial_fit(pa.array(["aa cc dd"]))
    assert {name: vectorizer.vocabulary_[name] for name in before} == before
    assert vectorizer.get_feature_names_out().tolist() == ["bb", "dd", "aa", "cc"]
    assert vectorizer.transform(["dd dd cc"]).toarray().tolist() == [[0, 2, 0, 1]]
    for options in ({"min_df": 2}, {"max_df": 1}, {"min_df": 1.0}, {"max_features": 3}):
        with pytest.raises(InputError, match="partial_fit keeps every word"):
            naively.CountVectorizer(**options).partial_fit(["aa"])
    with pytest.raises(InputError, match="vocabulary that was given"):
        naively.CountVectorizer(vocabulary=["aa"]).partial_fit(["aa"])


def test_count_vectorizer_finds_words_of_scripts_without_spaces_if_asked() -> None:
    vectorizer = naively.CountVectorizer(tokens="words").fit(["很好的书 a", "हिन्दी"])
    assert vectorizer.get_feature_names_out().tolist() == ["a", "हिन्दी", "好的", "很好", "的书"]
    assert sorted(vectorizer.build_analyzer()("很好 a a")) == ["a", "a", "很好"]


def test_bytes_are_decoded_as_the_vectorizer_was_told() -> None:
    latin = ["tête à tête".encode("latin-1")]
    assert naively.CountVectorizer(encoding="latin-1").fit(latin).get_feature_names_out().tolist() == ["tête"]
    with pytest.raises(UnicodeDecodeError):
        naively.CountVectorizer().fit(latin)
    with pytest.raises(UnicodeDecodeError):
        naively.CountVectorizer().fit(pa.array(latin))
