"""A trial in words, for terminals of two widths, in one line and as JSON; names are as hostile as files can make them."""

import json
from typing import Any, Literal

import msgspec
import pytest

from gate.commands.try_.result import Built, Case, Fit, Note, Plans, RoundCost, Trial, Tried
from gate.commands.try_.try_ import notes_of
from gate.commands.try_.words import as_json, brief, document_of
from gate.config.config_text import from_tables
from gate.config.parse import parse
from gate.config.types import Config
from gate.document import terminal
from gate.model import Commit, Failure
from gate.model.records import FullBuilds
from gate.model.warnings.base import Said

RULES: Config = parse(from_tables({"plan": {"budget": "10m"}, "benchmark": [{"name": "a", "command": "a"}]}, "here"))
HOSTILE = "parse\x1b[31m\nlarge"
CASE = Case(benchmark=HOSTILE, metric="time", unit="s", mean=0.1, spread=0.02, values=5, decided=True, exact=False)
TRIED = Tried(benchmark=HOSTILE, instrument="spawn", cases=(CASE,), execution=1.0)
FIT = Fit(
    budget=600.0, builds=12, executions=5, iterations=10, seconds=280.0, first=12, sooner=280.0,
    finds=0.041, hardest=HOSTILE,
)  # fmt: skip
TRIAL = Trial(
    head=Commit(ref="topic", sha="0123456789abcdef", dirty=False),
    built=Built(
        command="make", setup=3.0, seconds=40.0, later=0.5, relinks=True, full=None, artifacts=("app",),
        needs_git=True, compiled=None, kept=True,
    ),
    failure=None,
    benchmarks=(TRIED,),
    host={},
    cost=RoundCost(once=43.0, builds=1.0, executions=10.0, least=False),
    plans=Plans(basis="one-build", fit=FIT),
    notes=(),
    warnings=(),
)  # fmt: skip
FAILURE = Failure(
    kind="execution", benchmark="b", side="head", status="exit 3", stderr="first\nno data here\n", hint="add data/ to share",
    command="./b data",
)  # fmt: skip


SHORT = Note(kind="short", benchmark="a", text="a takes 1 ms, and much of that is starting a process")
FAILED = Tried(benchmark="b", instrument="spawn", failures=(FAILURE,))


def changed(**more: Any) -> Trial:
    return msgspec.structs.replace(TRIAL, **more)


def fitted(basis: Literal["one-build", "exact"] = "one-build", **more: Any) -> Trial:
    """A trial with one fit, of these numbers."""
    return changed(plans=Plans(basis=basis, fit=msgspec.structs.replace(FIT, **more)))


def render(trial: Trial, width: int = 100) -> str:
    return terminal.render(document_of(trial, RULES), terminal.Screen(color=False, width=width, room=width))


def text(trial: Trial, width: int = 100) -> str:
    found = render(trial, width)
    assert "\x1b" not in found
    return " ".join(found.split())


def test_all_of_it() -> None:
    found = text(TRIAL)
    for said in (
        "topic 0123456789: the benchmark gave values build of app: 40 s, after 3.0 s of checkout and",
        "with a .git in the tree because it failed without; later builds link again what this one compiled",
        "100.0 ms ±2.0% 5",
        "a round takes about 11 s (both sides: builds 1.0 s, starts 10 s); before the first, 43 s more for base",
        "budget a side takes finds at least 10 min, as configured 12 x 5 x 10 4 min 40 s +4.1%",
    ):
        assert said in found
    # where a look comes before the end, what has not changed mostly ends there
    sooner = "as configured 4 to 12 x 5 x 10 1 min 30 s to 4 min 40 s +4.1%"
    assert sooner in text(fitted(first=4, sooner=90.0))
    # of a rate what is lost is named
    assert "4 min 40 s -74.5%" in text(fitted(finds=2.92, better="higher"))
    assert found.endswith("host: fit to measure on next: perfgate check, once the code has changed")


def test_it_fits_the_terminal() -> None:
    trial = changed(benchmarks=(TRIED, FAILED), host={"load": "9.8 on 2 processors"}, notes=(SHORT,))
    # but for commands, which are there to be copied
    assert [line for line in render(trial, 40).splitlines() if len(line) > 40 and "command:" not in line] == []


def test_what_failed_comes_with_its_reason() -> None:
    trial = changed(benchmarks=(TRIED, FAILED), plans=None)
    found = text(trial)
    assert "1 of 2 benchmarks gave no values: b" in found
    assert "b failed on head: exit 3 first no data here add data/ to share command: ./b data" in found
    assert brief(trial) == ["1 of 2 benchmarks gave no values: b", "b failed on head: exit 3"]
    assert trial.exit_code == 4
    # of a command of several lines the first is shown
    failure = msgspec.structs.replace(FAILURE, command="python - <<'END'\nimport asv\nrun(\n)\nEND")
    several = changed(benchmarks=(msgspec.structs.replace(FAILED, failures=(failure,)),), plans=None)
    assert "command: python - <<'END' (and 4 lines more)" in text(several)
    none = changed(benchmarks=(Tried(benchmark="suite", instrument="go"),), plans=None, cost=None)
    assert "suite: include and exclude leave none of the benchmarks that its command named" in text(none)
    assert none.exit_code == 4


@pytest.mark.parametrize(
    ("built", "expected"),
    [
        ({"command": None, "setup": None, "seconds": 0.2, "relinks": False}, "build: a fresh checkout, 200 ms"),
        ({"command": None, "seconds": 0.0, "relinks": False}, "build: checkout and set-up, 3.0 s, once for each side"),
        ({"relinks": False, "full": FullBuilds(kind="go")}, "later builds are full ones, because Go links by itself"),
        ({"relinks": False}, "full ones (faster ones, if this one downloaded or filled a cache) values of"),
        ({"compiled": 40.0, "seconds": 0.5}, "build of app: kept from an earlier run, linked again in 500 ms"),
    ],
)
def test_builds(built: dict[str, Any], expected: str) -> None:
    assert TRIAL.built is not None
    assert expected in text(changed(built=msgspec.structs.replace(TRIAL.built, **built)))


@pytest.mark.parametrize(
    ("trial", "expected", "absent"),
    [
        (fitted("exact"), "takes finds 10 min", "noisiest"),
        (fitted(builds=3, finds=None), "nothing: no regression is called after fewer than 5 builds", "noisiest"),
        (fitted(builds=0, finds=None), "10 min, as configured no round 4 min 40 s nothing", "noisiest"),
        (fitted(finds=None, unknown=True), "12 x 5 x 10 4 min 40 s unknown", "no regression is called"),
        (fitted(finds=None, unknown=True), "gave one value in the time of a trial, which shows no spread", "noisiest"),
    ],
)
def test_plans(trial: Trial, expected: str, absent: str) -> None:
    found = text(trial)
    assert expected in found and absent not in found


def test_a_leaner_plan_stands_below_the_configured_one_and_can_be_pasted() -> None:
    lean = msgspec.structs.replace(FIT, builds=9, executions=1, iterations=2)
    few = msgspec.structs.replace(FIT, builds=2, finds=None)
    trial = changed(plans=Plans(basis="one-build", fit=few, leaner=lean))
    assert "2 x 5 x 10 4 min 40 s nothing 10 min, leaner 9 x 1 x 2 4 min 40 s +4.1%" in text(trial)
    assert msgspec.json.decode(as_json(trial, RULES))["plans"]["leaner"]["builds"] == 9
    screen = terminal.Screen(color=False, width=100, room=100)
    for instrument, counts in (("spawn", ["starts = 2"]), ("go", ["executions = 1", "iterations = 2"])):
        benchmark = {"name": "a", "command": "a", "instrument": instrument}
        rules = parse(from_tables({"benchmark": [benchmark]}, "here"))
        lines = [line.strip() for line in terminal.render(document_of(trial, rules), screen).splitlines()]
        place = lines.index("[plan]")
        assert [*filter(None, lines[place + 1 : place + 3])] == counts


def next_of(fit: Fit, **more: Any) -> str:
    plans = Plans(basis="one-build", fit=fit, **more)
    return text(changed(plans=plans, benchmarks=(TRIED, TRIED))).partition("next: ")[2]


def test_a_budget_that_finds_nothing_is_not_followed_by_a_check() -> None:
    nothing = msgspec.structs.replace(FIT, builds=4, finds=None)
    first = "a check within the budget of 10 min would find nothing: "
    fewer = "measure fewer benchmarks (`--benchmark 'NAME*'`)"
    larger = 'set `budget = "13m"` in [plan]'
    assert next_of(nothing, enough=780.0) == f"{first}{larger}, or {fewer}; then `perfgate check`"
    lean = f"{first}put the leaner counts into the file, or {larger}, or {fewer}"
    assert next_of(nothing, enough=780.0, leaner=FIT).startswith(lean)
    assert "give the benchmarks less work" in next_of(nothing, enough=7200.0)
    assert next_of(nothing, leaner=FIT) == f"{first}put the leaner counts into the file; then `perfgate check`"
    assert "use a quieter host" in next_of(nothing)
    assert next_of(FIT) == "perfgate check, once the code has changed"


def test_what_to_mind_is_said_of_starts_and_zeros() -> None:
    def of(name: str, mean: float) -> Tried:
        case = msgspec.structs.replace(CASE, benchmark=name, mean=mean)
        return Tried(benchmark=name, instrument="spawn", cases=(case,))

    rules = parse(from_tables({"benchmark": [{"name": "c", "command": "c"}, {"name": "d", "command": "d"}]}, "here"))
    notes = list(notes_of(rules, [of("c", 0.0), of("d", 0.001)]))
    assert [note.kind for note in notes] == ["short", "zero", "short"]
    assert notes[1].text.startswith("c: time is 0") and notes[2].text.startswith("d takes 1 ms")


def test_as_json_it_has_the_sentences_and_every_number() -> None:
    found = json.loads(as_json(changed(warnings=(Said("pointers", "lfs-pointers"),), notes=(SHORT,)), RULES))
    assert found["headline"] == "the benchmark gave values"
    assert found["benchmarks"][0]["benchmark"] == HOSTILE
    assert found["warnings"][0]["kind"] == "lfs-pointers" and found["warnings"][0]["text"]
    assert found["notes"][0]["text"].startswith("a takes 1 ms")
    assert found["plans"]["fit"]["finds"] == 0.041
