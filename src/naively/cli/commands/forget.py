"""naively forget: take rows out of a model, as if it had never seen them."""

from __future__ import annotations

from argparse import Namespace

from naively.cli.commands.learn import change
from naively.cli.console import Console


def run(arguments: Namespace, console: Console) -> None:
    change(arguments, console, forget=True)
