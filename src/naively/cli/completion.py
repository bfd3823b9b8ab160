"""Completion scripts for bash, zsh and fish, generated from the parser.

The scripts are static: pressing Tab does not start Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import NamedTuple

from naively.cli.arguments import parser
from naively.cli.console import Console
from naively.cli.parsers import Parser

# Arguments with these names in the help are completed as files.
_FILES = frozenset({"DATA", "MODEL", "FILE"})


class Option(NamedTuple):
    """The properties of an option that a completion script needs."""

    flags: tuple[str, ...]
    summary: str
    takes_value: bool
    choices: tuple[str, ...]
    takes_file: bool


class Command(NamedTuple):
    """The properties of a command that a completion script needs."""

    name: str
    summary: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    takes_files: bool


def run(arguments: argparse.Namespace, console: Console) -> None:
    """Print the completion script of a shell."""
    text = script(arguments.shell)
    console.say(text.rstrip("\n"))
    console.result({"shell": arguments.shell, "script": text})


def script(shell: str) -> str:
    """Return the completion script for "bash", "zsh" or "fish"."""
    top = parser()
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](list(_commands(top)), list(_options(top)))


def _commands(top: Parser) -> Iterator[Command]:
    for name, command in top.commands.items():
        positionals = [argument for argument in command.arguments if not argument.option_strings]
        words = tuple(word for argument in positionals for word in argument.choices or ())
        files = any(argument.metavar in _FILES for argument in positionals)
        yield Command(name, command.summary, tuple(_options(command)), words, files)


def _options(command: Parser) -> Iterator[Option]:
    for action in command.arguments:
        if action.option_strings:
            takes_value = action.nargs != 0
            choices = tuple(map(str, action.choices or ()))
            summary = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
            yield Option(tuple(action.option_strings), summary, takes_value, choices, action.metavar in _FILES)


# bash


def _bash(commands: list[Command], top: list[Option]) -> str:
    cases = "\n".join(
        f"    {command.name})\n"
        f'      options="{_flags(command.options)}"\n'
        f'      words="{" ".join(command.words)}"\n'
        f"      files={'yes' if command.takes_files else ''}\n"
        f'      case "$previous" in\n{_bash_values(command.options)}      esac ;;'
        for command in commands
    )
    return _BASH.format(
        cases=cases, commands=" ".join(command.name for command in commands), options=_flags(tuple(top))
    )


def _bash_values(options: tuple[Option, ...]) -> str:
    lines = []
    for option in options:
        if option.takes_value:
            answer = f'words="{" ".join(option.choices)}"; files={"yes" if option.takes_file else ""}'
            lines.append(f"        {'|'.join(option.flags)}) value=yes; {answer} ;;\n")
    return "".join(lines)


def _flags(options: tuple[Option, ...]) -> str:
    return " ".join(flag for option in options for flag in option.flags)


_BASH = """\
# Completion of naively for bash. In ~/.bashrc:  eval "$(naively completion bash)"
_naively() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="" options="" words="" files="" value="" i line
  # --option=value comes as three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]] && ((COMP_CWORD > 1)); then
    previous="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${{COMP_WORDS[i]}} != -* ]]; then
      command="${{COMP_WORDS[i]}}"
      break
    fi
  done
  case "$command" in
    "") options="{options}"; words="{commands}" ;;
{cases}
  esac
  COMPREPLY=()
  if [[ $current == -* && -z $value ]]; then
    words="$options"
    files=""
  fi
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <(compgen -W "$words" -- "$current")
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do
      COMPREPLY+=("$line")
    done < <(compgen -f -- "$current")
  fi
}}
complete -F _naively naively
"""


# zsh


def _zsh(commands: list[Command], top: list[Option]) -> str:
    described = "\n".join(f"        {_quoted(f'{command.name}:{command.summary}')}" for command in commands)
    cases = "\n".join(
        f"        {command.name})\n          _arguments -s {_zsh_arguments(command)} ;;" for command in commands
    )
    return _ZSH.format(commands=described, cases=cases, options=" ".join(_zsh_option(option) for option in top))


def _zsh_arguments(command: Command) -> str:
    specs = [_zsh_option(option) for option in command.options]
    if command.words:
        specs.append(_quoted(f"1:value:({' '.join(command.words)})"))
    if command.takes_files:
        specs.append(_quoted("*:file:_files"))
    return " \\\n            ".join(specs)


def _zsh_option(option: Option) -> str:
    summary = _zsh_plain(option.summary)
    value = ""
    if option.takes_value:
        action = f"({' '.join(option.choices)})" if option.choices else "_files" if option.takes_file else " "
        value = f":value:{action}"
    # An option may be given again; "=" says that its value may also stand behind an equals sign.
    equals = {flag: "=" if option.takes_value and flag.startswith("--") else "" for flag in option.flags}
    return " ".join(_quoted(f"*{flag}{equals[flag]}[{summary}]{value}") for flag in option.flags)


def _zsh_plain(text: str) -> str:
    return text.replace("[", "(").replace("]", ")").replace(":", "\\:")


_ZSH = """\
#compdef naively
# Completion of naively for zsh: save it as _naively in a folder of fpath, or  source <(naively completion zsh)
_naively() {{
  local curcontext="$curcontext" state line
  typeset -A opt_args
  _arguments -C {options} '1:command:->command' '*::argument:->argument'
  case "$state" in
    command)
      local -a commands
      commands=(
{commands}
      )
      _describe -t commands command commands ;;
    argument)
      case "$line[1]" in
{cases}
      esac ;;
  esac
}}
if [[ "$funcstack[1]" == _naively ]]; then
  _naively "$@"
else
  compdef _naively naively
fi
"""


# fish


def _fish(commands: list[Command], top: list[Option]) -> str:
    names = " ".join(command.name for command in commands)
    none_yet = _quoted(f"not __fish_seen_subcommand_from {names}")
    lines = [
        "# Completion of naively for fish: save it as ~/.config/fish/completions/naively.fish",
        "complete -c naively -f",
    ]
    lines += [f"complete -c naively -n {none_yet} -a {c.name} -d {_quoted(c.summary)}" for c in commands]
    lines += [_fish_option(none_yet, option) for option in top]
    for command in commands:
        seen = _quoted(f"__fish_seen_subcommand_from {command.name}")
        if command.takes_files:
            lines.append(f"complete -c naively -n {seen} -F")
        if command.words:
            lines.append(f"complete -c naively -n {seen} -a {_quoted(' '.join(command.words))}")
        lines += [_fish_option(seen, option) for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_option(condition: str, option: Option) -> str:
    parts = ["complete -c naively -n", condition]
    parts += [f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags]
    if option.takes_value:
        parts.append("-r -F" if option.takes_file else "-x")
    if option.choices:
        parts.append(f"-a {_quoted(' '.join(option.choices))}")
    if option.summary:
        parts.append(f"-d {_quoted(option.summary)}")
    return " ".join(parts)


def _quoted(text: str) -> str:
    """Quote a text in single quotes, as all three shells read them."""
    return "'" + text.replace("'", "'\\''") + "'"
