"""The frame of the command line, in real processes; the commands themselves are small fakes here."""

import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time

import pytest

from naively.cli import completion, subcommands
from naively.cli.arguments import parser
from naively.cli.exit import MEANINGS, UsageError
from naively.layout import cut, width

GROUPS = subcommands.COMMANDS
COMMANDS = [name for names in GROUPS.values() for name in names]
HOSTILE = "a\x1b[31mred\x07\x9b2J\u202eb\x7f\r"

unix = pytest.mark.skipif(os.name != "posix", reason="needs pseudo-terminals and signals of Unix")


def driver(fake):
    """A program that runs main, where every command is the given body of run(arguments, console)."""
    body = "".join(f"    {line}\n" for line in (fake or "pass").splitlines())
    return (
        "import signal, sys, time, types, warnings\n"
        "from naively.cli import main\n"
        f"def run(arguments, console):\n{body}\n"
        f"for name in {COMMANDS}:\n"
        "    module = types.ModuleType(name)\n    module.run = run\n"
        "    sys.modules['naively.cli.commands.' + name] = module\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.exit(main())\n"
    )


def environment(**more):
    meddling = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "NAIVELY_DEBUG", "PYTHONUNBUFFERED", "PYTHONWARNINGS"}
    return {name: value for name, value in os.environ.items() if name not in meddling} | {"TERM": "xterm"} | more


def program(argv, fake=None):
    return [sys.executable, "-c", driver(fake), *shlex.split(argv)]


def ran(argv, fake=None, env=None, **options):
    options = {"capture_output": True, "text": True, "encoding": "utf-8", "timeout": 60} | options
    return subprocess.run(program(argv, fake), env=environment(**(env or {})), **options)


class Terminal:
    """A pseudo-terminal, and a process in it."""

    def __init__(self, argv, fake=None, columns=80, env=None):
        pty = pytest.importorskip("pty")
        self.outside, inside = pty.openpty()
        self.resize(columns)
        self.process = subprocess.Popen(
            program(argv, fake), stdin=inside, stdout=inside, stderr=inside, env=environment(**(env or {}))
        )
        os.close(inside)
        self.text = ""

    def resize(self, columns):
        import fcntl
        import struct
        import termios

        fcntl.ioctl(self.outside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def read(self, until=None, seconds=30):
        """What is shown, up to a pattern or the end."""
        deadline = time.monotonic() + seconds
        while not (until and re.search(until, self.text)):
            assert time.monotonic() < deadline, self.text
            if select.select([self.outside], [], [], 0.1)[0]:
                try:
                    got = os.read(self.outside, 65536)
                except OSError:  # the other end is closed
                    break
                if not got:
                    break
                self.text += got.decode()
        return self.text

    def ended(self):
        self.read()
        os.close(self.outside)
        return self.process.wait(30)


# Help


def test_help_names_every_command_and_every_exit_code():
    run = ran("--help")
    assert run.returncode == 0
    assert run.stderr == ""
    for name in COMMANDS:
        assert re.search(rf"^  {name} +\w", run.stdout, re.M)
    for code, meaning in MEANINGS.items():
        assert re.search(rf"^  {code} +{re.escape(meaning)}", run.stdout, re.M)
    for group in GROUPS:
        assert f"\n{group}:\n" in run.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example_that_is_understood(name):
    run = ran(f"{name} --help")
    assert run.returncode == 0
    assert run.stdout.startswith(f"usage: naively {name}")
    _, _, examples = run.stdout.partition("\nexamples:\n")
    expanded = re.sub(r"\S+/\*\S+", "first second", re.sub(r"\"[A-Z].*?\"", "query", examples))
    found = re.findall(rf"naively ({name}\b[^|>#\n)]*)", expanded)
    assert found
    for example in found:
        assert parser().parse_args(shlex.split(example)).command == name


def test_the_first_session_is_understood():
    session = re.findall(r"^  naively (\w.*)$", parser().format_help(), re.M)
    assert [parser().parse_args(shlex.split(line)).command for line in session] == [
        "train", "predict", "evaluate", "explain", "learn",
    ]  # fmt: skip


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("argv", ["--help", "train --help"])
def test_help_is_wrapped_to_the_width(argv, columns):
    lines = ran(argv, env={"COLUMNS": str(columns)}).stdout.splitlines()
    prose = [line for line in lines if line and not line.startswith((" ", "usage"))]
    assert max(map(len, prose)) <= min(columns, 100)
    assert max(map(len, prose)) > min(columns, 100) * 0.7


def test_help_comes_at_once_and_loads_nothing_heavy():
    spent = []
    for _ in range(5):
        begin = time.perf_counter()
        assert subprocess.run([sys.executable, "-m", "naively.cli", "--help"], capture_output=True).returncode == 0
        spent.append(time.perf_counter() - begin)
    assert min(spent) < 0.3
    code = "import sys\nfrom naively.cli import main\nmain(['--help'])\nprint(*sys.modules, file=sys.stderr)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in run.stderr.split()}
    assert not loaded & {"numpy", "scipy", "sklearn", "pyarrow", "duckdb", "rich", "dataclasses", "json", "difflib"}


def test_the_version_is_shown():
    import naively

    assert ran("--version").stdout == f"naively {naively.__version__}\n"


# Arguments


def test_every_command_has_the_common_options():
    for name in COMMANDS:
        help_text = _command(name).format_help()
        assert all(option in help_text for option in ("--json", "--quiet", "--no-color"))


def _command(name):
    return parser().commands[name]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ("train a.csv --target x b.csv", {"data": ["a.csv", "b.csv"], "target": "x", "output": "model.nb"}),
        ("train d --text a --text b,c", {"text": ["a", "b", "c"], "columns": None}),
        ("train d --ngrams 2 --alpha 0.5", {"ngrams": (1, 2), "alpha": 0.5, "family": "auto", "calibrate": True}),
        ("train d --ngrams 2-3 --no-calibrate", {"ngrams": (2, 3), "alpha": "auto", "calibrate": False}),
        ("predict --top 3 m.nb --proba - -o x.csv", {"model": "m.nb", "data": ["-"], "top": 3, "output": "x.csv"}),
        ("predict m.nb -- -odd.csv", {"model": "m.nb", "data": ["-odd.csv"]}),
        ("predict m.nb --sql 'SELECT 1'", {"model": "m.nb", "data": [], "sql": "SELECT 1"}),
        ("evaluate m.nb d.csv", {"model": "m.nb", "data": ["d.csv"], "cv": None, "loo": False}),
        ("evaluate d.csv e.csv --cv 3", {"model": None, "data": ["d.csv", "e.csv"], "cv": 3}),
        ("evaluate --loo d.csv", {"model": None, "data": ["d.csv"], "loo": True}),
        ("explain m.nb '- not bad'", {"model": "m.nb", "text": "- not bad", "row": None, "label": None}),
        ("explain m.nb --row '{\"age\": 39}' --class x", {"row": {"age": 39}, "text": None, "label": "x"}),
        ("explain m.nb --data f.csv --line 7", {"data": "f.csv", "line": 7, "top": 10}),
        ("show m.nb positive", {"model": "m.nb", "label": "positive", "verify": False}),
        ("merge a b c -o d", {"models": ["a", "b", "c"], "output": "d"}),
        ("learn m.nb d", {"model": "m.nb", "data": ["d"], "output": None, "on_error": "stop"}),
        ("--json -q show m.nb", {"json": True, "quiet": True, "color": None}),
        ("show m.nb --json --no-color", {"json": True, "quiet": False, "color": False}),
    ],
)
def test_options_may_stand_anywhere(argv, expected):
    found = vars(parser().parse_args(shlex.split(argv)))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("predct m d", "unknown command 'predct'; did you mean 'predict'?"),
        ("fit d", "unknown command 'fit'; did you mean 'train'?"),
        ("train d --tagret x", "unknown option '--tagret'; did you mean '--target'?"),
        ("train d --tagret=x", "unknown option '--tagret'; did you mean '--target'?"),
        ("train d --fam auto", "unknown option '--fam'; did you mean '--family'?"),
        ("merge a b --ouput c", "unknown option '--ouput'; did you mean '--output'?"),
        ("train d --family multinomal", "did you mean 'multinomial'?"),
        ("train d --format jsnl", "did you mean 'jsonl'?"),
        ("completion tcsh", "'tcsh' is not one of bash, zsh, fish"),
        ("show a b c", "'c' is one argument too many"),
        ("train", "which data?"),
        ("train d --sql q", "not from both"),
        ("train - -", "only once"),
        ("train d --columns a,b --drop b", "column 'b' is in --columns and in --drop"),
        ("predict", "which model?"),
        ("predict m", "which data?"),
        ("predict m d -o x.xlsx", "has to end in .parquet"),
        ("evaluate m d --family bernoulli", "--family goes with --cv or --loo"),
        ("evaluate m d --no-calibrate", "--no-calibrate goes with --cv or --loo"),
        ("evaluate d --cv 3 --loo", "not allowed with"),
        ("merge a -o b", "two models"),
        ("merge a b", "-o"),
        ("explain m", "got none of them"),
        ("explain m text --data f", "got 2 of them"),
        ("explain m text --line 3", "go with --data"),
        ("explain m --row 39", "expected a JSON object"),
        ("explain m --row '{'", "expected a JSON object"),
        ("train d --threads 0", "a whole number from 1 on, got '0'"),
        ("train d --hashing 40", "from 1 to 30"),
        ("train d --alpha nan", "expected a number from 0 on"),
        ("train d --ngrams 3-2", "a range like 2-3"),
        ("predict m d --abstain 1.5", "a number from 0 to 1"),
        ("train d --columns a,,b", "names with commas"),
    ],
)
def test_what_is_not_understood_is_said_in_one_line(argv, message):
    with pytest.raises(UsageError) as failure:
        parser().parse_args(shlex.split(argv))
    assert message in str(failure.value)


def test_without_a_command_there_is_help_and_exit_code_2():
    run = ran("")
    assert run.returncode == 2
    assert run.stdout == ""
    assert "a first session:" in run.stderr


# Ends

ENDS = [
    ("pass", 0, ""),
    (
        "from naively.errors import InputError\nraise InputError('row 3: bad')",
        1,
        "naively: error: row 3: bad\n",
    ),
    ("open('/nonexistent/file.csv')", 1, "naively: error: /nonexistent/file.csv: No such file or directory\n"),
    ("raise OSError('disk is odd')", 1, "naively: error: disk is odd\n"),
    ("raise MemoryError", 1, "naively: error: not enough memory\n"),
    (
        "from naively.cli.exit import UsageError\nraise UsageError('which column?')",
        2,
        "naively: error: which column?\n  try 'naively show --help'\n",
    ),
    (
        "console.skipped(2, 'line 7: no label')\nconsole.skipped(1, 'line 9')",
        3,
        "naively: warning: 3 rows were left out; the first: line 7: no label\n",
    ),
    ("console.skipped(0)", 0, ""),
    (
        "1 / 0",
        70,
        "naively: error: ZeroDivisionError: division by zero\n"
        "  this is a bug: please report it; NAIVELY_DEBUG=1 shows where it is\n",
    ),
    ("raise KeyboardInterrupt", 130, "naively: interrupted\n"),
    ("raise BrokenPipeError", 141, ""),
    ("sys.exit(5)", 5, ""),
]


@pytest.mark.parametrize(("fake", "code", "message"), ENDS)
def test_a_command_ends_with_a_code_and_a_clean_message(fake, code, message):
    run = ran("show m.nb", fake)
    assert (run.returncode, run.stderr, run.stdout) == (code, message, "")


def test_wrong_usage_ends_with_2_and_says_where_to_read_on():
    run = ran("train d --tagret x")
    assert run.returncode == 2
    assert run.stderr == (
        "naively: error: unknown option '--tagret'; did you mean '--target'?\n  try 'naively train --help'\n"
    )


def test_the_traceback_is_there_for_those_who_ask():
    run = ran("show m.nb", "1 / 0", env={"NAIVELY_DEBUG": "1"})
    assert run.returncode == 70
    assert "Traceback" in run.stderr


def test_a_warning_is_one_line_and_shown_once():
    fake = "from naively.errors import DataWarning\nfor _ in range(3):\n    warnings.warn(DataWarning('few\\nrows'))"
    assert ran("show m.nb", fake).stderr == "naively: warning: few rows\n"


@unix
@pytest.mark.parametrize(
    ("argv", "fake"),
    [
        ("show m.nb", "for i in range(100_000):\n    console.say('line')"),
        ("show m.nb", "console.say('a line that is still in the buffer at the end')"),
        ("--help", None),
    ],
)
def test_a_reader_that_goes_away_is_no_error(argv, fake):
    ours, theirs = os.pipe()
    os.close(ours)
    run = subprocess.run(program(argv, fake), stdout=theirs, stderr=subprocess.PIPE, env=environment(), timeout=60)
    os.close(theirs)
    assert (run.returncode, run.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(("argv", "fake"), [("show m.nb", "console.say('x')"), ("--help", None)])
def test_a_full_disk_is_an_error(argv, fake):
    with open("/dev/full", "w") as full:
        run = ran(argv, fake, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (run.returncode, run.stderr) == (1, "naively: error: standard output: No space left on device\n")


@unix
def test_closed_streams_are_no_error():
    line = shlex.join(program("show m.nb", "console.say('x')\nconsole.note('y')\nconsole.table(['a'], [[1]])"))
    run = subprocess.run(["sh", "-c", f"{line} >&- 2>&-"], env=environment(), timeout=60)
    assert run.returncode == 0


@unix
def test_ctrl_c_says_what_was_saved_and_ends_with_130():
    fake = (
        "console.on_interrupt('100 rows were counted')\nconsole.on_interrupt('200 rows were counted')\n"
        "console.saved('model.nb.part')\nprint('ready', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen(
        program("train d", fake), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == "naively: interrupted\n  200 rows were counted\n  saved: model.nb.part\n"


# What is said

ALL = (
    "console.say('said')\nconsole.facts([('rows', 100_000), ('accuracy', 0.87654)])\n"
    "console.table(['word', 'share'], [['good', 0.5], ['bad', 12.25]], title='words')\n"
    "console.lines(['one\\t1', 'two'])\nconsole.note('noted')\nconsole.warn('careful')\n"
    "console.result({'rows': 100_000, 'loss': float('nan'), 'labels': ('a', None, True)})"
)


def test_people_get_aligned_lines():
    run = ran("show m.nb", ALL)
    assert run.stdout == (
        "said\nrows      100,000\naccuracy  0.8765\nwords\nword  share\ngood   0.50\nbad   12.25\none\t1\ntwo\n"
    )
    assert run.stderr == "noted\nnaively: warning: careful\n"


def test_machines_get_one_json_document_and_nothing_else():
    run = ran("show m.nb --json", ALL)
    assert json.loads(run.stdout) == {"rows": 100_000, "loss": None, "labels": ["a", None, True]}
    assert run.stderr == "noted\nnaively: warning: careful\n"


def test_a_second_json_document_is_a_mistake():
    assert ran("show m.nb --json", "console.result({})\nconsole.result({})").returncode == 70


def test_numpy_values_become_json():
    fake = (
        "import numpy as np\nconsole.result({'a': np.arange(2), 'b': np.float64('inf'), np.int64(3): np.bool_(True)})"
    )
    assert json.loads(ran("show m.nb --json", fake).stdout) == {"a": [0, 1], "b": None, "3": True}


def test_quiet_leaves_out_notes_alone():
    run = ran("show m.nb --quiet", ALL)
    assert run.stdout.startswith("said\n")
    assert run.stderr == "naively: warning: careful\n"


def test_hostile_texts_cannot_drive_the_terminal():
    fake = (
        f"text = {HOSTILE!r}\nconsole.say(text)\nconsole.facts({{text: text}})\nconsole.table([text], [[text]], text)\n"
        "console.lines([text, 'x\\ny'])\nconsole.note(text)\nconsole.warn(text)\nconsole.saved(text)\n"
        "console.on_interrupt(text)\nconsole.interrupted()\nconsole.result({text: text})\nraise OSError(1, text, text)"
    )
    for argv in ("show m.nb", "show m.nb --json"):
        run = ran(argv, fake)
        assert run.returncode == 1
        shown = run.stdout + run.stderr
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
        assert r"a\x1b[31mred\x07\x9b2J\u202eb\x7f" in run.stderr
    assert json.loads(run.stdout) == {HOSTILE: HOSTILE}


def test_a_row_is_one_line_whatever_is_in_it():
    run = ran("show m.nb", "console.lines(['a\\nb', 'c'])\nconsole.table(['x'], [['d\\ne']])")
    assert run.stdout == "a\\nb\nc\nx\nd\\ne\n"


def test_output_is_utf8_whatever_the_locale():
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}
    run = ran("show m.nb", r"console.say('\xe9 \u6f22 \udc80')", env=plain, text=False, encoding=None)
    assert run.stdout == "é 漢 \\x80\n".encode()


@pytest.mark.parametrize(
    ("env", "option", "colored"),
    [
        ({}, "", False),
        ({"FORCE_COLOR": "1"}, "", True),
        ({"FORCE_COLOR": "1"}, "--no-color", False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "", False),
    ],
)
def test_a_pipe_has_colour_only_if_forced(env, option, colored):
    run = ran(f"show m.nb {option}", ALL, env=env)
    assert ("\x1b[" in run.stdout, "\x1b[" in run.stderr) == (colored, colored)
    usage = ran(f"train --tagret {option}", env=env)
    assert ("\x1b[" in usage.stderr) == colored


@unix
@pytest.mark.parametrize(
    ("env", "option", "colored"),
    [({}, "", True), ({"NO_COLOR": "1"}, "", False), ({"TERM": "dumb"}, "", False), ({}, "--no-color", False)],
)
def test_a_terminal_has_colour_unless_refused(env, option, colored):
    terminal = Terminal(f"show m.nb {option}", ALL, env=env)
    assert terminal.ended() == 0
    assert ("\x1b[" in terminal.text) == colored
    assert "said" in terminal.text


@unix
def test_a_wide_table_is_cut_in_a_terminal_and_whole_in_a_pipe():
    fake = "console.table(['n', 'text', 'other'], [[1, 'word ' * 30, '漢字' * 20], [22, 'short', 'x']], title='t' * 90)"
    terminal = Terminal("show m.nb --no-color", fake, columns=40)
    assert terminal.ended() == 0
    lines = terminal.text.splitlines()
    assert max(map(width, lines)) <= 40
    assert all("…" in line for line in lines[:1] + lines[2:3])
    whole = ran("show m.nb", fake).stdout
    assert "…" not in whole
    assert "漢字" * 20 in whole


def test_texts_are_measured_by_the_columns_they_take():
    assert [width(text) for text in ("abc", "漢字", "e\u0301", "")] == [3, 4, 1, 0]
    assert cut("漢字漢字", 5) == "漢字…"
    assert cut("漢字漢字", 4) == "漢…"
    assert cut("abc", 0) == ""


# Progress

LOOP = (
    "with console.progress('counting', size_bytes=100_000_000) as progress:\n"
    "    for i in range(100):\n"
    "        progress.update(rows=2_000, bytes=1_000_000)\n"
    "        time.sleep(0.01)\n"
    "console.say('done')"
)
WITHOUT_RICH = "sys.modules['rich'] = None\n"


class Screen(Terminal):
    """A terminal that shows what is written to it."""

    def __init__(self, argv, fake, columns=80, env=None):
        pyte = pytest.importorskip("pyte")
        super().__init__(argv, fake, columns, env)
        self.screen = pyte.Screen(columns, 24)
        self.stream = pyte.Stream(self.screen)
        self.views = []

    def ended(self):
        code = super().ended()
        for part in re.split("(?=\r)", self.text):
            self.stream.feed(part)
            lines = [line.rstrip() for line in self.screen.display if line.strip()]
            if lines and lines not in self.views:
                self.views.append(lines)
        return code


@unix
@pytest.mark.parametrize("rich", [True, False])
@pytest.mark.parametrize(("columns", "option"), [(80, ""), *((columns, "--no-color") for columns in (8, 20, 40, 200))])
def test_progress_is_one_line_that_is_cleared(columns, option, rich):
    screen = Screen(f"train d {option}", ("" if rich else WITHOUT_RICH) + LOOP, columns)
    assert screen.ended() == 0
    assert len(screen.views) >= (3 if columns >= 20 else 2)
    assert all(len(lines) == 1 for lines in screen.views)
    assert screen.views[-1] == ["done"]
    assert not screen.screen.cursor.hidden
    if columns >= 80:
        amounts = r"[\d,]+ rows  [\d,]+ rows/s  [\d.]+ MB/s \d\d:\d\d" if rich else r"[\d,]+ rows"
        assert any(re.fullmatch(rf"counting .* \d+% *{amounts}", line) for [line] in screen.views)


@unix
@pytest.mark.parametrize(("rich", "tells"), [(True, r" [\d,]+ rows/s  [\d.]+ MB/s \d:\d\d:\d\d"), (False, "")])
def test_progress_without_a_known_end_tells_the_time_so_far(rich, tells):
    loop = ("" if rich else WITHOUT_RICH) + LOOP.replace(", size_bytes=100_000_000", "")
    screen = Screen("train d --no-color", loop)
    assert screen.ended() == 0
    assert any(re.fullmatch(rf"counting +[\d,]+ rows *{tells}", line) for [line] in screen.views)


@unix
@pytest.mark.parametrize("rich", [True, False])
@pytest.mark.parametrize("write", ["warn", "say"])
def test_what_is_written_does_not_run_into_the_line_of_progress(rich, write):
    loop = LOOP.replace("time.sleep", f"i % 20 or console.{write}(f'line {{i}}')\n        time.sleep")
    screen = Screen("train d --no-color", ("" if rich else WITHOUT_RICH) + loop)
    assert screen.ended() == 0
    prefix = "naively: warning: " if write == "warn" else ""
    assert screen.views[-1] == [*(f"{prefix}line {i}" for i in range(0, 100, 20)), "done"]
    assert any(lines[-1].startswith("counting") for lines in screen.views)


@unix
def test_ctrl_c_clears_the_line_of_progress():
    screen = Screen("train d --no-color", LOOP.replace("range(100)", "range(10_000)"))
    screen.read(until="MB/s")
    screen.process.send_signal(signal.SIGINT)
    assert screen.ended() == 130
    assert screen.views[-1] == ["naively: interrupted"]
    assert not screen.screen.cursor.hidden


@unix
@pytest.mark.parametrize(
    ("option", "env"), [("--quiet", {}), ("--json", {}), ("", {"TERM": "dumb"}), ("--no-color", {"TERM": "dumb"})]
)
def test_progress_is_silent_where_it_is_not_wanted(option, env):
    terminal = Terminal(f"train d {option}", LOOP, env=env)
    assert terminal.ended() == 0
    assert terminal.text == ("" if option == "--json" else "done\r\n")


@unix
def test_a_label_cannot_drive_the_terminal():
    terminal = Terminal("train d --no-color", LOOP.replace("'counting'", repr(f"[red]{HOSTILE}")))
    assert terminal.ended() == 0
    assert r"[red]a\x1b[31mred" in terminal.text
    assert "\x1b[31m" not in terminal.text


def test_progress_is_silent_in_a_pipe():
    run = ran("train d", LOOP, env={"FORCE_COLOR": "1"})
    assert (run.stdout, run.stderr) == ("done\n", "")


# Completion


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    for shell in ("bash", "zsh", "fish"):
        run = ran(f"completion {shell}")
        assert run.returncode == 0
        (folder / shell).write_text(run.stdout)
    (folder / "data.csv").touch()
    (folder / "data two.csv").touch()
    return folder


def in_bash(scripts, words):
    """What bash offers for the last of some words."""
    code = (
        f"source ./bash; complete -p naively >/dev/null || exit 9; COMP_WORDS=({shlex.join(words)}); "
        f"COMP_CWORD={len(words) - 1}; _naively; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    run = subprocess.run(["bash", "--norc", "-c", code], cwd=scripts, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return sorted(run.stdout.split("\n")[:-1]) if run.stdout.strip() else []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("naively tr", ["train"]),
        ("naively ''", sorted(COMMANDS)),
        ("naively --json pre", ["predict"]),
        ("naively --vers", ["--version"]),
        ("naively train --fam", ["--family"]),
        ("naively train --family ''", ["auto", "bernoulli", "complement", "multinomial"]),
        ("naively train --family mu", ["multinomial"]),
        ("naively train --family = mu", ["multinomial"]),
        ("naively train --family =", ["auto", "bernoulli", "complement", "multinomial"]),
        ("naively train da", ["data two.csv", "data.csv"]),
        ("naively predict model.nb -o da", ["data two.csv", "data.csv"]),
        ("naively predict ''", ["bash", "data two.csv", "data.csv", "fish", "zsh"]),
        ("naively train --target ''", []),
        ("naively completion ''", ["bash", "fish", "zsh"]),
        ("naively nonsense ''", []),
    ],
)
def test_bash_completes(scripts, line, offered):
    assert in_bash(scripts, shlex.split(line)) == offered


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("naively tr", ["train"]),
        ("naively train --family=mu", ["--family=multinomial"]),
        ("naively train --ta", ["--table", "--target"]),
    ],
)
def test_fish_completes(scripts, line, offered):
    code = f"source ./fish; complete -C {shlex.quote(line)}"
    run = subprocess.run(["fish", "--no-config", "-c", code], cwd=scripts, capture_output=True, text=True, check=True)
    assert [each.partition("\t")[0] for each in run.stdout.splitlines()] == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_can_read_its_script(scripts, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-n", shell], cwd=scripts, check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_has_every_option_and_choice(shell):
    script = completion.script(shell)
    for name in COMMANDS:
        assert name in script
        for action in _command(name).arguments:
            for flag in action.option_strings:
                assert re.search(rf"(?<![\w-]){flag}\b" if shell != "fish" else rf"-[ls] {flag.lstrip('-')}\b", script)
            assert all(str(choice) in script for choice in action.choices or ())


def test_a_script_is_a_document_as_well():
    assert json.loads(ran("completion bash --json").stdout) == {"shell": "bash", "script": completion.script("bash")}
