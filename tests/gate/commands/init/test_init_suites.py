"""perfgate init on made-up projects whose benchmarks other tools run: what it detects, and that its file can be read."""

import json
import shlex

import pytest

from gate.commands.init.choose import choose
from gate.commands.init.detect.repetitions import Suite, amount, fixed_amount, length_of_value
from gate.commands.init.found import Rank, names_of
from gate.commands.init.tree import read_tree
from tests.support.initialized import Project, detected, written

_MODULE = "module example.com/acme/words/v2\n\ngo 1.21\n"
_BENCH = "package a\n\nfunc BenchmarkA(b *testing.B) {\n}\n"
_TEST = "package a\n\nfunc TestA(t *testing.T) {}\n"
_OPTIONS = ["-test.run=^$", "-test.bench=.", "-test.benchtime=200ms"]


# --- how much ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cases", [1, 3, 10, 40, 100])
def test_the_plan_takes_minutes(cases: int) -> None:
    suite = Suite(cases, 0.5, 0.1)
    length = length_of_value(suite)
    plan = amount(suite, length)
    # by hand: 6 values, a half more to find the number of repetitions, 2 executions, 12 builds of 2 sides
    seconds = (0.1 + cases * 6 * length * 1.5) * 2 * 12 * 2
    assert seconds <= 300 or length == 0.01
    assert (plan.executions, plan.iterations, plan.warmup) == (2, 5, 1)
    assert f"{-(-seconds // 60):.0f} minute" in plan.comment[1]


def test_names_are_distinct_and_none_leads_another() -> None:
    assert names_of(["", "a", "a/b", "a-b"], "top") == ["top", "a", "a-b", "a-b-2"]


# --- go ------------------------------------------------------------------------------------------------------------


def test_go_benchmarks(project: Project) -> None:
    config = written(project({"go.mod": _MODULE, "a_test.go": _BENCH, "a.go": "package a\n"}))
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.instrument) == ("words", "go")
    assert benchmark.command == ["./bench.test", *_OPTIONS]
    # the layout is drawn when it is linked: by the build, and not by each execution
    assert config.build.command == "go test -c -o bench.test ."
    assert config.build.artifacts == ["bench.test"]
    assert config.gate.floor is None  # and by default there is none
    assert (config.plan.executions, config.plan.iterations, benchmark.warmup) == (2, 5, 0)


def test_go_packages_in_their_own_directories(project: Project) -> None:
    files = {
        "go.work": "go 1.21\n\nuse ./x\n",
        "x/go.mod": _MODULE,
        "it's here/go.mod": _MODULE,
        "it's here/a_test.go": _BENCH,
        "x/not importable/a_test.go": _BENCH,
        "x/deep/er/a_test.go": _BENCH + "\nfunc BenchmarkB(b *testing.B) {\n\tb.Run(n, f)\n}\n",
        "x/plain/a_test.go": _TEST,
    }
    config = written(project(files))
    assert [benchmark.name for benchmark in config.benchmark] == ["it's here", "x-deep-er"]
    script = str(config.build.command)
    assert script.startswith("for package in ")
    assert shlex.split(script)[3:5] == ["it's here", "x/deep/er;"]
    first, second = (str(benchmark.command) for benchmark in config.benchmark)
    assert shlex.split(first) == ["cd", "it's here", "&&", "./bench.test", *_OPTIONS[:2], "-test.benchtime=100ms"]
    assert second.startswith("cd x/deep/er && ./bench.test ")


def test_go_packages_of_one_module_are_linked_by_one_command(project: Project) -> None:
    files = {"go.mod": _MODULE, "a_test.go": _BENCH, "x/y/b_test.go": _BENCH, "z/c_test.go": _BENCH}
    config = written(project(files))
    assert config.build.command == "go test -c -o bench.tests/ . ./z ./x/y"
    # the go command names a program after the last part of the package's path that is no version
    assert config.build.artifacts == ["bench.tests/words.test", "bench.tests/z.test", "bench.tests/y.test"]
    top, z, y = (benchmark.command for benchmark in config.benchmark)
    assert isinstance(top, list) and top[0] == "./bench.tests/words.test"
    assert str(z).startswith("cd z && ../bench.tests/z.test '-test.run=^$' ")
    assert str(y).startswith("cd x/y && ../../bench.tests/y.test ")


@pytest.mark.parametrize("other", ["x/z/d_test.go", "words/d_test.go", "z/v2/d_test.go"])
def test_go_packages_whose_programs_would_have_one_name(project: Project, other: str) -> None:
    found = detected(project({"go.mod": _MODULE, "a_test.go": _BENCH, "z/c_test.go": _BENCH, other: _BENCH}))
    assert str(found.build).startswith("for package in ")
    assert {"bench.test", "z/bench.test"} < {*found.artifacts}


@pytest.mark.parametrize(
    "path",
    ["testdata/a_test.go", "vendor/x/a_test.go", "_old/a_test.go", ".x/a_test.go", "a_windows_test.go", "_a_test.go"],
)
def test_go_looks_where_the_go_command_does(project: Project, path: str) -> None:
    assert detected(project({"go.mod": _MODULE, path: _BENCH})).rank > Rank.RESULTS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("func BenchmarkA(b *testing.B) {", True),
        ("func Benchmark(b *testing.B) {", True),
        ("func Benchmark_a(b *testing.B) {", True),
        ("//go:build linux && !race\n\nfunc BenchmarkA(b *testing.B) {", True),
        ("func Benchmarka(b *testing.B) {", False),
        ("func BenchmarkA(b *B) {", False),
        ("// func BenchmarkA(b *testing.B) {", False),
        ("func (s *S) BenchmarkA(b *testing.B) {", False),
        ("//go:build integration\n\nfunc BenchmarkA(b *testing.B) {", False),
        ("//go:build !linux\n\nfunc BenchmarkA(b *testing.B) {", False),
    ],
)
def test_what_a_benchmark_of_go_is(project: Project, text: str, found: bool) -> None:
    assert (
        detected(project({"go.mod": _MODULE, "a_test.go": f"package a\n{text}\n}}\n"})).rank == Rank.RESULTS
    ) is found


def test_go_with_many_packages_says_what_is_left_out(project: Project) -> None:
    found = detected(project({"go.mod": _MODULE, **{f"p{n:02}/a_test.go": _BENCH for n in range(14)}}))
    assert len(found.benchmarks) == 12
    assert found.notes == ["2 more packages with benchmarks are left out (p12, p13): add what matters"]


@pytest.mark.parametrize(
    ("files", "command", "build"),
    [
        ({"main.go": "package main\nfunc main() {}\n"}, ["./bin/words"], "go build -o bin/words ."),
        ({"cmd/it/main.go": "package main\nfunc main() {}\n"}, ["./bin/it"], "go build -o bin/it ./cmd/it"),
        (
            {"main.go": 'package main\nimport "flag"\nfunc main() { flag.Parse() }\n'},
            ["./bin/words", "--help"],
            "go build -o bin/words .",
        ),
        # it wants arguments, and there are tests that do not
        (
            {"main.go": "package main\nfunc main() { run(os.Args[1]) }\n", "a_test.go": _TEST},
            ["./bench.test"],
            "go test -c -o bench.test .",
        ),
        ({"a_test.go": _TEST}, ["./bench.test"], "go test -c -o bench.test ."),
        # where its package lies a test finds its data
        ({"x/a_test.go": _TEST}, "cd x && ./bench.test", "cd x && go test -c -o bench.test ."),
        (
            {"a_test.go": _TEST, "x/a_test.go": _TEST},
            "(./bench.tests/words.test) && (cd x && ../bench.tests/x.test)",
            "go test -c -o bench.tests/ . ./x",
        ),
        (
            {f"p{number:02}/a_test.go": _TEST for number in range(13)},
            ["go", "test", "-count=1", "-p=1", "./..."],
            "go test -count=1 -run='^$' ./...",
        ),
        ({"examples/x/main.go": "package main\nfunc main() {}\n"}, None, None),
        ({"main.go": "package main\nfunc main() { http.ListenAndServe(a, b) }\n"}, None, "go build -o bin/words ."),
    ],
)
def test_go_without_benchmarks(
    project: Project, files: dict[str, str], command: str | list[str] | None, build: str | None
) -> None:
    found = detected(project({"go.mod": _MODULE, **files}))
    assert found.kind == "go"
    assert found.build == build
    assert found.benchmark.command == command if command else found.benchmark.name == "placeholder"


def test_go_program_of_a_module_below(project: Project) -> None:
    files = {"go.work": "go 1.21\nuse ./m\n", "m/go.mod": _MODULE, "m/cmd/it/main.go": "package main\nfunc main() {}\n"}
    assert detected(project(files)).build == "cd m && go build -o ../bin/it ./cmd/it"


def test_a_module_in_a_corner_is_not_the_project(project: Project) -> None:
    files = {"tools/go.mod": _MODULE, "tools/main.go": "package main\nfunc main() {}\n", "bench.sh": "true\n"}
    assert detected(project(files)).kind == "generic"


# --- npm -----------------------------------------------------------------------------------------------------------


def package(script: str | None = "node bench.js", **more: object) -> str:
    scripts = {} if script is None else {"bench": script}
    return json.dumps({"name": "x", "version": "1.0.0", "scripts": scripts, **more})


def test_npm_script(project: Project) -> None:
    files = {
        "package.json": package(devDependencies={"x": "1"}),
        "package-lock.json": "{}",
        ".gitignore": "node_modules\n",
    }
    config = written(project({**files, "node_modules/x/index.js": ""}))
    (benchmark,) = config.benchmark
    assert (benchmark.instrument, benchmark.command) == ("spawn", ["node", "bench.js"])
    assert config.build.setup == "npm ci --no-audit --no-fund"
    # npm would write through the link, into the checkout
    assert config.build.share == []


@pytest.mark.parametrize(("more", "warmup"), [(", process.env.PERFGATE_WARMUP", 20), ("", 0)])
def test_a_script_that_writes_values_is_not_timed_as_a_whole(project: Project, more: str, warmup: int) -> None:
    text = f"import {{ run }} from 'tinybench'; run(process.env.PERFGATE_OUTPUT{more})"
    (benchmark,) = written(project({"package.json": package(), "bench.js": text})).benchmark
    assert (benchmark.instrument, benchmark.warmup) == ("values", warmup)
    assert benchmark.command == ["node", "bench.js"]


@pytest.mark.parametrize(
    ("script", "more", "direct"),
    [
        ("node --expose-gc ./bench.js --n=3", {}, True),
        ("node bench.js | tee out.txt", {}, False),
        ("NODE_ENV=production node bench.js", {}, False),
        ("node 'bench it.js'", {}, False),
        ("tsx bench.ts", {}, False),
        ("node bench.js", {"prebench": "tsc"}, False),
        ("node bench.js", {"postbench": "rm -r out"}, False),
    ],
)
def test_node_is_started_without_npm_where_it_needs_nothing_of_npm(
    project: Project, script: str, more: dict[str, str], direct: bool
) -> None:
    text = package(scripts={"bench": script, **more})
    command = written(project({"package.json": text})).benchmark[0].command
    assert command == (script.split() if direct else ["npm", "run", "--silent", "bench"])


def test_node_of_plug_n_play_is_started_by_yarn(project: Project) -> None:
    files = {"package.json": package(), "yarn.lock": "", ".yarnrc.yml": ""}
    assert written(project(files)).benchmark[0].command == ["yarn", "run", "bench"]


@pytest.mark.parametrize(
    ("files", "setup", "run_"),
    [
        ({"npm-shrinkwrap.json": ""}, "npm ci --no-audit --no-fund", ["npm", "run", "--silent"]),
        ({}, "npm install --no-package-lock --no-audit --no-fund", ["npm", "run", "--silent"]),
        ({"pnpm-lock.yaml": ""}, "pnpm install --frozen-lockfile --silent", ["pnpm", "--silent", "run"]),
        ({"yarn.lock": ""}, "yarn install --frozen-lockfile --silent", ["yarn", "--silent", "run"]),
        ({"yarn.lock": "", ".yarnrc.yml": ""}, "yarn install --immutable", ["yarn", "run"]),
        ({"bun.lock": ""}, "bun install --frozen-lockfile --silent", ["bun", "run", "--silent"]),
    ],
)
def test_the_lock_file_tells_the_package_manager(
    project: Project, files: dict[str, str], setup: str, run_: list[str]
) -> None:
    text = package(dependencies={"a": "1"}, scripts={"benchmark": "tsx b.ts", "build": "tsc"})
    config = written(project({"package.json": text, **files}))
    assert config.build.setup == setup
    assert config.build.command == shlex.join([*run_, "build"])
    assert config.benchmark[0].command == [*run_, "benchmark"]


def test_npm_without_dependencies_installs_nothing(project: Project) -> None:
    assert written(project({"package.json": package()})).build.setup is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "{}",
        '{"scripts": 3}',
        '{"scripts": {"bench": 3}}',
        '{"scripts": {"bench": " "}}',
        package("cargo bench"),
        package(None),
    ],
)
def test_no_script_of_npm(project: Project, text: str) -> None:
    assert detected(project({"package.json": text})).kind == "generic"


def test_npm_workspace(project: Project) -> None:
    files = {"package.json": json.dumps({"workspaces": ["packages/*"]}), "packages/a/package.json": package()}
    config = written(project({**files, "package-lock.json": "{}"}))
    assert config.benchmark[0].command == "cd packages/a && node bench.js"


_PACKAGE_OF_BENCHMARKS = {
    "package.json": json.dumps({"name": "x", "scripts": {"build": "node bin"}, "devDependencies": {"terser": "4"}}),
    "bench/package.json": json.dumps({"private": True, "devDependencies": {"benchmark": "^2.1.4"}}),
    "bench/index.js": (
        'const { Suite } = require("benchmark"); const it = require("../dist/x");\n'
        'new Suite().add("a", it).on("cycle", (e) => console.log("  " + e.target)).run();\n'
    ),
    ".gitignore": "node_modules\ndist\n",
}


def test_benchmarks_in_a_package_of_their_own_are_run_with_the_build_of_the_project(project: Project) -> None:
    config = written(project(_PACKAGE_OF_BENCHMARKS))
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.format) == ("bench", "benchmark_js")
    assert benchmark.command == "cd bench && node index.js >{output}"
    install = "npm install --no-package-lock --no-audit --no-fund"
    assert config.build.setup == f"{install} && cd bench && {install}"
    assert config.build.command == "npm run --silent build"


def test_in_the_folder_of_such_a_package_the_project_above_is_named(project: Project) -> None:
    directory = project(_PACKAGE_OF_BENCHMARKS) / "bench"
    found = detected(directory)
    assert found.benchmark.command == "node index.js >{output}"
    assert "../package.json builds what index.js may need: run `perfgate init` in that folder" in found.notes[-1]


def test_a_script_of_such_a_package_comes_first_and_its_own_lock_is_used(project: Project) -> None:
    files = _PACKAGE_OF_BENCHMARKS | {
        "bench/package.json": package("node all.js", devDependencies={"benchmark": "^2.1.4"}),
        "bench/package-lock.json": "{}",
        "bench/all.js": _PACKAGE_OF_BENCHMARKS["bench/index.js"],
    }
    config = written(project(files))
    assert config.benchmark[0].command == "cd bench && node all.js >{output}"
    assert str(config.build.setup).endswith(" && cd bench && npm ci --no-audit --no-fund")


def test_benchmarks_of_vitest_are_counted_where_vitest_looks_for_them(project: Project) -> None:
    source = "".join(f'bench("{name}", () => work());\n' for name in "abcdefghij")
    files = {"package.json": package("vitest bench"), "src/it.bench.ts": source, "package-lock.json": "{}"}
    plan = detected(project(files)).plan
    # some 2 s each, 12 builds of 2 sides: 9 minutes, and what builds take
    assert plan.comment[0].startswith("10 benchmarks were counted in the sources; vitest takes some 22 s")
    assert (plan.executions, plan.iterations, plan.budget) == (1, 1, 15)


@pytest.mark.parametrize("cases", [1, 5, 35, 200])
def test_no_plan_is_larger_than_the_budget_beside_it(cases: int) -> None:
    plan = fixed_amount("benchmark.js", cases, 0.5, 5.5)
    seconds = (0.5 + 5.5 * cases) * plan.executions * 12 * 2
    assert plan.budget * 60 >= seconds
    assert plan.budget >= 10
    assert f"about {-(-seconds // 60):.0f} minute" in plan.comment[1]


def test_npm_says_what_else_is_measured(project: Project) -> None:
    text = package(scripts={"bench": "node b.js", "prebench": "tsc"}, dependencies={"a": "1"})
    notes = detected(project({"package.json": text})).notes
    assert notes == [
        "there is no lock file, so each side gets the newest dependencies: better commit one",
        "script bench runs prebench each time, which is measured with it: better move that into [build]",
    ]


_SUITE = 'const Benchmark = require("benchmark");\nsuite.add("a", f).add("b", g).on("cycle", (e) => console.log(`${e.target}`))'


@pytest.mark.parametrize(
    ("script", "dependency", "source", "command"),
    [
        ("vitest bench --run", "vitest", "", "npx --no-install vitest bench --run --outputJson={output}"),
        (
            "vitest bench bench/a.js --watch=false",
            "vitest",
            "",
            "npx --no-install vitest bench --run bench/a.js --outputJson={output}",
        ),
        ("node bench.js", "benchmark", _SUITE, "node bench.js >{output}"),
    ],
)
def test_npm_libraries_whose_results_can_be_read(
    project: Project, script: str, dependency: str, source: str, command: str
) -> None:
    text = package(script, devDependencies={dependency: "1"})
    config = written(project({"package.json": text, "bench.js": source, "package-lock.json": ""}))
    (benchmark,) = config.benchmark
    assert (benchmark.instrument, benchmark.command) == ("values", command)
    assert benchmark.format == {"vitest": "vitest", "benchmark": "benchmark_js"}[dependency]
    # each takes a fixed time a benchmark: more values in an execution are not to be had
    assert config.plan.iterations == 1


@pytest.mark.parametrize("library", ["tinybench", "mitata", "benny", "benchmark"])
def test_npm_libraries_whose_results_cannot_be_read(project: Project, library: str) -> None:
    files = {"package.json": package(devDependencies={library: "1"}), "bench.js": f'import {{ x }} from "{library}";\n'}
    directory = project(files)
    config = written(directory)
    assert config.benchmark[0].name == "placeholder"
    text = (directory / "perfgate.toml").read_text(encoding="utf-8")
    assert f"# script bench uses {library}, which repeats until a fixed time has passed" in text
    assert '# command = ["node", "bench.js"]\n[[benchmark]]\n' in text
    # such a library gives one result of each benchmark, which must not be dropped as warm-up
    assert (config.plan.iterations, config.benchmark[0].warmup) == (1, 0)
    # without perfgate the script runs as before, as a module too
    assert '#   import { appendFileSync } from "node:fs";' in text
    assert "#   if (process.env.PERFGATE_OUTPUT) {\n" in text


@pytest.mark.parametrize(("more", "iterations"), [("", 1), ("process.env.PERFGATE_ITERATIONS", 10)])
def test_a_library_whose_results_the_script_writes_gives_one_value(
    project: Project, more: str, iterations: int
) -> None:
    source = f'import {{ Bench }} from "tinybench";\nbench.add("a", f).add("b", g);\nPERFGATE_OUTPUT {more}\n'
    text = package(devDependencies={"tinybench": "1"})
    config = written(project({"package.json": text, "bench.js": source}))
    assert config.benchmark[0].instrument == "values"
    assert config.plan.iterations == iterations


def test_a_library_that_the_script_does_not_use(project: Project) -> None:
    files = {"package.json": package(devDependencies={"tinybench": "1"}), "bench.js": "work();\n"}
    assert detected(project(files)).benchmark.command == ["node", "bench.js"]


# --- pyperf --------------------------------------------------------------------------------------------------------


def test_pyperf(project: Project) -> None:
    script = "import pyperf\nfrom pkg import f\nrunner = pyperf.Runner()\nrunner.bench_func('a', f)\n"
    files = {
        "benchmarks/bench it.py": script,
        "src/pkg/__init__.py": "",
        "tests/test_p.py": script,
        "x.py": "import pyperf\n",
    }
    config = written(project(files))
    (benchmark,) = config.benchmark
    assert (benchmark.name, benchmark.instrument, benchmark.warmup) == ("benchmarks-bench it", "pyperf", 1)
    assert str(benchmark.command).endswith(" 'benchmarks/bench it.py' --min-time=0.2")
    assert "import os, pkg as it" in str(benchmark.command)
    assert config.env.set == {"PYTHONPATH": "src"}


# --- several kinds -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "kinds"),
    [
        # benchmarks before a program, whatever the order of kinds
        (
            {"Cargo.toml": '[package]\nname = "app"\n', "src/main.rs": "fn main() {}", "CMakeLists.txt": "add_executable(b b.cc)", "b.cc": "#include <benchmark/benchmark.h>\n"},
            ["cmake", "cargo"],
        ),
        (
            {"Makefile": "bench:\n\tgo test -bench .\n", "go.mod": _MODULE, "a_test.go": _BENCH, "package.json": package()},
            ["go", "npm", "make"],
        ),
        # something before nothing
        ({"go.mod": _MODULE, "Makefile": "bench:\n\t./x\n"}, ["make", "go", "generic"]),
    ],
)  # fmt: skip
def test_what_comes_first(project: Project, files: dict[str, str], kinds: list[str]) -> None:
    found = [each.kind for each in choose(read_tree(project(files)), None)]
    assert found[: len(kinds)] == kinds
