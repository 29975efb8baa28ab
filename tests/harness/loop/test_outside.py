"""What builds leave outside their trees: both sides must not run what was built last; real processes, whole checks."""

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gate.model import Execution, Failure
from harness.sandbox.sandbox import examined
from tests.harness.loop.test_probe import committed
from tests.support.project import Project, executable

pytestmark = pytest.mark.endtoend

traces = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a program reads")
GATE = "[gate]\nmin_builds = 2\n"
PLAN = "[plan]\nbuilds = 2\nexecutions = 1\niterations = 1\n"


@dataclass(frozen=True)
class Shape:
    """A project whose build leaves something in $OUT. app: of both sides, by which they differ. file: what is named."""

    build: str
    command: str | list[str]
    file: str = "app"
    app: tuple[str, str] = ("1\n", "2\n")
    files: dict[str, str] = field(default_factory=dict)
    of_head: dict[str, str] = field(default_factory=dict)
    table: str = ""
    gate: str = ""


def checked(
    tmp_path: Path, shape: Shape, *options: str, sandbox: str = "off", benchmarks: str = "", **more: str
) -> tuple[Project, int, str]:
    """Check a project of that shape, or of these benchmarks; returns it, the exit code and what was said."""
    out = tmp_path / "out"
    out.mkdir(mode=0o777, parents=True, exist_ok=True)
    out.chmod(0o777)
    work = f'[[benchmark]]\nname = "work"\ninstrument = "values"\ncommand = {json.dumps(shape.command)}\n'
    build = f'sandbox = "{sandbox}"\n[build]\n{shape.build}\n{shape.table}'
    config = f"{shape.gate or GATE}{PLAN}{build}{benchmarks or work}"
    base = {"perfgate.toml": config, "app": shape.app[0], **shape.files}
    project = committed(tmp_path, base, {"app": shape.app[1], **shape.of_head})
    if "share" in shape.table:
        (project.top / "data").mkdir()
    done = project.perfgate("check", "--base", "HEAD~1", *options, cwd=None, OUT=str(out), **more)
    return project, done.returncode, done.stderr + done.stdout


def found(project: Project) -> list[Failure]:
    return [record for record in project.read() if isinstance(record, Failure)]


DOCKER = """#!/bin/sh
mkdir -p "$OUT/images"
case $1 in build) cp app "$OUT/images/$3" ;; run) cat "$OUT/images/$2" ;; esac
"""
OVERWRITTEN = {
    "make-install": Shape("command = 'mkdir -p $OUT/bin && cp app $OUT/bin/app'", "cat $OUT/bin/app", "bin/app"),
    "cargo-install": Shape("command = 'cp app $OUT/.new && mv $OUT/.new $OUT/app'", "cat $OUT/app"),
    "cargo-target": Shape("command = '[ $OUT/app -nt app ] || cp app $OUT/app'", "cat $OUT/app"),
    "compiled-Python": Shape(
        "command = 'mkdir -p $OUT/__pycache__; cp app $OUT/m.py; printf 0123456789abcdef$(cat app) >$OUT/__pycache__/m.pyc'",
        ["./run.sh"], "m.py and 1 more file",
        files={"run.sh": "#!/bin/sh\ncat $OUT/__pycache__/m.pyc >/dev/null; cat $OUT/m.py\n"},
    ),
    "release": Shape("command = 'd=$OUT/$(cat app); mkdir -p $d; cp app $d; ln -sfn $d $OUT/now'", "cat $OUT/now/app", "now"),
    "directory": Shape(
        "command = 'rm -rf $OUT/old $OUT/new; mkdir $OUT/new; cp -p old/$(cat app) $OUT/new/app; [ ! -e $OUT/now ] || "
        "mv $OUT/now $OUT/old; mv $OUT/new $OUT/now'",
        "cat $OUT/now/app", "now/app", files={"old/1": "1\n", "old/2": "2\n"},
    ),
    "removed": Shape(
        "command = 'mkdir -p $OUT/plugins; rm -f $OUT/plugins/*; [ $(cat app) = 2 ] || cp app $OUT/plugins/slow'",
        "cat $OUT/plugins/slow 2>/dev/null || cat app", "plugins/slow",
    ),
    "library": Shape(
        "command = 'cp app $OUT/lib'", ["./use.sh"], "lib",
        files={"use.sh": "#!/bin/sh\ncat $OUT/lib\n"}, of_head={"use.sh": "#!/bin/sh\n# more\ncat $OUT/lib\n"},
    ),
    "image": Shape("command = './docker build -t image'", "./docker run image", "images/image", files={"docker": DOCKER}),
    # no cache: both sides have one name and version, and `mvn install` overwrites what the other side has put there
    "mvn-install": Shape(
        "command = 'mkdir -p $HOME/.m2/repository/x/1; cp app $HOME/.m2/repository/x/1/x.jar'",
        "cat $HOME/.m2/repository/x/1/x.jar", "../../home/.m2/repository/x/1/x.jar",
    ),
}  # fmt: skip
OTHERWISE = {
    "pip-install": Shape("setup = 'rm -rf $OUT/site && mkdir $OUT/site && cp app $OUT/site/app'", "cat $OUT/site/app", "site/app"),
    "not proved": Shape("command = 'cp app $OUT/app'", "cat $OUT/app", gate=f'{GATE}sameness = "off"\n'),
    "shared": Shape(
        "command = 'cp app data/app'", "cat data/app", "../project/data/app", files={".gitignore": "data\n"},
        table='share = ["data/"]\n',
    ),
}  # fmt: skip


def together(shapes: dict[str, Shape]) -> tuple[Shape, str]:
    """Make one project of several, each with a folder of its own below $OUT; returns its benchmarks, too."""
    built, tables, files, of_head = list[str](), list[str](), dict[str, str](), dict[str, str]()
    for name, shape in shapes.items():
        own = f"export OUT=$OUT/{name}"
        built.append(f"( {own}; mkdir -p $OUT; {shape.build.removeprefix('command = ')[1:-1]}; ) || exit 1")
        words = shape.command if isinstance(shape.command, str) else " ".join(shape.command)
        command = json.dumps(f"{own}; {words}")
        tables.append(f'[[benchmark]]\nname = "{name}"\ninstrument = "values"\ncommand = {command}\n')
        files |= shape.files
        of_head |= shape.of_head
    build = json.dumps("\n".join(built))
    return Shape(f"command = {build}", "", files=files, of_head=of_head), "".join(tables)


OWN = '[[benchmark]]\nname = "own"\ninstrument = "values"\ncommand = "cat app"\n'
"""Which uses what its side has built, and goes on."""


@traces
def test_what_the_other_side_overwrote_is_an_error(tmp_path: Path) -> None:
    shape, benchmarks = together(OVERWRITTEN)
    (tmp_path / "home").mkdir()
    project, code, said = checked(tmp_path, shape, benchmarks=benchmarks + OWN, HOME=str(tmp_path / "home"))
    failures = {failure.benchmark: failure for failure in found(project)}
    assert (code, set(failures)) == (4, set(OVERWRITTEN)), said
    for name, each in OVERWRITTEN.items():
        is_told(project, failures[name], tmp_path / "out" / name / each.file, said)
    assert project.perfgate("decide", ".perfgate").returncode == 4, said


@traces
@pytest.mark.parametrize("shape", OTHERWISE.values(), ids=OTHERWISE)
def test_so_it_is_in_a_set_up_without_proofs_and_where_both_share_a_folder(shape: Shape, tmp_path: Path) -> None:
    project, code, said = checked(tmp_path, shape)
    (failure,) = found(project)
    assert (code, failure.benchmark) == (4, "work")
    is_told(project, failure, tmp_path / "out" / shape.file, said)


def is_told(project: Project, failure: Failure, file: Path, said: str) -> None:
    other = "head" if failure.side == "base" else "base"
    assert failure.kind == "outside"
    assert failure.status == f"the build of {other} overwrote {os.path.normpath(file)} in round 1"
    assert failure.hint
    assert f"{failure.benchmark} does not use what {failure.side} built: the build of {other}" in said
    assert project.report()["next"]["kind"] == "build-inside"
    # nothing of it was measured, and whoever decides later finds the same
    assert {record.benchmark for record in project.read() if isinstance(record, Execution)} <= {"own"}
    assert {each["kind"] for each in project.report()["failures"]} == {"outside"}


ENGINE = """#!/bin/sh
if [ "$1 $2" = "image inspect" ]; then cat "$HERE/id-$5"; exit; fi
[ $1 = build ] && cksum <app >"$HERE/id-$3" && exit
cat app
"""


def test_an_image_that_both_sides_tag_alike_is_an_error(tmp_path: Path) -> None:
    """What the engine does, nobody traces: this one stands in for it, and does not show the image to the benchmark."""
    tool = executable(tmp_path / "bin" / "docker", ENGINE)
    environment = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "HERE": str(tmp_path)}
    shape = Shape("command = 'docker build -t x'", "docker run --rm x")
    project, code, said = checked(tmp_path, shape, **environment)
    (failure,) = found(project)
    assert (code, failure.kind) == (4, "outside"), said
    assert "overwrote docker image x in" in failure.status
    assert "$PERFGATE_SIDE" in str(failure.hint)
    alike = Shape(
        "command = 'docker build -t x'",
        "docker run --rm x; cat same",
        app=("1\n", "1\n"),
        files={"same": "1\n"},
        of_head={"same": "2\n"},
    )
    project, code, said = checked(tmp_path / "alike", alike, **environment)
    assert (code, found(project)) == (0, []), said


@pytest.mark.skipif(not examined("auto").on, reason="absent: a sandbox on this host")
@traces
@pytest.mark.parametrize("shared", [False, True], ids=["a folder that builds may write", "shared memory"])
def test_what_the_sandbox_lets_builds_write_is_no_way_around(tmp_path: Path, shared: bool) -> None:
    place = Path("/dev/shm") / f"perfgate-{tmp_path.name}-{os.getpid()}" if shared else Path("$OUT/app")
    table = "" if shared else 'write = ["$OUT"]\n'
    shape = Shape(f"command = 'cp -f app {place}'", f"cat {place}", table=table)
    try:
        project, code, said = checked(tmp_path, shape, sandbox="auto")
    finally:
        place.unlink(missing_ok=True)
    assert (code, [failure.kind for failure in found(project)]) == (4, ["outside"]), said


@pytest.mark.skipif(not examined("auto").on, reason="absent: a sandbox on this host")
@traces
def test_where_the_sandbox_keeps_builds_inside_nothing_is_looked_at(tmp_path: Path) -> None:
    shape = Shape("command = 'true'", ["./app"], app=("#!/bin/sh\necho 1\n", "#!/bin/sh\necho 1.0\n"))
    counted = Shape(shape.build, "echo >> $OUT/starts; ./app", app=shape.app, table='write = ["$OUT"]\n')
    project, code, said = checked(tmp_path / "kept", shape, sandbox="auto")
    assert (code, found(project)) == (0, []), said
    assert "outside both trees" not in said
    project, code, said = checked(tmp_path / "counted", counted, sandbox="auto")
    assert (code, found(project)) == (0, []), said
    # base alone, which is tried first; one of the probe, which then knows that they differ; one of head, since the
    # first of them has left a file there; and two rounds
    assert (tmp_path / "counted/out/starts").read_text().count("\n") == 3 + 4


FINE = {
    "same-content": Shape("command = 'cp -f same $OUT/new; mv $OUT/new $OUT/app'", "cat $OUT/app app", files={"same": "1\n"}),
    "added-to": Shape("command = '[ -f $OUT/$(cat app) ] || cp app $OUT/$(cat app)'", "cat $OUT/$(cat app)"),
    "made-once": Shape("command = '[ -f $OUT/data ] || cp app $OUT/data'", "cat $OUT/data app"),
    "each-its-own": Shape("command = 'mkdir -p $OUT/$PERFGATE_SIDE; cp app $OUT/$PERFGATE_SIDE'", "cat $OUT/$PERFGATE_SIDE/app"),
    "state-of-the-benchmark": Shape("command = 'cp app $OUT/state'", "cp app $OUT/state; cat $OUT/state"),
    "cache-of-a-tool": Shape(
        "command = 'mkdir -p $HOME/.cargo/registry/index; cp app $HOME/.cargo/registry/index/x'",
        "cat app; cat $HOME/.cargo/registry/index/x >/dev/null",
    ),
    "compiled-Python": Shape(
        "command = 'printf 0123456789abcde$(cat app)same >$OUT/m.pyc'", "cat app; cat $OUT/m.pyc >/dev/null",
    ),
}  # fmt: skip


@traces
def test_what_is_each_sides_own_is_measured(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shape, benchmarks = together(FINE)
    project, code, said = checked(tmp_path, shape, benchmarks=benchmarks, HOME=str(home))
    assert (code, found(project)) == (0, []), said
    executed = Counter(record.benchmark for record in project.read() if isinstance(record, Execution))
    assert executed == dict.fromkeys(FINE, 4)


@traces
def test_a_later_round_finds_it_too_and_what_was_measured_before_decides_nothing(tmp_path: Path) -> None:
    shape = Shape(
        "command = 'if [ $PERFGATE_BUILD = 0 ]; then cp same $OUT/app; else cp app $OUT/app; fi'",
        "cat $OUT/app",
        files={"same": "1\n"},
    )
    project, code, said = checked(tmp_path, shape)
    (failure,) = found(project)
    assert (code, failure.kind, failure.build) == (4, "outside", 1), said
    assert failure.status.endswith("in round 2")
    assert {record.build for record in project.read() if isinstance(record, Execution)} == {0}
    assert project.report()["findings"] == []


@traces
def test_what_kept_builds_left_outside_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.build.builder._WORTH", 0.0)
    shape = Shape("setup = 'true'\ncommand = 'cp app $OUT/app'", "cat $OUT/app")
    config, home = tmp_path / "both.toml", tmp_path / "home"
    first = f'[[benchmark]]\nname = "work"\ninstrument = "values"\ncommand = {json.dumps(shape.command)}\n'
    config.write_text(f'{GATE}{PLAN}sandbox = "off"\n[build]\n{shape.build}\n{first}{OWN}')
    home.mkdir()
    options = ("--config", str(config))
    project, code, said = checked(tmp_path, shape, *options, "--benchmark", "own", HOME=str(home))
    assert code == 0, said
    (tmp_path / "out" / "app").write_text("3\n")
    done = project.perfgate("check", "--base", "HEAD~1", *options, OUT=str(tmp_path / "out"), HOME=str(home))
    assert (done.returncode, [failure.kind for failure in found(project)]) == (4, ["outside"]), done.stderr


@traces
def test_what_was_interrupted_finds_it_too(tmp_path: Path) -> None:
    shape = Shape("command = 'cp app $OUT/app'", "cat $OUT/app")
    project, *_ = checked(tmp_path, shape)
    file = project.top / ".perfgate/measurements.jsonl"
    lines = [line for line in file.read_text().splitlines() if '"type":"failure"' not in line and '"end"' not in line]
    file.write_text("\n".join(lines) + "\n")
    done = project.perfgate("check", "--base", "HEAD~1", "--resume", OUT=str(tmp_path / "out"))
    assert (done.returncode, [failure.kind for failure in found(project)]) == (4, ["outside"]), done.stderr


def test_where_nothing_is_traced_the_commands_words_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.trace.syscalls.ARCHITECTURES", {})
    shape = Shape("command = 'cp app $OUT/app'", "cat $OUT/app")
    project, code, said = checked(tmp_path, shape)
    assert (code, [failure.kind for failure in found(project)]) == (4, ["outside"]), said
