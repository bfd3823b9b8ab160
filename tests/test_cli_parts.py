"""Parts of the command line that are easier to see by themselves."""

import threading
from contextlib import closing

import numpy as np
import pytest

import naively
from naively.cli import main
from naively.cli.prefetch import Prefetch


def test_what_is_fetched_ahead_comes_in_order_and_so_do_errors():
    def items():
        yield from range(3)
        raise ValueError("the end of it")

    with closing(Prefetch(items())) as fetched:
        coming = iter(fetched)
        assert [next(coming) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(ValueError, match="the end of it"):
            next(coming)


def test_who_stops_early_stops_the_fetcher():
    begun = threading.Event()

    def endless():
        while True:
            begun.set()
            yield 1

    with closing(Prefetch(endless())) as fetched:
        begun.wait()
        next(iter(fetched))
    fetched._fetcher.join(5)
    assert not fetched._fetcher.is_alive()
    never = Prefetch(endless())  # closed before anything is taken
    never.close()
    assert not never._fetcher.is_alive()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_numbers_of_suspects_are_those_of_the_file(here, capsys):
    texts, labels = naively.film_reviews()
    lines = ["review\tlabel"]
    for n, (text, label) in enumerate(zip(texts[:200], labels[:200], strict=True)):
        lines.append(f"{text}\t{'' if n % 3 == 0 else label}")
    (here / "some.tsv").write_text("\n".join(lines) + "\n")
    assert main(["suspects", "some.tsv", "--target", "label", "--text", "review", "--json"]) == 0
    import json

    for found in json.loads(capsys.readouterr().out)["suspects"]:
        assert labels[found["row"] - 1] == found["label"]
        assert (found["row"] - 1) % 3 != 0


def test_classes_may_be_called_label(here):
    rows = ["text,y", *["good film,label_1", "bad film,mislabelled"] * 5]
    (here / "named.csv").write_text("\n".join(rows) + "\n")
    assert main(["train", "named.csv", "--target", "y", "--text", "text", "-o", "m.nb"]) == 0
    assert main(["predict", "m.nb", "named.csv", "--proba", "-o", "out.parquet"]) == 0
    import pyarrow.parquet as pq

    assert str(pq.read_schema("out.parquet").field("p(label_1)").type) == "double"


def test_a_model_does_not_depend_on_the_number_of_threads(here):
    texts, labels = naively.film_reviews()
    with open("reviews.tsv", "w") as file:
        file.write("review\tlabel\n")
        file.writelines(f"{t}\t{y}\n" for t, y in zip(texts, labels, strict=True))
    for threads in ("1", "2"):
        given = ["--target", "label", "--text", "review", "--threads", threads]
        assert main(["train", "reviews.tsv", *given, "-o", f"{threads}.nb"]) == 0
    assert (here / "1.nb").read_bytes() == (here / "2.nb").read_bytes()


@pytest.mark.parametrize("many", [1, 3])
def test_batches_learnt_several_at_a_time_make_the_model_of_all(many):
    texts, labels = naively.film_reviews()
    plain = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 1.0, "calibrate": False}
    for other in ({}, {"ngrams": (1, 2)}, {"hashing": 8}, {"vocabulary": ["good", "bad", "film"]}):
        whole = naively.TextClassifier(**{**plain, **other}).fit(texts, labels)
        parts = naively.TextClassifier(**{**plain, **other}, threads=many)
        cut = range(0, len(texts), 37)
        told = list(parts.learn_batches((texts[i : i + 37], labels[i : i + 37]) for i in cut))
        assert sum(told) == len(texts)
        assert parts.tally_ == whole.tally_
        np.testing.assert_array_equal(parts.predict_proba(texts[:50]), whole.predict_proba(texts[:50]))


def test_an_error_in_a_later_batch_keeps_those_before_it():
    parts = naively.TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), calibrate=False)
    batches = [(["a b"], ["x"]), (["c"], ["y"]), (["d"], ["y", "too many"])]
    with pytest.raises(naively.InputError):
        list(parts.learn_batches(batches))
    assert parts.class_count_.sum() in (1, 2)
