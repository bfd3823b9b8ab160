"""The command line: `naively train`, `naively predict` and the rest.

This package parses the command line (`arguments`), writes output (`console`, `progress`, `completion`) and turns errors
into exit codes (`exit`). The work of each command is in `naively.cli.commands.<command>`, a module with one function
`run(arguments, console)`, which is imported only when the command is run. Nothing here imports more than the standard
library, so that help appears at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from naively.cli.arguments import parser
from naively.cli.console import Console, use_utf8
from naively.cli.exit import DONE, SKIPPED, exit_code, flush_streams, warnings_on

if TYPE_CHECKING:
    from argparse import Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, given as the words after `naively`, and return its exit code."""
    gc.set_threshold(200_000, 20, 50)  # importing is faster with fewer garbage collections
    if argv is None:
        _fill_standard_streams()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads are not needed, and spin as they wait
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
    if argv is None:  # exit at once: a thread that waits for standard input would never end
        atexit._run_exitfuncs()
        flush_streams()
        os._exit(code)
    return code


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
