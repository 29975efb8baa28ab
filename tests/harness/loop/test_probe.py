"""What cannot differ is proved and not measured, and what may differ never is: real processes, real git, whole checks."""

import contextlib
import json
import os
import shutil
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gate.model import Build, Execution, Failure, HostState, Record, Same
from tests.support.project import Project

pytestmark = [
    pytest.mark.endtoend,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a program reads"),
]
needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was compiled)")

PLAN = '[plan]\nbuilds = 1\nexecutions = 1\niterations = 1\nsandbox = "off"\n'
"""Outside their tree programs write only where nothing confines them; and confining takes half of the time."""
SANDBOXED = ("--set", "plan.sandbox=auto")


def benchmark(command: str | list[str] = "sh run.sh", name: str = "work", **keys: Any) -> str:
    own = {"name": name, "command": command, "instrument": "spawn", **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in own.items() if not isinstance(value, dict)]
    tables = [
        f"service = {{ {', '.join(f'{key} = {json.dumps(each)}' for key, each in value.items())} }}"
        for value in own.values()
        if isinstance(value, dict)
    ]
    return "[[benchmark]]\n" + "\n".join([*lines, *tables]) + "\n"


def checked(
    tmp_path: Path, base: dict[str, str], head: dict[str, str], *options: str, command: str = "measure"
) -> tuple[set[str], dict[str, str]]:
    """Measure a project; returns what is identical, and why the others are measured."""
    project = committed(tmp_path, base, head)
    done = project.perfgate(command, "--base", "HEAD~1", *options)
    records = project.read(said=done.stderr)
    measured = {record.benchmark for record in records if isinstance(record, Execution)}
    identical = {record.benchmark for record in records if isinstance(record, Same)}
    assert not measured & identical
    failed = any(isinstance(record, Failure) and record.kind != "missing" for record in records)
    assert done.returncode == (4 if failed else 0), done.stderr
    if command == "check":
        # one a side: for the second round nothing is to be built
        assert len([record for record in records if isinstance(record, Build)]) == 2
        assert project.report()["verdict"] == "pass"
    return identical, unproved_of(records)


def committed(tmp_path: Path, base: Mapping[str, str], head: Mapping[str, str]) -> Project:
    """Make a project of two commits; a file whose text begins with -> is a link, one with #! can be executed.

    Of head those files that it changes; gone removes one.
    """
    project = Project(tmp_path / "project")
    for files in (base, head):
        for name, text in files.items():
            place = project.top / name
            if text == "gone":
                place.unlink()
            elif text.startswith("-> "):
                place.unlink(missing_ok=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(text[3:])
            else:
                project.write(name, text)
                place.chmod(0o755 if text.startswith("#!") else 0o644)
        project.commit()
    return project


def at(tmp_path: Path) -> Project:
    """Give the project that was measured."""
    project = Project.__new__(Project)
    project.top = tmp_path / "project"
    return project


def unproved_of(records: list[Record]) -> dict[str, str]:
    unproved = next(r.unproved for r in reversed(records) if isinstance(r, HostState) and r.when == "end")
    return {name: f"{why.kind} {why.path or ''}".rstrip() for name, why in unproved.items()}


RUN = {"perfgate.toml": PLAN + benchmark(), "run.sh": "cat data > /dev/null\n", "data": "1\n", "README.md": "x\n"}
BUILT = PLAN + '[build]\ncommand = "gcc -O1 main.c -o app"\n' + benchmark(["./app"])
MAIN = '#include "one.h"\nint main(void) { return ONE - 1; }\n'


# --- what cannot differ -----------------------------------------------------------------------------------------------


def test_what_no_benchmark_reads_is_no_matter(tmp_path: Path) -> None:
    two_rounds = RUN["perfgate.toml"].replace("builds = 1", "builds = 2")
    head = {
        "README.md": "more\n",
        "docs/deep/page.md": "new\n",
        "other.sh": "exit 1\n",
        "perfgate.toml": "[gate]\nthreshold = '5%'\n" + two_rounds,
    }
    told = checked(tmp_path, RUN | {"perfgate.toml": two_rounds}, head, *SANDBOXED, command="check")
    assert told == ({"work"}, {})


@needs_gcc
def test_sources_that_compile_to_the_same_program_are_no_matter(tmp_path: Path) -> None:
    base = {"perfgate.toml": BUILT.replace("-O1", "-O2 -g0"), "main.c": MAIN, "one.h": "#define ONE 1\n"}
    head = {"main.c": f"/* a comment */{MAIN}".replace("ONE - 1", "1 - ONE"), "one.h": "#define TWO 2\n#define ONE 1\n"}
    assert checked(tmp_path, base, head, *SANDBOXED) == ({"work"}, {})


def test_of_several_programs_those_that_change_are_measured(tmp_path: Path) -> None:
    """Names of files may be any bytes; what an execution itself has written is no matter, what another's has is."""
    name = os.fsdecode(b"data\xff")
    commands = {
        "one": "sh one/run.sh",
        "two": "sh two/run.sh",
        "bytes": "cat data* > /dev/null",
        "own": "echo 1 > own; cat own > /dev/null",
        "writes": "cat one/data > made",
        "reads": "cat made || true",
    }
    both = PLAN + "".join(benchmark(command, each) for each, command in commands.items())
    base = {
        "perfgate.toml": both, "one/run.sh": "cat one/data\n", "one/data": "1\n", "two/run.sh": "true\n", name: "1\n",
    }  # fmt: skip
    changed = {
        "one": "changed one/data", "bytes": r"changed data\xff", "writes": "changed one/data", "reads": "changed made",
    }  # fmt: skip
    assert checked(tmp_path, base, {"one/data": "2\n", name: "2\n"}, *SANDBOXED) == ({"two", "own"}, changed)


def test_the_proof_names_what_commits_hold_and_counts_what_was_made(tmp_path: Path) -> None:
    config = PLAN + "[build]\ncommand = 'mkdir -p out/$PERFGATE_SIDE; date +%N > out/log'\ngit = 'on'\n" + benchmark()
    head = {"README.md": "more\n", "docs/deep/page.md": "new\n"}
    project = committed(tmp_path, RUN | {"perfgate.toml": config, ".gitignore": "out/\n"}, head)
    done = project.perfgate("measure", "--base", "HEAD~1")
    (proof,) = (record for record in project.read(said=done.stderr) if isinstance(record, Same))
    assert proof.differ == ["README.md", "docs", "docs/deep", "docs/deep/page.md"]
    # out/base, out/head, out/log, and git's own
    assert proof.made_count > 3
    assert proof.differ_count == 4 + proof.made_count


# --- what may differ --------------------------------------------------------------------------------------------------

SHELL = shutil.which("sh") or "/bin/sh"


@dataclass(frozen=True)
class Change:
    """A benchmark that has a directory of its own: its files in base, those that head changes, and why it is measured.

    base and head: also what is in the configuration, by the names in KEYS.
    """

    base: dict[str, Any]
    head: dict[str, Any]
    why: str


KEYS = ("command", "warmup", "service")
UP = {"command": "cat data; echo up; sleep 30", "ready": "log:up"}
CHANGES = {
    "program": Change({}, {"run.sh": "cat data data > /dev/null\n"}, "changed run.sh"),
    "data": Change({}, {"data": "2\n"}, "changed data"),
    "through a link": Change({"run.sh": "cat link\n", "link": "-> data"}, {"data": "2\n"}, "changed data"),
    "a link elsewhere": Change(
        {"run.sh": "cat link\n", "link": "-> data", "same": "1\n"}, {"link": "-> same"}, "changed link",
    ),
    "through a linked directory": Change(
        {"run.sh": "cat in/x\n", "in": "-> a", "a/x": "1\n", "b/x": "1\n"}, {"in": "-> b"}, "changed in",
    ),
    "only asked for": Change({"run.sh": "test -e fast && true; true\n"}, {"fast": "\n"}, "changed fast"),
    "only asked for and gone": Change({"run.sh": "test -e data; true\n"}, {"data": "gone"}, "changed data"),
    "only its size": Change({"run.sh": "stat -c %s data\n"}, {"data": "22\n"}, "changed data"),
    "only its mode": Change({"run.sh": "test -x data; true\n"}, {"data": "#!1\n"}, "changed data"),
    "a listed directory": Change({"run.sh": "ls sub\n", "sub/a": "\n"}, {"sub/b": "\n"}, "listed sub"),
    "a listed directory deep down": Change({"run.sh": "find .\n", "sub/a": "\n"}, {"sub/b": "\n"}, "listed sub"),
    "a module that hides another": Change(
        {"run.sh": "python3 own.py\n", "own.py": "import colorsys\n"}, {"colorsys.py": "\n"}, "listed .",
    ),
    "an interpreter": Change(
        {"command": "./go", "go": "#!tool\n", "tool": f"-> {SHELL}", "bash": "-> /bin/bash"}, {"tool": "-> /bin/bash"},
        "changed tool",
    ),
    "the interpreter of an interpreter": Change(
        {"command": "./go", "go": "#!inner\n", "inner": "#!in/sh\n", "in": "-> /bin"}, {"in": "-> /usr/bin/"},
        "changed in",
    ),
    "a directory that is moved": Change(
        {"run.sh": "mv a b && cat b/c/x; mv b a\n", "a/c/x": "1\n"}, {"a/c/x": "2\n"}, "changed a/c/x",
    ),
    "a directory on the way": Change({"run.sh": "cat a/../data; true\n"}, {"a/x": "1\n"}, "changed a"),
    "first on the path": Change(
        {"run.sh": "PATH=bin:$PATH true-x; true\n", "bin/x": "\n"}, {"bin/true-x": "#!/bin/sh\n"}, "changed bin/true-x",
    ),
    "the command": Change({}, {"command": "sh  run.sh"}, "command"),
    "the instrument": Change({}, {"warmup": 2}, "instrument"),
    "the name of the side": Change(
        {"run.sh": "[ $PERFGATE_SIDE = head ] && sleep 0.01; true\n"}, {}, "side-name-read run.sh",
    ),
    "the name of the side in the command": Change({"command": "echo $PERFGATE_SIDE"}, {}, "side-name-read"),
    "a server": Change({"command": "true", "service": UP}, {"data": "2\n"}, "changed data"),
    "the command of a server": Change(
        {"command": "true", "service": UP}, {"service": {**UP, "command": f"{UP['command']} "}}, "service",
    ),
}  # fmt: skip
BUILDS = {
    "what a build makes": Change(
        {"build.sh": "wc -l < list > count\n", "command": "cat count", "list": "\n"}, {"list": "\n\n"}, "changed count",
    ),
    "a directory that is gone": Change(
        {"run.sh": "echo 1 > out/log || true\n", "out/keep": "\n"}, {"out/keep": "gone"}, "changed out",
    ),
    "a directory that takes no file": Change(
        {"run.sh": "echo 1 > out || true\n", "build.sh": "touch out\n"}, {"build.sh": "mkdir out\n"}, "changed out",
    ),
    "a directory that may be empty": Change(
        {"run.sh": "rmdir out || true\n", "build.sh": "mkdir -p out\n"}, {"build.sh": "mkdir -p out; touch out/x\n"},
        "listed out",
    ),
    "one file or two": Change(
        {"run.sh": "echo 1 >> a; cat b\n", "build.sh": "touch a; ln -f a b\n"}, {"build.sh": "touch a b\n"}, "changed a",
    ),
    "the history": Change({"command": "git rev-parse HEAD"}, {}, "changed ../.git/HEAD"),
}  # fmt: skip
BY_SCRIPTS = "[build]\ngit = 'on'\ncommand = 'for each in */; do (cd $each && sh ./build.sh); done'\n"


def side_of(changes: dict[str, Change], build: str, *, head: bool) -> dict[str, str]:
    """Give the files of a side: a benchmark for each of them, in a directory with its name."""
    text, files = PLAN + build, {"README.md": "more\n" if head else "x\n"}
    for name, change in changes.items():
        start = {"run.sh": RUN["run.sh"], "data": RUN["data"], "build.sh": "true\n"}
        own = {"command": "sh run.sh", **start, **change.base, **(change.head if head else {})}
        settings = {key: own[key] for key in KEYS if key in own}
        within = f"cd {slug(name)}; "
        settings["command"] = within + settings["command"]
        if "service" in settings:
            settings["service"] = {**settings["service"], "command": within + settings["service"]["command"]}
        text += benchmark(name=slug(name), **settings)
        files |= {f"{slug(name)}/{file}": content for file, content in own.items() if file not in KEYS}
    return {"perfgate.toml": text, **files}


def slug(name: str) -> str:
    return name.replace(" ", "-")


@pytest.mark.parametrize(("changes", "build"), [(CHANGES, ""), (BUILDS, BY_SCRIPTS)], ids=["no build", "builds"])
def test_what_may_differ_is_measured(changes: dict[str, Change], build: str, tmp_path: Path) -> None:
    """All in one run: what is read, and so decided, is each benchmark's own."""
    project = committed(tmp_path, side_of(changes, build, head=False), side_of(changes, build, head=True))
    # what is decided of such lines is the same for all, and others here decide it
    done = project.perfgate("measure", "--base", "HEAD~1")
    assert done.returncode == 0, done.stderr
    records = project.read(said=done.stderr)
    expected = {}
    for name, change in changes.items():
        kind, _, path = change.why.partition(" ")
        expected[slug(name)] = f"{kind} {os.path.normpath(f'{slug(name)}/{path}')}" if path else kind
    assert unproved_of(records) == expected
    assert {record.benchmark for record in records if isinstance(record, Execution)} == expected.keys()
    assert not any(isinstance(record, Same) for record in records)


UP_FOR_A_BUILD = {"command": "echo up; sleep 30", "ready": "log:up", "per": "build"}
README = {"README.md": "more\n"}


def run_with(text: str, **files: str) -> dict[str, str]:
    return {**RUN, "perfgate.toml": PLAN + text, **{name.replace("_", "."): each for name, each in files.items()}}


@pytest.mark.parametrize(
    ("base", "head", "options", "why"),
    [
        (RUN, run_with(benchmark() + "[env]\nset = { A = '1' }\n"), (), {"work": "environment"}),
        # a program that differs needs no execution to be seen
        pytest.param(
            {"perfgate.toml": BUILT, "main.c": MAIN, "one.h": "#define ONE 1\n"},
            {"main.c": "int main(int count, char **words) { return count == 7; }\n"}, (), {"work": "changed app"},
            marks=needs_gcc,
        ),
        (run_with(benchmark("true", service=UP_FOR_A_BUILD)), README, (), {"work": "not-at-one-path"}),
        # it can be switched off
        (RUN, README, ("--set", "gate.sameness=off"), {}),
        # one commit on both sides
        (RUN, README, ("--base", "HEAD"), {}),
        # what fails only when it is traced
        (
            run_with(benchmark(same_output=True), run_sh="grep NoNewPrivs:.0 /proc/self/status\n"), README, (),
            {"work": "failed"},
        ),
    ],
    ids=["environment", "program", "service", "off", "one commit", "traced"],
)  # fmt: skip
def test_what_is_measured_whatever_is_read(
    tmp_path: Path, base: dict[str, str], head: dict[str, str], options: tuple[str, ...], why: dict[str, str]
) -> None:
    assert checked(tmp_path, base, head, *options) == (set(), why)


def test_what_a_build_does_outside_its_tree_is_seen_whatever_its_times_say(tmp_path: Path) -> None:
    cases = {
        "left": ("cp data ../x", "cat x", "x"),
        "rewritten": ("cp data ../x", "cat x; echo 1 > x", "x"),
        "replaced": ("rm -rf ../cur; mv ../$(cat data) ../cur", "cat cur/a", "cur"),
        "gone": ("rm -rf ../1 ../2", "cat 1/a || true", ""),
    }
    build, benchmarks, expected = "true", "", {}
    for name, (made, command, found) in cases.items():
        outside = tmp_path / name
        for each in ("1", "2"):
            (outside / each).mkdir(parents=True)
            (outside / each / "a").write_text(each)
            os.utime(outside / each, (1, 1))
        (outside / "work").mkdir()
        build += f"; cp data {outside}/work; (cd {outside}/work; {made})"
        benchmarks += benchmark(f"cd {outside}; {command}", name)
        expected[name] = f"outside-changed {outside / found}"
    base = {**RUN, "perfgate.toml": PLAN + f"[build]\ncommand = {json.dumps(build)}\n" + benchmarks}
    assert checked(tmp_path, base, {"data": "2\n"}) == (set(), expected)


@needs_gcc
def test_what_a_kept_build_left_outside_its_tree_may_differ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.build.builder._WORTH", 0.0)
    outside = tmp_path / "outside"
    build = f"[build]\ncommand = 'cp data {outside}; gcc main.c -o app'\n"
    base = {
        **RUN,
        "perfgate.toml": PLAN + build + benchmark(f"cat {outside}") + benchmark("true", "other"),
        "main.c": "int main(void) { return 0; }\n",
    }
    assert checked(tmp_path, base, {"data": "2\n"}, "--benchmark", "other") == ({"other"}, {})
    project = at(tmp_path)
    done = project.perfgate("measure", "--base", "HEAD~1")
    records = project.read(said=done.stderr)
    assert any(isinstance(record, Build) and record.cached for record in records)
    assert unproved_of(records) == {"work": f"outside-changed {outside}"}
    # and whose it is, only builds of this run show
    assert [record.kind for record in records if isinstance(record, Failure)] == ["outside"]


def test_what_is_told_by_somebody_else_may_differ(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    server.accept()[0].close()

        threading.Thread(target=answer, daemon=True).start()
        client = f"import socket; socket.create_connection(('127.0.0.1', {port})).recv(1)"
        base = {**RUN, "perfgate.toml": PLAN + benchmark(["python3", "-c", client])}
        assert checked(tmp_path, base, {"README.md": "more\n"}) == (set(), {"work": f"connection port {port}"})


def test_what_has_met_a_difference_does_not_run_on(tmp_path: Path) -> None:
    """Base's very first start and the two measured ones come to their end, and no proof."""
    mark = tmp_path / "ended"
    files = RUN | {"run.sh": f"cat data\nsleep 5\necho >> {mark}\n"}
    assert checked(tmp_path, files, {"data": "2\n"}) == (set(), {"work": "changed data"})
    assert len(mark.read_text(encoding="ascii")) == 3


def test_what_fails_is_measured_and_fails_there(tmp_path: Path) -> None:
    count = tmp_path / "count"
    # base alone is started once before
    once = f"echo >> {count}; [ $(wc -l < {count}) = 1 ] || exit 3\n"
    base = {**RUN, "perfgate.toml": PLAN + benchmark(), "run.sh": once}
    assert checked(tmp_path, base, {"README.md": "more\n"}) == (set(), {"work": "failed"})


def test_a_resumed_run_keeps_what_was_proved(tmp_path: Path) -> None:
    base = {**RUN, "perfgate.toml": PLAN + benchmark() + benchmark("cat README.md", "other")}
    assert checked(tmp_path, base, {"README.md": "more\n"}) == ({"work"}, {"other": "changed README.md"})
    project = at(tmp_path)
    file = project.top / ".perfgate/measurements.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[: next(i for i, line in enumerate(lines) if '"execution"' in line)]))
    assert project.perfgate("check", "--base", "HEAD~1", "--resume").returncode == 0
    assert sum('"type":"same"' in line for line in file.read_text().splitlines()) == 1
    assert {name for name, *_ in project.executions()} == {"other"}
