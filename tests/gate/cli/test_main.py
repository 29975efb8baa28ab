"""The command line in process, and its ends: usage errors, faults of perfgate's own, streams that close."""

import ast
import io
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gate import __version__
from gate.cli.catalogue import entries
from gate.cli.command import command_names
from gate.cli.main import Harmless, _EndError, _invocation, _parsed, _parser, main
from gate.cli.options import options_of
from gate.config.resolve import tables_of
from harness.host.facts import unsupported_platform
from tests.gate.typed import run
from tests.support.kalibera_jones import TABLE_V_NEW, TABLE_V_OLD
from tests.support.lines import builds, text
from tests.support.project import environment, perfgate


@pytest.fixture
def table_v(tmp_path: Path) -> str:
    file = tmp_path / "measurements.jsonl"
    file.write_text(text([*builds("base", TABLE_V_OLD), *builds("head", TABLE_V_NEW)]))
    return str(file)


def test_version_and_help() -> None:
    assert run("--version") == run("-V") == (0, f"perfgate {__version__}\n", "")
    code, out, _ = run("--help")
    assert code == 0
    assert run() == run("help") == run("-h") == (0, out, "") and run("help", "check") == run("check", "--help")
    # a line each, the longest name too
    needed, more = out.partition("\ncommands:\n")[2].partition("\nexit codes")[0].split("\nmore:\n")
    first, others = (re.findall(r"^  ([a-z]+)  +[a-z]", each, re.MULTILINE) for each in (needed, more))
    assert first == ["init", "check", "report", "compare", "explain", "bisect", "doctor", "config"]
    assert sorted([*first, *others]) == command_names() and all(len(line) <= 80 for line in [*needed, *more])
    for name in ("init", "check", "measure", "decide", "report", "compare", "config"):
        assert "example:\n  perfgate " in run(name, "--help")[1]


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("-x",), "perfgate: -x is not an option; see"),
        (("check", "--strict=3"), "perfgate check: --strict takes no value; see"),
        (("check", "--"), "perfgate check: no command stands behind --; see"),
        (("compare", "x", "--from", "go"), "--from: 'go' is not one of go_bench, google_benchmark, "),
        (("decide", "--nope"), "perfgate decide: --nope is not an option; see"),
        (("study", "plna"), "'plna' is not one of plan, measure, analyse (did you mean plan?)"),
        (("compare", "main", "slow"), "main: no such file"),
        (("chekc",), "'chekc' is not a command (did you mean check?)"),
        (("check", "--bench", "x"), "--bench is not an option (did you mean --benchmark?)"),
        # the keys of the config are options to many a reader
        (("check", "--threshold=3%"), "(did you mean --set gate.threshold=3%?); see perfgate check --help"),
        (("check", "--color", "never"), "--color is not an option; see perfgate check --help"),
        (("check", "--builds", "--quiet"), "(did you mean --set plan.builds=...?)"),
        (("study", "--builds", "3"), "(did you mean --set study.builds=3?)"),
        (("study", "--shards=2"), "(did you mean --set plan.shards=2?)"),
        (("check", "--seeed", "1"), "--seeed is not an option (did you mean --seed?)"),
        (("check", "--bsae", "main"), "--bsae is not an option (did you mean --base?)"),
        (("check", "-j", "3"), "perfgate check: -j is not an option; see perfgate check --help"),
        (("check", "--thresold", "5"), "perfgate check: --thresold is not an option (did you mean --set gate.threshold=5%?); see"),
        (("check", "main"), "perfgate check: unexpected argument 'main' (did you mean --head main or -- main?); see perfgate check --help"),
        (("check", "./sum", "1 2"), "perfgate check: unexpected argument './sum' (did you mean --head ./sum or -- ./sum '1 2'?); see perfgate check --help"),
        (("report", "--format", "jsn"), "--format: 'jsn' is not one of csv, html, json, junit, markdown, summary, text (did you mean json?); see perfgate report --help"),
        (("completion", "tcsh"), "SHELL: 'tcsh' is not one of bash, fish, zsh"),
        (("doctor", "--json", "/dev/null/x"), "--json /dev/null/x: cannot be written"),
        (("decide",), "the following arguments are required: FILE"),
        (("decide", "nowhere.jsonl"), "nowhere.jsonl: no such file"),
        (("report", "nowhere"), "nowhere: no such file"),
    ],
)  # fmt: skip
def test_a_wrong_command_line_is_one_line_and_exit_2(argv: tuple[str, ...], said: str) -> None:
    code, out, err = run(*argv)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize("command", ["explain", "report", "simulate .perfgate"])
def test_before_the_first_run_a_step_is_named(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        code, out, err = run(*command.split())
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "no run in .perfgate: make one with `perfgate check`" in err and "at most plan.budget (15 min" in err
        (tmp_path / ".perfgate").mkdir(exist_ok=True)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_help_fits_the_terminal(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for words in ([], *(entry.name.split() for entry in entries())):
        code, out, _ = run(*words, "--help")
        assert code == 0
        usage, *rest = out.splitlines()
        assert usage.startswith(f"usage: perfgate {' '.join(words)}".rstrip())
        # an example is copied, and a flag with its value stays in one piece
        example = out.partition("\nexample:\n")[2].partition("\n\n")[0].splitlines()
        assert [line for line in rest if len(line) > width and line not in example] == []
        assert "-h, --help" in out and out.count("\noptions:\n") <= 1


def test_table_v_through_the_command(table_v: str) -> None:
    code, out, err = run("decide", table_v, "--set", "gate.interval=fieller-kj", "--json", "-")
    assert (code, err) == (0, "")
    (finding,) = json.loads(out)["findings"]
    assert finding["ratio"]["low"] == pytest.approx(0.109834376, abs=5e-10)
    assert finding["ratio"]["high"] == pytest.approx(1.72530157, abs=5e-9)


def test_a_file_without_measurements_says_how_to_get_some(tmp_path: Path) -> None:
    for content in ("", "\n\n", '{"type":"run","seed":7}\n'):
        (tmp_path / "empty.jsonl").write_text(content)
        code, out, err = run("decide", str(tmp_path / "empty.jsonl"))
        assert (code, err) == (4, "")
        assert out.startswith("✖ Error: nothing was measured\n")
        assert "next Run `perfgate check`, which measures and decides" in " ".join(out.split())


def changed(folder: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    """Table V with other metrics."""
    lines = text([*builds("base", TABLE_V_OLD), *builds("head", TABLE_V_NEW)]).splitlines()
    records = [{**record, "metrics": change(record["metrics"])} for record in map(json.loads, lines)]
    (folder / "m.jsonl").write_text(text(records))
    return str(folder / "m.jsonl")


@pytest.mark.parametrize(
    ("metric", "unit", "said"),
    [
        ("time", "furlong", '"furlong" is not a unit of time: write s, ms, us or ns'),
        ("time", "usec", '"usec" is not a known unit: write "us"'),
        ("latency", "seconds", '"seconds" is not a known unit: write "s"'),
        ("size", "kilobytes", '"kilobytes" is not a known unit: write "kB"'),
        # units of one's own, and known ones
        ("rate", "req/s", None),
        ("length", "furlong", None),
        ("size", "KiB", None),
    ],
)
def test_a_misspelt_unit_is_one_warning(tmp_path: Path, metric: str, unit: str, said: str | None) -> None:
    file = changed(tmp_path, lambda own: {metric: {**own["time"], "unit": unit, "better": "lower"}})
    code, out, err = run("decide", file, "--json", "-")
    assert (code, err) == (0, "")
    found = [each["text"] for each in json.loads(out)["warnings"] if each["kind"] == "unknown-unit"]
    assert len(found) == (said is not None)
    assert not found or said in found[0]


def test_values_below_0_are_inconclusive_and_no_builds_would_help(tmp_path: Path) -> None:
    file = changed(tmp_path, lambda own: {"time": {**own["time"], "values": [-v for v in own["time"]["values"]]}})
    code, out, _ = run("decide", file)
    assert (code, "has no ratio: negative values have no ratio; not failing" in out) == (0, True)
    assert "next Check the program that writes the values: some are below 0" in " ".join(out.split())
    assert "plan.builds" not in out.partition("base")[0]


def test_a_fault_of_perfgate_itself_is_one_line_and_never_a_pass(table_v: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("gate.planning.deciding.decide_inputs", broken)
    code, out, err = run("decide", table_v)
    assert (code, out) == (4, "")
    assert err == (
        "perfgate: internal error, RuntimeError: surprise (PERFGATE_TRACEBACK=1 shows where); please report it\n"
    )
    monkeypatch.setenv("PERFGATE_TRACEBACK", "1")
    with pytest.raises(RuntimeError):
        run("decide", table_v)


def test_windows_is_refused_in_one_line_for_measuring_only(table_v: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.run.refusal.unsupported_platform", lambda: "not supported here")
    assert [unsupported_platform(name) is None for name in ("linux", "darwin", "win32")] == [True, True, False]
    assert run("check") == (2, "", "perfgate: not supported here\n")
    assert run("measure")[0] == 2
    assert run("decide", table_v)[0] == 0


@pytest.mark.endtoend
def test_a_reader_that_goes_away_or_a_full_disk_shows_no_traceback(table_v: str) -> None:
    def into(redirection: str, *form: str) -> tuple[int, str]:
        command = ["sh", "-c", f'"$@" {redirection}', "sh", *perfgate("decide", table_v, *form)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
        return done.returncode, done.stderr

    assert into("| true")[1] == ""
    # what is longer than a buffer fails while it is written, what is shorter at the end
    for form in ((), ("--html", "-")):
        assert into("> /dev/full", *form) == (4, "perfgate: standard output: No space left on device\n")


# --- what programs wrote reaches the log of a workflow as text, and never as a command of it --------------------------


def written(*pieces: str) -> str:
    stream = io.StringIO()
    harmless = Harmless(stream)
    assert [harmless.write(piece) for piece in pieces] == [len(piece) for piece in pieces]
    return stream.getvalue()


@pytest.mark.parametrize(
    "pieces",
    [
        *([each] for each in ("::error::pwn\n", "      ::stop-commands::tok\n", "a\r::error::x", "\u3000::error::x")),
        *(["      ", "::set-output name=x::y"], ["a\n", "\t ::add-mask::e"], ["a", "\n", "::error::x"]),
        ["##[error]x", "a ##[set-env name=LD_PRELOAD]/x.so"],
        [":", ":error::x", "\n#", "#", "[error]y", "\n  :", ":"],
        ["\n\n  ::debug::x\r\n::error::y"],
    ],
)
def test_no_line_is_a_command(pieces: list[str]) -> None:
    text = written(*pieces)
    assert "##[" not in text
    assert not any(line.strip().startswith("::") for line in re.split(r"[\r\n]", text))
    assert re.sub(r"[\s:]", "", text) == re.sub(r"[\s:]", "", "".join(pieces))


def test_all_else_is_left_as_it_is() -> None:
    for pieces in (("std::vector", "::push", " a::b\n"), ("a", "::b"), ("[::1]\n", "", "c: :d\n"), ("  x", "::y")):
        assert written(*pieces) == "".join(pieces)


def test_the_command_line_writes_so_in_a_workflow_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    said = []
    for value in ("true", ""):
        monkeypatch.setenv("GITHUB_ACTIONS", value)
        err = io.StringIO()
        main(["report", "##[error]x"], io.StringIO(), err)
        said.append(err.getvalue())
    assert "##[error]x" not in said[0] and "## [error]x" in said[0] and "##[error]x" in said[1]


# --- every command and setting between backticks is one that there is -------------------------------------------------


ROOT = Path(__file__).parents[3]
SPAN = re.compile(r"`((?:perfgate |--set )[^`]*)`")
HOLE = "{}"
"""What a text has from elsewhere: a name, or options."""


def texts() -> Iterator[str]:
    """The strings of the source, with a hole for each part that is put in."""
    for file in [*ROOT.glob("gate/**/*.py"), *ROOT.glob("harness/**/*.py")]:
        source = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "`perfgate " in source or "`--set " in source else ():
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(str(each.value) if isinstance(each, ast.Constant) else HOLE for each in node.values)


@pytest.fixture(scope="module")
def spans() -> list[str]:
    return sorted({" ".join(span.split()) for text in texts() for span in SPAN.findall(text)} - {f"perfgate {HOLE}"})


def is_one(words: list[str]) -> bool:
    """Whether a command line can be parsed, asks for help, or names a command and no more."""
    if len(words) == 1 and words[0] in command_names():
        return True
    try:
        named = _invocation(words)
        options_of(named.command.options, _parsed(_parser(named), named))
    except _EndError:
        return "--help" in words
    return True


def test_commands_that_are_named_are_some(spans: list[str]) -> None:
    named = [span for span in spans if span.startswith("perfgate ")]
    assert named
    for span in named:
        tried = [shlex.split(span.replace(HOLE, hole).replace("...", ""))[1:] for hole in ("X", "")]
        assert any(map(is_one, tried)), span


def test_settings_that_are_named_are_some(spans: list[str]) -> None:
    named = [span for span in spans if span.startswith("--set ") and HOLE not in span]
    assert named
    for span in named:
        words = [word for word in shlex.split(span) if word != "--set"]
        tables_of([word.replace("=N", "=3") for word in words])
