"""Reports in notebooks: HTML without scripts, whose texts and numbers are those of the plain text."""

from html.parser import HTMLParser

import numpy as np
import pytest

import naively
from naively import (
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    TextClassifier,
    compare,
    cross_validate,
    evaluate,
    film_reviews,
)
from naively.report import Sheet

HOSTILE = "<script>alert('1')</script> & \"b\""
X, Y = np.array([[3, 0], [0, 2], [1, 1], [2, 1]]), ["a", HOSTILE, HOSTILE, "a"]
TABLE = {HOSTILE: [1.5, 2.5, 2.0, 9.0], "city": ["Rome", HOSTILE, None, "Rome"]}


def table_model():
    return NaiveBayes().fit(TABLE, Y)


REPORTS = {
    "tally": lambda: MultinomialNB().fit(X, Y).tally_,
    "tally of a table": lambda: table_model().tally_,
    "schema": lambda: table_model().schema_,
    "explanation of a row": lambda: table_model().explain({HOSTILE: [2.0], "city": [HOSTILE]}),
    "explanation of a text": lambda: TextClassifier(tokens=str.split).fit([HOSTILE, "b"], Y[:2]).explain(HOSTILE),
    "evaluation": lambda: evaluate(MultinomialNB().fit(X, Y), X, Y),
    "comparison": lambda: compare({HOSTILE: MultinomialNB()}, X, Y, test=(X, Y)),
    "recipe": lambda: TextClassifier(choose=False).fit(["b", "c"], Y[:2]).chosen_,
}
MODELS = {
    "array": lambda: GaussianNB().fit(X, Y),
    "table": table_model,
    "text": lambda: TextClassifier(stop_words=[HOSTILE]).fit(["b", "c"], Y[:2]),
    "unfitted": lambda: TextClassifier(stop_words=[HOSTILE]),
}


class Page(HTMLParser):
    """The tags of a page, and the texts of its cells."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.cells, self.open = set(), set(), [], []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.cells[-1] += data


@pytest.mark.parametrize("name", REPORTS | MODELS)
def test_html_has_no_script_and_escapes_what_comes_from_data(name):
    html = (REPORTS | MODELS)[name]()._repr_html_()
    page = Page(html)
    assert page.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "b", "p", "pre"}
    assert page.attributes <= {"style"}
    assert HOSTILE not in html
    if name != "recipe":
        assert "&lt;script&gt;" in html


@pytest.mark.parametrize("name", REPORTS)
def test_html_says_what_the_plain_text_says(name):
    report = REPORTS[name]()
    sheets = report._sheets()
    assert Page(report._repr_html_()).cells == [text for s in sheets for line in (s.head, *s.rows) for text in line]
    if "tally" not in name:
        assert "\n\n".join(map(str, sheets)) in str(report)


def test_a_tally_shows_the_rows_of_its_classes_in_order_and_its_parts():
    tally = MultinomialNB().fit([[1], [2], [3]], ["c", "a", "c"]).tally_
    [classes, parts] = tally._sheets()
    assert classes.rows == (("a", "1"), ("c", "2"))
    assert parts.rows == ((next(iter(tally.parts)), repr(tally.part)),)
    assert str(tally) == repr(tally) == "Tally(3 rows, 2 classes, 1 features)"


def test_a_tally_of_many_classes_shows_the_first():
    tally = MultinomialNB().fit(np.ones((50, 1)), np.arange(50)).tally_
    rows = tally._sheets()[0].rows
    assert len(rows) == 21
    assert rows[-1] == ("30 more", "")


def test_fractions_of_rows_show_as_in_the_plain_text():
    tally = MultinomialNB().fit([[1], [2]], ["a", "b"], [0.25, 2]).tally_
    assert tally._sheets()[0].rows == (("a", "0.25"), ("b", "2"))


def test_the_recipe_lists_all_that_was_tried():
    chosen = TextClassifier().fit(*film_reviews()).chosen_
    page = Page(chosen._repr_html_())
    width = len(chosen._sheets()[0].head)
    assert len(page.cells) == width * (1 + len(chosen.tried))
    assert page.cells[width] == chosen.family
    lines = str(chosen).splitlines()
    assert lines[0] == repr(chosen)
    assert len(lines) >= 2 + len(chosen.tried)
    assert lines[-len(chosen.tried)].split()[0] == chosen.family


def test_colours_are_between_none_and_full():
    html = Sheet(("", "x"), (("for", "1"), ("against", "2"), ("sum", "3")), shades=(1.0, -0.25)).html()
    assert 'background: rgba(60, 170, 90, 1.00)">for<' in html
    assert 'background: rgba(220, 80, 70, 0.25)">against<' in html
    assert html.count("background") == 2


@pytest.mark.parametrize("kind", [naively.GaussianNB, naively.MultinomialNB])
def test_an_evaluation_has_the_figures_of_the_plain_text(kind):
    found = evaluate(cross_validate(kind(), np.tile(X, (5, 1)), np.tile(Y, 5), folds=2))
    html = found._repr_html_()
    for name in ("accuracy", "log_loss", "brier"):
        assert f"{getattr(found, name):.4f}" in html
