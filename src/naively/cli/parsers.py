"""Parsers that suggest the nearest known name, and the layout of help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from naively.cli.console import write
from naively.cli.exit import UsageError
from naively.layout import terminal_width

Check = Callable[[argparse.Namespace], None]
"""Raises `UsageError` if arguments, each of which is valid, do not go together."""

# Names of our commands in other tools.
_SYNONYMS = {
    "fit": "train",
    "build": "train",
    "update": "learn",
    "partial-fit": "learn",
    "unlearn": "forget",
    "classify": "predict",
    "apply": "predict",
    "why": "explain",
    "info": "show",
    "inspect": "show",
    "test": "evaluate",
    "score": "evaluate",
    "clean": "suspects",
}


class Layout(argparse.HelpFormatter):
    """Wraps help to the width of the terminal, up to 100 columns; indented lines are kept as they are."""

    def __init__(self, prog: str, indent_increment: int = 2, max_help_position: int = 28, width: int | None = None):
        super().__init__(prog, indent_increment, max_help_position, width or help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(wrapped(paragraph, width) for paragraph in text.strip("\n").split("\n\n"))


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest known name, and raises `UsageError`."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        self._positionals.title = "arguments"

    @property
    def arguments(self) -> list[argparse.Action]:
        """All arguments, in the order in which they were added."""
        return self._actions

    @property
    def commands(self) -> dict[str, Command]:
        """The commands, by name."""
        return next((action.choices for action in self._actions if isinstance(action.choices, dict)), {})

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.prog.partition(" ")[2])

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(action.choices)
        if action.dest == "command":
            self.error(f"unknown command {value!r}{did_you_mean(value, known, _SYNONYMS)}")
        listed = ", ".join(known)
        raise argparse.ArgumentError(action, f"{value!r} is not one of {listed}{did_you_mean(value, known)}")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help or the version, and raise if that fails; argparse would ignore it."""
        write(file, message)

    def refuse(self, extras: Sequence[str]) -> NoReturn:
        """Raise an error for arguments that are not known: the first option among them, or else the first word."""
        option = next((word for word in extras if word.startswith("-") and word != "-"), None)
        if option is None:
            self.error(f"{extras[0]!r} is one argument too many")
        name = option.partition("=")[0]
        self.error(f"unknown option {name!r}{did_you_mean(name, self._option_string_actions)}")


class Command(Parser):
    """The parser of one command: options may come before, between and after files."""

    summary: str = ""
    check: Check | None = None
    _inside = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._inside:  # called by parse_known_intermixed_args, in older versions of Python
            return super().parse_known_args(args, namespace)
        self._inside = True
        try:
            arguments, extras = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._inside = False
        if extras:
            self.refuse(extras)
        try:
            if self.check is not None:
                self.check(arguments)
        except UsageError as failure:
            self.error(failure.message)
        return arguments, []


def did_you_mean(name: str, known: Iterable[str], synonyms: dict[str, str] | None = None) -> str:
    """Return "; did you mean ...?" with the nearest known name, or "" if none is near."""
    from difflib import get_close_matches

    bare = {option.lstrip("-"): option for option in known}
    given = name.lstrip("-").lower()
    close = [(synonyms or {}).get(given, ""), *get_close_matches(given, bare, n=1)]
    close += [option for option in bare if given and option.startswith(given)]
    found = next(filter(None, close), None)
    return f"; did you mean {bare[found]!r}?" if found is not None else ""


def help_width() -> int:
    return max(min(terminal_width(sys.stdout), 100) - 2, 30)


def wrapped(paragraph: str, width: int) -> str:
    """Wrap a paragraph to a width and end it with a line break; keep indented lines as they are."""
    if paragraph.startswith(" ") or "\n  " in paragraph:
        return paragraph + "\n"
    from textwrap import fill

    return fill(" ".join(paragraph.split()), width, break_on_hyphens=False) + "\n"
