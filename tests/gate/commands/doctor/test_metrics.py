import io
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gate.commands.doctor import metrics
from gate.commands.doctor.metrics import Found, Measured, Row, advice, document, plan, rows_of
from gate.document.terminal import Screen, render
from gate.model import UserError
from harness.instruments.declaration import declared


def wall(*executions: tuple[float, ...], instrument: str = "spawn") -> Measured:
    return Measured(instrument, "time", "s", executions)


def row(metric: str, *, instrument: str = "spawn", total: float | None = 0.01, ratio: float | None = None) -> Row:
    return Row(instrument, metric, "s", 5, 10, 0.1, total, None, total, ratio, None)


def saying(why: str) -> Callable[[Mapping[str, str]], str]:
    return lambda _: why


@pytest.fixture
def only_spawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A host without hyperfine, perf and valgrind; plans as small as they can be."""
    for module, name in (("hyperfine", "hyperfine"), ("perf_stat", "perf"), ("callgrind", "callgrind")):
        why = f"{name} is not installed" if name == "hyperfine" else f"no {name} here"
        monkeypatch.setattr(f"harness.instruments.{module}.INSTRUMENT", replace(declared(module), find=saying(why)))
    monkeypatch.setattr(metrics, "_BUDGET", 0.01)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(*command: str, json: str | None = None) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return metrics.run(command, json, out, err), out.getvalue(), err.getvalue()


def test_variation_between_and_within_executions() -> None:
    # execution means 11 and 13, variance inside 2 each: S2 of executions 2, of which 2/2 is from inside
    [found] = rows_of([wall((10.0, 12.0), (12.0, 14.0))])
    assert (found.executions, found.iterations, found.mean) == (2, 2, 12.0)
    assert found.within == pytest.approx(2**0.5 / 12)
    assert found.between == pytest.approx(1 / 12)
    assert found.total == pytest.approx(3**0.5 / 12)
    assert (found.ratio, found.rank) == (None, None)


def test_executions_that_add_nothing() -> None:
    [found] = rows_of([wall((10.0, 14.0), (14.0, 10.0))])
    assert found.between == 0
    assert found.within == pytest.approx(8**0.5 / 12)


def test_what_was_not_repeated_has_no_variation() -> None:
    [single, once, zero] = rows_of(
        [
            wall((5.0,), (7.0,)),
            Measured("callgrind", "instructions", "", ((9.0,),)),
            Measured("spawn", "user", "s", ((0.0, 0.0),)),
        ]
    )
    assert single.between == pytest.approx(2**0.5 / 6)
    assert (single.within, once.between, once.within, once.total, zero.total) == (None, None, None, None, None)


def test_metrics_beside_the_wall_time_of_their_instrument() -> None:
    found = rows_of(
        [
            wall((1.0, 2.0), (3.0, 4.0)),
            Measured("spawn", "user", "s", ((0.5, 1.0), (1.5, 2.0))),
            Measured("spawn", "faults", "", ((4.0, 3.0), (2.0, 1.0))),
            Measured("spawn", "flat", "", ((4.0, 4.0), (4.0, 4.0))),
            wall((2.0, 4.0), (6.0, 8.0), instrument="perf_stat"),
            Measured("perf_stat", "task-clock", "s", ((1.0, 1.0), (2.0, 0.0))),
            Measured("callgrind", "instructions", "", ((9.0,), (9.0,))),
        ]
    )
    assert [each.ratio for each in found] == [None, 0.5, None, None, 2.0, 0.2, None]
    ranks = [None if each.rank is None else round(each.rank, 3) for each in found]
    # ranks 1.5, 1.5, 3, 0 against 0..3 by hand: r = -0.316
    assert ranks == [None, 1.0, -1.0, None, None, -0.316, None]
    assert found[-1].total == 0


def test_the_least_variable_metric_and_what_it_leaves_out() -> None:
    lines = advice([row("time", total=0.04), row("task-clock", total=0.01, ratio=0.99), row("page-faults", total=0.0)])
    assert lines[0].startswith(
        "Least variable: task-clock (spawn), 1.0% a value, against 4.0% of time; but CPU time: it leaves out waiting"
    )
    assert "computes nearly all the time" in lines[1]
    assert advice([row("time", total=0.011), row("cycles", total=0.01)])[0].startswith("Keep time: time (spawn)")
    assert len(advice([row("memory", total=0.5)])) == 1


@pytest.mark.parametrize(
    ("ratio", "said"), [(0.4, "the rest is waiting"), (1.9, "it runs in parallel"), (1.0, "it computes")]
)
def test_waiting_and_running_in_parallel(ratio: float, said: str) -> None:
    lines = advice([row("time"), row("user+system", ratio=5.0), row("task-clock", instrument="perf_stat", ratio=ratio)])
    assert said in lines[1]


def test_a_modest_time() -> None:
    assert plan(0.01, 3) == (5, 10)
    assert plan(1.0, 3) == (5, 2)
    assert plan(4.0, 3) == (3, 1)
    assert plan(100.0, 3) == (2, 1)


def test_a_command_with_what_this_host_has(only_spawn: Path) -> None:
    code, out, err = ran(sys.executable, "-S", "-c", "for i in range(10**5): pass")
    assert code == 0
    assert err.startswith("perfgate: 1 instrument x 2 starts x 1 value of")
    assert " 2 x 1 " in out
    for metric in ("time", "user", "system", "user+system"):
        assert f"\n{metric} " in out
    said = " ".join(out.split())  # lines end where the terminal does
    assert "hyperfine: not measured: hyperfine is not installed; spawn, which is built in, measures the same" in said
    for name in ("perf", "callgrind"):
        assert f"no {name} here" in said


@pytest.mark.parametrize("narrow", ["40", "200"])
def test_the_report_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, narrow: str) -> None:
    found = Found(
        ("a b", "\x1b[31m"),
        rows_of([wall((1.0, 2.0), (3.0, 4.0))]),
        {},
        {"perf_stat": "why\nnot " * 9},
        {"callgrind": "a note"},
    )
    text = render(document(found), Screen(False, int(narrow), int(narrow)))
    assert all(len(line) <= int(narrow) for line in text.splitlines())
    assert "\x1b" not in text
    assert "50.0%" in text or "CV" in text


def test_json(only_spawn: Path) -> None:
    code, out, _ = ran("true", json="-")
    told = json.loads(out)
    assert (code, told["schema"], told["command"]) == (0, 1, ["true"])
    assert told["instruments"]["perf_stat"] == {"version": None, "absent": "no perf here", "note": None}
    assert {each["metric"] for each in told["metrics"]} >= {"time", "user+system"}
    assert ran("true", json=str(only_spawn / "m.json"))[1].startswith("Metrics of true\n")
    assert json.loads((only_spawn / "m.json").read_text())["schema"] == 1


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("exit 3", "exit 3"),
        ("echo first >&2; printf 'why\\a' >&2; exit 3", "exit 3: why\\x07"),
        ("kill -SEGV $$", "signal SIGSEGV"),
    ],
)
def test_a_command_that_fails(only_spawn: Path, script: str, expected: str) -> None:
    code, out, err = ran("sh", "-c", script)
    assert (code, out) == (4, "")
    assert err == f"perfgate: {shlex.join(['sh', '-c', script])}: {expected}\n"


def test_a_command_that_is_not_there_or_fails_later(only_spawn: Path) -> None:
    assert ran("./nosuch")[::2] == (4, 'perfgate: ./nosuch: cannot start: there is no program "./nosuch"\n')
    code, out, err = ran("sh", "-c", "echo x >> n; test $(wc -l < n) -lt 3")
    assert (code, out) == (4, "")
    assert err.splitlines()[-1].endswith("it failed: exit 1")


def test_no_command() -> None:
    with pytest.raises(UserError, match="needs a command"):
        ran()
