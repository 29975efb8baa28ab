"""perfgate init: the file that it writes, what it says, and what it refuses; one is tried here."""

import io
import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.commands.init.command import KINDS
from gate.commands.init.found import Found, Proposed, Row
from gate.commands.init.init import render, toml_value
from gate.commands.init.tree import Tree, read_tree
from gate.config.config_text import read_source
from gate.config.parse import parse
from gate.config.schema import ADDRESS
from gate.config.types import Builds
from tests.gate.typed import run as perfgate
from tests.support.initialized import Project, detected, init, need, written
from tests.support.project import environment
from tests.support.project import perfgate as perfgate_itself

MAIN = "int main(void) { return 0; }\n"
PACKAGE = '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n'
PROGRAM = {"Cargo.toml": PACKAGE, "src/main.rs": "fn main() {}\n"}
USES = "def test_work(benchmark):\n    benchmark(sum, [1])\n"
HOSTILE = "a \"quoted\" it's \\back\\slash \u00e9\u4e2d {{ 7 }} {% x %} $(id) # '''"


def test_the_file_is_short_and_can_be_read(project: Project) -> None:
    directory = project(PROGRAM)
    config = written(directory)
    assert config.benchmark[0].command == ["./target/release/app"]
    assert (config.build.artifacts, config.plan.builds) == (["target/release/app"], Builds(min=4))
    lines = (directory / "perfgate.toml").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 26 and lines[0] == f"#:schema {ADDRESS}"


def test_what_it_says(project: Project) -> None:
    code, out, err = init(project({**PROGRAM, "bench.sh": "true\n", "benches/b.rs": "fn main() {}\n"}))
    assert (code, err) == (0, "")
    read = out.replace("note: cargo is not installed: its files were read without it\n", "")
    assert [line.split("   ")[0] for line in read.splitlines()] == [
        "detected: generic (script bench.sh)",
        "  benchmark bench",
        "  Cargo.toml, program app  left out: --kind cargo measures it",
        "wrote perfgate.toml",
        "next:",
        "  perfgate try",
        "  perfgate check",
        "  git add perfgate.toml && git commit",
        "  perfgate init --workflow pull-request",
    ]


def test_the_table_has_ten_lines_and_leaves_nothing_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row(f"thing {n}", f"left out: for reason {n}") for n in range(14)]
    rows += [Row(f"bin {n}", "left out: a fuzz target has no end") for n in range(20)]
    found = Found("make", "Makefile", [Proposed("a", ["true"])], rows=rows)
    monkeypatch.setattr("gate.commands.init.init.choose", lambda *_: found)
    (tmp_path / "README").write_text("")
    code, out, _ = init(tmp_path)
    table = [line for line in out.splitlines() if (line.startswith("  ") and "left out" in line) or "measured" in line]
    assert code == 0 and len(table) <= 10
    assert all(f"thing {n}" in out for n in range(14)) and "20: bin 0, bin 1, ..." in out


@pytest.mark.parametrize("main", [None, "int main(int argc, char **argv) { return argc < 2 || !argv; }"])
def test_a_placeholder_is_not_green(project: Project, main: str | None) -> None:
    makefile = {"Makefile": "all: app\napp: main.c\n\tcc -o app main.c\n"}
    directory = project({"README": ""} if main is None else {**makefile, "main.c": main})
    code, out, _ = init(directory)
    assert code == 4
    assert "nothing yet  write the command of [[benchmark]]" in out or main
    # what would only be refused is no next step
    assert "nothing yet" in out and "perfgate check" not in out
    assert written(directory, force=True, code=4).benchmark[0].command == []


def test_several_projects_side_by_side_are_asked_for(project: Project) -> None:
    files = {f"{name}/{path}": text for name in ("one", "two") for path, text in PROGRAM.items()}
    directory = project(files)
    code, out, err = init(directory)
    assert (code, out) == (2, "")
    assert "choose with `--project one`, `--project two`" in err
    code, out, _ = init(directory / "two")
    assert (code, (directory / "two" / "perfgate.toml").is_file()) == (0, True)


# --- what git does not track ---------------------------------------------------------------------------------------


def test_ignored_data_and_packages_are_shared(project: Project) -> None:
    ignored = ("data/big.bin", "node_modules/a/index.js", ".env", "build/x", "bench/corpus/1")
    files = {".gitignore": "data/\nnode_modules\n.env\nbuild/\ncorpus\n", "bench/.keep": ""}
    directory = project({**files, "package.json": "{}", **dict.fromkeys(ignored, "")})
    assert written(directory, code=4).build.share == ["data/", "node_modules/", "bench/corpus/"]
    # one side would measure what the other builds
    made = Found("make", "x", [Proposed("a", ["data/app"])], products=["data/app"])
    assert "share" not in render(Tree(directory, (), ("data/",), git=True), made)


# --- hostile projects ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_survives_hostile_names(tmp_path: Path, kind: str) -> None:
    instrument = {"npm": "values", "pytest-benchmark": "pytest-benchmark", "go": "go"}.get(kind, "spawn")
    measured = Proposed(HOSTILE, [HOSTILE, "\x7f\t\u2028"], [], instrument)
    both = [measured, replace(measured, name="second", command="two\nlines'")]
    found = Found(kind, HOSTILE, both, f"x\n{HOSTILE}", setup=HOSTILE, artifacts=[HOSTILE], share=[HOSTILE])
    text = render(Tree(tmp_path, (), (f"{HOSTILE}/", "data/"), git=True), found)
    config = parse(read_source(text, "perfgate.toml"))
    # options are added at the end: a line end there would make them a command of their own
    assert [(each.name, each.command, each.instrument) for each in config.benchmark] == [
        (HOSTILE, [HOSTILE, "\x7f\t\u2028"], instrument), ("second", "two\nlines'", instrument),
    ]  # fmt: skip
    assert (config.build.command, config.build.share) == (f"x\n{HOSTILE}", [HOSTILE, "data/"])


@pytest.mark.nightly
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_project_of_hostile_files(project: Project, kind: str | None) -> None:
    name = HOSTILE.replace("/", "")
    files = {
        "Cargo.toml": f"[package]\nname = {toml_value(name)}\n",
        "CMakeLists.txt": f"project([[{name}]])\nadd_executable(${{PROJECT_NAME}} {name})\n",
        "Makefile": f"all: {name}\n{name}:\n\tcc -o '{name}' x.c\n",
        "pyproject.toml": f"[project]\nname = {toml_value(name)}\ndependencies = ['pytest-benchmark']\n",
        f"{name}/test_b.py": USES,
        f"{name}.c": MAIN,
        "line\nbreak/bench.sh": "true\n",
        f"bench-{name}.sh": "true\n",
        "go.mod": f"module {name}\n",
        f"{name}/b_test.go": "package a\n\nfunc BenchmarkA(b *testing.B) {\n}\n",
        f"{name}/bench.py": "import pyperf\npyperf.Runner()\n",
        "package.json": json.dumps({"scripts": {"bench": f"vitest bench {name}"}, "workspaces": [name]}),
        f"{name}/package.json": json.dumps({"name": name, "scripts": {"bench": name}}),
        f"{name}/pom.xml": f"<artifactId>jmh-core</artifactId><finalName>{name}</finalName>",
    }
    if kind == "autotools":
        del files["Makefile"]
        files |= {"configure.ac": f"AC_INIT([{name}])", "Makefile.am": f"bin_PROGRAMS = {name} a\n"}
    if kind == "c":
        files |= {"bench.c": f'#include "{name}.h"\n{MAIN}', f"{name}.h": "", f"include/{name}.c": MAIN}
    if kind == "java":
        main = "public static void main(String[] x) {}"
        files |= {"pom.xml": "<project/>", "src/Bench.java": f"package {name};\nclass Bench {{ {main} }}"}
    folder = "it's {{ 7 }} $(id)"
    files |= {"asv.conf.json": f'"benchmark_dir": "{folder}"', f"{folder}/x.py": "def time_it(self): pass\n"}
    directory = project(files)
    code, out, err = init(directory, kind)
    assert "uid=" not in out
    if kind == "make":  # what make itself cannot read
        assert (code, out) == (2, "")
        return
    assert code in (0, 4), err
    assert written(directory, kind, force=True, code=None).benchmark


def test_a_broken_manifest_is_no_crash(project: Project) -> None:
    beside = {"src/main.rs": "", "package.json": "[", "go.mod": "module\n"}
    for text in ("", "not toml [", "package = 1", 'workspace = "x"', "[package]\nname = 3", "bin = 3"):
        assert init(project({"Cargo.toml": text, **beside}), force=True)[0] in (0, 4)


def test_names_that_are_not_unicode_are_passed_over(project: Project) -> None:
    directory = project({"README": ""})
    try:
        (directory / os.fsdecode(b"bench-\xff.sh")).write_text("true\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only Unicode names")
    assert written(directory, code=4).benchmark[0].name == "placeholder"


def test_what_takes_long_says_where_it_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a folder that holds no project, but a whole disk."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("gate.commands.init.init.PATIENCE", 0.0)
    out, err, said = io.StringIO(), io.StringIO(), threading.Event()
    monkeypatch.setattr(err, "flush", said.set)

    def reading(place: Path) -> Tree:
        assert said.wait(60)
        return read_tree(place)

    monkeypatch.setattr("gate.commands.init.init.read_tree", reading)
    assert main(["init", "--no-try"], out, err) == 4
    assert str(tmp_path) in err.getvalue()


def test_what_is_left_out_is_not_denied(project: Project) -> None:
    manifest = '[package]\nname = "x"\nversion = "0.1.0"\n[[bench]]\nname = "b"\nharness = false\n'
    found = detected(project({"Cargo.toml": manifest, "src/lib.rs": "", "benches/b.rs": "fn main() {}\n"}))
    assert [row.what for row in found.rows] == ["bench b"]
    assert found.evidence == "Cargo.toml, without benches or tests that can be measured"


# --- refusals ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        (
            {"perfgate.toml": ""},
            None,
            "perfgate: perfgate.toml already exists: edit it, or overwrite it with --force\n",
        ),
        ({"pyproject.toml": "[tool.perfgate.plan]\nbuilds = 5\n"}, None, "pyproject.toml already has [tool.perfgate]"),
        ({"pyproject.toml": "[tool.perfgate\n"}, None, "pyproject.toml:1: not valid TOML"),
        ({}, "go", "--kind go: there is no go.mod here"),
        ({}, "gneric", '--kind: "gneric" is not one of pytest-benchmark, '),
        ({"package.json": "{}"}, "npm", "--kind npm: there is no package.json with a script bench, benchmark or perf"),
        ({}, "make", "--kind make: there is no Makefile that builds or runs something here"),
    ],
)
def test_refusals_are_one_line(project: Project, files: dict[str, str], kind: str | None, message: str) -> None:
    directory = project(files)
    code, out, err = init(directory, kind)
    assert (code, out, err.count("\n"), message in err) == (2, "", 1, True)
    assert (directory / "perfgate.toml").exists() is ("perfgate.toml" in files)


def test_what_is_written_over_and_what_is_not(project: Project, tmp_path: Path) -> None:
    # outside of a repository, too
    directory = project({"perfgate.toml": "nonsense [", **PROGRAM}, git=False)
    code, out, _ = init(directory, force=True)
    assert (code, "detected: cargo" in out) == (0, True)
    assert (directory / "perfgate.toml").read_text(encoding="utf-8").startswith("#:schema ")
    (directory / "perfgate.toml").unlink()
    (directory / "perfgate.toml").symlink_to(tmp_path / "elsewhere")
    assert init(directory)[0] == 2
    assert not (tmp_path / "elsewhere").exists()
    (directory / "perfgate.toml").unlink()
    (directory / "perfgate.toml").mkdir()
    assert init(directory, force=True) == (2, "", "perfgate: perfgate.toml cannot be written: Is a directory\n")
    assert init(tmp_path, project=Path("nowhere"))[0] == 2


def test_init_names_a_file_that_no_command_would_find(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    script = {"bench.sh": "true\n", ".gitignore": "*\n!bench.sh\n"}
    monkeypatch.chdir(project(script))
    for words in ("add --force .", "-c user.name=a -c user.email=a@b commit --quiet -m first"):
        subprocess.run(["git", *words.split()], check=True)
    # its own trial finds it, too
    code, out, _ = perfgate("init")
    assert code == 0
    assert "wrote perfgate.toml\n" in out and "  git add --force perfgate.toml && git commit " in out


def test_init_writes_another_file_and_names_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project(PROGRAM))
    for words in ("add .", "-c user.name=a -c user.email=a@b commit --quiet -m first"):
        subprocess.run(["git", *words.split()], check=True)
    code, out, err = perfgate("init", "--no-try", "--file", "gate.toml")
    assert (code, err) == (0, "")
    assert "wrote gate.toml\n" in out
    assert "perfgate check --config gate.toml " in out
    assert perfgate("check", "--config", "gate.toml", "--base", "HEAD", "--dry-run")[0] == 0
    # the project's own tables are not written over
    for name in ("pyproject.toml", "./sub/pyproject.toml"):
        code, _, err = perfgate("init", "--force", "--file", name)
        assert (code, "--file names pyproject.toml" in err.replace("--file:", "--file")) == (2, True)
        assert not Path(name).exists()


@pytest.mark.endtoend
def test_a_signal_leaves_nothing_of_what_was_asked(project: Project, tmp_path: Path) -> None:
    need("make", "cc")
    directory = project({"Makefile": "X := $(shell sleep 60)\na: a.c\n", "a.c": "int main(void) {}\n"})
    work = tmp_path / "work"
    work.mkdir()
    begun = perfgate_itself("init", "--no-try")
    env = environment(TMPDIR=str(work))
    asking = subprocess.Popen(begun, cwd=directory, env=env, text=True, stderr=subprocess.PIPE)
    while asking.poll() is None and not any(work.glob("perfgate-init-*/project/Makefile")):
        time.sleep(0.05)
    asking.terminate()
    _, err = asking.communicate()
    assert asking.returncode == 128 + signal.SIGTERM
    assert err.splitlines()[-1] == "perfgate: SIGTERM: nothing was measured"
    assert [*work.iterdir()] == []
