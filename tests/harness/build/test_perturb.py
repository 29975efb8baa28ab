"""What is set for builds and executions, and the programs that stand before the linkers and node."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gate.config.types import PERTURBATIONS
from harness.build.perturb import build_environment, execution_environment, make_shims, uses_go, without_shims
from harness.process.execute import PADDING
from tests.support.project import executable

linux = pytest.mark.skipif(sys.platform != "linux", reason="the linker is put in order on Linux only")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with a go that knows -randlayout and has a GOFLAGS of its own, and a node that prints its arguments."""
    folder = tmp_path / "tools"
    go = """#!/bin/sh
[ "$GOTOOLCHAIN" = local ] || exit 9
case "$*" in
"tool link -help") echo "  -randlayout int  -funcalign N" >&2; exit 2 ;;
"env GOFLAGS GOROOT") echo "${GOFLAGS--mod=vendor}"; echo /nowhere ;;
esac
"""
    executable(folder / "go", go)
    executable(folder / "node", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
    return folder


@pytest.fixture
def shims(tmp_path: Path, tools: Path) -> Path:
    made = tmp_path / "the shims of a run"
    make_shims(made, {"PATH": str(tools)}, go=True)
    return made


def test_what_is_set_for_a_build_and_for_an_execution(shims: Path, tools: Path) -> None:
    assert build_environment([], 5, {"PATH": str(tools)}, shims) == {}
    assert execution_environment([], 5, {"PATH": str(tools)}, shims) == {}
    added = build_environment(PERTURBATIONS, 5, {"PATH": str(tools)}, shims)
    assert set(added.pop(PADDING)) <= {"x"}
    assert added == {
        "PYTHONHASHSEED": "5",
        "COMPILER_PATH": f"{shims}/linkers",
        "GOFLAGS": "-mod=vendor -ldflags=-randlayout=5",
    }
    assert execution_environment(PERTURBATIONS, 5, {"PATH": str(tools)}, shims) == {
        "PYTHONHASHSEED": "5",
        "GOFLAGS": "-mod=vendor -ldflags=-randlayout=5",
        "PATH": f"{shims}/node:{tools}",
    }


def test_functions_of_go_are_aligned_where_that_is_wanted_and_its_linker_can(tmp_path: Path, tools: Path) -> None:
    environment = {"PATH": str(tools)}
    make_shims(tmp_path / "aligned", environment, go=True, aligned=True)
    added = build_environment(["go-randlayout"], 5, environment, tmp_path / "aligned")
    assert added == {"GOFLAGS": "-mod=vendor '-ldflags=-randlayout=5 -funcalign=64'"}
    assert execution_environment(["go-randlayout"], 5, environment, tmp_path / "aligned") == added
    go = (tools / "go").read_text()
    (tools / "go").write_text(go.replace("-funcalign", "-otheralign"))
    make_shims(tmp_path / "older", environment, go=True, aligned=True)
    older = build_environment(["go-randlayout"], 5, environment, tmp_path / "older")
    assert older == {"GOFLAGS": "-mod=vendor -ldflags=-randlayout=5"}


def test_the_padding_is_of_up_to_a_page_and_of_the_seed() -> None:
    lengths = [len(build_environment(["environment"], seed, {}, None)[PADDING]) for seed in range(400)]
    assert max(lengths) < 4096
    assert min(lengths) < 200 < 3900 < max(lengths)
    assert lengths[7] == len(build_environment(["environment"], 7, {}, None)[PADDING])


def test_what_the_user_set_stays(shims: Path, tools: Path) -> None:
    own = {"PATH": str(tools), "PYTHONHASHSEED": "0", "COMPILER_PATH": "/opt/tools", "GOFLAGS": "-trimpath -ldflags=-s"}
    added = build_environment(["hash-seed", "link-order", "go-randlayout"], 5, own, shims)
    assert added == ({"COMPILER_PATH": f"{shims}/linkers:/opt/tools"} if sys.platform == "linux" else {})
    assert execution_environment(["hash-seed", "go-randlayout"], 5, own, shims) == {"PATH": f"{shims}/node:{tools}"}
    more = build_environment(["go-randlayout"], 5, {**own, "GOFLAGS": "-trimpath"}, shims)
    assert more == {"GOFLAGS": "-trimpath -ldflags=-randlayout=5"}


def test_which_seed_go_and_python_take(shims: Path) -> None:
    # to go's linker 0 means not to
    assert build_environment(["go-randlayout"], 0, {}, shims)["GOFLAGS"].endswith("=1")
    for seed in (0, 5, 2**31 - 1, 2**40):
        added = execution_environment(["hash-seed"], seed, {"PATH": ""}, shims)
        command = [sys.executable, "-c", "print(hash('a'))"]
        first, second = (
            subprocess.run(command, env=added, capture_output=True, text=True, check=True).stdout for _ in range(2)
        )
        assert first == second


@pytest.mark.parametrize("script", ["#!/bin/sh\necho '  -race' >&2\n", "#!/nowhere\n", "#!/bin/sh\nkill -9 $$\n"])
def test_an_older_or_broken_go_is_left_alone(tmp_path: Path, tools: Path, script: str) -> None:
    executable(tools / "go", script)
    make_shims(tmp_path / "shims", {"PATH": str(tools)}, go=True)
    assert build_environment(["go-randlayout"], 5, {}, tmp_path / "shims") == {}


def test_where_go_and_node_or_a_place_for_shims_are_missing_nothing_is_said_of_them(
    tmp_path: Path, tools: Path
) -> None:
    make_shims(tmp_path / "shims", {"PATH": "/nowhere"}, go=True)
    assert execution_environment(PERTURBATIONS, 5, {"PATH": "/nowhere"}, tmp_path / "shims") == {"PYTHONHASHSEED": "5"}
    folder = tmp_path / "a:b"
    make_shims(folder, {"PATH": str(tools)}, go=True)
    assert build_environment(["link-order", "go-randlayout"], 5, {}, folder) == {}
    assert execution_environment(["hash-seed"], 5, {"PATH": str(tools)}, folder) == {"PYTHONHASHSEED": "5"}
    make_shims(tmp_path / "without", {"PATH": str(tools)}, go=False)
    assert "GOFLAGS" not in build_environment(["go-randlayout"], 5, {}, tmp_path / "without")


def test_node_gets_the_seed_and_its_own_arguments_while_it_is_there(shims: Path, tools: Path) -> None:
    path = execution_environment(["hash-seed"], 5, {"PATH": f"/nowhere:{tools}:/usr/bin:/bin"}, shims)["PATH"]
    environment = {"PATH": path, "PERFGATE_SEED": "5"}
    done = subprocess.run(
        ["node", "a b", "*", "", "-e"], env=environment, cwd=tools, capture_output=True, text=True, check=True
    )
    assert done.stdout == "--hash-seed=5\na b\n*\n\n-e\n"
    gone = subprocess.run(
        [str(shims / "node/node")], env={"PATH": f"{shims}/node:/nowhere"}, capture_output=True, check=False
    )
    assert (gone.returncode, gone.stderr) == (127, b"node: not found\n")


@linux
def test_the_linkers_of_all_runs_have_one_folder_where_something_can_be_kept(tmp_path: Path) -> None:
    found = set()
    for number, damage in enumerate(("", "#!/bin/sh\nexit 1\n", "")):
        caller = {"PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")}
        made = tmp_path / str(number)
        make_shims(made, caller, go=False)
        path = build_environment(["link-order"], 5, {}, made)["COMPILER_PATH"]
        found.add((path, Path(path, "ld.gold").read_text(), Path(path, "ld").read_text()))
        assert without_shims({"COMPILER_PATH": path, "PERFGATE_LINKS": "/links"}, made) == {}
        Path(path, "ld").write_text(damage or Path(path, "ld").read_text())
    assert len(found) == 1
    (tmp_path / "file").write_text("")
    for number, cache in enumerate((tmp_path / "file", tmp_path / "a:b", Path("relative"))):
        made = tmp_path / f"own-{number}"
        make_shims(made, {"PATH": "/nowhere", "XDG_CACHE_HOME": str(cache)}, go=False)
        assert build_environment(["link-order"], 5, {}, made)["COMPILER_PATH"] == f"{made}/linkers"
        assert (made / "linkers/collect-ld").is_file()


@linux
def test_failures_name_no_folder_of_the_run(shims: Path, tools: Path) -> None:
    own = {"PATH": str(tools), "HOME": "/root"}
    build = {**own, **build_environment(["link-order"], 5, own, shims)}
    execution = {**own, **execution_environment(["hash-seed"], 5, own, shims), "PYTHONHASHSEED": "5"}
    assert without_shims(build, shims) == own
    assert without_shims(execution, shims) == {**own, "PYTHONHASHSEED": "5"}
    assert without_shims(build, None) == build
    other = {**own, "COMPILER_PATH": "/opt/tools"}
    assert without_shims({**other, **build_environment(["link-order"], 5, other, shims)}, shims) == other


@linux
@pytest.mark.skipif(shutil.which("gcc") is None, reason="absent: gcc (nothing was linked)")
@pytest.mark.skipif(shutil.which("nm") is None, reason="absent: nm (no order of symbols was read)")
class TestLinking:
    """Real objects through a real gcc."""

    NAMES = ("one", "two", "three", "four", "five", "six")

    @pytest.fixture
    def objects(self, tmp_path: Path) -> Path:
        folder = tmp_path / "objects of a program"
        folder.mkdir()
        for number, name in enumerate(self.NAMES):
            (folder / f"{name}.c").write_text(f"int {name}(void) {{ return {number}; }}\n")
        (folder / "main.c").write_text("int six(void);\nint main(void) { return six() - 5; }\n")
        subprocess.run(["gcc", "-c", *(f"{name}.c" for name in (*self.NAMES, "main"))], cwd=folder, check=True)
        return folder

    def order(self, folder: Path, shims: Path, seed: str | None, *arguments: str) -> list[str]:
        """Link with gcc, run what came out, and list its functions by address."""
        environment = {**os.environ, **build_environment(["link-order"], 1, {}, shims)}
        environment.pop("PERFGATE_SEED", None)
        seeded = {"PERFGATE_SEED": seed} if seed is not None else {}
        inputs = arguments or tuple(f"{name}.o" for name in (*self.NAMES, "main"))
        subprocess.run(["gcc", *inputs, "-o", "program"], cwd=folder, env={**environment, **seeded}, check=True)
        subprocess.run(["./program"], cwd=folder, check=True)
        done = subprocess.run(["nm", "-n", "program"], cwd=folder, capture_output=True, text=True, check=True)
        return [line.split()[-1] for line in done.stdout.splitlines() if line.split()[-1] in self.NAMES]

    @pytest.mark.endtoend
    @pytest.mark.parametrize("seed", [None, "", "five"])
    def test_without_a_seed_it_is_as_if_perfgate_were_not_there(
        self, objects: Path, shims: Path, seed: str | None
    ) -> None:
        assert self.order(objects, shims, seed) == list(self.NAMES) != self.order(objects, shims, "1")

    def test_another_linker_is_the_one_that_was_asked_for(self, objects: Path, shims: Path, tmp_path: Path) -> None:
        log = tmp_path / "log"
        executable(tmp_path / "own/ld.gold", f'#!/bin/sh\necho "$@" > "{log}"\nexec ld "$@"\n')
        inputs = [f"{name}.o" for name in (*self.NAMES, "main")]
        order = self.order(objects, shims, "1", f"-B{tmp_path}/own/", "-fuse-ld=gold", *inputs)
        assert order == self.order(objects, shims, "1")
        assert "-fuse-ld" not in log.read_text()

    @pytest.mark.endtoend
    def test_a_response_file_too_long_for_a_command_line(self, objects: Path, shims: Path) -> None:
        places = [objects / f"{name}.o" for name in (*self.NAMES, "main")]
        # the spaces in the path must be escaped; the symbols make it longer than exec takes
        lines = [str(place).replace(" ", "\\ ") for place in places]
        lines += [f"-Wl,--defsym,perfgate_{number:0100}=0" for number in range(30_000)]
        (objects / "response").write_text("\n".join(lines))
        order = self.order(objects, shims, "1", "@response")
        assert order == self.order(objects, shims, "1")

    def test_a_linker_that_is_not_there_is_named(self, objects: Path, shims: Path) -> None:
        done = subprocess.run(
            [str(shims / "linkers/ld.mold"), "main.o"], env={"PATH": "/nowhere"}, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (1, b"perfgate: ld.mold: not found\n")


@pytest.mark.parametrize(
    ("paths", "commands", "found"),
    [
        (["setup.py", "src/cargo.toml", "gopher.py"], [None, "make", ["python3", "bench.py"]], False),
        (["a/b/main.go"], [], True),
        (["go.mod"], [], True),
        (["Makefile"], ["cd ../tool && go build ."], True),
        (["Makefile"], [["go", "test"]], True),
    ],
)
def test_where_go_may_build_something(paths: list[str], commands: list[str | list[str] | None], found: bool) -> None:
    assert uses_go(paths, commands) is found
