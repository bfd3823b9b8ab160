"""The command line: `naively train`, `naively predict` and the rest.

This package parses the command line (`arguments`), writes output (`console`, `progress`, `completion`) and turns errors
into exit codes (`exit`). The work of each command is in `naively.cli.commands.<command>`, a module with one function
`run(arguments, console)`, which is imported only when the command is run. Nothing here imports more than the standard
library, so that help appears at once.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from naively.cli.arguments import parser
from naively.cli.console import Console, use_utf8
from naively.cli.exit import BUG, DONE, SKIPPED, exit_code, flush_streams, warnings_on

if TYPE_CHECKING:
    from argparse import Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, given as the words after `naively`, and return its exit code."""
    codes: list[int] = []
    if argv is None:
        atexit.register(_leave, codes)  # before any other, so that it is called after all others
        _fill_standard_streams()
    use_utf8()
    console = Console(color=_color(sys.argv if argv is None else argv))
    command = None
    try:
        arguments = parser().parse_args(argv)
        console = Console(json=arguments.json, quiet=arguments.quiet, color=arguments.color)
        command = arguments.command
        with warnings_on(console):
            _run(arguments, console)
        code = _warn_of_skipped(console)
        console.flush()
    except BaseException as failure:
        code = exit_code(failure, console, command)
    flush_streams()
    codes.append(code)
    return code


def _leave(codes: list[int]) -> None:
    """End the process without taking its libraries apart, which saves 15 to 35 % of a command on a small file.

    A thread that waits for standard input may hold its lock, at which Python would abort.
    """
    flush_streams()
    os._exit(codes[-1] if codes else BUG)


def _fill_standard_streams() -> None:
    """Open the null device for closed standard streams, so that no file gets their numbers and their output."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)


def _color(argv: Sequence[str]) -> bool | None:
    """Return False if --no-color was given, else None; used for errors in the arguments themselves."""
    return False if "--no-color" in argv else None


def _run(arguments: Namespace, console: Console) -> None:
    if arguments.command == "completion":
        from naively.cli.completion import run
    else:
        from importlib import import_module

        run = import_module(f"naively.cli.commands.{arguments.command}").run
        if getattr(arguments, "model", None) is not None:
            from naively.cli.models import refuse_swapped

            refuse_swapped(arguments)
    run(arguments, console)


def _warn_of_skipped(console: Console) -> int:
    rows = console.rows_skipped
    if not rows:
        return DONE
    first = f"; the first: {console.first_skipped}" if console.first_skipped else ""
    console.warn(f"{rows:,} {'row was' if rows == 1 else 'rows were'} left out{first}")
    return SKIPPED
