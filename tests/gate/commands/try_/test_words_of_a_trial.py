"""Trials in words as they were last looked at, in one line and as JSON; names are as hostile as files can make them."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gate.commands.try_.result import Built, Case, Fit, Plans, RoundCost, Trial, Tried
from gate.commands.try_.try_ import notes_of
from gate.commands.try_.words import as_json, brief, document_of
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Config
from gate.document import terminal
from gate.model import Commit, Failure
from gate.model.records import WhyNotRelinked
from gate.model.warnings.base import Said

GOLDEN = Path(__file__).parents[3] / "golden" / "try.txt"
"""PERFGATE_UPDATE_GOLDEN=1 writes it anew."""
HOSTILE = "parse\x1b[31m\nlarge"
CASE = Case(benchmark=HOSTILE, metric="time", unit="s", mean=0.1, spread=0.02, values=5, decided=True, exact=False)
TRIED = Tried(benchmark=HOSTILE, instrument="spawn", cases=(CASE,), execution=1.0)
FIT = Fit(
    budget=600.0, builds=12, executions=5, iterations=10, seconds=280.0, first=12, sooner=280.0,
    finds=0.041, hardest=HOSTILE,
)  # fmt: skip
BUILT = Built(
    command="make", setup=3.0, seconds=40.0, later=0.5, relinks=True, full=None, artifacts=("app",),
    needs_git=True, compiled=None, kept=True,
)  # fmt: skip
TRIAL = Trial(
    head=Commit(ref="topic", sha="0123456789abcdef", dirty=False), built=BUILT, benchmarks=(TRIED,), host={},
    cost=RoundCost(once=43.0, builds=1.0, executions=10.0, least=False), plans=Plans(basis="one-build", fit=FIT),
    warnings=(),
)  # fmt: skip
FAILURE = Failure(
    kind="execution", benchmark="b", side="head", status="exit 3", stderr="first\nno data here\n", hint="add data/ to share",
    command="python - <<'END'\nimport asv\nrun(\n)\nEND",
)  # fmt: skip
FAILED = Tried(benchmark="b", instrument="spawn", failures=(FAILURE,))
SHORT = "a takes 1 ms, and much of that is starting a process"


def rules(instrument: str = "spawn", *names: str) -> Config:
    own = [{"name": name, "command": name, "instrument": instrument} for name in (names or ("a",))]
    return parse(from_tables({"plan": {"budget": "10m"}, "benchmark": own}, "here"))


def changed(**more: Any) -> Trial:
    return msgspec.structs.replace(TRIAL, **more)


def fit(**more: Any) -> Fit:
    return msgspec.structs.replace(FIT, **more)


def built(fits: Fit = FIT, basis: Any = "one-build", plans: dict[str, Any] | None = None, **own: Any) -> Trial:
    """A trial with another build, and what is planned."""
    made = Plans(basis=basis, fit=fits, **(plans or {}))
    return changed(built=msgspec.structs.replace(BUILT, **own), plans=made)


FEW, LEAN = fit(builds=4, finds=None), fit(builds=9, executions=1, iterations=2)
LATE = Tried(benchmark="late", instrument="spawn", longer_than=90.0, execution=1800.0)
TRIALS = {
    "relinked": TRIAL,
    # where a look comes before the end, what has not changed mostly ends there; of a rate what is lost is named
    "checked out, a rate": built(fit(first=4, sooner=90.0, finds=2.92, better="higher"), command=None, setup=None, seconds=0.2),
    "set up once, exact": built(basis="exact", command=None, seconds=0.0, relinks=False),
    "full builds of Go, too few": built(fit(builds=3, finds=None), relinks=False, full=WhyNotRelinked(kind="go")),
    "full builds, no round": built(fit(builds=0, finds=None), relinks=False),
    "kept, unknown": built(fit(finds=None, unknown=True), compiled=40.0, seconds=0.5),
    "a leaner plan": built(FEW, plans={"leaner": LEAN, "enough": 780.0}),
    "a budget": msgspec.structs.replace(built(FEW, plans={"enough": 7200.0}), benchmarks=(TRIED, TRIED)),
    "too noisy": built(FEW),
    "failed": changed(benchmarks=(TRIED, FAILED), plans=None, host={"load": "9.8 on 2 processors"}, notes=(SHORT,)),
    "nothing selected": changed(benchmarks=(Tried(benchmark="suite", instrument="go"),), plans=None, cost=None),
    "too slow": changed(benchmarks=(TRIED, LATE), plans=None, cost=RoundCost(once=43.0, builds=1.0, executions=3600.0, least=True)),
}  # fmt: skip


def render(trial: Trial, width: int = 100, of: Config | None = None) -> str:
    return terminal.render(document_of(trial, of or rules()), terminal.Screen(color=False, width=width, room=width))


def test_the_text_is_the_one_that_was_looked_at() -> None:
    whole = render(TRIAL).splitlines()
    # of all but the first what is said otherwise
    told = {name: [each for each in render(trial).splitlines() if each not in whole] for name, trial in TRIALS.items()}
    got = "".join(f"== {name}\n" + "".join(f"{each}\n" for each in own or whole) for name, own in told.items())
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        GOLDEN.write_text(got, encoding="utf-8")
    assert got == GOLDEN.read_text(encoding="utf-8")
    assert "\x1b" not in got


@pytest.mark.parametrize("name", ["relinked", "failed", "a leaner plan"])
def test_it_fits_the_terminal(name: str) -> None:
    # but for commands, which are there to be copied
    lines = render(TRIALS[name], 40).splitlines()
    assert [line for line in lines if len(line) > 40 and "command:" not in line] == []


def test_in_one_line_and_as_an_exit_code() -> None:
    assert brief(TRIALS["failed"]) == ["1 of 2 benchmarks gave no values: b", "b failed on head: exit 3"]
    failing = {name for name, trial in TRIALS.items() if trial.exit_code}
    assert failing == {"failed", "nothing selected"}


def test_leaner_counts_of_a_suite_can_be_pasted() -> None:
    lines = [line.strip() for line in render(TRIALS["a leaner plan"], of=rules("go")).splitlines()]
    place = lines.index("[plan]")
    assert [*filter(None, lines[place + 1 : place + 3])] == ["executions = 1", "iterations = 2"]


def test_a_plan_of_too_few_builds_is_not_called_noisy() -> None:
    few = msgspec.structs.replace(rules(), plan=msgspec.structs.replace(rules().plan, builds=4))
    said = " ".join(render(TRIALS["too noisy"], of=few).split()).partition("next: ")[2]
    assert "set `builds = 5` in [plan]: fewer call no regression; then `perfgate check`" in said
    assert "noise" not in said


def test_what_to_mind_is_said_of_starts_and_zeros() -> None:
    def of(name: str, mean: float) -> Tried:
        case = msgspec.structs.replace(CASE, benchmark=name, mean=mean)
        return Tried(benchmark=name, instrument="spawn", cases=(case,))

    notes = list(notes_of(rules("spawn", "c", "d"), [of("c", 0.0), of("d", 0.001)]))
    assert [note.split()[1] for note in notes] == ["takes", "time", "takes"]
    assert notes[1].startswith("c: time is 0") and notes[2].startswith("d takes 1 ms")


def test_as_json_it_has_the_sentences_and_every_number() -> None:
    found = json.loads(as_json(changed(warnings=(Said("pointers", "lfs-pointers"),), notes=(SHORT,)), rules()))
    assert found["headline"] == "the benchmark gave values"
    assert found["benchmarks"][0]["benchmark"] == HOSTILE
    assert found["warnings"][0]["kind"] == "lfs-pointers" and found["warnings"][0]["text"]
    assert found["notes"] == [SHORT]
    assert found["plans"]["fit"]["finds"] == 0.041
