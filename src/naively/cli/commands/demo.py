"""naively demo: a short tour, on data that come with naively."""

from __future__ import annotations

import csv
from argparse import Namespace
from pathlib import Path
from typing import Any

from naively.cli.console import Console
from naively.cli.exit import UsageError
from naively.errors import InputError


def run(arguments: Namespace, console: Console) -> None:
    if arguments.data is not None:
        _write(Path(arguments.data), console)
        return
    if arguments.json:
        raise UsageError("the tour is for people; with --data FOLDER its data are written, and listed as JSON")
    from naively.demo import main

    main()


def _write(folder: Path, console: Console) -> None:
    """Write the demo data to files, to try the other commands with."""
    from sklearn.datasets import load_iris

    from naively.data import film_reviews

    folder.mkdir(parents=True, exist_ok=True)
    texts, labels = film_reviews()
    flowers = load_iris()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in flowers.feature_names]
    kinds = [flowers.target_names[k] for k in flowers.target]
    rows = [[*map(float, row), str(kind)] for row, kind in zip(flowers.data, kinds, strict=True)]
    tables: dict[str, list[Any]] = {
        "reviews.csv": [["review", "label"], *zip(texts, labels, strict=True)],
        "flowers.csv": [[*names, "kind"], *rows],
    }
    for name in tables:
        if (folder / name).exists():
            raise InputError(f"{folder / name}: is there already; name another folder")
    for name, lines in tables.items():
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    console.facts({name: f"{len(lines) - 1} rows" for name, lines in tables.items()})
    console.result({name: len(lines) - 1 for name, lines in tables.items()})
