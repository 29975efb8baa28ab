"""perfgate init --from: what the workflow, script or configuration of another gate says is taken over."""

from pathlib import Path

import pytest

from gate.commands.init.former import read_former, same
from gate.commands.init.found import Found, Measured
from gate.model import UserError

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
CRITERION = "cargo bench -- --save-baseline main\ncargo bench -- --baseline main --noise-threshold 0.03\n"
HYPERFINE = (
    "#!/bin/sh\nhyperfine --warmup 3 -r 20 './app a.txt' 'app \"b c\"' --export-json out.json\nhyperfine \"$1\"\n"
)


@pytest.mark.parametrize(
    ("text", "gate", "kind", "threshold"),
    [
        (ACTION, "github-action-benchmark", "go", 15.0),
        (CODSPEED, "CodSpeed", "pytest-benchmark", None),
        (CODSPEED_RUST, "CodSpeed", "cargo", None),
        (BENCHER, "Bencher", "cargo", 25.0),
        (ASV, "asv", "asv", 10.0),
        (PYTEST, "pytest-benchmark", "pytest-benchmark", 5.0),
        (BENCHSTAT, "benchstat", "go", None),
        (CRITERION, "Criterion", "cargo", 3.0),
        (HYPERFINE, "hyperfine", None, None),
        ('{"version": 1, "benchmark_dir": "b"}', "asv", None, None),
    ],
)
def test_a_former_gate_is_read(tmp_path: Path, text: str, gate: str, kind: str | None, threshold: float | None) -> None:
    file = tmp_path / "former"
    file.write_text(text)
    former = read_former(file)
    assert (former.gate, former.kind if gate != "asv" or kind else None, former.threshold) == (gate, kind, threshold)


def test_what_it_measured_is_measured(tmp_path: Path) -> None:
    file = tmp_path / "former"
    file.write_text(ACTION)
    go = Found(
        "go", "x", [Measured("a", ["./b", "-test.bench=."], [], "go"), Measured("c", "cd c && ./b -test.bench=.")]
    )
    taken = same(go, read_former(file))
    assert taken.threshold == "15%"
    assert taken.benchmark.command == ["./b", "-test.bench=Encode|Decode"]
    assert taken.benchmarks[1].command == "cd c && ./b '-test.bench=Encode|Decode'"
    file.write_text(HYPERFINE)
    taken = same(Found("make", "x", [Measured("a", ["./a"])], "make"), read_former(file))
    assert [(each.name, each.command) for each in taken.benchmarks] == [("app", "./app a.txt"), ("app-2", 'app "b c"')]
    assert taken.build == "make"


def test_a_file_of_no_gate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ci.yml").write_text("on: push\n")
    for name in ("ci.yml", "absent"):
        with pytest.raises(UserError, match=r"known|cannot be read"):
            read_former(tmp_path / name)
