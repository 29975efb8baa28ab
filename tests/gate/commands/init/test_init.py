"""perfgate init on small made-up projects: what it detects, what it writes, and that its file can be read."""

import json
import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gate.commands.init.detect.c_programs import wants_arguments
from gate.commands.init.choose import choose
from gate.commands.init.detect.cmake import look as look_cmake
from gate.commands.init.found import KINDS, Found, Measured
from gate.commands.init.tree import Tree, read_tree
from gate.commands.init.init import render, toml_value
from gate.config.parse import parse
from gate.config.source import read_source
from gate.config.types import Builds
from tests.support.initialized import Project, detected, init, written

MAIN = "int main(void) { return 0; }\n"
WANTING = "int main(int argc, char **argv) { return argc < 2 || !argv; }\n"
HOSTILE = "a \"quoted\" it's \\back\\slash \u00e9\u4e2d {{ 7 }} {% x %} $(id) # '''"


# --- cargo ---------------------------------------------------------------------------------------------------------

PACKAGE = '[package]\nname = "app"\nversion = "0.1.0"\n'


def test_cargo_program(project: Project) -> None:
    config = written(project({"Cargo.toml": PACKAGE, "src/main.rs": "fn main() {}"}))
    assert config.benchmark[0].command == ["./target/release/app"]
    assert config.build.command == ("touch src/main.rs && cargo build --release --target-dir target --bin app")
    assert config.build.artifacts == ["target/release/app"]
    assert config.plan.builds == Builds(min=4)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Cargo.toml": PACKAGE + '[dependencies]\nclap = "4"\n'}, ["./target/release/app", "--help"]),
        ({"src/main.rs": 'fn main() { if std::env::args().any(|a| a == "--help") {} }'}, ["./target/release/app", "--help"]),
        ({"Cargo.toml": PACKAGE + '[[bin]]\nname = "tool"\npath = "src/main.rs"\n[package.metadata]\n'}, ["./target/release/tool"]),
        ({"Cargo.toml": PACKAGE + 'default-run = "second"\n', "src/bin/second.rs": ""}, ["./target/release/second"]),
        ({".cargo/config.toml": '[build]\ntarget = "x86_64-linux"\n'}, ["./target/x86_64-linux/release/app"]),
        # it wants arguments, and there are tests that do not
        ({"src/main.rs": "fn main() { std::env::args().nth(1).unwrap(); }", "src/lib.rs": "#[test] fn t() {}"}, "tests"),
    ],
)  # fmt: skip
def test_cargo_command(project: Project, files: dict[str, str], command: list[str] | str) -> None:
    found = detected(project({"Cargo.toml": PACKAGE, "src/main.rs": "fn main() {}", **files}))
    assert found.kind == "cargo"
    assert command in (found.benchmark.command, found.benchmark.name)


def test_cargo_library_times_its_tests(project: Project) -> None:
    config = written(project({"Cargo.toml": PACKAGE, "src/lib.rs": "#[test]\nfn t() {}\n"}))
    assert config.benchmark[0].command == [
        "cargo", "test", "--release", "--offline", "--quiet", "--tests", "--target-dir", "target"
    ]  # fmt: skip
    assert config.env.set == {"RUST_TEST_THREADS": "1"}


def test_cargo_workspace(project: Project) -> None:
    member = '[package]\nname = "{}"\nversion = "0.1.0"\n'
    directory = project(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*", "tools/cli"]\nexclude = ["crates/old"]\n',
            "crates/core/Cargo.toml": member.format("core-lib"),
            "crates/core/src/lib.rs": "",
            "crates/old/Cargo.toml": member.format("old"),
            "crates/old/src/main.rs": "fn main() {}",
            "crates/deep/er/Cargo.toml": member.format("deeper"),
            "tools/cli/Cargo.toml": member.format("cli"),
            "tools/cli/src/main.rs": "fn main() {}",
        }
    )
    found = detected(directory)
    assert found.benchmark.command == ["./target/release/cli"]
    assert found.build == (
        "touch tools/cli/src/main.rs && cargo build --release --target-dir target"
        " --manifest-path tools/cli/Cargo.toml --bin cli"
    )


def test_an_ignored_cargo_lock_is_taken_along(project: Project) -> None:
    files = {".gitignore": "Cargo.lock\n", "Cargo.lock": "", "Cargo.toml": PACKAGE, "src/main.rs": "fn main() {}"}
    config = written(project(files))
    assert config.build.share == ["Cargo.lock"]
    assert config.build.setup is not None
    assert config.build.changes == []


def test_a_tracked_cargo_lock_may_be_written_anew(project: Project) -> None:
    config = written(project({"Cargo.lock": "", "Cargo.toml": PACKAGE, "src/main.rs": "fn main() {}"}))
    assert (config.build.changes, config.build.share) == (["Cargo.lock"], [])


@pytest.mark.parametrize("name", ["a; rm -rf x", "$(id)", 'q"uote', "a b", "-p"])
def test_a_cargo_name_that_cargo_would_refuse_reaches_no_command(project: Project, name: str) -> None:
    text = f"[package]\nname = {toml_value(name)}\n[[bin]]\nname = {toml_value(name)}\n"
    config = written(project({"Cargo.toml": text, "src/main.rs": ""}))
    assert config.benchmark[0].name == "placeholder"
    assert name not in str(config.build.command)


@pytest.mark.parametrize("text", ["", "not toml [", "package = 1", 'workspace = "x"', "[package]\nname = 3", "bin = 3"])
def test_a_broken_cargo_manifest_is_no_crash(project: Project, text: str) -> None:
    written(project({"Cargo.toml": text, "src/main.rs": ""}))


# --- cmake ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("project(x)\nadd_executable(app main.c)", "build/app"),
        ("project(My-App C)\nADD_EXECUTABLE(${PROJECT_NAME} main.c)", "build/My-App"),
        ("set(T tool)\nset(S main.c)\nadd_executable(${T} ${S})", "build/tool"),
        ('set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")\nadd_executable(app main.c)', "build/bin/app"),
        ("# add_executable(no main.c)\n#[[\nadd_executable(no main.c)\n]]\nadd_executable(app main.c)", "build/app"),
        ('message("add_executable(no main.c) # ( ")\nadd_executable(app main.c)', "build/app"),
        ("if(WIN32)\nadd_executable(no main.c)\nendif()\nadd_executable(app main.c)", "build/app"),
        ("option(B x ON)\nif(B)\nadd_executable(app main.c)\nelse()\nadd_executable(no main.c)\nendif()", "build/app"),
        ("if(X AND (Y OR Z))\nadd_executable(no main.c)\nendif()\nadd_executable(app main.c)", "build/app"),
        ("add_executable(app main.c)\nadd_executable(app_bench main.c)", "build/app_bench"),
        ("add_executable(other ALIAS x)\nadd_executable(i IMPORTED)\nadd_executable(app main.c)", "build/app"),
        ("add_executable(app adaptive.cpp)", None),
        ("if(NOT B)\nadd_executable(app main.c)\nendif()", None),
        ("add_executable(unit_tests main.c)", None),
        ("add_executable(${UNKNOWN} main.c)", None),
        ("set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${ELSEWHERE})\nadd_executable(app main.c)", None),
        ("add_executable(app main.c)\nset_target_properties(app PROPERTIES OUTPUT_NAME z)", "build/z"),
        (
            "if(NOT CMAKE_RUNTIME_OUTPUT_DIRECTORY)\nset(EXECUTABLE_OUTPUT_PATH b)\nendif()\nadd_executable(app main.c)",
            "build/b/app",
        ),
        ("if(X)\nset(CMAKE_RUNTIME_OUTPUT_DIRECTORY x)\nendif()\nadd_executable(app main.c)", None),
        ("add_executable(app main.c)\nset_target_properties(app PROPERTIES OUTPUT_NAME ${X})", None),
        ("if(WIN32)\nadd_executable(app main.c)\nendif()", None),
    ],
)
def test_cmake_program(project: Project, text: str, path: str | None) -> None:
    files = {"CMakeLists.txt": text, "main.c": MAIN, "adaptive.cpp": "#include <picobench.hpp>"}
    found = detected(project(files))
    assert found.kind == "cmake"
    assert found.artifacts == ([path] if path else [])
    assert found.benchmark.command == [f"./{path}"] if path else found.benchmark.name == "placeholder"


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"CMakeLists.txt": "add_executable(app main.c)", "main.c": WANTING}, "build/app"),
        ({"Makefile": "all: app\napp: main.c\n\tcc -o app main.c\n", "main.c": WANTING}, "app"),
        ({"Cargo.toml": PACKAGE, "src/main.rs": "fn main() { std::env::args().nth(1); }"}, "target/release/app"),
    ],
    ids=["cmake", "make", "cargo"],
)
def test_a_program_that_wants_arguments_is_built_and_not_guessed_at(
    project: Project, files: dict[str, str], path: str
) -> None:
    directory = project(files)
    config = written(directory)
    assert config.benchmark[0].name == "placeholder"
    assert config.build.artifacts == [path]
    # what a broken program answers must never count as a value
    assert "||" not in str(config.benchmark[0].command)
    text = (directory / "perfgate.toml").read_text(encoding="utf-8")
    assert f'\n# command = ["./{path}", "its", "arguments"]\n[[benchmark]]\n' in text


def test_cmake_program_of_a_subdirectory(project: Project) -> None:
    files = {
        "CMakeLists.txt": "project(x)\nadd_subdirectory(src)\nadd_subdirectory(extra EXCLUDE_FROM_ALL)\n",
        "src/CMakeLists.txt": "add_executable(app main.c)",
        "src/main.c": MAIN,
        "extra/CMakeLists.txt": "add_executable(bench main.c)",
    }
    assert detected(project(files)).artifacts == ["build/src/app"]


def test_cmake_tests_when_the_program_wants_arguments(project: Project) -> None:
    text = "include(CTest)\nadd_executable(app main.c)\nif(BUILD_TESTING)\nadd_test(NAME t COMMAND app)\nendif()"
    config = written(project({"CMakeLists.txt": text, "main.c": WANTING}))
    assert config.benchmark[0].command == "cd build && ctest --output-on-failure --no-tests=error"


def test_cmake_leaves_a_tracked_build_directory_alone(project: Project) -> None:
    files = {"CMakeLists.txt": "add_executable(app main.c)", "main.c": MAIN, "build/tools.cmake": ""}
    assert detected(project(files)).artifacts == ["build-perfgate/app"]


def test_cmake_directories_that_include_each_other_end(project: Project) -> None:
    assert look_cmake(read_tree(project({"CMakeLists.txt": "add_subdirectory(.)\nadd_subdirectory(..)"}))) is not None


# --- make ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "build", "command"),
    [
        ("all: app\napp: main.o\n\tcc -o $@ $^\nclean:\n\trm -f app\n", "rm -f app && make all", ["./app"]),
        ("P := out/app\n$(P): main.c\n\t$(CC) main.c -o $(P)\n", "rm -f out/app && make out/app", ["./out/app"]),
        (
            "B = bin\nall: $(B)/app\n$(B)/app: main.o\n\t@mkdir -p bin; gcc main.o -o $@\n",
            "rm -f bin/app && make all",
            ["./bin/app"],
        ),
        ("app: main.o\n\nmain.o: main.c\n\tcc -c -o main.o main.c\n", "make -B app", None),
        ("main: main.o\n", "rm -f main && make main", ["./main"]),
        ("all:\n\tcc main.c \\\n\t  -o app\nclean:\n\trm app\n", "rm -f app && make all", ["./app"]),
        (
            "all: a.out test\na.out: main.c\n\tcc -o a.out main.c\ntest: ; ./a.out\n",
            "rm -f a.out && make all",
            ["./a.out"],
        ),
        (
            "bench: app\n\t./app\napp: main.c\n\tcc -o app main.c\n",
            "rm -f app && make app",
            ["make", "--silent", "bench"],
        ),
        ("all: lib.a\nlib.a: main.o\n\tar r $@ $^\ncheck:\n\ttrue\n", "make -B all", ["make", "--silent", "check"]),
        ("all: lib.so\nlib.so:\n\tcc -shared -o lib.so main.c\n", "rm -f lib.so && make all", None),
        (".PHONY: all\n.DEFAULT_GOAL := go\nhelp:\n\techo\ngo:\n\tcc main.c -o go\n", "rm -f go && make go", ["./go"]),
        ("help:\n\techo\ntest:\n\ttrue\n", None, ["make", "--silent", "test"]),
        ("test-all:\n\ttrue\nbenchmarks-x:\n\ttrue\ntest:\n\ttrue\n", None, ["make", "--silent", "test"]),
        ("all:\n\tcc main.c -o $(shell uname)\n\techo -o -f\n", "make -B all", None),
        ("all: $(wildcard *.c)\n\tcc -o $(OUT) $^\n", "make -B all", None),
    ],
)
def test_make(project: Project, text: str, build: str | None, command: list[str] | None) -> None:
    found = detected(project({"Makefile": text, "main.c": MAIN}))
    assert (found.kind, found.build) == ("make", build)
    assert found.benchmark.command == command if command else found.benchmark.name == "placeholder"


def test_a_makefile_that_only_wraps_other_tools_is_nothing_to_measure(project: Project) -> None:
    assert detected(project({"Makefile": "test:\n\tpytest\nlint:\n\truff\n", "a.py": ""})).kind == "generic"


def test_a_make_target_that_is_a_directory_does_nothing(project: Project) -> None:
    files = {"Makefile": "all:\n\tcc m.c -o app\nbench:\n\t./app\n", "bench/a.c": MAIN}
    assert detected(project(files)).benchmark.command == ["./app"]
    files["Makefile"] += ".PHONY: bench\n"
    assert detected(project(files)).benchmark.command == ["make", "--silent", "bench"]


def test_make_prefers_tests_to_a_program_that_wants_arguments(project: Project) -> None:
    text = "all: app\napp: main.c\n\tcc -o app main.c\ntest:\n\t./app x\n"
    assert detected(project({"Makefile": text, "main.c": WANTING})).benchmark.command == ["make", "--silent", "test"]


# --- pytest-benchmark ----------------------------------------------------------------------------------------------

BENCH = "def test_it(benchmark):\n    benchmark(sum, [1])\n"
DECLARED = '[project]\nname = "my-pkg"\n[dependency-groups]\ndev = ["pytest-benchmark"]\n'


def test_pytest_benchmark(project: Project) -> None:
    config = written(project({"pyproject.toml": DECLARED, "tests/test_b.py": BENCH, "src/my_pkg/__init__.py": ""}))
    (benchmark,) = config.benchmark
    assert benchmark.instrument == "pytest-benchmark"
    assert config.env.set == {"PYTHONPATH": "src"}
    assert config.build.command is None
    script = str(benchmark.command)
    assert "import os, my_pkg as it" in script
    # options are added at the end, where the paths are
    assert script.endswith(" -m pytest -q --confcutdir=tests --benchmark-min-time=0.2 tests")
    # a test may ask for one round only
    assert benchmark.warmup == 0
    assert config.gate.floor is None  # and by default there is none
    # a fresh checkout costs nothing, and builds narrow the interval most
    assert (config.plan.executions, config.plan.iterations) == (2, 5)


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"requirements-dev.txt": "pytest-benchmark==5\n", "tests/test_b.py": BENCH}, "pytest-benchmark"),
        ({"requirements/dev.in": "pytest_benchmark\n", "tests/test_b.py": BENCH}, "pytest-benchmark"),
        ({"setup.cfg": "[options.extras_require]\ndev = pytest-benchmark\n", "b/test_b.py": BENCH}, "pytest-benchmark"),
        ({"tests/test_b.py": "import pytest_benchmark\n" + BENCH}, "pytest-benchmark"),
        # declared, but no test uses it: a check would have nothing to measure
        ({"pyproject.toml": DECLARED, "tests/test_b.py": "def test_a(): pass\n"}, "python"),
        # tests of a tool that writes such tests
        ({"pyproject.toml": DECLARED, "tests/test_b.py": f"X = {BENCH!r}\n"}, "python"),
        # another plugin has a fixture of that name
        ({"pyproject.toml": DECLARED.replace("benchmark", "speed"), "tests/test_b.py": BENCH}, "python"),
    ],
)
def test_pytest_benchmark_is_seen(project: Project, files: dict[str, str], kind: str) -> None:
    assert detected(project(files)).kind == kind


def test_the_environment_in_the_checkout_is_shared(project: Project) -> None:
    files = {".gitignore": ".venv\n", ".venv/bin/python": "", "pyproject.toml": DECLARED, "tests/test_b.py": BENCH}
    config = written(project(files))
    assert config.build.share == [".venv"]
    assert "\n.venv/bin/python -m pytest " in str(config.benchmark[0].command)


@pytest.mark.parametrize(
    ("files", "hindered"),
    [
        ({"pytest.ini": "[pytest]\naddopts = -q -n auto\n"}, True),
        ({"setup.cfg": "[tool:pytest]\naddopts =\n    --cov=x\n"}, True),
        ({"pyproject.toml": DECLARED + '[tool.pytest.ini_options]\naddopts = ["--benchmark-skip"]\n'}, True),
        ({"pytest.ini": "[pytest]\naddopts = -p plugin --import-mode=importlib\n"}, False),
        ({"tox.ini": "no section header\n"}, False),
    ],
)
def test_options_that_do_not_go_with_measuring_are_overridden(
    project: Project, files: dict[str, str], hindered: bool
) -> None:
    found = detected(project({"pyproject.toml": DECLARED, "tests/test_b.py": BENCH, **files}))
    assert ("-o addopts= " in str(found.benchmark.command)) is hindered


def test_compiled_packages_are_built_for_each_side(project: Project) -> None:
    maturin = '[build-system]\nrequires = ["maturin>=1"]\nbuild-backend = "maturin"\n'
    config = written(project({"pyproject.toml": DECLARED + maturin, "tests/test_b.py": BENCH}))
    assert config.env.set == {"PYTHONPATH": ".perfgate-site"}
    assert "install --quiet --no-deps --target .perfgate-site ." in str(config.build.command)


def test_benchmarks_whose_files_pytest_would_not_find_are_named(project: Project) -> None:
    files = {
        "pyproject.toml": DECLARED,
        "bench marks/bench it's.py": BENCH,
        "tests/deep/test_a.py": BENCH,
        "tests/test_b.py": BENCH,
    }
    command = str(detected(project(files)).benchmark.command)
    assert shlex.split(command.splitlines()[-1])[-2:] == ["bench marks/bench it's.py", "tests"]


# --- generic -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"bench.sh": "#!/bin/bash\ntrue\n"}, ["bash", "bench.sh"]),
        ({"benchmarks/bench_sort.py": "class TimeSort:\n    def time_it(self): pass\n"}, None),
        ({"bench.sh": 'process "$1"\n'}, None),
        ({"bench.py": "import argparse\nmain(p.add_argument('file'))\n"}, None),
        ({"bench.js": "work()\n"}, ["node", "bench.js"]),
        # its time is always the same
        ({"bench.js": 'import { Bench } from "tinybench"\n'}, None),
        ({"package.json": "[", "src/bench.js": ""}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_generic(project: Project, files: dict[str, str], command: list[str] | None) -> None:
    directory = project({"README": "", **files})
    config = written(directory)
    text = (directory / "perfgate.toml").read_text(encoding="utf-8")
    assert ("PLACEHOLDER" in text) is (command is None)
    assert config.benchmark[0].command == command if command else config.benchmark[0].name == "placeholder"


def test_the_placeholder_is_announced(project: Project) -> None:
    _, out, _ = init(project({"README": ""}))
    assert "note: found nothing to measure: write the command of [[benchmark]] in perfgate.toml" in out
    assert "benchmark placeholder (no command yet)" in out
    # what would only be refused is no next step
    assert out.endswith(
        "next:\n  edit perfgate.toml: write the command of [[benchmark]]; nothing can be measured before that\n"
    )


def test_a_project_one_folder_below_is_named(project: Project) -> None:
    _, out, _ = init(
        project({"README": "", "expat/CMakeLists.txt": "", "expat/configure.ac": "", "docs/x/Makefile": ""})
    )
    assert "note: expat/ holds a project of its own: run `perfgate init` there\n" in out
    assert out.count("holds a project") == 1


# --- what git does not track ---------------------------------------------------------------------------------------


def test_ignored_paths_are_shared_or_offered(project: Project) -> None:
    ignored = ("data/big.bin", "node_modules/a/index.js", "local.conf", ".env", "build/x", "a.log", "bench/corpus/1")
    files = {".gitignore": "data/\nnode_modules\nlocal.conf\n.env\nbuild/\n*.log\ncorpus\n", "bench/.keep": ""}
    directory = project({**files, "package.json": "{}", **dict.fromkeys(ignored, "")})
    assert written(directory).build.share == ["data/", "node_modules/", "bench/corpus/"]
    text = (directory / "perfgate.toml").read_text(encoding="utf-8")
    assert '#share = ["data/", "node_modules/", "bench/corpus/", "local.conf"]' in text


@pytest.mark.parametrize(
    ("files", "offered"),
    [
        ({"Makefile": "all: wf\nwf: main.c\n\tcc -o wf main.c\n"}, ["words.txt", "gen/"]),
        # only a part of the build, and in a folder of its own
        ({"Makefile": "bench: wf\n\t./wf\nwf: gen/t.h\n\tcc -o wf main.c\ngen/t.h:\n\tmake-table\n"}, ["words.txt"]),
        ({"Makefile": "all: x\nx: main.c\n\tcc -o x main.c\nwf:\n\tfetch\n"}, ["wf", "words.txt", "gen/"]),
        ({"CMakeLists.txt": "set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR}/gen)\nadd_executable(wf main.c)"}, ["wf", "words.txt"]),
    ],
)  # fmt: skip
def test_what_a_build_makes_is_not_offered(project: Project, files: dict[str, str], offered: list[str]) -> None:
    ignored = {".gitignore": "wf\nwords.txt\ngen\n", "wf": "", "words.txt": "", "gen/t.h": ""}
    text = render(tree := read_tree(project({**files, **ignored, "main.c": MAIN})), choose(tree, None)[0])
    offers = [line for line in text.splitlines() if line.startswith("#share")]
    assert offers == [f"#share = {toml_value(offered)}"]


def test_outside_of_a_repository(project: Project) -> None:
    code, out, _ = init(project({"Cargo.toml": PACKAGE, "src/main.rs": ""}, git=False))
    assert (code, "detected: cargo" in out, "not a git repository yet" in out) == (0, True, True)


def test_a_perfgate_toml_that_git_ignores_is_mentioned(project: Project) -> None:
    directory = project({".gitignore": "*.toml\n"})
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "add", "."], cwd=directory, check=True)
    subprocess.run([*git, "commit", "--quiet", "--message=first"], cwd=directory, check=True)
    assert "note: git ignores perfgate.toml" in init(directory)[1]


# --- the file ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_survives_hostile_names(tmp_path: Path, kind: str) -> None:
    instrument = {"npm": "values", "pytest-benchmark": "pytest-benchmark", "go": "go"}.get(kind, "spawn")
    measured = Measured(HOSTILE, [HOSTILE, "\x7f\t\u2028"], [], instrument=instrument)
    second = replace(measured, name="second", command="two\nlines'")
    found = Found(
        kind,
        HOSTILE,
        measured,
        f"x\n{HOSTILE}",
        setup=HOSTILE,
        artifacts=[HOSTILE],
        share=[HOSTILE],
        more=[second],
    )
    text = render(Tree(tmp_path, (), (f"{HOSTILE}/", "data/"), git=True), found)
    config = parse(read_source(text, "perfgate.toml"))
    assert config.benchmark[0].name == HOSTILE
    assert config.benchmark[0].command == [HOSTILE, "\x7f\t\u2028"]
    # options are added at the end: a line end there would make them a command of their own
    assert config.benchmark[1].command == "two\nlines'"
    assert {benchmark.instrument for benchmark in config.benchmark} == {instrument}
    assert config.build.command == f"x\n{HOSTILE}"
    assert config.build.share == [HOSTILE, "data/"]


GO_BENCHMARK = "package a\n\nfunc BenchmarkA(b *testing.B) {\n}\n"


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_project_of_hostile_files(project: Project, kind: str | None) -> None:
    name = HOSTILE.replace("/", "")
    files = {
        "Cargo.toml": f"[package]\nname = {toml_value(name)}\n",
        "CMakeLists.txt": f"project([[{name}]])\nadd_executable(${{PROJECT_NAME}} {name})\n",
        "Makefile": f"all: {name}\n{name}:\n\tcc -o '{name}' x.c\n",
        "pyproject.toml": f"[project]\nname = {toml_value(name)}\ndependencies = ['pytest-benchmark']\n",
        f"{name}/test_b.py": BENCH,
        f"{name}.c": MAIN,
        "line\nbreak/bench.sh": "true\n",
        f"bench-{name}.sh": "true\n",
        "go.mod": f"module {name}\n",
        f"{name}/b_test.go": GO_BENCHMARK,
        f"{name}/bench.py": "import pyperf\npyperf.Runner()\n",
        "package.json": json.dumps({"scripts": {"bench": f"vitest bench {name}"}, "workspaces": [name]}),
        f"{name}/package.json": json.dumps({"name": name, "scripts": {"bench": name}}),
        f"{name}/pom.xml": f"<artifactId>jmh-core</artifactId><finalName>{name}</finalName>",
    }
    if kind == "autotools":
        del files["Makefile"]
        files |= {"configure.ac": f"AC_INIT([{name}])", "Makefile.am": f"bin_PROGRAMS = {name} a\n"}
    folder = "it's {{ 7 }} $(id)"
    files |= {"asv.conf.json": f'"benchmark_dir": "{folder}"', f"{folder}/x.py": "def time_it(self): pass\n"}
    written(project(files), kind)


def test_names_that_are_not_unicode_are_passed_over(project: Project) -> None:
    directory = project({"README": ""})
    try:
        (directory / os.fsdecode(b"bench-\xff.sh")).write_text("true\n", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes only Unicode names")
    assert written(directory).benchmark[0].name == "placeholder"


def test_what_it_says(project: Project) -> None:
    code, out, err = init(
        project({"Cargo.toml": PACKAGE, "src/main.rs": "fn main() {}", "CMakeLists.txt": "", "Makefile": ""})
    )
    assert (code, err) == (0, "")
    assert "detected: cargo (Cargo.toml, program app)\nalso possible: --kind cmake\nwrote perfgate.toml: " in out
    _, _, steps = out.partition("next:\n")
    starts = ("perfgate try ", "git add perfgate.toml && git commit ", "perfgate check ", "perfgate check --dry-run ")
    lines = [line.strip() for line in steps.splitlines()]
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=False)] == [*starts]


@pytest.mark.parametrize(
    ("files", "kind", "message"),
    [
        (
            {"perfgate.toml": ""},
            None,
            "perfgate: perfgate.toml already exists: edit it, or overwrite it with --force\n",
        ),
        ({"pyproject.toml": "[tool.perfgate.plan]\nbuilds = 5\n"}, None, "pyproject.toml already has [tool.perfgate]"),
        ({"pyproject.toml": "[tool.perfgate\n"}, None, "pyproject.toml: not valid TOML"),
        (
            {},
            "bazel",
            "--kind bazel: is not one of pytest-benchmark, pyperf, asv, go, cargo, cmake, jmh, npm, autotools, make, python, generic",
        ),
        ({}, "go", "--kind go: there is no go.mod here"),
        (
            {"package.json": "{}"},
            "npm",
            "--kind npm: there is no package.json with a script bench, benchmark or perf here",
        ),
        ({}, "cargo", "--kind cargo: there is no Cargo.toml here"),
        ({}, "make", "--kind make: there is no Makefile that builds or runs something here"),
    ],
)
def test_refusals_are_one_line(project: Project, files: dict[str, str], kind: str | None, message: str) -> None:
    directory = project(files)
    code, out, err = init(directory, kind)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err
    assert (directory / "perfgate.toml").exists() is ("perfgate.toml" in files)


def test_force_writes_over(project: Project) -> None:
    directory = project({"perfgate.toml": "nonsense ["})
    assert init(directory, force=True)[0] == 0
    assert (directory / "perfgate.toml").read_text(encoding="utf-8").startswith("# How perfgate measures")


def test_a_place_that_cannot_be_written(project: Project, tmp_path: Path) -> None:
    directory = project({"perfgate.toml/file": ""})
    assert init(directory, force=True) == (2, "", "perfgate: perfgate.toml cannot be written: Is a directory\n")
    assert init(tmp_path / "nowhere")[0] == 2


def test_a_dangling_link_is_not_written_through(project: Project, tmp_path: Path) -> None:
    directory = project({})
    (directory / "perfgate.toml").symlink_to(tmp_path / "elsewhere")
    assert init(directory)[0] == 2
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize(
    ("source", "wants"),
    [
        ("int main(void) { return 0; }", False),
        ("int main(int argc, char **argv) { (void)argc; (void)argv; return work(); }", False),
        ("int main(int argc, char **argv) { int n = argc > 1 ? atoi(argv[1]) : 1000; }", False),
        ("int main(int argc, char **argv) { puts(argv[0]); }", False),
        ("int main(int argc, char **argv) { if (argc < 2) return 2; open(argv[1]); }", True),
        ("int main(int argc, char **argv) { if (argc > 1) run(argv[1]); else usage(); }", True),
        ("int main(int argc, char **argv) { return run(argv[1]); }", True),
        ('int main(int argc, char **argv) { while (getopt(argc, argv, "x") != -1); }', True),
        ("int main(void) { fread(buffer, 1, 10, stdin); }", True),
    ],
)
def test_which_c_programs_want_arguments(source: str, wants: bool) -> None:
    assert wants_arguments(source) is wants
