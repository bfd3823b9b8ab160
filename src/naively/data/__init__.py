"""Data that comes with the package."""

from __future__ import annotations

import csv
from importlib.resources import files


def film_reviews() -> tuple[list[str], list[str]]:
    """480 short sentences about films, and whether each is positive or negative; a third of them negated.

    >>> texts, labels = film_reviews()
    >>> len(texts), sorted(set(labels))
    (480, ['negative', 'positive'])
    """
    lines = files(__package__).joinpath("film_reviews.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(lines))
    return [row["text"] for row in rows], [row["label"] for row in rows]
