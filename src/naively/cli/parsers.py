"""Parsers that suggest the nearest name they know, and help that reads well."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from naively.cli.console import terminal_width, write
from naively.cli.exit import UsageError

Check = Callable[[argparse.Namespace], None]
"""Looks at arguments that are understood one by one, and raises where they do not go together."""

# What other tools call our commands.
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
    """Help as wide as the terminal, up to a width that reads well; indented lines are kept as they are."""

    def __init__(self, prog: str, indent_increment: int = 2, max_help_position: int = 28, width: int | None = None):
        super().__init__(prog, indent_increment, max_help_position, width or help_width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(wrapped(paragraph, width) for paragraph in text.strip("\n").split("\n\n"))


class Parser(argparse.ArgumentParser):
    """A parser that suggests the nearest name it knows, and raises `UsageError`."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.prog.partition(" ")[2])

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(action.choices)
        if isinstance(action, argparse._SubParsersAction):
            self.error(f"unknown command {value!r}{did_you_mean(value, known, _SYNONYMS)}")
        listed = ", ".join(known)
        raise argparse.ArgumentError(action, f"{value!r} is not one of {listed}{did_you_mean(value, known)}")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help or the version, and fail where that cannot be done, which argparse passes over."""
        write(file, message)

    def refuse(self, extras: Sequence[str]) -> NoReturn:
        """Say what is wrong with the first argument that has no place."""
        odd = next((word for word in extras if word.startswith("-") and word != "-"), None)
        if odd is None:
            self.error(f"{extras[0]!r} is one argument too many")
        name = odd.partition("=")[0]
        self.error(f"unknown option {name!r}{did_you_mean(name, self._option_string_actions)}")


class Command(Parser):
    """The parser of one command: options may stand before, between and behind files."""

    check: Check | None = None
    _inside = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._inside:  # the way back from parse_known_intermixed_args, in older versions of Python
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
    """The nearest of the known names, as the end of a sentence."""
    from difflib import get_close_matches

    bare = {option.lstrip("-"): option for option in known}
    asked = name.lstrip("-").lower()
    close = [(synonyms or {}).get(asked, ""), *get_close_matches(asked, bare, n=1)]
    close += [option for option in bare if asked and option.startswith(asked)]
    found = next(filter(None, close), None)
    return f"; did you mean {bare[found]!r}?" if found is not None else ""


def help_width() -> int:
    return max(min(terminal_width(sys.stdout), 100) - 2, 30)


def wrapped(paragraph: str, width: int) -> str:
    """A paragraph wrapped to a width, with an empty line behind it; indented lines as they are."""
    if paragraph.startswith(" ") or "\n  " in paragraph:
        return paragraph + "\n"
    from textwrap import fill

    return fill(" ".join(paragraph.split()), width, break_on_hyphens=False) + "\n"
