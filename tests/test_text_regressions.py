"""Mistakes that were made once with texts."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import threading
import timeit
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from families import plain_text
from sklearn.feature_extraction.text import CountVectorizer

import naively
from naively import Best, InputError, NegativeCount, _core
from naively.read.tokens import Tokens

MANY = " ".join(f"word{i}" for i in range(100))


def test_a_model_whose_vocabulary_has_grown_behind_its_back_learns_on() -> None:
    clf = plain_text().fit([MANY] * 2, ["a", "b"])
    with pytest.raises(NegativeCount):
        clf.forget([" ".join(f"other{i}" for i in range(50))], ["a"])
    twin = copy.copy(clf)
    clf.partial_fit(["hello there"], ["a"])
    twin.partial_fit(["good bye"], ["b"])
    assert clf.tally_ == plain_text().fit([MANY, MANY, "hello there"], ["a", "b", "a"]).tally_
    assert twin.tally_ == plain_text().fit([MANY, MANY, "good bye"], ["a", "b", "b"]).tally_


def test_given_words_keep_their_counts_in_whatever_order_a_set_has_them() -> None:
    script = """
import pickle, sys, naively
words = {f"w{i}" for i in range(20)}
clf = naively.TextClassifier(vocabulary=words, calibrate=False).fit(["w1 w2 w3", "w4 w5 bad"], ["a", "b"])
sys.stdout.buffer.write(pickle.dumps(clf))
"""
    command = [sys.executable, "-c", script]
    made = [
        subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2")
    ]
    one, two = map(pickle.loads, made)
    one.partial_fit(["w5 w5 w5"], ["a"])
    two.partial_fit(["w5 w5 w5"], ["a"])
    assert one.tally_ == two.tally_
    assert sorted(one.get_feature_names_out()) == sorted(f"w{i}" for i in range(20))
    np.testing.assert_allclose(one.predict_proba(["w5"]), two.predict_proba(["w5"]))


def test_one_document_and_all_of_them_are_not_the_same_bound() -> None:
    texts, labels = ["a b", "a c"], ["x", "y"]
    clf = plain_text(max_df=1).fit(texts, labels)
    assert clf.get_feature_names_out().tolist() == ["b", "c"]
    assert clf.refit(max_df=1.0).get_feature_names_out().tolist() == ["a", "b", "c"]
    assert clf.refit(min_df=1.0).get_feature_names_out().tolist() == ["a"]


def test_given_tokens_with_blanks_are_found_again() -> None:
    clf = plain_text(tokens=lambda text: text.split("|"), lowercase=False, vocabulary=["New York", "Rome"])
    clf.fit(["New York|Oslo", "Rome"], ["x", "y"])
    assert clf.predict(["New York", "Rome"]).tolist() == ["x", "y"]
    assert clf.tally_.part.cells.values[0].tolist() == [1, 1]


def test_words_given_as_arrays_are_compared_by_what_they_hold() -> None:
    a, b = (plain_text(vocabulary=np.array(["aa", "bb"])).fit(["aa", "bb"], [0, 1]) for _ in range(2))
    assert naively.merge(a, b).predict(["bb"]).tolist() == [1]
    a.set_params(vocabulary=np.array(["bb", "aa"]))
    assert a.predict(["bb"]).tolist() == [1]
    a.set_params(vocabulary=np.array(["bb", "cc"]))
    with pytest.raises(InputError, match="counted with vocabulary"):
        a.predict(["bb"])


@pytest.mark.parametrize("document", [None, np.nan, 3])
def test_what_is_no_document_is_refused_as_scikit_learn_does(document: Any) -> None:
    mine, theirs = (v.fit(["aa bb"]) for v in (naively.CountVectorizer(), CountVectorizer()))
    with pytest.raises((AttributeError, ValueError)) as expected:
        theirs.transform([document])
    for call in (mine.transform, mine.fit_transform):
        with pytest.raises(expected.type, match=str(expected.value)[:20]):
            call([document])


def test_bytes_in_a_series_are_decoded_as_the_vectorizer_was_told() -> None:
    latin = pd.Series([b"caf\xe9 aa"], dtype=object)
    assert naively.CountVectorizer(encoding="latin-1").fit(latin).get_feature_names_out().tolist() == ["aa", "café"]
    with pytest.raises(UnicodeDecodeError):
        naively.CountVectorizer().fit(latin)
    table = pa.table({"text": ["aa bb"]})
    assert naively.CountVectorizer().fit(table).get_feature_names_out().tolist() == ["aa", "bb"]


def test_two_vocabularies_may_absorb_each_other_at_once() -> None:
    a, b = _core.Vocabulary(1), _core.Vocabulary(2)

    def absorb(one: Any, other: Any) -> None:
        for _ in range(3_000):
            one.absorb(len(one), other, len(other))

    threads = [threading.Thread(target=absorb, args=pair, daemon=True) for pair in ((a, b), (b, a))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)


def test_names_of_buckets_do_not_depend_on_threads_or_batches() -> None:
    texts = ["a a a b", "c c c c a", "b b d", "e e e e e f"] * 50
    labels = ["x", "y"] * 100
    named = []
    for threads in (1, 2, 5):
        clf = plain_text(hashing=10, threads=threads).fit(texts, labels)
        named.append(clf.get_feature_names_out().tolist())
    stream = plain_text(hashing=10)
    for i in range(0, 200, 2):
        stream.partial_fit(texts[i : i + 2], labels[i : i + 2])
    named.append(stream.get_feature_names_out().tolist())
    assert named == [["a", "b", "c", "d", "e", "f"]] * 4
    wide = plain_text(hashing=30).fit(texts, labels)  # costs what was seen, not what could be
    assert wide.predict(texts[:2]).tolist() == ["x", "y"]


def test_a_function_that_cannot_be_hashed_is_refused() -> None:
    @dataclass
    class Split:
        by: str

        def __call__(self, text: str) -> list[str]:
            return text.split(self.by)

    with pytest.raises(InputError, match="must be hashable"):
        plain_text(tokens=Split("|")).fit(["a"], ["x"])


def test_models_without_words_and_classes_without_rows_do_no_harm() -> None:
    clf = plain_text().fit(["", ""], ["x", "y"])
    assert clf.sample(3, random_state=0)[0] == ["", "", ""]
    assert clf.top_words(2) == {"x": [], "y": []}
    assert clf.predict(iter([])).tolist() == []
    declared = plain_text(select=Best(1, by="information_gain"))
    declared.partial_fit(["aa bb", "cc"], ["x", "y"], classes=["x", "y", "z"])
    assert len(declared.get_feature_names_out()) == 1


def test_tokens_as_bytes_are_text_too() -> None:
    clf = plain_text(tokens=lambda text: [b"good", b"\xff"]).fit(["any"], ["x"])
    assert clf.get_feature_names_out().tolist() == ["good", "�"]


def test_weights_too_large_for_sums_are_refused() -> None:
    with pytest.raises(InputError, match=r"sample_weight adds up to more than 2\^62 \(row 0 alone is 1e\+300\)"):
        plain_text().fit(["a b", "c"], ["x", "y"], sample_weight=[1e300, 1e300])


def test_equal_tallies_select_equal_words_whatever_the_order_of_classes() -> None:
    rows = [
        ("v y", "a"),
        ("w z", "b"),
        ("y u", "c"),
        ("w u", "d"),
        ("x x", "d"),
        ("v u", "d"),
        ("u x", "d"),
        ("y u", "d"),
    ]
    one = plain_text(select=Best(2, by="information_gain")).fit(*map(list, zip(*rows, strict=True)))
    other = plain_text(select=Best(2, by="information_gain"))
    for text, label in reversed(rows):
        other.partial_fit([text], [label])
    assert one.tally_ == other.tally_
    assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


def test_lists_changed_behind_the_models_back_change_nothing_until_they_are_assigned() -> None:
    for name in ("vocabulary", "stop_words"):
        words = ["good"]
        clf = plain_text(**{name: words}).fit(["good film", "bad film"], ["x", "y"])
        before = clf.predict(["good", "bad"]).tolist()
        words.append("bad")
        assert clf.predict(["good", "bad"]).tolist() == before
        same = plain_text(**{name: ["good"]}).fit(["good film", "bad film", "bad"], ["x", "y", "y"])
        assert clf.partial_fit(["bad"], ["y"]).tally_ == same.tally_
        with pytest.raises(InputError, match=f"counted with {name}"):
            clf.set_params(**{name: words}).partial_fit(["bad"], ["y"])
    pairs = plain_text(ngrams=[1, 2]).fit(["a b"], ["x"]).set_params(ngrams=(1, 2))
    assert pairs.predict(["a b"]).tolist() == ["x"]


def test_parameters_changed_after_fitting_are_checked() -> None:
    for name, value in {"family": "zzz", "weighting": None, "threads": -3, "norm": "x"}.items():
        clf = plain_text().fit(["a", "b"], ["x", "y"]).set_params(**{name: value})
        for call in (lambda clf=clf: clf.predict(["a"]), lambda clf=clf: clf.partial_fit(["a"], ["x"])):
            with pytest.raises(ValueError, match=name):
                call()


def test_a_single_word_leans_nowhere() -> None:
    clf = plain_text(max_features=1).fit(["good film", "bad film"], ["x", "y"])
    assert clf.top_words(1) == {"x": [("film", 0.0)], "y": [("film", 0.0)]}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("bytes", [*b"\xffabbcc"]),
        ("bytes", [*b"aabbc"]),
        ("length", [2, 2, 3]),
        ("length", [2, 2, 0]),
        ("what", [0, 2, 5]),
        ("words", [0, 0, 0]),
    ],
)
def test_a_damaged_vocabulary_from_arrow_is_refused(column: str, values: list[int]) -> None:
    table = plain_text().fit(["aa bb", "cc"], ["x", "y"]).tally_.to_arrow()
    name = f"tally.parts.words.features.{column}"
    forged = pa.array([values], table[name].type)
    with pytest.raises(InputError, match="from Arrow"):
        naively.Tally.from_arrow(table.set_column(table.column_names.index(name), name, forged))


def test_a_forged_number_of_words_from_arrow_is_refused() -> None:
    table = plain_text().fit(["aa bb", "cc"], ["x", "y"]).tally_.to_arrow()
    document = table["naively"].to_pylist()[0]
    for old, new in (('"size": 3', '"size": 999'), ('"<U1"', '"<,U1"')):
        assert old in document
        forged = table.set_column(0, "naively", pa.array([document.replace(old, new)]))
        with pytest.raises(InputError, match="from Arrow"):
            naively.Tally.from_arrow(forged)


def test_a_long_text_costs_what_it_holds() -> None:
    words = [f"w{i}" for i in range(50_000)]
    clf = plain_text().fit([" ".join(words * 20), "short"], ["x", "y"])
    assert clf.tally_.part.cells.values[0].max() == 20
    assert clf.tally_.part.cells.values[1].max() == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_empty_tokens_of_a_function_are_counted_however_many_words_came_before(threads: int) -> None:
    many = " ".join(f"w{i}" for i in range(6000))
    texts = [many, *["a  b "] * 2000]
    model = naively.TextClassifier(
        tokens=lambda text: text.split(" "), family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0,
        calibrate=False, threads=threads,
    ).fit(texts, ["x"] * len(texts))  # fmt: skip
    assert model.tally_.part.cells.values[0].sum() == 6000 + 4 * 2000


def test_words_chosen_to_collide_are_read_as_fast_as_others() -> None:
    """In the table of one text, which once was the upper bits of a product with a known number."""
    rule, buckets = Tokens(), 2**31 - 1
    words = [f"w{i}" for i in range(1_500_000)]
    column = _core.read_buckets(rule.texts(words).core, rule.core, 1, buckets, False)[1].astype(np.uint64)
    place = (2 * column * 0x9E3779B1 % 2**32) >> 21
    chosen = [words[i] for i in np.flatnonzero(place == 77)][:500]
    assert len(chosen) == 500

    def taken(words: list[str]) -> float:
        texts = rule.texts([" ".join(words)] * 200).core
        return min(timeit.repeat(lambda: _core.read_buckets(texts, rule.core, 1, buckets, False), number=1, repeat=5))

    assert taken(chosen) < 3 * taken(words[:500])
