"""The parser of `naively` itself, and its help."""

from __future__ import annotations

import sys
from typing import Any

from naively import __version__
from naively.cli.exit import MEANINGS, WRONG_USAGE
from naively.cli.options import COMMON, COMMON_HELP
from naively.cli.parsers import Command, Layout, Parser, help_width, wrapped
from naively.cli.subcommands import COMMANDS, add_commands


def parser() -> Parser:
    """Build the parser of the whole command line; its namespaces have `command`, `json`, `quiet` and `color`."""
    top = _Top(prog="naively", usage="naively COMMAND ...", add_help=False, allow_abbrev=False, formatter_class=Layout)
    top.add_argument("-h", "--help", action="help", help="show this help, or that of a command")
    top.add_argument("--version", action="version", version=f"naively {__version__}", help="show the version")
    for (flags, options), (_, text) in zip(COMMON, COMMON_HELP, strict=False):
        top.add_argument(*flags, **options, help=text)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", prog="naively", parser_class=Command)
    add_commands(commands)
    return top


class _Top(Parser):
    """The parser of `naively` itself."""

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        arguments, extras = self.parse_known_args(args, namespace)
        if extras:
            self.refuse(extras)
        if arguments.command is None:
            self.print_help(sys.stderr)
            raise SystemExit(WRONG_USAGE)
        return arguments

    def format_help(self) -> str:
        return _top_help(self)


_INTRODUCTION = f"""\
naively {__version__}: Naive Bayes is counting. Count once; decide everything else afterwards.

It learns from examples with labels to label what it has not seen: texts, or rows of a table with numbers, categories,
flags, dates and text. A model is a file of counts. So more rows can be added to it, rows can be taken out again,
models can be added to each other, and how good a model is can be measured without training it again.
"""

_SESSION = """\
a first session:
  naively train reviews.csv --target label --text review -o reviews.nb
  naively predict reviews.nb new.csv --proba -o labels.csv
  naively evaluate reviews.nb held_out.csv
  naively explain reviews.nb "not a bad film"
  naively learn reviews.nb more.csv

DATA are files or folders: csv, tsv, json, jsonl, parquet, arrow, fasttext, a folder with one folder of texts for each
label, or lines of text. '-' is standard input.
"""

_ENVIRONMENT = """\
environment:
  NO_COLOR, FORCE_COLOR   never colour, always colour
  NAIVELY_DEBUG=1         show where an error comes from

'naively COMMAND --help' has the options of a command, and examples. 'naively demo' is a tour that needs no data.
"""


def _top_help(top: Parser) -> str:
    lines = ["usage: naively COMMAND ... [options]", ""]
    lines += [_paragraphs(_INTRODUCTION)]
    for group, names in COMMANDS.items():
        lines += [f"{group}:", *(f"  {name:<12}{top.commands[name].summary}" for name in names), ""]
    lines += [_paragraphs(_SESSION)]
    lines += ["options of all commands:"]
    lines += [f"  {', '.join(flags):<15}{text}" for flags, text in COMMON_HELP]
    lines += ["", "exit codes:", *(f"  {code:<5}{meaning}" for code, meaning in MEANINGS.items()), ""]
    lines += [_paragraphs(_ENVIRONMENT)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _paragraphs(text: str) -> str:
    return "\n".join(wrapped(paragraph, help_width()) for paragraph in text.strip("\n").split("\n\n"))
