"""The command line: `naively train`, `naively predict` and the rest.

This package is the frame: what is asked (`arguments`), how it is answered (`console`, `progress`, `completion`) and how
it ends when it goes wrong (`failures`). The work of each command is in `naively.cli.commands.<command>`, a module with
one function `run(arguments, console)`, which is imported when it is asked for. Nothing here loads more than the
standard library, so that help comes at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from naively.cli.arguments import parser
from naively.cli.console import Console, speak_utf8
from naively.cli.exit import DONE, SKIPPED, exit_code, settle, warnings_on

if TYPE_CHECKING:
    from argparse import Namespace


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command, given as the words behind `naively`, and return its exit code."""
    gc.set_threshold(200_000, 20, 50)  # modules are loaded faster when they are not searched for what is unused
    if argv is None:
        _fill_standard_streams()
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads, which no command needs, spin as they wait
    speak_utf8()
    console = Console(color=_color(sys.argv if argv is None else argv))
    command = None
    try:
        arguments = parser().parse_args(argv)
        console = Console(json=arguments.json, quiet=arguments.quiet, color=arguments.color)
        command = arguments.command
        with warnings_on(console):
            _run(arguments, console)
        code = _told_of_skipped(console)
        console.flush()
    except BaseException as failure:
        code = exit_code(failure, console, command)
    settle()
    if argv is None:  # at once: nothing is left to tidy up, and a reader that waits for input would never end
        atexit._run_exitfuncs()
        settle()
        os._exit(code)
    return code


def _fill_standard_streams() -> None:
    """Put the null device where a standard stream was closed, so that no file gets its number and its output."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)


def _color(argv: Sequence[str]) -> bool | None:
    """Whether colour is refused, before the arguments are understood: for what is wrong with them."""
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


def _told_of_skipped(console: Console) -> int:
    rows = console.rows_skipped
    if not rows:
        return DONE
    first = f"; the first: {console.first_skipped}" if console.first_skipped else ""
    console.warn(f"{rows:,} {'row was' if rows == 1 else 'rows were'} left out{first}")
    return SKIPPED
