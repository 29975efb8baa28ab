"""perfgate init --from: what the workflow, script or configuration of another gate says is taken over."""

import re
from io import StringIO
from pathlib import Path

import pytest

from gate.cli.main import main
from gate.commands.init.former import Former, read_former, same
from gate.commands.init.found import Found, Proposed

ACTION = """\
      - run: go test -bench='Encode|Decode' ./... | tee output.txt
      - uses: benchmark-action/github-action-benchmark@v1
        with:
          tool: 'go'
          output-file-path: output.txt
          alert-threshold: '115%'
"""
CODSPEED = "      - uses: CodSpeedHQ/action@v3\n        with:\n          run: pytest tests/ --codspeed\n"
CODSPEED_RUST = "      - run: cargo codspeed build\n      - uses: CodSpeedHQ/action@v3\n        with:\n          run: cargo codspeed run\n"
BENCHER = """\
bencher run --project x --threshold-measure latency --threshold-test percentage \\
  --threshold-upper-boundary 0.25 --adapter rust_criterion "cargo bench"
"""
ASV = "asv continuous --factor 1.1 origin/main HEAD\n"
PYTEST = "pytest --benchmark-compare=0001 --benchmark-compare-fail=mean:5%\n"
BENCHSTAT = "go test -run='^$' -bench=. -count=10 > new.txt\nbenchstat old.txt new.txt\n"
BOTH = ACTION.replace("alert", "comment-on-alert: true\n          alert").replace(
    "'115%'", "'150%' # of the last\n          fail-threshold: 130%"
)
STUDENT = "bencher run --threshold-test t_test --threshold-upper-boundary 0.99 --adapter json 'make bench'\n"
CRITERION = "cargo bench -- --save-baseline main\ncargo bench -- --baseline main --noise-threshold 0.03\n"
HYPERFINE = (
    "#!/bin/sh\nhyperfine --warmup 3 -r 20 './app a.txt' 'app \"b c\"' --export-json out.json\nhyperfine \"$1\"\n"
)


def read(folder: Path, text: str) -> Former:
    (folder / "former").write_text(text)
    return read_former(folder / "former")


@pytest.mark.parametrize(
    ("text", "gate", "kind", "threshold"),
    [
        (ACTION, "github-action-benchmark", "go", 15.0),
        (BOTH, "github-action-benchmark", "go", 30.0),
        (STUDENT, "Bencher", None, None),
        ("asv continuous --only-changed -f 1.8 a b", "asv", "asv", 80.0),
        ("- uses: boa-dev/criterion-compare-action@v3", "Criterion", "cargo", None),
        (CODSPEED, "CodSpeed", "pytest-benchmark", None),
        (CODSPEED_RUST, "CodSpeed", "cargo", None),
        (BENCHER, "Bencher", "cargo", 25.0),
        (ASV, "asv", "asv", 10.0),
        (PYTEST, "pytest-benchmark", "pytest-benchmark", 5.0),
        (BENCHSTAT, "benchstat", "go", None),
        (CRITERION, "Criterion", "cargo", 3.0),
        (HYPERFINE, "hyperfine", None, None),
        ('{"version": 1, "benchmark_dir": "asvb"}', "asv", "asv", None),
    ],
)
def test_a_former_gate_is_read(tmp_path: Path, text: str, gate: str, kind: str | None, threshold: float | None) -> None:
    former = read(tmp_path, text)
    assert (former.gate, former.kind, former.threshold) == (gate, kind, threshold)


def test_a_file_is_named_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bench.sh").write_text(HYPERFINE)
    Path("other.txt").write_text("hello")
    assert main(["init", "--from", "bench.sh", "--no-try"], StringIO(), StringIO()) == 0
    written = Path("perfgate.toml").read_text()
    assert "./app a.txt" in written and re.findall(r"warmup = (\d+)", written) == ["3", "3"]
    refused = {"nothere.yml": ": no such file", ".": ": is a folder, not a file", "other.txt": " is no workflow"}
    for name, why in refused.items():
        err = StringIO()
        assert main(["init", "--force", "--from", name], StringIO(), err) == 2
        assert err.getvalue().startswith(f"perfgate: --from {name}{why}") and err.getvalue().count("\n") == 1


def test_what_it_measured_is_measured(tmp_path: Path) -> None:
    of = [Proposed("a", ["./b", "-test.bench=."], [], "go"), Proposed("c", "cd c && ./b -test.bench=.")]
    taken = same(Found("go", "x", of), read(tmp_path, ACTION))
    assert taken.threshold == "15%"
    assert taken.benchmark.command == ["./b", "-test.bench=Encode|Decode"]
    assert taken.benchmarks[1].command == "cd c && ./b '-test.bench=Encode|Decode'"
    taken = same(Found("make", "x", [Proposed("a", ["./a"])], "make"), read(tmp_path, HYPERFINE))
    assert [(each.name, each.command) for each in taken.benchmarks] == [("app", "./app a.txt"), ("app-2", 'app "b c"')]
    assert taken.build == "make"


SCRIPT = """\
#!/bin/bash
# uses hyperfine to compare
apt-get install -y hyperfine jq
bench:
\thyperfine --warmup 5 \\
\t  'out/cx --ast < /dev/null' \\
\t  "out/cx -c 'x=1; y=2'" --export-markdown bench.md 2>&1 | tee out.txt
hyperfine -N "$ZISH -c true" 'sh -c true; wc'
hyperfine -w3 --runs=9 -L size 1,2 -P n 1 9 -n 'the small one' './cx a' --command-name large './cx b {size}'
"""


def test_commands_of_a_script_are_measured_as_they_are(tmp_path: Path) -> None:
    hooked = {"NODE_OPTIONS": "--import=x", "PYTHONPATH": "."}
    taken = same(Found("make", "x", [Proposed("a", ["./a"])], "make", environment=hooked), read(tmp_path, SCRIPT))
    assert [(each.name, each.command) for each in taken.benchmarks] == [
        ("cx", "out/cx --ast < /dev/null"),
        ("cx-2", "out/cx -c 'x=1; y=2'"),
        ("sh", "sh -c true; wc"),
        ("the small one", "./cx a"),
    ]
    assert taken.plan.warmup == 5
    # nothing is left out in silence
    assert [row.what for row in taken.rows] == ["$ZISH -c true", "./cx b {size}"]
    # what shortens the benchmarks of a library is not for a whole run
    assert taken.environment == {"PYTHONPATH": "."}


TWO = [
    Proposed("trees", "cd trees && ../b -test.bench=.", built=("trees",)),
    Proposed("x-trees", ["./c"], built=("x-trees",)),
    Proposed("y", ["./b"], built=("y",)),
]
ASV_SUITE = [Proposed("asv", "x")]
TESTS = [Proposed("pytest", "set -e\npython -m pytest -q tests/a/test_b.py tests/test_c.py")]


LOG = "benchstat old.txt new.txt"


@pytest.mark.parametrize(
    ("kind", "benchmarks", "text", "command", "count"),
    [
        ("go", TWO, f"go test ./trees/ -run XXX -bench BenchmarkTree\n{LOG}", "BenchmarkTree", 2),
        ("go", TWO, f"go test -bench=. ./...\n{LOG}", "-test.bench=.", 3),
        ("cargo", TWO, "cargo bench --bench y -- --save-baseline pr", "./b", 1),
        ("cargo", TWO, "cargo bench -- --save-baseline pr", "trees", 3),
        ("asv", ASV_SUITE, "asv continuous -b 'Suite.time_[ab]' HEAD~ HEAD", "x '--bench=Suite.time_[ab]'", 1),
        ("pytest-benchmark", TESTS, "  run: uv run pytest tests/a/ --codspeed", "pytest -q tests/a/test_b.py'", 1),
        ("pytest-benchmark", TESTS, "  run: pytest tests/ --codspeed", "tests/a/test_b.py tests/test_c.py'", 1),
    ],
)
def test_what_it_chose_is_chosen(
    tmp_path: Path, kind: str, benchmarks: list[Proposed], text: str, command: str, count: int
) -> None:
    build = " ".join(["make", *(each.name for each in benchmarks)])
    taken = same(Found(kind, "x", benchmarks, build), read(tmp_path, text))
    assert str(taken.build).split()[1:] == [each.name for each in taken.benchmarks]
    assert command in repr(taken.benchmark.command).replace('"', "'").replace("\\'", "'")
    assert (len(taken.benchmarks), len(taken.rows)) == (count, len(benchmarks) - count)


def test_a_folder_of_the_other_gate_is_named(tmp_path: Path) -> None:
    former = read(tmp_path, f"{CODSPEED.splitlines()[0]}\n  with:\n    working-directory: inner\n    run: pnpm bench\n")
    assert former.kind == "npm"
    assert "--project inner" in same(Found("npm", "x", [Proposed("a", ["b"])]), former).notes[0]
