"""What a trial teaches: each cure by what tools really say, and the cases that are chosen of a large suite."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.commands.init.found import Amount, Found, Proposed, Row
from gate.commands.init.mend import (
    CHOOSES,
    by_cpu_time,
    comparable,
    fitted,
    lesson,
    mended,
    reason,
    representatives,
)
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


def chosen_of(suited: Found, told: Mapping[str, Any]) -> tuple[Found, int, int]:
    made = representatives(suited, told)
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


def test_where_a_script_fails_another_one_is_measured(tmp_path: Path) -> None:
    rows = [Row("script b/second.py", "left out"), Row("script third.py", "left out")]
    others = (Proposed("second", ["python", "b/second.py"]), Proposed("third", ["python", "third.py"]))
    failed = {**trial("NameError: xrange"), "failure": None}
    now, said = cured(tmp_path, found(["python", "a.py"], rows=rows, instead=others), failed)
    assert ([each.name for each in now.benchmarks], now.instead, said) == (["second"], others[1:], "second instead")
    assert [row.what for row in now.rows] == ["a", "script third.py"]
    assert "NameError" in now.rows[0].became


def suite(names: list[str], instrument: str) -> Mapping[str, Any]:
    """A trial of many cases; those further back are faster."""
    cases = []
    for n, name in enumerate(names):
        # those of formats are read by the instrument values
        of = ("a", f"{name}.median") if instrument in ("divan", "libtest") else (f"a/{name}", "time")
        cases.append({"benchmark": of[0], "metric": of[1], "mean": 1.0 / (1 + n), "decided": True})
    return {"benchmarks": [{"benchmark": "a", "instrument": instrument, "cases": cases}]}


@pytest.mark.parametrize(
    ("instrument", "command", "names", "after"),
    [
        ("google-benchmark", ["./b"], [f"BM_{g}/{n}" for g in "xy" for n in range(30)], ["BM_x/29", "BM_y/29"]),
        ("criterion", ["./b", "--bench"], [f"{g}/{n}" for g in "xy" for n in range(30)], ["x/29", "y/29"]),
        ("go", ["./b", "-test.bench=."], [f"Benchmark{g}/{n}" for g in "XY" for n in range(30)], ["BenchmarkX/29", "BenchmarkY/29"]),
        ("asv", "x &&\npython -m perfgate_asv b", [f"m.time_{g}({n})" for g in "xy" for n in range(30)], ["m.time_x(29)", "m.time_y(29)"]),
        ("divan", ["./b", "--bench"], [f"{g}::{n}" for g in "xy" for n in range(30)], ["x::29", "y::29"]),
        ("libtest", ["./b", "--bench"], [f"{g}::b{n}" for g in "xy" for n in range(30)], ["x::b29", "y::b29"]),
        ("jmh", ["java", "-jar", "b.jar"], [f"o.{g}.m:{{n={n}}}:avgt" for g in "XY" for n in range(30)], "-p n=29 ^(o\\.X\\.m|o\\.Y\\.m)$"),
        ("pytest-benchmark", "set -e\npython -m pytest -q t/b.py", [f"t/b.py::test_{g}[{n}]" for g in "xy" for n in range(30)], "pytest -q 't/b.py::test_x[29]' 't/b.py::test_y[29]'"),
    ],
)  # fmt: skip
def test_the_fastest_of_each(
    instrument: str, command: list[str] | str, names: list[str], after: str | list[str]
) -> None:
    suited = found(command, instrument)
    if instrument in ("divan", "libtest"):
        suited = replace(suited, benchmarks=[replace(suited.benchmark, instrument="values", form=instrument)])
    few, chosen, total = chosen_of(suited, suite(names, instrument))
    assert (chosen, total) == (2, 60)
    if isinstance(after, str):
        own = few.benchmark.command
        assert after in (own if isinstance(own, str) else " ".join(own))
        assert few.benchmark.include == []
    else:
        assert (few.benchmark.include, few.benchmark.command) == (after, command)
    assert few.rows[0].what == "58 of 60 cases"


def test_of_a_suite_that_took_too_long_a_few_of_its_own_list_are_chosen() -> None:
    names = [f"g{n % 20}/{n}" for n in range(60)]
    told = {"benchmarks": [{"benchmark": "a", "cases": [], "failures": [], "longer_than": 60.0, "names": names}]}
    few, *counts = chosen_of(found(["./b"], "criterion"), told)
    assert (counts, len(few.benchmark.include)) == ([8, 60], 8)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How many programs want a processor, of which there are two: one."""
    now = [1.0]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("os.getloadavg", lambda: (now[0], 9.0, 9.0))
    return now


HOOKED = {"NODE_OPTIONS": f"--import=data:,{CHOOSES}"}


def late(seconds: float, printed: list[str], names: list[str]) -> Mapping[str, Any]:
    """A trial whose start was ended, with what it had printed by then and the suite's own list."""
    cases = [{"benchmark": "a", "metric": name, "mean": 1e-6, "decided": True} for name in printed]
    own = {"benchmark": "a", "cases": cases, "failures": [], "longer_than": seconds, "names": names}
    return {"benchmarks": [own], "cost": {**costs(1, 2 * seconds), "least": True}}


@pytest.mark.parametrize(
    ("printed", "names", "chosen"),
    [
        # half a second each: two seconds of them, of the whole list where there is one
        (120, [f"m{n}::a" for n in range(216)], 4),
        (120, [], 4),
        # 5 s each: eight rounds of both sides hold three
        (12, [f"m{n}::a" for n in range(216)], 3),
        (12, [], 3),
        # one of 30 s; and what had none by then
        (2, [], 1),
        (0, [f"m{n}::a" for n in range(216)], 1),
    ],
)
@pytest.mark.usefixtures("load")
def test_of_what_was_ended_as_many_are_chosen_as_its_pace_allows(printed: int, names: list[str], chosen: int) -> None:
    libtest = replace(found(["./b"]).benchmark, instrument="values", form="libtest")
    suited = replace(found([], amount=Amount(1, 1, budget=30)), benchmarks=[libtest])
    told = late(60.0, [f"m{n}::a" for n in range(printed)], names)
    assert "no values within" in lesson(told)["a"]
    few, count, total = chosen_of(suited, told)
    assert (count, total, len(few.benchmark.include)) == (chosen, len(names) or printed, chosen)
    assert {*few.benchmark.include} <= {*names} or not names
    # it has time for them in the usual budget
    assert few.plan.budget == 10
    # if that is late too nothing else can be chosen of one
    again = representatives(few, late(60.0, [], names)) if chosen == 1 else None
    assert again is None


def test_what_is_loaded_into_a_script_chooses_among_its_names(load: list[float]) -> None:
    names = [f"own: case {n}" for n in range(20)]
    cases = [{"benchmark": "a", "metric": name, "mean": 1e-6, "decided": True} for name in names]
    # 10 s a start, both sides twice: a fifth of that
    told = {"benchmarks": [{"benchmark": "a", "cases": cases}], "cost": costs(1, 20.0), "plans": {}}
    suited = found(["node", "b.js"], "values", environment=HOOKED, amount=Amount(1, 1, budget=20))
    few, chosen, total = chosen_of(suited, told)
    assert (chosen, total, few.plan.budget) == (4, 20, 10)
    assert few.benchmark.include == [names[n] for n in (0, 13, 18, 5)]
    assert representatives(few, {**told, "cost": costs(1, 4.0)}) is None
    # it is slow because of other programs: each has a third of a processor
    load[0] = 6.0
    assert chosen_of(suited, told)[1] == 12
    # a script that nothing is loaded into stays whole
    assert representatives(replace(suited, environment={}), told) is None


@pytest.mark.parametrize(("start", "chosen"), [(4.9, None), (10.0, 16), (20.0, 8), (100.0, 4)])
def test_of_cases_that_each_start_processes_as_many_are_chosen_as_make_a_short_start(
    start: float, chosen: int | None, load: list[float]
) -> None:
    load[0] = 1.0
    names = [f"wpt_{n:02}" for n in range(35)]
    told = {**suite(names, "pyperf"), "cost": costs(1, 2 * start), "plans": {}}
    made = representatives(found(["./b", "--min-time=0.01"], "pyperf", amount=Amount(1, 5)), told)
    assert (made[1] if made else None) == chosen
    assert made is None or {*made[0].benchmark.include} < {*names}


def test_of_what_no_budget_holds_as_many_are_chosen_as_one_has_room_for() -> None:
    many = suite([f"o.C{n % 8}.m:{{k=a{n}}}:avgt" for n in range(30)], "jmh")
    # leaner counts of which a budget holds few are no help
    for executions, leaner, count in (
        (400.0, None, 4),
        (400.0, 5, 4),
        (400.0, 8, None),
        (1e5, None, 1),
        (90.0, None, None),
    ):
        told = {**many, "cost": costs(0, executions), "plans": {"leaner": leaner and {"builds": leaner}}}
        made = representatives(found(["java"], "jmh"), told)
        assert (made[1] if made else None) == count
    # where nothing is decided nothing is chosen
    nothing = {**suite([], "criterion"), "cost": costs(0, 1e5), "plans": {}}
    assert representatives(found(["./b"], "criterion"), nothing) is None


@pytest.mark.parametrize(
    ("instrument", "option"),
    [("go", "-test.benchtime=20ms"), ("google-benchmark", "--benchmark_min_time=0.02"), ("asv", "--sample-time=0.02")],
)
def test_a_few_slow_cases_are_left_out_before_a_budget_grows(instrument: str, option: str) -> None:
    # where leaner counts fit only what takes most of the time for little
    for slow, lean, chosen in ((1, None, 9), (4, None, 6), (6, None, None), (1, 12, 9), (4, 12, None)):
        means = {f"Benchmark{n}": 2.0 if n < slow else 1e-6 for n in range(10)}
        cases = [{"benchmark": f"a/{n}", "metric": "time", "mean": each, "decided": True} for n, each in means.items()]
        told = {
            "benchmarks": [{"benchmark": "a", "instrument": "go", "cases": cases}],
            "cost": {"once": 20.0, "builds": 4.0, "executions": 60.0 * slow + 100.0, "least": False},
            "plans": {"leaner": lean and {"builds": lean}, "enough": 1500.0},
        }
        made = representatives(found(["./b", option], instrument), told)
        assert (made[1:] if made else None) == (chosen and (chosen, 10))
        assert not made or made[0].benchmark.include == [f"Benchmark{n}" for n in range(slow, 10)]


@pytest.mark.parametrize(("finds", "chosen"), [(0.05, None), (0.5, (9, 10)), (None, (9, 10))])
def test_a_few_slow_cases_are_left_out_where_a_plan_that_fits_finds_little(
    finds: float | None, chosen: tuple[int, int] | None
) -> None:
    means = {f"Benchmark{n}": 2.0 if n < 1 else 1e-6 for n in range(10)}
    cases = [{"benchmark": f"a/{n}", "metric": "time", "mean": each, "decided": True} for n, each in means.items()]
    told = {
        "benchmarks": [{"benchmark": "a", "instrument": "go", "cases": cases}],
        "cost": {"once": 5.0, "builds": 4.0, "executions": 20.0, "least": False},
        "plans": {"fit": {"builds": 5, "finds": finds}, "leaner": {"builds": 5}},
    }
    made = representatives(found(["./b", "-test.benchtime=20ms"], "go"), told)
    assert (made[1:] if made else None) == chosen


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


# less than twice as noisy; it waits; active time decides; another instrument has other times
@pytest.mark.parametrize(
    "change", [{}, {"spread": 0.09}, {"user": 0.8}, {"decided": False}, {"instrument": "hyperfine"}]
)
def test_cpu_time_decides_where_the_time_of_several_tasks_is_too_noisy(change: dict[str, Any]) -> None:
    of: dict[str, Any] = {"spread": 0.12, "user": 0.95, "decided": True, "instrument": "spawn", **change}
    before = found(["./bench"], of["instrument"])
    times = [("time", 2.0, of["spread"], of["decided"]), ("user", of["user"], 0.05, False)]
    times += [("system", 0.0, 0.05, False), ("active", 1.0, 0.05, False)]
    cases = [
        dict(zip(("metric", "mean", "spread", "decided"), each, strict=True)) | {"benchmark": "a"} for each in times
    ]
    after, named = by_cpu_time(before, {"benchmarks": [{"benchmark": "a", "cases": cases}]})
    assert (after.benchmark.metrics, named) == (([], []) if change else (["user"], ["a"]))
    assert replace(after, benchmarks=before.benchmarks) == before


def test_a_small_suite_is_measured_whole_and_few_of_many_cases_are_executed_as_often() -> None:
    assert representatives(found(["./b"], "criterion"), suite(["x", "y"], "criterion")) is None
    # no filter of it is known
    assert representatives(found(["./b"], "hyperfine"), suite([f"c{n}" for n in range(60)], "hyperfine")) is None
    names = [f"Benchmark{g}/{n}" for g in "XY" for n in range(30)]
    few, chosen, _ = chosen_of(found(["./b", "-test.benchtime=10ms"], "go", amount=Amount(2, 5)), suite(names, "go"))
    assert (chosen, few.plan.executions) == (2, 10)


def costs(builds: float, executions: float, starts: int | None = None) -> Mapping[str, Any]:
    """What a round costs."""
    own = {} if starts is None else {"a": starts}
    return {"once": 0.0, "builds": builds, "executions": executions, "least": False, "starts": own}


@pytest.mark.parametrize(
    ("instrument", "before", "cost", "plans", "after"),
    [
        # long builds: two executions are no burden beside them
        ("go", Amount(2, 5), costs(90, 9), {}, Amount(2, 5)),
        ("go", Amount(2, 5), costs(90, 9), {"leaner": {"executions": 1, "iterations": 3}}, Amount(1, 3)),
        # twelve rounds in five minutes
        ("go", Amount(10, 5), costs(2, 100), {}, Amount(1, 5)),
        ("go", Amount(10, 5), costs(2, 50), {}, Amount(3, 5)),
        # more where little is found and there is room
        ("go", Amount(2, 5), costs(2, 2), {"fit": {"finds": 0.07}}, Amount(2, 5)),
        ("go", Amount(2, 5), costs(2, 2), {"fit": {"finds": 0.3}}, Amount(9, 5)),
        ("go", Amount(2, 5), costs(2, 4), {"fit": {"finds": None}}, Amount(4, 5)),
        # starts count themselves; a long one needs no other before it
        ("spawn", Amount(2, 5, 1), costs(2, 40, 2), {"leaner": {"executions": 1, "iterations": 3}}, Amount(2, 5)),
        ("spawn", Amount(2, 5, 1), costs(2, 40, 10), {}, Amount(2, 5, 1)),
    ],
)  # fmt: skip
def test_counts_are_those_that_give_a_verdict_in_five_minutes(
    instrument: str, before: Amount, cost: Mapping[str, Any], plans: Mapping[str, Any], after: Amount
) -> None:
    assert fitted(found(["x"], instrument, amount=before), {"cost": cost, "plans": plans}).plan == after


def test_what_a_trial_found_too_little_is_written_larger() -> None:
    cost = costs(90, 90)
    told: dict[str, Any] = {"cost": cost, "plans": {"enough": 1510.0}, "built": {"seconds": 250.0}}
    made = fitted(found(["x"], "jmh", amount=Amount(1, 5)), told)
    assert (made.plan.budget, made.timeout) == (30, "30m")
    # nobody waits that long for a pull request
    told["plans"] = {"enough": 2400.0}
    assert fitted(found(["x"], "jmh", amount=Amount(1, 5)), told).plan.budget == 10


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


def test_what_asks_for_many_times_the_values_of_the_others_is_not_chosen() -> None:
    counts = {f"group{n}/a": 4000 if n == 3 else 40 for n in range(80)}
    cases = [
        {"benchmark": f"a/{name}", "metric": "time", "mean": 1.0, "decided": True, "values": each}
        for name, each in counts.items()
    ]
    told = {"benchmarks": [{"benchmark": "a", "instrument": "criterion", "cases": cases}]}
    few = {**told, "benchmarks": [{**told["benchmarks"][0], "cases": cases[:41]}]}
    for each in (told, few):
        made = representatives(found(["./b"], "criterion"), each)
        assert made is not None
        assert len(made[0].benchmark.include) == 16
        assert "group3/a" not in made[0].benchmark.include
