"""Whatever the bytes of measurements, a report, a history or rules: a result, or one line, and no fault of perfgate."""

import io
import random
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from gate.cli.main import main
from tests.support import histories, lines, runs
from tests.support.mangled import mangled
from tests.support.seeds import some

GOLDEN = Path(__file__).parents[2] / "golden/report"
SHAPE = runs.Shape(cases=2, builds=5, executions=2, iterations=3)
MEASUREMENTS: Sequence[Callable[[], runs.Lines]] = (
    partial(runs.measured, SHAPE), partial(runs.plain, SHAPE), runs.only_failures, runs.early, runs.nothing,
)  # fmt: skip
RULES = b"""[gate]
threshold = "5%"
floor = "1us"
interval = "bootstrap"
override = [{ match = "suite/*", metric = "time", statistic = "p50", threshold = 0.1 }]
accept = [{ match = "a", reason = "b", until = 2026-01-01 }]

[plan]
builds = { min = 4, max = 12 }
budget = "15m"

[study]
replicates = 3
factor.level = [1, 9]
factor.input = { a = {}, b = { env = { A = "1" } } }

[[benchmark]]
name = "a"
command = "true {level} {input}"
instrument = "values"
metrics = { time = { unit = "s", better = "lower" } }
"""
OF_MEASUREMENTS = (
    "decide {}", "decide {} --json -", "report {} --all", "report {} --format html", "report {} --format markdown",
    "report {} --format csv", "report {} --format junit", "compare good.jsonl {}", "plan {}", "study analyse {} --html -",
)  # fmt: skip
OF_REPORTS = (
    "report {}", "report {} --all", "report {} --format html", "report {} --format markdown",
    "report {} --format summary", "report {} --format junit", "explain {}", "publish {}",
)  # fmt: skip
OF_RULES = (
    "decide good.jsonl --config {}", "plan good.jsonl", "study plan", "config", "study analyse good.jsonl",
)  # fmt: skip
OF_HISTORIES = ("history --history kept", "history trend --history kept", "history export --history kept")


def fail_or_tell(command: str, file: str) -> None:
    """Run a command over a file, or refuse it in lines of perfgate."""
    out, err = io.StringIO(), io.StringIO()
    code = main(command.format(file).split(), out, err)
    assert "internal error" not in err.getvalue(), command
    assert code != 2 or err.getvalue().startswith("perfgate"), command


def fail_or_tell_all(good: Sequence[bytes], commands: Sequence[str], file: Path, rounds: int, seed: int) -> None:
    draw = random.Random(seed)
    for number in range(rounds):
        for data in mangled(draw.choice(good), 1, (seed, number)):
            file.write_bytes(data)
            fail_or_tell(draw.choice(commands), file.name)


def changed(kind: str, folder: Path, rounds: int, seed: int) -> None:
    """Change files of a kind, and give them to the commands that read them."""
    texts = [lines.text(make()).encode() for make in MEASUREMENTS]
    (folder / "good.jsonl").write_bytes(texts[0])
    if kind == "measurements":
        fail_or_tell_all(texts, OF_MEASUREMENTS, folder / "m.jsonl", rounds, seed)
    elif kind == "reports":
        reports = [file.read_bytes() for file in sorted(GOLDEN.glob("*.json"))]
        fail_or_tell_all(reports, OF_REPORTS, folder / "report.json", rounds, seed)
    elif kind == "rules":
        fail_or_tell_all([RULES], OF_RULES, folder / "perfgate.toml", rounds, seed)
    else:
        kept = histories.kept(folder / "kept", histories.history(1, {"a": histories.flat(3)}))
        for file in (file for file in sorted(kept.rglob("*")) if file.is_file()):
            good = file.read_bytes()
            fail_or_tell_all([good], OF_HISTORIES, file, rounds // 3, seed)
            file.write_bytes(good)


@pytest.mark.parametrize("rounds", some([6, 300], 1, pytest.mark.nightly))
@pytest.mark.parametrize("kind", ["measurements", "reports", "rules", "histories"])
def test_any_change_is_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, rounds: int) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PERFGATE_HISTORY", str(tmp_path / "memory"))
    changed(kind, tmp_path, rounds, 1)
