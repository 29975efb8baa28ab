"""perfgate doctor, --strict, and what goes with them."""

import json
from pathlib import Path

import pytest

from gate.commands.doctor import command as doctor
from gate.document.terminal import Screen, render
from gate.run.strict import UnfitError, refuse_unfit
from gate.writing.plain import columns
from harness.host.fitness.checks import Check
from tests.gate.typed import run as perfgate

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

SHOWN = (Path(__file__).parents[3] / "golden" / "doctor.txt").read_text(encoding="utf-8")


def shown(checks: list[Check], width: int = 80, *, color: bool = False) -> str:
    return render(doctor.document(checks), Screen(color, width, width))


def test_the_text() -> None:
    assert shown(UNFIT) == SHOWN
    # only commands go beyond the width
    assert all(columns(line) <= 40 for line in shown(UNFIT, 40).splitlines() if "sudo tee" not in line)
    painted = shown(UNFIT, color=True)
    assert "\x1b[1mbad: steal time\x1b[0m" in painted
    assert painted.endswith("\x1b[1;31munfit: steal time, other processes; 1 warning, 1 unknown\x1b[0m\n")


def test_the_verdict() -> None:
    load, swap = (Check(name, "bad", "9.8", "why") for name in ("load", "swap"))
    # a busy host is unfit for wall time alone
    busy = "unfit for wall time: load; commands that active time decides can be measured (`perfgate try` shows which)"
    some = (FIT, FIT[2:], FIT[:1], [*FIT[1:2], *FIT[1:2]], UNFIT[4:5], [load, swap], [load])
    verdicts = [
        "fit with 1 warning, 1 unknown", "fit", "fit with 1 unknown", "fit with 2 warnings", "unfit: steal time",
    ]  # fmt: skip
    assert [*map(doctor.verdict, some)] == [*verdicts, "unfit: load, swap", busy]


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[Check]:
    """What the host's checks find; a test may change it."""
    found = list(UNFIT)
    monkeypatch.setattr("harness.host.fitness.examination.examine", lambda: found)
    return found


def test_an_unfit_host_fails_only_strictly(examined: list[Check]) -> None:
    assert perfgate("doctor")[0] == 0
    assert perfgate("doctor", "--strict") == (5, perfgate("doctor")[1], "")
    examined[:] = FIT
    assert perfgate("doctor", "--strict")[0] == 0
    assert "  5  the host is unfit (only with --strict)\n" in perfgate("--help")[1]


def test_json(examined: list[Check], tmp_path: Path) -> None:
    code, out, _ = perfgate("doctor", "--json", "-", "--strict")
    found = json.loads(out)
    checks = found["checks"]
    assert (code, found["schema"], found["verdict"], len(checks)) == (5, 1, "unfit", len(UNFIT) + 1)
    assert (checks[-1]["name"], checks[0]["command"]) == ("sandbox", None)
    assert [list(check) for check in checks] == [["name", "state", "value", "why", "command"]] * (len(UNFIT) + 1)
    examined[:] = [*FIT, Check("history", "warn", "/home/\udcff", "why", None)]
    assert perfgate("doctor", "--json", str(tmp_path / "doctor.json"))[1].startswith("warn")
    written = json.loads((tmp_path / "doctor.json").read_text())
    assert (written["verdict"], written["checks"][-2]["value"]) == ("fit", "/home/\\udcff")


def test_a_refusal_is_one_line_and_exit_5(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_unfit([])
    said = r"unfit to measure on: swap: swapping now; steal time: 23%; `perfgate doctor`"
    with pytest.raises(UnfitError, match=said):
        refuse_unfit(["swap: swapping now", "steal time: 23%"])
    evil = ["other processes: most of all evil\nname"]
    monkeypatch.setattr("gate.commands.check.check.run", lambda *_: refuse_unfit(evil))
    code, out, err = perfgate("check", "--strict")
    assert (code, out, err.count("\n")) == (5, "", 1)
    assert "most of all evil\\nname; `perfgate doctor` shows more" in err


def test_this_host() -> None:
    code, out, err = perfgate("doctor")
    assert (code, err) == (0, "")
    assert out.split("\n\n")[-1].startswith(("fit", "unfit: ", "unfit for wall time: "))
