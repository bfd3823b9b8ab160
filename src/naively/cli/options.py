"""Options that several commands share."""

from __future__ import annotations

import argparse
from typing import Any

from naively.cli.option_types import alpha, at_least, names, ngrams
from naively.cli.parsers import Check, Command, Layout
from naively.sources.known import FORMATS

OUTPUTS = (".parquet", ".csv", ".jsonl", ".arrow", ".tsv")
FAMILIES = ("auto", "multinomial", "complement", "bernoulli")
WEIGHTINGS = ("auto", "counts", "binary", "tfidf")
TOKENS = ("words", "sklearn", "chars")
PRIORS = ("empirical", "uniform")
DIALECTS = ("duckdb", "sqlite", "postgresql", "spark")
SHELLS = ("bash", "zsh", "fish")


COMMON: tuple[tuple[tuple[str, ...], dict[str, Any]], ...] = (
    (("--json",), {"action": "store_true", "default": False}),
    (("--quiet", "-q"), {"action": "store_true", "default": False}),
    (("--no-color",), {"dest": "color", "action": "store_const", "const": False, "default": None}),
)
COMMON_HELP = (
    (("--json",), "answer with one JSON document on standard output"),
    (("--quiet", "-q"), "no notes and no progress, only warnings and errors"),
    (("--no-color",), "no colours"),
    (("-h", "--help"), "show help, with examples"),
    (("--version",), "show the version"),
)


def common(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("options of all commands")
    for (flags, options), (_, text) in zip(COMMON, COMMON_HELP, strict=False):
        # They may also come before the command, so a missing option must not overwrite the value from there.
        group.add_argument(*flags, **options | {"default": argparse.SUPPRESS}, help=text)
    group.add_argument("-h", "--help", action="help", help="show this help")


def add_command(
    commands: Any, name: str, summary: str, usage: str, description: str, examples: str, check: Check | None = None
) -> Command:
    command: Command = commands.add_parser(
        name, help=summary, usage=f"naively {name} {usage}", description=description, add_help=False,
        epilog=f"examples:\n{examples}", formatter_class=Layout, allow_abbrev=False,
    )  # fmt: skip
    command.summary, command.check = summary, check
    return command


def data_positional(command: argparse.ArgumentParser, title: str) -> None:
    command.add_argument("data", nargs="*", metavar="DATA", help=f"{title}; files or folders, '-' for standard input")


def model_positional(command: argparse.ArgumentParser, title: str = "the model") -> None:
    command.add_argument("model", nargs="?", metavar="MODEL", help=f"{title}, a file that 'naively train' has made")


def data(command: argparse.ArgumentParser, target: str | None, sql: bool = True) -> None:
    """Add the options for reading data and for the roles of columns."""
    group = command.add_argument_group("data")
    if target is not None:
        group.add_argument("--target", metavar="COLUMN", help=target)
    group.add_argument("--text", metavar="COLUMN", action="extend", type=names, help=TEXT)
    if sql:
        group.add_argument("--sql", metavar="QUERY", help="read what DuckDB answers to this query, instead of DATA")
    file_format(group)
    group.add_argument(
        "--on-error", choices=("stop", "skip"), default="stop",
        help="at a bad row: stop (default), or skip it, warn at the end and exit with 3",
    )  # fmt: skip
    group.add_argument("--threads", metavar="N", type=at_least(1), help="how many threads to use (default: all)")


TEXT = "a column of texts; several: --text subject --text body, or --text subject,body (default: found by itself)"
TARGET = "the column that has the labels; not needed where the format has them (fasttext, folder)"
TARGET_KNOWN = "the column that has the labels (default: the one the model was trained with)"


def file_format(group: Any) -> None:
    group.add_argument("--format", choices=tuple(FORMATS), help="the format of DATA (default: by the name of the file)")
    group.add_argument(
        "--no-header", action="store_true", help="the first line of CSV is a row; columns are column0, column1, ..."
    )
    group.add_argument(
        "--sep", metavar="CHAR", help="what separates values of CSV: ',', ';', '|' or tab (default: found)"
    )
    group.add_argument("--decimal", metavar="CHAR", help="the decimal point of numbers in CSV: '.' (default) or ','")
    group.add_argument("--encoding", metavar="NAME", help="the encoding of text files, such as cp1252 (default: utf-8)")
    group.add_argument(
        "--table",
        metavar="NAME",
        help="the table of a database, sheet of a workbook or file of a zip, if it has several",
    )


OF_FILES = ("no_header", "sep", "decimal", "encoding", "table")
"""Options of files; the fields of `Request` have the same names."""


def columns(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("columns")
    group.add_argument("--columns", metavar="A,B", action="extend", type=names, help="use only these columns")
    group.add_argument("--drop", metavar="A,B", action="extend", type=names, help="do not use these columns")


def modelling(command: argparse.ArgumentParser, title: str = "model") -> None:
    """Add the options of a new model."""
    group = command.add_argument_group(title)
    group.add_argument("--family", choices=FAMILIES, default="auto", help="what is counted of texts (default: auto)")
    group.add_argument("--weighting", choices=WEIGHTINGS, default="auto", help="how words are weighed (default: auto)")
    group.add_argument(
        "--ngrams", metavar="N", type=ngrams, default="auto",
        help="words in a row: 2 for single words and pairs, 2-3 for pairs and triples (default: auto)",
    )  # fmt: skip
    group.add_argument(
        "--alpha", metavar="NUMBER", type=alpha, default="auto",
        help="what is added to every count, so that the unseen is not impossible (default: auto)",
    )  # fmt: skip
    group.add_argument("--tokens", choices=TOKENS, default="words", help="what a word is (default: words)")
    group.add_argument("--negation", action="store_true", help="words behind 'not', 'never', ... become other words")
    group.add_argument("--min-df", metavar="N", type=at_least(1), help="leave out words that are in fewer texts")
    group.add_argument(
        "--hashing", metavar="BITS", type=at_least(1, 30),
        help="hash words to so many bits: memory has a bound, and what a word is called is a guess",
    )  # fmt: skip
    group.add_argument(
        "--prior", choices=PRIORS, default="empirical",
        help="class prior: as frequent as in the data (empirical, default), or all equal (uniform)",
    )  # fmt: skip
    group.add_argument(
        "--fast",
        dest="choose",
        action="store_false",
        help="compare no recipes: what is auto is multinomial, by counts of single words",
    )
    group.add_argument(
        "--no-calibrate", dest="calibrate", action="store_false", help="leave probabilities as they come: too sure"
    )


MODELLING = {
    "family": "auto", "weighting": "auto", "ngrams": "auto", "alpha": "auto", "tokens": "words", "negation": False,
    "min_df": None, "hashing": None, "prior": "empirical", "choose": True, "calibrate": True,
}  # fmt: skip


def output(command: argparse.ArgumentParser, metavar: str, text: str, default: str | None = None) -> None:
    command.add_argument("-o", "--output", metavar=metavar, default=default, help=text)
