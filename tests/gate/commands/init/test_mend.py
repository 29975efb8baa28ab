"""What a trial teaches: each cure by what tools really say, and the cases that are chosen of a large suite."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.commands.init.found import Amount, Found, Proposed, Row
from gate.commands.init.mend import comparable, lesson, mended, reason
from gate.commands.init.requirements import pip_words
from gate.commands.init.tree import Tree

PYPROJECT = '[project]\nname = "own"\n[project.optional-dependencies]\nbench = ["numpy>=1", "wheel"]\n[build-system]\nrequires = []\n'
FILES = {
    "pyproject.toml": PYPROJECT, "package.json": json.dumps({"scripts": {"build": "tsc"}}), "data/in.txt": "1",
    "data/run.sh": "", "own/__init__.py": "", "setup.py": "setup(extras_require={'x': ['lz4', 'arrow']}, version=x)",
}  # fmt: skip
CRITERION = ["./target/bench-a", "--bench", "--warm-up-time=0.1", "--measurement-time=0.2"]


def tree(tmp_path: Path) -> Tree:
    """A project of these files."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return Tree(tmp_path, tuple(FILES), (), git=True)


def found(command: list[str] | str, instrument: str = "spawn", **fields: Any) -> Found:
    """One benchmark."""
    return Found(fields.pop("kind", "python"), "here", [Proposed("a", command, [], instrument)], **fields)


def trial(told: str, *, build: bool = False, hint: str = "", **fields: Any) -> Mapping[str, Any]:
    """The JSON of a trial in which something failed."""
    failure = {"status": "exit 1", "stderr": told, "hint": hint}
    failures = () if build or "longer_than" in fields else (failure,)
    return {
        "failure": failure if build else None,
        "benchmarks": [{"benchmark": "a", "cases": [], "failures": failures, **fields}],
    }


def cured(folder: Path, before: Found, failed: Mapping[str, Any]) -> tuple[Found, str]:
    made = mended(before, tree(folder), lesson(failed))
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("before", "failed", "after"),
    [
        # Criterion 0.3.6
        (found(CRITERION), trial("error: Invalid value: The argument '0.1' isn't a valid value"), "--warm-up-time=1 --measurement-time=1"),
        # clap 4, getopt of glibc, Go's flag, argparse
        (found(["./b", "--quick", "x"]), trial("error: unexpected argument '--quick' found"), "./b x"),
        (found(["./b", "--min=1", "x"]), trial("./b: unrecognized option '--min=1'"), "./b x"),
        (found("cd a && ./b -test.fuzz=1 x"), trial("flag provided but not defined: -test.fuzz"), "cd a && ./b x"),
        (found(["python", "b.py", "--fast"]), trial("b.py: error: unrecognized arguments: --fast"), "python b.py"),
        # an extra of the project names it
        (found(["python", "b.py"]), trial("ModuleNotFoundError: No module named 'numpy'"), ".perfgate-env/bin/python b.py"),
        (found(["python", "b.py"]), trial("ModuleNotFoundError: No module named 'numpy'"), "pip install --quiet 'numpy>=1' wheel"),
        (found("x -m pytest", setup="python -m venv .perfgate-env && pip install a"), trial("No module named 'numpy.linalg'"), "pip install a 'numpy>=1' wheel"),
        (found("x b.py", setup="python -m venv .perfgate-env"), trial("No module named 'wheel'"), "python -m venv .perfgate-env && .perfgate-env/bin/pip install --quiet 'numpy>=1' wheel"),
        (found("python -m pytest a"), trial("pytest: error: unrecognized arguments: --benchmark-min-time=0.2"), "pytest-benchmark"),
        (found(["python", "b.py"]), trial("No module named 'own'"), "--target .perfgate-site ."),
        (found(["python", "b.py"]), trial("PackageNotFoundError: No package metadata was found for own"), "--target .perfgate-site ."),
        (found(["python", "-m", "pytest", "t"]), trial("FAILED t/test_a.py::test_b - x\n1 failed, 9 passed in 3.32s"), "t --deselect=t/test_a.py::test_b"),
        (found(["python", "-m", "pytest", "t"]), trial("".join(f"FAILED t/a.py::t{n} - x\n" for n in range(7)) + "7 failed, 90 passed in 3s"), "--deselect=t/a.py::t6"),
        # what an extra names is installed, and what none does is wanted by some tests only
        (found("x -m pytest", setup="python -m venv .perfgate-env"), trial("FAILED t/a.py::b - No module named 'arrow'\n1 failed, 9 passed"), "install --quiet lz4 arrow"),
        (found(["python", "-m", "pytest", "t"]), trial("FAILED t/a.py::b - No module named 'other'\n1 failed, 9 passed"), "t --deselect=t/a.py::b"),
        (found(["node", "b.js"], kind="npm", setup="npm ci"), trial("Error: Cannot find module '../dist/x.js'"), "npm run --silent build"),
        (found(["node", "b.js"], kind="npm"), trial("Error: Cannot find module 'ms'"), "npm install"),
        (found("x pytest t", "pytest-benchmark"), trial("import file mismatch:"), "pytest --import-mode=importlib t"),
        (found([], build="cargo bench --target-dir target --bench a"), trial("target `a` in package `x` requires the features: `f, g`", build=True), "--features f,g"),
        (found([], build="cargo bench --bench a"), trial("error[E0554]: `#![feature]` may not be used on the stable release channel", build=True), "cargo +nightly bench --bench a"),
        (found([], setup="mvn --quiet --batch-mode package"), trial("error: Source option 6 is no longer supported. Use 8 or later.", build=True), "-Dmaven.compiler.source=8 -Dmaven.compiler.target=8"),
        # but benchmarks that are among the tests are compiled with them
        (found([], setup="mvn package -DskipTests"), trial("[ERROR] /t/a/src/test/java/A.java:[2,3] cannot find", build=True), "mvn package -Dmaven.test.skip=true"),
        # a system's own pip may refuse to install anything
        (found([], build="python setup.py -q build_ext --inplace --force"), trial("configuration error", build=True), "env/bin/python -m pip install --quiet --no-deps --no-compile --target .perfgate-site ."),
        (found([], build="python -m cython m.pyx && python setup.py -q build_ext --inplace --force"), trial("configuration error", build=True), "env/bin/python -m cython m.pyx && rm -rf .perfgate-site"),
        (found([]), trial("", build=True, hint='declare them: [build] changes = ["gen/a.java"]'), "gen/a.java"),
        (found(["./b", "x"]), trial("b: cannot open 'in.txt': No such file or directory"), "cd data && ../b x"),
        (found(["data/run.sh", "data/a.txt"], kind="generic"), trial("cannot open 'in.txt'"), "cd data && ./run.sh data/a.txt"),
    ],
)  # fmt: skip
def test_a_failure_names_its_cure(tmp_path: Path, before: Found, failed: Mapping[str, Any], after: str) -> None:
    now, said = cured(tmp_path, before, failed)
    commands = [each.command if isinstance(each.command, str) else " ".join(each.command) for each in now.benchmarks]
    assert said and after in "\n".join([*commands, now.setup or "", now.build or "", *now.changes])
    # the same failure again has no other cure of that kind
    again = mended(now, tree(tmp_path), lesson(failed))
    assert again is None or again[0] != before


def test_a_command_with_words_of_a_shell_is_not_moved(tmp_path: Path) -> None:
    taught = lesson(trial("b: cannot open 'in.txt': No such file or directory"))
    for command in ("python -c 'import own' &&\npython b.py x", "./b x >{output}"):
        assert mended(found(command), tree(tmp_path), taught) is None


def test_a_script_beside_others_that_use_a_library_is_read_by_the_times_that_it_prints(tmp_path: Path) -> None:
    script = Proposed("a", "node b.js >{output}", [], "values", "benchmark_js")
    before = Found("npm", "here", [script], environment={"NODE_OPTIONS": "--require x"})
    now, said = cured(tmp_path, before, trial("no benchmark in the output"))
    assert (now.benchmarks[0].command, now.benchmarks[0].form, now.environment) == ("node b.js", "printed", {})
    assert said == "by the times that it prints"
    assert mended(now, tree(tmp_path), lesson(trial("no time in it"))) is None


def test_what_takes_longer_than_a_trial_has_a_larger_budget(tmp_path: Path) -> None:
    late = trial("", longer_than=60.0)
    now, _ = cured(tmp_path, found(["./b"], amount=Amount(2, 5, 1)), late)
    assert now.plan == Amount(1, 5, budget=30)
    assert mended(now, tree(tmp_path), lesson(late)) is None
    # a suite has its own least number
    now, _ = cured(tmp_path, found(["./b"], "criterion", amount=Amount(2, 5, 1)), late)
    assert now.plan == Amount(1, 5, 1, budget=30)


def test_what_names_no_cure_is_left(tmp_path: Path) -> None:
    build = trial("undefined reference to `f'", build=True)
    for failed in (trial("Segmentation fault"), build, trial("usage: b FILE")):
        taught = lesson(failed)
        assert taught and all(map(reason, taught.values()))
        assert mended(found(["./b"]), tree(tmp_path), taught) is None
    # a heading is no reason
    told = "time-out after 10m\n--- standard error ---\nPicked up JAVA_TOOL_OPTIONS: -Derror=1\n"
    assert reason(told) == "time-out after 10m"


def test_beside_others_what_fails_is_left_out_with_its_reason(tmp_path: Path) -> None:
    two = Found("go", "here", [Proposed("a", ["x"], built=("./a",)), Proposed("b", ["y"])], "go test -c ./a ./b")
    now, _ = cured(tmp_path, two, trial("panic: no database"))
    assert ([each.name for each in now.benchmarks], now.build) == (["b"], "go test -c ./b")
    assert now.rows[0].became == "left out: exit 1" or "panic" in now.rows[0].became
    # where the library of others prints what is read, it is the file that fails
    files = [Proposed(name, f"node {name}.js >{{output}}", [], "values", "benchmark_js") for name in "ab"]
    now, _ = cured(tmp_path, Found("npm", "here", files), trial("TypeError: x is not a function"))
    assert [(each.name, each.form) for each in now.benchmarks] == [("b", "benchmark_js")]


def test_where_a_script_fails_another_one_is_measured(tmp_path: Path) -> None:
    rows = [Row("script b/second.py", "left out"), Row("script third.py", "left out")]
    others = (Proposed("second", ["python", "b/second.py"]), Proposed("third", ["python", "third.py"]))
    failed = {**trial("NameError: xrange"), "failure": None}
    now, said = cured(tmp_path, found(["python", "a.py"], rows=rows, instead=others), failed)
    assert ([each.name for each in now.benchmarks], now.instead, said) == (["second"], others[1:], "second instead")
    assert [row.what for row in now.rows] == ["a", "script third.py"]
    assert "NameError" in now.rows[0].became


def test_results_that_are_alike_but_for_the_owner_of_another_package_are_not_judged() -> None:
    others = ("levenshtein", "arbovm/", "google/")
    names = ["All/case=x/impl=agniva", "All/case=x/impl=arbovm", "Simple/google", "arbovm/y"]
    cases = [{"benchmark": f"a/{name}", "metric": "time", "mean": 1.0, "decided": True} for name in names]
    told = {"benchmarks": [{"benchmark": "a", "cases": cases}]}
    made, said = comparable(found(["./b"], "go", name="levenshtein", others=others), told)
    # data may have such a name, and no case beside it is the project's own
    assert (made.benchmark.exclude, len(said)) == (["All/case=x/impl=arbovm"], 1)


def test_what_is_compared_with_the_project_case_by_case_is_not_judged() -> None:
    names = ["f32[0]/ryu", "f32[0]/std::fmt", "f32[e]/ryu", "f32[e]/std::fmt", "f32[e]/ryu_raw", "once/ryu", "once/all"]
    cases = [{"benchmark": f"a/{name}", "metric": "time", "mean": 1.0, "decided": True} for name in names]
    told = {"benchmarks": [{"benchmark": "a", "cases": cases}]}
    made, said = comparable(found(["./b"], "criterion", name="ryu"), told)
    # what is named beside the project once may be a case of its own
    assert (made.benchmark.exclude, len(said)) == (["*std::fmt*"], 1)
    assert comparable(found(["./b"], "criterion"), told)[1] == []
    cases = [{**cases[0], "benchmark": f"a/{of}_{n}"} for of in ("get_hashmap", "get_indexmap", "sort") for n in (1, 2)]
    made, said = comparable(
        found(["./b"], "criterion", name="indexmap"), {"benchmarks": [{"benchmark": "a", "cases": cases}]}
    )
    assert made.benchmark.exclude == ["*hashmap*"]
    # what else it has beside its own name may be its own, but for what it needs
    cases = [
        {**cases[0], "benchmark": f"a/{name}"}
        for name in ("put/json", "put/he", "put/text", "get/json", "get/he", "get/text")
    ]
    made, said = comparable(
        found(["./b"], "criterion", name="json", others=("he",)), {"benchmarks": [{"benchmark": "a", "cases": cases}]}
    )
    assert made.benchmark.exclude == ["*he*"]
    # Go has words for parts
    cases = [
        {**cases[0], "benchmark": f"a/Benchmark{n}{of}Match"}
        for n in ("All", "Plain")
        for of in ("Glob", "Regexp", "Row")
    ]
    made, said = comparable(found(["./b"], "go", name="glob"), {"benchmarks": [{"benchmark": "a", "cases": cases}]})
    assert made.benchmark.exclude == ["*Regexp*"]


def test_a_package_that_every_label_names_is_the_tool() -> None:
    names = (
        "pytest/b/test_a.py::test_spec",
        "pytest/b/test_a.py::test_markdown_it_py",
        "pytest/b/test_a.py::test_mistune",
    )
    cases = [{"benchmark": "a", "metric": n, "mean": 1.0, "decided": True} for n in names]
    told = {"benchmarks": [{"benchmark": "a", "instrument": "values", "cases": cases}]}
    suite_ = replace(found(["./b"], "values"), name="markdown-it-py", others=("pytest", "mistune"))
    assert comparable(suite_, told)[0].benchmark.exclude == ["*mistune*"]


def test_results_of_other_packages_and_of_nothing_are_not_judged() -> None:
    means = {"easyjson small": 1.0, "mine": 1.0, "JsonParser easyjson": 1.0, "empty": 0.0, "Ease": 1.0}
    cases = [{"benchmark": "a", "metric": n, "mean": each, "decided": True} for n, each in means.items()]
    told = {"benchmarks": [{"benchmark": "a", "instrument": "values", "cases": cases}]}
    suite_ = replace(found(["./b"], "values"), name="jsonparser", others=("easyjson", "eas"))
    made, said = comparable(suite_, told)
    assert made.benchmark.exclude == ["easyjson small", "empty"]
    assert said == [
        "1 result of other packages: easyjson small",
        "1 result of 0, too little for what measures it: empty",
    ]
    # a name is a word of its own
    apart = replace(suite_, others=("easyjso", "eas"))
    assert comparable(apart, told)[0].benchmark.exclude == ["empty"]
    # whose own name may stand in theirs
    within = replace(suite_, name="json", others=("easyjson",))
    assert comparable(within, told)[0].benchmark.exclude == ["easyjson small", "empty"]
    # whose name may be a part of the project's
    longer = replace(suite_, name="fast-json-parser", others=("json-parser", "easyjson"))
    assert comparable(
        longer,
        {
            **told,
            "benchmarks": [
                {
                    **told["benchmarks"][0],
                    "cases": [
                        {"benchmark": "a", "metric": n, "mean": 1.0, "decided": True}
                        for n in ("fast-json-parser", "json-parser", "easyjson")
                    ],
                }
            ],
        },
    )[0].benchmark.exclude == ["*easyjson*", "json-parser"]
    # by what they have in common, where nothing else has it
    several = replace(suite_, name="mine", others=("go-json-parser-x", "easy-json"))
    assert comparable(several, told)[0].benchmark.exclude == ["*easyjson*", "empty"]
    # nothing is compared with a project that nothing names
    assert comparable(replace(several, name="own"), told)[0].benchmark.exclude == ["empty"]
    # of those that are named one by one they are not
    chosen = replace(suite_, benchmarks=[replace(suite_.benchmark, include=[*means])])
    named, _ = comparable(chosen, told)
    assert (named.benchmark.include, named.benchmark.exclude) == (["mine", "JsonParser easyjson", "Ease"], [])
    # they are not chosen of either, and what has nothing else stays
    assert comparable(made, told) == (made, [])
    alone = {"benchmarks": [{"benchmark": "a", "instrument": "values", "cases": cases[3:4]}]}
    assert comparable(suite_, alone) == (suite_, [])


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="what a processor can do is read from Linux")
def test_what_cmake_compiles_for_other_processors_is_switched_off(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text('option(OWN_WITH_AVX999 "x" ON)\noption(OWN_TESTS "x" OFF)\n')
    here = Tree(tmp_path, ("CMakeLists.txt",), (), git=True)
    build = "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build"
    made = mended(found(["./b"], build=build), here, {"a": "signal SIGILL"})
    assert made is not None
    assert made[0].build == build.replace("Release", "Release -DOWN_WITH_AVX999=OFF")
    assert mended(made[0], here, {"a": "signal SIGSEGV"}) is None
    assert mended(found(["./b"], build="make"), here, {"a": "signal SIGILL"}) is None


def test_cases_that_fail_beside_more_that_do_not_are_left_out() -> None:
    def told(*failing: str) -> Mapping[str, Any]:
        cases = [{"benchmark": f"a/{name}", "metric": "time", "decided": True, "mean": 1.0} for name in "xyz"]
        failures = [{"benchmark": each, "status": "two benchmarks have this name"} for each in failing]
        return {"benchmarks": [{"benchmark": "a", "cases": cases, "failures": failures}]}

    suited = found(["./b"], "google-benchmark")
    made, said = comparable(suited, told("a/v", "a/w"))
    assert (made.benchmark.exclude, len(said)) == (["v", "w"], 1)
    assert lesson(told("a/v", "a/w"), made) == {}
    assert [*lesson(told("a/v", "a/u"), made)] == ["a"]
    # nothing failed, the suite did, or it hardly works
    for each in ((), ("a",), ("a/x", "a"), ("a/s", "a/t", "a/u", "a/v")):
        assert comparable(suited, told(*each)) == (suited, [])


def test_a_requirement_is_named_once_as_it_is_asked_for() -> None:
    asked = ["pytest", "a_b", "pytest>=8", "pytest<9", "x[y]", "X", "c; python_version < '3'"]
    assert pip_words(asked) == ["a_b", "pytest>=8", "pytest<9", "x[y]"]
