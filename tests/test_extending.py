"""What docs/extending.md promises: a rule is one class, a format one reader, a command one function."""

from __future__ import annotations

import argparse
import json
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naively import NaiveBayes
from naively.arrays import Array
from naively.cli import main, subcommands
from naively.cli.arguments import parser
from naively.cli.options import add_command, common
from naively.count.ledger import PartLedger
from naively.families.multinomial import Multinomial
from naively.names import Index
from naively.smooth.logs import Logs
from naively.smooth.rules import Context, Settled
from naively.sources import known
from naively.sources import open as opening
from naively.sources.open import open_source
from naively.sources.reader import Part, Progress
from naively.sources.request import Request

CLASSES = Index.of(["a", "b"])


@dataclass(frozen=True)
class HalfKept(Settled):
    """Half of the share of a feature, and half of a uniform one: p = N / 2T + 1 / 2V."""

    def log(self, count: Any, total: Any, context: Context) -> Logs:
        share = np.asarray(count) / np.maximum(np.asarray(total), 1)
        return np.log(share / 2 + 1 / (2 * context.outcomes)), None


def by_hand(sums: Array) -> Array:
    """Log-probabilities by that rule, classes by features."""
    return np.log(sums / np.maximum(sums.sum(axis=1, keepdims=True), 1) / 2 + 1 / (2 * sums.shape[1]))


def test_a_new_rule_is_one_class() -> None:
    X, codes = np.array([[3, 0, 1], [1, 0, 0], [0, 2, 2]]), np.array([0, 0, 1], np.int32)
    family = Multinomial()
    part = family.count(X, codes, CLASSES, Index(3), None)
    ledger = PartLedger(CLASSES, (part,))
    table = family.table(ledger, HalfKept(), np.zeros(2))
    sums = np.array([[4.0, 0, 1], [0, 2, 2]])
    expected = X @ by_hand(sums).T
    np.testing.assert_allclose(table.score(X).likelihood, expected, rtol=1e-12)
    (left,) = family.left_out(ledger, [HalfKept()], X, codes, None)
    for i, k in enumerate(codes):
        own = sums.copy()
        own[k] -= X[i]
        np.testing.assert_allclose(left[0][i], by_hand(own) @ X[i], rtol=1e-12)


@dataclass(frozen=True)
class Blocks:
    """Reads files with a line `name: value` for each column, and an empty line between two rows."""

    parts: tuple[Part, ...]

    live = False

    @cached_property
    def _rows(self) -> list[dict[str, str]]:
        texts = [block for part in self.parts for block in Path(part.openable).read_text("utf-8").strip().split("\n\n")]
        return [dict(line.split(": ", 1) for line in text.split("\n")) for text in texts]

    @property
    def columns(self) -> Mapping[str, str]:
        return dict.fromkeys(self._rows[0], "VARCHAR")

    @property
    def rows(self) -> int:
        return len(self._rows)

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        import pyarrow as pa

        yield pa.record_batch({name: [row.get(name) for row in self._rows] for name in columns})


def test_a_new_format_is_one_reader_and_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(known.FORMATS, "blocks", known.Format("blocks", ("blk",)))
    made = opening._reader
    monkeypatch.setattr(
        opening,
        "_reader",
        lambda name, parts, *others: Blocks(parts) if name == "blocks" else made(name, parts, *others),
    )
    file = tmp_path / "pets.blk"
    file.write_text("kind: cat\nsound: miaow\n\nkind: dog\nsound: woof\n\nkind: dog\nsound: bark\n")
    for request in (Request(paths=(str(file),)), Request(paths=(str(file),), format="blocks")):
        with open_source(request) as source:
            assert dict(source.columns) == {"kind": "VARCHAR", "sound": "VARCHAR"}
            assert [row for batch in source.batches() for row in batch["sound"].to_pylist()] == [
                "miaow",
                "woof",
                "bark",
            ]
    assert NaiveBayes().fit(str(file), "kind").predict({"sound": ["woof", "miaow"]}).tolist() == ["dog", "cat"]
    monkeypatch.chdir(tmp_path)
    assert main(["train", "pets.blk", "--target", "kind", "-o", "pets.nb", "--quiet"]) == 0


def test_a_new_command_is_one_function_and_its_arguments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(arguments: argparse.Namespace, console: Any) -> None:
        console.facts({"rows": arguments.rows})
        console.result({"rows": arguments.rows})

    def add(commands: Any) -> None:
        command = add_command(commands, "rows", "say how many", "N", "Say how many rows.", "  naively rows 3")
        command.add_argument("rows", type=int, metavar="N", help="the number")
        common(command)

    monkeypatch.setitem(subcommands.COMMANDS["other"], "rows", add)
    module = types.ModuleType("naively.cli.commands.rows")
    module.run = run  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert main(["rows", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 3}
    assert main(["rows", "three"]) == 2
    assert "three" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        parser().parse_args(["--help"])
    assert "say how many" in capsys.readouterr().out
    assert main(["completion", "bash"]) == 0
    assert "rows" in capsys.readouterr().out
