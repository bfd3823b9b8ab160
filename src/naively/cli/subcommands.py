"""Subcommands: the arguments of each command, and checks that they go together."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from naively.cli.exit import UsageError
from naively.cli.option_types import at_least, names, probability, row, seconds
from naively.cli.options import (
    DIALECTS,
    MODELLING,
    OF_FILES,
    OUTPUTS,
    SHELLS,
    TARGET,
    TARGET_KNOWN,
    add_command,
    columns,
    common,
    data,
    data_positional,
    file_format,
    model_positional,
    modelling,
    output,
)


def add_commands(commands: Any) -> None:
    """Add all commands, in the order in which the help lists them."""
    for group in COMMANDS.values():
        for add in group.values():
            add(commands)


def _train(commands: Any) -> None:
    command = add_command(
        commands, "train", "count labelled data into a model file", "DATA... --target COLUMN [-o MODEL] [options]",
        "Count labelled data into a model file, in one pass and in little memory, whatever their size.\n\n"
        "The kind of each column (numbers, categories, flags, dates, texts) is found from the data and printed. How "
        "good the model will be on new rows is estimated by leaving out rows one by one, without training again. "
        "An existing model is replaced; a file that is no model is not, unless --force is given.",
        "  naively train reviews.csv --target label --text review -o reviews.nb\n"
        "  naively train people/*.parquet --target income --drop id,name\n"
        "  naively train mails.csv --target label --text subject,body\n"
        "  naively train --sql \"SELECT * FROM 'sales/*.parquet' WHERE year > 2020\" --target returned\n"
        "  naively train huge.jsonl --target label --checkpoint   # run it again to go on after a stop",
        _check_training,
    )  # fmt: skip
    data_positional(command, "rows or texts with labels")
    output(command, "MODEL", "where the model goes (default: model.nb)", "model.nb")
    data(command, TARGET)
    columns(command)
    modelling(command)
    group = command.add_argument_group("training")
    group.add_argument(
        "--frozen", action="store_true", help="save only what prediction needs: smaller, cannot learn or forget"
    )
    group.add_argument(
        "--from-counts", action="store_true",
        help="the data are counts of words: class, column, value, count, documents (see docs/counts.md)",
    )  # fmt: skip
    group.add_argument("--checkpoint", action="store_true", help="save on the way, and go on from there if stopped")
    group.add_argument(
        "--checkpoint-seconds", metavar="S", type=seconds, default=10.0,
        help="seconds between two checkpoints (default: 10; 0: after every batch)",
    )  # fmt: skip
    group.add_argument(
        "--loo", metavar="N", type=at_least(0), default=5_000,
        help="how many rows, of a sample, are left out to estimate accuracy (default: 5000; 0: none)",
    )  # fmt: skip
    group.add_argument("--force", action="store_true", help="replace a file even if it is no model")
    common(command)


def _learn(commands: Any) -> None:
    command = add_command(
        commands, "learn", "add labelled rows to a model", "MODEL DATA... [-o MODEL] [options]",
        "Add labelled rows to a model. It then is the model that would have been trained from all the rows at once; "
        "the old ones are not read again. Recipe and calibration are kept from training until as many rows have been "
        "learnt as there were; then both are found anew from the new rows.\n\nNew words, "
        "categories and labels are added as they come.",
        "  naively learn reviews.nb monday.csv tuesday.csv\n"
        "  naively learn reviews.nb more.csv -o larger.nb",
        _check_model_and_data,
    )  # fmt: skip
    model_positional(command, "the model to add to")
    data_positional(command, "rows or texts with labels")
    output(command, "MODEL", "where the larger model goes (default: the model itself)")
    data(command, TARGET_KNOWN)
    common(command)


def _forget(commands: Any) -> None:
    command = add_command(
        commands, "forget", "take rows out of a model, as if it had never seen them",
        "MODEL DATA... [-o MODEL] [options]",
        "Take rows out of a model: their counts are subtracted, so that it is as if it had never seen them.\n\n"
        "Rows it has never counted are refused, and the model is left as it was.",
        "  naively forget reviews.nb withdrawn.csv\n"
        "  naively forget reviews.nb withdrawn.csv -o without.nb",
        _check_model_and_data,
    )  # fmt: skip
    model_positional(command, "the model to take from")
    data_positional(command, "the rows or texts to forget, with the labels they were counted with")
    output(command, "MODEL", "where the smaller model goes (default: the model itself)")
    data(command, TARGET_KNOWN)
    common(command)


def _merge(commands: Any) -> None:
    command = add_command(
        commands, "merge", "add models to each other", "MODEL MODEL... -o MODEL [options]",
        "Add models to each other. The sum is the model that would have been trained from all their rows; the order "
        "makes no difference. So parts of the data can be counted on several machines.",
        "  naively merge north.nb south.nb -o all.nb\n"
        "  naively merge parts/*.nb -o all.nb",
        _check_merge,
    )  # fmt: skip
    command.add_argument("models", nargs="*", metavar="MODEL", help="two models or more, trained with the same options")
    output(command, "MODEL", "where the sum goes")
    common(command)


def _predict(commands: Any) -> None:
    command = add_command(
        commands, "predict", "label new rows or texts", "MODEL DATA... [-o FILE] [options]",
        "Label new rows or texts. The answer has one row for each row of DATA, in the same order; it goes to standard "
        "output, one line for each row, or to a file by -o: .parquet, .csv, .tsv, .jsonl or .arrow.\n\n"
        "Columns that the model does not know are left alone, and those that are missing count for nothing.",
        "  naively predict reviews.nb new.csv -o labels.parquet\n"
        "  naively predict reviews.nb new.csv --proba --top 3\n"
        "  head -100 mails.txt | naively predict spam.nb - --format lines\n"
        "  naively predict reviews.nb new.csv --abstain 0.9   # no label below 0.9",
        _check_predict,
    )  # fmt: skip
    model_positional(command)
    data_positional(command, "rows or texts")
    output(command, "FILE", "where the answer goes, and its format by its name (default: standard output)")
    group = command.add_argument_group("answer")
    group.add_argument("--top", metavar="K", type=at_least(1), help="the K likeliest labels (default: the likeliest)")
    group.add_argument("--proba", action="store_true", help="the probability of each label as well")
    group.add_argument(
        "--abstain", metavar="P", type=probability, help="leave the label empty if its probability is below P (0 to 1)"
    )
    group.add_argument(
        "--by", choices=("posterior", "likelihood"), default="posterior",
        help="whether labels that were seen more often are likelier (default: posterior, they are)",
    )  # fmt: skip
    data(command, None)
    common(command)


def _explain(commands: Any) -> None:
    command = add_command(
        commands, "explain", "show why a text or a row gets its label",
        "MODEL TEXT | --row JSON | --data FILE --line N [options]",
        "Show why a text or a row gets its label: how much each word or value speaks for it, and against it. "
        "The factors, multiplied, are the probability itself; nothing is approximated.",
        '  naively explain reviews.nb "not a bad film"\n'
        '  naively explain income.nb --row \'{"age": 39, "job": "clerk"}\'\n'
        "  naively explain reviews.nb --data new.csv --line 17 --class negative --top 5",
        _check_explain,
    )  # fmt: skip
    model_positional(command)
    command.add_argument("text", nargs="?", metavar="TEXT", help="the text to explain, as one argument in quotes")
    group = command.add_argument_group("what to explain, instead of TEXT")
    group.add_argument("--row", metavar="JSON", type=row, help="a row, as a JSON object of columns and values")
    group.add_argument("--data", metavar="FILE", help="a file that has the row")
    group.add_argument("--line", metavar="N", type=at_least(1), help="which row of it, from 1 (default: 1)")
    file_format(group)
    group = command.add_argument_group("answer")
    group.add_argument("--class", dest="label", metavar="LABEL", help="explain this label (default: the likeliest)")
    group.add_argument("--top", metavar="N", type=at_least(1), default=10, help="how many factors (default: 10)")
    common(command)


def _show(commands: Any) -> None:
    command = add_command(
        commands, "show", "show what a model has learnt", "MODEL [CLASS] [options]",
        "Show what a model has learnt: its labels, its columns, how good it is, and the words or values that speak "
        "most for each label. With a CLASS, that label alone.",
        "  naively show reviews.nb\n"
        "  naively show reviews.nb positive --top 30\n"
        "  naively show reviews.nb --verify --json",
        _need_model,
    )  # fmt: skip
    model_positional(command)
    command.add_argument("label", nargs="?", metavar="CLASS", help="one label")
    group = command.add_argument_group("answer")
    group.add_argument("--top", metavar="N", type=at_least(0), default=10, help="words for each label (default: 10)")
    group.add_argument("--verify", action="store_true", help="check every byte of the file")
    common(command)


def _export(commands: Any) -> None:
    command = add_command(
        commands, "export", "write a model as SQL or ONNX", "MODEL --to sql|onnx [-o FILE] [options]",
        "Write a model as SQL or as ONNX, which give its labels and probabilities where the data lie.\n\n"
        "SQL is a script: it makes a table of weights, if one is needed, and then scores a table. What cannot be "
        "exported is refused. See docs/export.md.",
        "  naively export reviews.nb --to sql --dialect postgresql --table reviews --keep id > score.sql\n"
        "  naively export homes.nb --to onnx -o homes.onnx",
        _check_export,
    )  # fmt: skip
    model_positional(command)
    command.add_argument("--to", choices=("sql", "onnx"), required=True, help="what to write")
    output(command, "FILE", "where it goes (default: standard output, for SQL)")
    group = command.add_argument_group("SQL")
    group.add_argument("--dialect", choices=DIALECTS, help="the database (default: duckdb)")
    group.add_argument("--table", metavar="NAME", help="the table to score (default: rows)")
    group.add_argument("--keep", metavar="A,B", action="extend", type=names, help="columns that the result has too")
    group.add_argument("--form", choices=("auto", "join", "case"), help="look weights up by a join or by CASE")
    group = command.add_argument_group("ONNX")
    group.add_argument("--texts", choices=("words", "counts"), help="the input: texts (default), or counts of words")
    common(command)


def _evaluate(commands: Any) -> None:
    command = add_command(
        commands, "evaluate", "tell how good a model is, or would be",
        "MODEL DATA... | DATA... --cv K | DATA... --loo [options]",
        "Tell how good a model is on labelled data that it has not seen: accuracy with its margin of error, precision "
        "and recall of each label, which labels it mixes up, and whether its probabilities can be believed.\n\n"
        "With --cv or --loo no model is given: how good one from these data would be is measured by leaving out parts "
        "of them, or each row in turn. Rows are subtracted from the counts, so this takes little longer than training.",
        "  naively evaluate reviews.nb held_out.csv\n"
        "  naively evaluate reviews.csv --target label --text review --cv 10\n"
        "  naively evaluate reviews.csv --target label --loo --family complement --json",
        _check_evaluate,
    )  # fmt: skip
    model_positional(command)
    data_positional(command, "rows or texts with labels")
    group = command.add_argument_group("without a model")
    either = group.add_mutually_exclusive_group()
    either.add_argument("--cv", metavar="K", type=at_least(2), help="leave out each of K parts in turn")
    either.add_argument("--loo", action="store_true", help="leave out each row in turn")
    data(command, f"{TARGET}; with a MODEL, the one it was trained with")
    modelling(command, "model, with --cv and --loo")
    common(command)


def _compare(commands: Any) -> None:
    command = add_command(
        commands, "compare", "compare kinds of models on the same data", "DATA... --target COLUMN [options]",
        "Compare kinds of models (families, smoothing, selected words) on the same data, the best first. "
        "They are judged by cross-validation, or by other data with --test.",
        "  naively compare reviews.csv --target label --text review\n"
        "  naively compare train.csv --target label --test test.csv",
        _need_data,
    )  # fmt: skip
    data_positional(command, "rows or texts with labels")
    group = command.add_argument_group("judging")
    group.add_argument(
        "--test", metavar="DATA", action="append", help="judge by these data; may be given several times"
    )
    group.add_argument("--folds", metavar="K", type=at_least(2), default=10, help="parts to leave out (default: 10)")
    data(command, TARGET)
    common(command)


def _suspects(commands: Any) -> None:
    command = add_command(
        commands, "suspects", "find labels that look wrong", "DATA... --target COLUMN [-o FILE] [options]",
        "Find labels that look wrong. Each row is judged by all the others, so that a wrong label cannot speak for "
        "itself; the rows whose labels are contradicted most come first.",
        "  naively suspects reviews.csv --target label --text review\n"
        "  naively suspects reviews.csv --target label --top 200 -o look_at_these.csv",
        _check_suspects,
    )  # fmt: skip
    data_positional(command, "rows or texts with labels")
    output(command, "FILE", "where they go: .parquet, .csv, .tsv, .jsonl or .arrow (default: printed)")
    group = command.add_argument_group("answer")
    group.add_argument("--top", metavar="N", type=at_least(1), default=20, help="how many rows (default: 20)")
    data(command, TARGET)
    common(command)


def _demo(commands: Any) -> None:
    command = add_command(
        commands, "demo", "a short tour, on data that come with naively", "[options]",
        "A short tour: train, evaluate and explain, on data that come with naively. It leaves no files behind.",
        "  naively demo\n"
        "  naively demo --data tour       # tour/reviews.csv and tour/flowers.csv, to try the other commands with",
    )  # fmt: skip
    command.add_argument("--data", metavar="FOLDER", help="write the data of the tour into this folder instead")
    common(command)


def _completion(commands: Any) -> None:
    command = add_command(
        commands, "completion", "print a script that completes commands in a shell", "bash|zsh|fish",
        "Print a script with which the shell completes commands, options, their values and files by the Tab key.",
        '  eval "$(naively completion bash)"                      # in ~/.bashrc\n'
        "  naively completion zsh > ~/.zfunc/_naively             # with ~/.zfunc in fpath\n"
        "  naively completion fish > ~/.config/fish/completions/naively.fish",
        _check_completion,
    )  # fmt: skip
    command.add_argument("shell", nargs="?", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    common(command)


# Arguments that have to go together


def _need_model(arguments: argparse.Namespace) -> None:
    if arguments.model is None:
        raise UsageError("which model? Give the file that 'naively train' has made")


def _need_data(arguments: argparse.Namespace) -> None:
    if not arguments.data and arguments.sql is None:
        raise UsageError("which data? Give files or folders, '-' for standard input, or a query by --sql")
    if arguments.data and arguments.sql is not None:
        raise UsageError(f"data come from files or from --sql, not from both; got {arguments.data[0]!r} as well")
    if arguments.data.count("-") > 1:
        raise UsageError("standard input, '-', can be read only once")


def _check_model_and_data(arguments: argparse.Namespace) -> None:
    _need_model(arguments)
    _need_data(arguments)


def _check_training(arguments: argparse.Namespace) -> None:
    _need_data(arguments)
    both = sorted(set(arguments.columns or ()) & set(arguments.drop or ()))
    if both:
        raise UsageError(f"column {both[0]!r} is in --columns and in --drop")
    if arguments.from_counts:
        _check_from_counts(arguments)


def _check_from_counts(arguments: argparse.Namespace) -> None:
    """Raise for options that need rows."""
    given = {"--checkpoint": arguments.checkpoint, "--hashing": arguments.hashing}
    given |= {"--text": arguments.text, "--columns": arguments.columns, "--drop": arguments.drop}
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} needs rows, and --from-counts reads counts of them")


def _check_predict(arguments: argparse.Namespace) -> None:
    _check_model_and_data(arguments)
    _check_output(arguments)


def _check_suspects(arguments: argparse.Namespace) -> None:
    _need_data(arguments)
    _check_output(arguments)


def _check_output(arguments: argparse.Namespace) -> None:
    if arguments.output == "-":
        arguments.output = None
    if arguments.output is not None and not arguments.output.lower().endswith(OUTPUTS):
        raise UsageError(f"-o {arguments.output!r}: the name has to end in {', '.join(OUTPUTS[:-1])} or {OUTPUTS[-1]}")


def _check_merge(arguments: argparse.Namespace) -> None:
    if len(arguments.models) < 2:
        raise UsageError(f"two models are needed at least, got {len(arguments.models)}")
    if arguments.output is None:
        raise UsageError("where does the sum go? Give a file by -o")


def _check_export(arguments: argparse.Namespace) -> None:
    _need_model(arguments)
    others = ("texts",) if arguments.to == "sql" else ("dialect", "table", "keep", "form")
    for name in others:
        if getattr(arguments, name) is not None:
            raise UsageError(f"--{name} does not go with --to {arguments.to}")
    if arguments.output == "-":
        arguments.output = None
    if arguments.to == "onnx" and arguments.output is None:
        raise UsageError("where does the ONNX model go? Give a file by -o")


def _check_explain(arguments: argparse.Namespace) -> None:
    _need_model(arguments)
    given = [arguments.text is not None, arguments.row is not None, arguments.data is not None]
    if sum(given) != 1:
        raise UsageError(f"give one of TEXT, --row and --data; got {sum(given) or 'none'} of them")
    of_files = ("line", "format", *OF_FILES)
    if arguments.data is None and any(getattr(arguments, name) for name in of_files):
        raise UsageError(f"{', '.join(f'--{name}'.replace('_', '-') for name in of_files)} go with --data")
    if arguments.line is None:
        arguments.line = 1


def _check_evaluate(arguments: argparse.Namespace) -> None:
    """Check the arguments of evaluate; with --cv or --loo the first one is data, not a model."""
    if arguments.cv is not None or arguments.loo:
        arguments.data = [path for path in (arguments.model, *arguments.data) if path is not None]
        arguments.model = None
    else:
        _need_model(arguments)
        given = [name for name, default in MODELLING.items() if getattr(arguments, name) != default]
        if given:
            option = "--no-calibrate" if given[0] == "calibrate" else f"--{given[0].replace('_', '-')}"
            raise UsageError(f"{option} goes with --cv or --loo: the model in {arguments.model!r} is made already")
    _need_data(arguments)


def _check_completion(arguments: argparse.Namespace) -> None:
    if arguments.shell is None:
        raise UsageError(f"for which shell? Give one of {', '.join(SHELLS)}")


COMMANDS: dict[str, dict[str, Callable[[Any], None]]] = {
    "learn": {"train": _train, "learn": _learn, "forget": _forget, "merge": _merge},
    "use": {"predict": _predict, "explain": _explain, "show": _show, "export": _export},
    "judge": {"evaluate": _evaluate, "compare": _compare, "suspects": _suspects},
    "other": {"demo": _demo, "completion": _completion},
}
"""The functions that add each command's arguments, by the groups of the help."""
