"""same_output: a benchmark whose base and head give another output fails before it is measured."""

import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import main
from tests.harness.loop.test_probe import committed
from tests.support.project import Project

PLAN = "[gate]\nsameness = 'off'\n[plan]\nsandbox = 'off'\nbuilds = 2\nexecutions = 1\niterations = 2\n"
PROGRAM = '#!/bin/sh\necho same\necho "{}"\necho tail\n'


def made(tmp_path: Path, benchmarks: str, base: dict[str, str], head: dict[str, str]) -> Project:
    return committed(tmp_path, {"perfgate.toml": PLAN + benchmarks, **base}, head)


def benchmark(name: str = "work", **keys: Any) -> str:
    own = {"name": name, "command": ["./work.sh"], "instrument": "spawn", "same_output": True, **keys}
    # JSON's texts, lists and booleans are TOML's
    return "[[benchmark]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in own.items())


def failures(project: Project) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = project.report()["failures"]
    return found


def test_another_output_is_a_failure_and_the_others_go_on(tmp_path: Path) -> None:
    other = benchmark("other", command=["true"])
    base, head = {"work.sh": PROGRAM.format("42")}, {"work.sh": PROGRAM.format("4\x1b[31m3")}
    project = made(tmp_path, benchmark() + other, base, head)
    done = project.perfgate("check")
    assert done.returncode == 4, done.stdout + done.stderr
    (failure,) = failures(project)
    assert (failure["kind"], failure["benchmark"], failure["side"], failure["execution"]) == (
        "output", "work", None, None,
    )  # fmt: skip
    assert failure["status"] == "line 2 of standard output"
    assert failure["stderr"] == "base: 42\nhead: 4\\x1b[31m3"
    assert {name for name, *_ in project.executions()} == {"other"}
    text = " ".join(done.stdout.split())
    assert "work gave different output on base and head: line 2 of standard output" in text
    assert "where they differ: base: 42 head: 4\\x1b[31m3" in text
    comment = (project.top / ".perfgate/comment.md").read_text()
    assert "  - `base: 42`\n  - <code>head: 4&#92;x1b&#91;31m3</code>" in comment
    assert "Where they differ" in (project.top / ".perfgate/report.html").read_text()
    assert "next Make base and head give the same output, or remove `same_output` if they are meant to differ" in text


def test_the_same_output_is_measured(tmp_path: Path) -> None:
    script = PROGRAM.format("$PERFGATE_SEED {seed}") + '[ -z "$1" ] || echo $PERFGATE_ITERATIONS > $1\n'
    command = ["./work.sh", "{output}", "{seed}"]
    both = "".join(benchmark(each, command=command, instrument=each) for each in ("spawn", "values"))
    files = {"work.sh": script}
    project = made(tmp_path, both, files, {**files, "x": ""})
    done = project.perfgate("check")
    assert done.returncode == 0, done.stdout + done.stderr
    # no line of the file is of the comparison; of spawn each start is one
    assert Counter(name for name, *_ in project.executions()) == {"spawn": 8, "values": 4}
    assert failures(project) == []


FILE: dict[str, Any] = {"max_output": "1000B"}
DIFFER: dict[str, tuple[str, str, str]] = {
    # a file: what base and head write into $1, and the status
    "differs": ("echo 1 > $1", "echo 2 > $1", "line 1 of differs"),
    "longer": ("printf 'a\\nb' > $1", "printf 'a\\nb\\nc' > $1", "line 2 of longer"),
    "ends": ("printf 'a\\r\\n' > $1", "printf 'a\\n' > $1", "line 1 of ends"),
    "head": ("echo 1 > $1", "true", "head was not written"),
    "base": ("true", "echo 1 > $1", "base was not written"),
    "link": ("echo 1 > $1", "ln -sf /etc/hostname $1", "the output is a link, not a file"),
    "much": ("echo 1 > $1", "head -c 3000 /dev/zero > $1", "the output is longer than max_output (1000 bytes)"),
    # one that is there already is no output
    "there": (":", ": 1", "there was not written"),
    # the file of {output}
    "other": ("echo 1 > $1", "echo 2 > $1", "line 1 of {output}"),
    "none": ("echo 1 > $1", "echo 1", "{output} was not written"),
    # standard output: what is shown
    "an-end": ("printf 'a\\nb'", "printf 'a\\nb\\n'", "base: b\nhead: b\\n"),
    "a-line-more": ("echo a", "printf 'a\\n\\n'", "base: (no such line)\nhead: (empty)"),
    "no-text": ("printf '\\377\\n'", "echo é", "base: \\xff\nhead: é"),
    "far": ("printf '%0500d1\\n' 0", "printf '%0500d2\\n' 0", f"base: …{'0' * 40}1\nhead: …{'0' * 40}2"),
    "long": ("printf '1%0500d\\n' 0", "printf '2%0500d\\n' 0", f"base: 1{'0' * 199}…\nhead: 2{'0' * 199}…"),
}


def test_how_outputs_differ(tmp_path: Path) -> None:
    def keys(name: str, said: str) -> dict[str, Any]:
        if said.startswith("base: "):
            return {"command": [f"./{name}.sh"]}
        place = "{output}" if "{output}" in said else name
        return {"command": [f"./{name}.sh", place], "same_output": place, **FILE}

    benchmarks = "".join(benchmark(name, **keys(name, said)) for name, (_, _, said) in DIFFER.items())
    base, head = ({f"{name}.sh": f"#!/bin/sh\n{each[side]}\n" for name, each in DIFFER.items()} for side in (0, 1))
    project = made(tmp_path, benchmarks, {**base, "there": "1\n"}, head)
    assert project.perfgate("check").returncode == 4
    assert project.executions() == []
    assert {failure["kind"] for failure in failures(project)} == {"output"}
    found = {each["benchmark"]: (each["status"], each["stderr"]) for each in failures(project)}
    assert {name: said for name, (_, _, said) in DIFFER.items()} == {
        name: found[name][said.startswith("base: ")] for name, (_, _, said) in DIFFER.items()
    }
    assert len(failures(project)) == len(DIFFER)


def test_the_output_of_a_command_that_fails_is_its_failure(tmp_path: Path) -> None:
    project = made(tmp_path, benchmark(), {"work.sh": "#!/bin/sh\nexit 0\n"}, {"work.sh": "#!/bin/sh\nexit 3\n"})
    assert project.perfgate("check").returncode == 4
    (failure,) = failures(project)
    assert (failure["kind"], failure["side"], failure["status"]) == ("execution", "head", "exit 3")


def test_the_rules_say_what_must_be_the_same(tmp_path: Path) -> None:
    base, head = ({"work.sh": PROGRAM.format(text)} for text in ("a", "b"))
    project = made(tmp_path, benchmark(), base, head)
    project.write("perfgate.toml", PLAN + benchmark(same_output=False))
    project.commit()
    base_commit = project.git("rev-parse", "HEAD~2")
    # who proposes a change takes nothing away from the gate
    done = project.perfgate("check", "--base", base_commit, "--rules", "base")
    assert done.returncode == 4
    assert "same_output of work" in " ".join(done.stdout.split())
    assert project.perfgate("check", "--base", base_commit, "--rules", "head").returncode == 0


def test_a_resumed_run_neither_loses_nor_doubles_it(tmp_path: Path) -> None:
    other = benchmark("other", command=["true"])
    base, head = ({"work.sh": PROGRAM.format(text)} for text in ("a", "b"))
    project = made(tmp_path, other + benchmark(), base, head)
    assert project.perfgate("check").returncode == 4
    file = project.top / ".perfgate/measurements.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    at = next(i for i, line in enumerate(lines) if line["type"] == "failure")
    for cut in (at, at + 1, at + 2):
        # as a kill at this moment leaves the file
        file.write_text("".join(json.dumps(line) + "\n" for line in lines[:cut]))
        assert project.perfgate("check", "--resume").returncode == 4
        found = [json.loads(line) for line in file.read_text().splitlines()]
        assert [line["kind"] for line in found if line["type"] == "failure"] == ["output"]
        assert sum(line["type"] == "execution" for line in found) == 8


def test_the_dry_run_names_it(tmp_path: Path) -> None:
    same = {"work.sh": PROGRAM.format("a")}
    project = made(tmp_path, benchmark() + benchmark("free", same_output=False), same, {**same, "x": ""})
    text = project.perfgate("check", "--dry-run").stdout
    assert text.count("compares") == 1
    assert "before: one start of each, not measured, compares standard output" in text


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"instrument": "go"}, "is for single commands, not for the suite go: its output has times"),
        ({"instrument": "values", "command": ["./a"]}, "standard output may hold the values: write {output} in command, or name a file"),
        ({"instrument": "values", "same_output": "{output}", "command": ["./a", "{output}"]}, "{output} holds the values: use true, or name another file"),
        ({"same_output": "{output}"}, "command has no {output}"),
        ({"same_output": ""}, "is not a path inside the project"),
        ({"same_output": "/etc/passwd"}, '"/etc/passwd" is not a path inside the project'),
        ({"same_output": "a/../../b"}, '"a/../../b" is not a path inside the project'),
        ({"same_output": 3}, "3"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(tmp_path: Path, keys: dict[str, Any], why: str) -> None:
    file = tmp_path / "perfgate.toml"
    file.write_text(benchmark(**keys))
    err = io.StringIO()
    assert main(["config", "--config", str(file)], io.StringIO(), err) == 2
    assert "same_output" in err.getvalue()
    assert why in err.getvalue()
    assert err.getvalue().count("\n") == 1
