"""perfgate doctor, --strict, and what goes with them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gate.cli.main import main
from gate.commands.doctor import doctor
from gate.document.terminal import Screen, render
from gate.run.strict import UnfitError, refuse_unfit
from gate.writing.plain import columns
from harness.host.fitness.host_check import Check

FIT = [
    Check("governor", "unknown", "this system does not show it", "A frequency that follows the load makes it noisy."),
    Check("turbo", "warn", "on", "How long a frequency above the nominal lasts depends on heat.", "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"),
    Check("aslr", "ok", "on", "Leave it on."),
    Check("swap", "ok", "none", "Disks are slow."),
]  # fmt: skip
UNFIT = [
    *FIT,
    Check("steal time", "bad", "23.1% of the time that programs wanted", "The hypervisor runs another machine."),
    Check("other processes", "bad", "evil \x1b[31m\nname", "Others take processors."),
]

SHOWN = """\
bad: steal time
23.1% of the time that programs wanted
The hypervisor runs another machine.

bad: other processes
evil \\x1b[31m\\nname
Others take processors.

warn: turbo
on
How long a frequency above the nominal lasts depends on heat.
  echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo
    to change it

unknown
governor  this system does not show it. A frequency that follows the load makes
          it noisy.

ok
aslr  on
swap  none

unfit: steal time, other processes; 1 warning, 1 unknown
"""


def shown(checks: list[Check], width: int = 80, *, color: bool = False) -> str:
    return render(doctor.document(checks), Screen(color, width, width))


def test_the_text() -> None:
    assert shown(UNFIT) == SHOWN
    painted = shown(UNFIT, color=True)
    assert "\x1b[1mbad: steal time\x1b[0m" in painted
    assert painted.endswith("\x1b[1;31munfit: steal time, other processes; 1 warning, 1 unknown\x1b[0m\n")


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_only_commands_go_beyond_the_width(width: int) -> None:
    assert all(columns(line) <= width for line in shown(UNFIT, width).splitlines() if "sudo tee" not in line)


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        (FIT, "fit with 1 warning, 1 unknown"),
        (FIT[2:], "fit"),
        (FIT[:1], "fit with 1 unknown"),
        ([*FIT[1:2], *FIT[1:2]], "fit with 2 warnings"),
        (UNFIT[4:5], "unfit: steal time"),
    ],
)
def test_the_verdict(checks: list[Check], verdict: str) -> None:
    assert doctor.verdict(checks) == verdict
    assert shown(checks).endswith(f"\n{verdict}\n")


class Ran(NamedTuple):
    code: int
    out: str
    err: str


def perfgate(*argv: str) -> Ran:
    out, err = io.StringIO(), io.StringIO()
    return Ran(main(argv, out, err), out.getvalue(), err.getvalue())


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What the host's checks find; a test may change it."""
    found = list(UNFIT)
    monkeypatch.setattr(doctor, "examine", lambda _: found)
    return found


def test_an_unfit_host_fails_only_strictly(examined: list[Check]) -> None:
    assert perfgate("doctor")[0] == 0
    strict = perfgate("doctor", "--strict")
    assert (strict.code, strict.err) == (5, "")
    assert strict.out.endswith("unfit: steal time, other processes; 1 warning, 1 unknown\n")
    examined[:] = FIT
    assert perfgate("doctor", "--strict").code == 0


def test_json(examined: list[Check], tmp_path: Path) -> None:
    on_stdout = perfgate("doctor", "--json", "-", "--strict")
    assert on_stdout.code == 5
    found = json.loads(on_stdout.out)
    assert (found["schema"], found["verdict"], len(found["checks"])) == (1, "unfit", len(UNFIT) + 1)
    assert found["checks"][-1]["name"] == "sandbox"
    assert [list(check) for check in found["checks"]] == [["name", "state", "value", "why", "command"]] * (
        len(UNFIT) + 1
    )
    assert found["checks"][0]["command"] is None
    file = tmp_path / "doctor.json"
    examined[:] = [*FIT, Check("history", "warn", "/home/\udcff", "why", None)]
    shown = perfgate("doctor", "--json", str(file))
    assert shown.out.startswith("warn")
    written = json.loads(file.read_text())
    assert (written["verdict"], written["checks"][-2]["value"]) == ("fit", "/home/\\udcff")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("doctor", "--json", "/dev/null/x"), "--json /dev/null/x: cannot be written"),
        (("doctor", "--nonsense"), "--nonsense is not an option"),
        (("doctor", "ls"), "unexpected argument 'ls'"),
        (("doctor", "--metrics", "--", "ls"), "--metrics is not an option; `perfgate try` shows"),
        (("simulate", "--strict"), "--strict is not an option"),
    ],
)
@pytest.mark.usefixtures("examined")
def test_bad_options(argv: tuple[str, ...], said: str) -> None:
    ran = perfgate(*argv)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said in ran.err


def test_a_refusal_is_one_line_and_exit_5(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_unfit([])
    with pytest.raises(
        UnfitError, match=r"unfit to measure on: swap: swapping now; steal time: 23%; `perfgate doctor`"
    ):
        refuse_unfit(["swap: swapping now", "steal time: 23%"])

    def refused(*_: object, **__: object) -> int:
        refuse_unfit(["other processes: most of all evil\nname"])
        return 0

    monkeypatch.setattr("gate.commands.check.check.run", refused)
    ran = perfgate("check", "--strict")
    assert (ran.code, ran.out, ran.err.count("\n")) == (5, "", 1)
    assert "most of all evil\\nname; `perfgate doctor` shows more" in ran.err


@pytest.mark.parametrize("command", ["check", "measure", "calibrate"])
def test_strict_reaches_what_measures(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []

    def run(options: Any, *_: object) -> int:
        told.append(getattr(options, "measuring", options).strict)
        return 0

    monkeypatch.setattr(f"gate.commands.{command}.{command}.run", run)
    perfgate(command)
    perfgate(command, "--strict")
    assert told == [False, True]


def test_the_help_tells_of_5() -> None:
    assert "  5  the host is unfit (only with --strict)\n" in perfgate("--help").out
    assert "perfgate doctor --strict" in perfgate("doctor", "--help").out


def test_this_host() -> None:
    ran = perfgate("doctor")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.split("\n\n")[-1].startswith(("fit", "unfit: ", "unfit for wall time: "))


def test_a_busy_host_is_unfit_for_wall_time_alone() -> None:
    load, swap = (Check(name, "bad", "9.8", "why") for name in ("load", "swap"))
    assert doctor.verdict([load]) == (
        "unfit for wall time: load; commands that active time decides can be measured (`perfgate try` shows which)"
    )
    assert doctor.verdict([load, swap]) == "unfit: load, swap"
