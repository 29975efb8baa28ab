"""A benchmark that is started by a version manager's shim; real git and processes, perfgate in process."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from gate.run.hints import kept_apart, out_of_sight, was_refused
from harness.host.shims import behind
from tests.harness.host.test_shims import MANAGER, PYENV
from tests.support.project import executable, repository

CONFIG = """\
[plan]
sandbox = "off"
builds = 1
executions = 1
iterations = 2
[[benchmark]]
name = "a"
command = ["tool", "x"]
instrument = "spawn"
[[benchmark]]
name = "b"
command = "tool y"
instrument = "spawn"
[[benchmark]]
name = "numbers"
command = "tool; echo 1"
instrument = "values"
"""


@pytest.mark.parametrize("chosen", [True, False])
def test_what_a_shim_starts_is_started_itself_unless_the_project_chooses_it(tmp_path: Path, *, chosen: bool) -> None:
    program = executable(tmp_path / "versions" / "tool", "#!/bin/sh\n")
    log = tmp_path / "log"
    manager = executable(tmp_path / "bin" / "pyenv", MANAGER.format(program=program, first=f'echo "$3" >>"{log}"'))
    shim = executable(tmp_path / "shims" / "tool", PYENV.format(root=tmp_path, manager=manager))
    first = {"perfgate.toml": CONFIG} | ({".tool-version": "1.0\n"} if chosen else {})
    project = repository(tmp_path / "project", first, {})
    path = os.pathsep.join([str(shim.parent), os.environ["PATH"]])
    done = project.perfgate("measure", "--base", "HEAD~1", PATH=path)
    assert done.returncode == 0, done.stderr
    run = json.loads((project.top / ".perfgate/measurements.jsonl").read_text().splitlines()[0])
    warned = [warning for warning in run["warnings"] if warning.get("what") == "started-by-shim"]
    assert len(warned) == chosen
    # the benchmarks' own starts
    assert log.exists() is chosen
    for found in warned:
        # the instrument values does not measure the start
        assert found["text"].startswith(f"a, b: {shim} is a shim of pyenv, ")
        assert found["text"].endswith(f": name {program} in the command")
        assert f"{shim} is a shim of pyenv" in done.stderr


def test_nothing_that_a_project_sets_starts_outside_of_the_sandbox(tmp_path: Path) -> None:
    """Head's own [env] names a folder of its checkout, or a manager's variables: that manager is not asked."""
    log = tmp_path / "log"
    program = executable(tmp_path / "versions" / "tool", "#!/bin/sh\n")
    manager = executable(tmp_path / "bin" / "pyenv", MANAGER.format(program=program, first=f'echo "$3" >>"{log}"'))
    shim = executable(tmp_path / "shims" / "tool", PYENV.format(root=tmp_path, manager=manager))
    path = os.pathsep.join([str(shim.parent), os.environ["PATH"]])
    own = {**os.environ, "PATH": path}
    assert behind(own, ["tool x"], []) == own
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", path)
        chosen = {**own, "PYENV_VERSION": "2"}
        assert behind(chosen, ["tool x"], []) == chosen
        assert not log.exists()
        # whoever starts perfgate has the same
        assert behind(own, ["tool x"], [])["PATH"].split(os.pathsep)[0] == str(program.parent)


# --- what a failure may lack, by what its program said ----------------------------------------------------------------


@pytest.mark.parametrize(
    "told",
    [
        "sh: 1: cannot create /opt/x: Permission denied",
        "Error: EACCES: permission denied, mkdir '/opt/x'",
        "error: failed to rename: Invalid cross-device link (os error 18)",
        'sudo: The "no new privileges" flag is set, which prevents sudo from running as root.',
        "kill: (1) - Operation not permitted",
    ],
)
def test_what_programs_say_where_the_sandbox_refused_them(told: str) -> None:
    assert was_refused(told)
    for other in ("", "error: could not compile `x`", "PERMANENT failure", "undefined: ACCESS"):
        assert not was_refused(other)


@pytest.mark.parametrize(
    ("commands", "cure"),
    [
        (["npm ci", "cargo install --path ."], '--root "$PWD/inst"'),
        (["docker build -t app ."], "app:$PERFGATE_SIDE"),
        (["mkdir -p $PREFIX && cp app.py $PREFIX"], "what is there: write below `$PWD`"),
        ([], "`$PWD`"),
    ],
)
def test_how_a_build_writes_into_its_tree(commands: list[str], cure: str) -> None:
    assert cure in kept_apart(commands)


@pytest.mark.parametrize(
    "told",
    [
        "sh: 1: {}/tool: not found", "cat: {}/tool: No such file or directory", "open('{}/tool'): no such file\nx",
        "cc: error: {}/tool: No such file or directory",
    ],
)  # fmt: skip
def test_what_the_sandbox_covers(told: str) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        assert out_of_sight(told.format(folder)) is None
        Path(folder, "tool").touch()
        assert out_of_sight(told.format(folder)) == f"{folder}/tool"
        assert out_of_sight(f"wrote {folder}/tool\n") is None
