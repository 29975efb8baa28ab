"""perfgate history trend: what it says, in every format, of histories with known changes."""

import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from gate.cli.main import main
from gate.document.terminal import Screen
from gate.model.history import Change, HistoryRecord, Machine
from gate.model.reasons import Accepted
from tests.support.histories import FACTS, MACHINE, change, creep, flat, history, kept, record, sha, step

OTHER = Machine(id="m2", facts={**FACTS, "kernel": "6.8"})
FORMATS = ("json", "markdown", "html")


def run(folder: Path, *argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(("history", "trend", "--history", str(folder), *argv), out, err), out.getvalue(), err.getvalue()


def said(folder: Path, *argv: str) -> Any:
    code, out, err = run(folder, *argv, "--json", "-")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 commits: parse becomes 10% slower with the 60th, encode creeps, idle stays; the machine changes with the 91st."""
    rng = np.random.default_rng(1)
    true = {"parse": step(120, 60, 0.1), "encode": creep(rng, 120, 30, size=0.02), "idle": flat(120)}
    accepted = {60: Accepted(up_to=0.12, until="2027-01-01", reason="checksums <b>now</b>")}
    records = history(1, true, machines=[MACHINE] * 90 + [OTHER], offsets=[0.0] * 90 + [0.3], accepted=accepted)
    return kept(tmp_path_factory.mktemp("history") / "h", records)


def test_text_says_how_far_each_case_moved(changed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = run(changed)
    assert (code, err) == (0, "")
    assert out.startswith(
        f"3 cases over 120 commits\n{sha(0)[:10]} to {sha(120)[:10]}, 2025-01-02 to 2025-05-09, 2 classes"
    )
    moved = r"[+-][\d.]+% \([+-][\d.]+% to [+-][\d.]+%\)"
    assert re.search(rf"^parse +{moved} +{moved} +[\d.]+% +[\d.]+%$", out, re.MULTILINE)
    said = " ".join(out.split())
    assert f"From {sha(91)[:10]} (2025-04-08) on another machine: kernel 6.1 → 6.8." in said
    assert f"`perfgate bisect --good {sha(0)[:10]} --bad {sha(120)[:10]} --benchmark NAME`" in said
    assert "`perfgate check --creep`" in said


@pytest.mark.parametrize("columns", [40, 200])
def test_text_fits_and_has_both_intervals(changed: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setattr("gate.document.terminal.screen", lambda _: Screen(color=False, width=columns, room=columns))
    out = run(changed)[1]
    assert max(map(len, out.splitlines())) <= columns
    assert len(re.findall(r"% to [+-]", "".join(re.findall(r"^parse .*\n", out, re.MULTILINE)))) == 2


def test_json_has_every_number(changed: Path) -> None:
    found = said(changed)
    assert list(found) == ["schema", "commits", "machines", "cases", "left_out"]
    assert (found["schema"], len(found["commits"])) == (1, 120)
    assert found["machines"][1]["changed"] == [{"fact": "kernel", "before": "6.1", "after": "6.8"}]
    cases = {case["benchmark"]: case for case in found["cases"]}
    parse = cases["parse"]
    assert parse["chain"]["low"] < 1.1 < parse["chain"]["high"] and parse["chain"]["unmeasured"] == 0
    product = np.prod([run["ratio"]["estimate"] for run in parse["runs"]])
    assert parse["chain"]["ratio"] == pytest.approx(product)
    assert len(parse["runs"]) == 120 and len(parse["levels"]) == 121
    assert parse["levels"][0] == {"commit": sha(0), "ratio": 1, "low": 1, "high": 1, "piece": 0}
    assert 1 < parse["levels"][-1]["low"] < 1.1 < parse["levels"][-1]["high"]
    # another machine is no change
    for still in (cases["idle"]["chain"], cases["idle"]["levels"][-1]):
        assert still["low"] < 1 < still["high"]
    assert parse["accepted"][0]["reason"] == "checksums <b>now</b>"


def test_the_page_marks_what_happened(changed: Path) -> None:
    _, out, _ = run(changed, "--html", "-")
    assert out.count("<svg ") == 3
    assert '<a href="#case-3"' in out and '<details open>\n<summary><h2 id="case-3">' in out
    assert "accepted: checksums &lt;b&gt;now&lt;/b&gt;" in out and "<b>now" not in out
    assert "://" not in out.replace("http://www.w3.org/2000/svg", "")
    # a commit's values show on hovering
    assert re.search(rf"<title>{sha(60)[:10]} \"Change number 60\", 2025-03-05; level .*\nto its parent \+", out)


def test_commits_that_were_measured_again_are_left_out(tmp_path: Path) -> None:
    records = history(5, {"idle": flat(40)})
    again = [record(n, records[n].changes, parent=n, run=f"control-{n}") for n in (4, 9)]
    folder = kept(tmp_path / "h", [*records, *again])
    found = said(folder)
    assert (found["left_out"]["controls"], len(found["cases"][0]["runs"])) == (["control-4", "control-9"], 40)
    assert "2 records of commits that were measured again are left out." in " ".join(run(folder)[1].split())


def only_case(folder: Path, records: list[HistoryRecord]) -> tuple[Any, str]:
    """What the JSON says of the only case, and the text."""
    (case,) = said(kept(folder / "h", records))["cases"]
    return case, " ".join(run(folder / "h")[1].split())


def test_a_gap_is_bridged_by_levels_and_leaves_the_chain_open(tmp_path: Path) -> None:
    records = history(7, {"parse": step(120, 60, 0.2)})
    case, text = only_case(tmp_path, [r for r in records if r.commit not in {sha(n) for n in range(58, 63)}])
    assert (case["chain"]["unmeasured"], case["chain"]["low"], case["chain"]["high"]) == (1, None, None)
    assert case["levels"][-1]["low"] < 1.2 < case["levels"][-1]["high"]
    assert "unknown at 1 step " in text and "1 gap in the chain" in text


def test_a_case_begins_with_its_first_run(tmp_path: Path) -> None:
    """A benchmark that is new since the middle of the chain has a chain of its own commits, and no level before."""
    records = history(8, {"old": flat(60), "new": step(60, 45, 0.2)})
    records = [msgspec.structs.replace(r, changes=r.changes[: 1 + (n >= 30)]) for n, r in enumerate(records)]
    new, old = said(kept(tmp_path / "h", records))["cases"]
    assert (new["benchmark"], new["chain"]["unmeasured"], old["chain"]["unmeasured"]) == ("new", 0, 0)
    assert new["chain"]["low"] < 1.2 < new["chain"]["high"]
    assert [level["ratio"] for level in new["levels"][:31]] == [None] * 30 + [1]
    assert "unknown" not in run(tmp_path / "h")[1]


def test_counts_are_compared_as_numbers(tmp_path: Path) -> None:
    """Exact metrics have no noise: the chain is exact, too."""
    records = []
    for n in range(1, 31):
        ratio, level = 0.001 * (n == 13), 10 + 0.001 * (n >= 13)
        exact: dict[str, Any] = {"metric": "bytes", "unit": "B", "df": None, "method": "exact"}
        records.append(record(n, [change("size", ratio, level - ratio / 2, 0.0, 5, **exact)]))
    case, _ = only_case(tmp_path, records)
    for found in (case["chain"], case["levels"][-1]):
        assert found["low"] == pytest.approx(np.exp(0.001), abs=1e-4) == found["high"]
    assert case["levels"][12]["ratio"] == pytest.approx(1, abs=1e-6)


def test_short_and_strange_histories_are_shown_in_every_format(tmp_path: Path) -> None:
    def of(*changes: Change) -> list[HistoryRecord]:
        return [record(number, [each]) for number, each in enumerate(changes, 1)]

    control = [record(1, [change("parse", 0.0, 0.0, 1e-4, 5)], parent=1)]
    beyond_any_number = of(*[change("parse", 400.0, 0.0, 1e-4, 5)] * 12)
    shown: dict[str, list[HistoryRecord]] = {
        **{f"1 case over {count} commit": history(8, {"parse": flat(count)}) for count in (1, 2, 3, 5)},
        "Nothing to show": control,
        "1 case over 12 commits": beyond_any_number,
    }
    for number, (begins, records) in enumerate(shown.items()):
        folder = kept(tmp_path / str(number), records)
        assert run(folder)[1].startswith(begins)
        for form in FORMATS:
            code, out, err = run(folder, f"--{form}", "-")
            assert (code, err, out[-1]) == (0, "", "\n")


def test_options_cut_the_history_or_are_refused(changed: Path, tmp_path: Path) -> None:
    assert len(said(changed, "--limit", "20")["commits"]) == 20
    assert [case["benchmark"] for case in said(changed, "--benchmark", "p*")["cases"]] == ["parse"]
    for folder, argv, why in (
        (changed, ["--benchmark", "nothing"], "--benchmark nothing: matches none of encode"),
        (changed, ["--json", "-", "--html", "-"], "both want standard output"),
        (tmp_path, [], "perfgate history add"),
    ):
        code, _, err = run(folder, *argv)
        assert code == 2 and why in err and err.count("\n") == 1


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>\u202e`|$(id)\n"
    records = [
        msgspec.structs.replace(each, subject="<img src=x onerror=alert(1)>\x1b[31m`|")
        for each in history(9, {name: step(60, 30, 0.3)})
    ]
    folder = kept(tmp_path / "h", records)
    for argv in ((), ("--markdown", "-"), ("--html", "-")):
        code, out, _ = run(folder, *argv)
        assert code == 0 and not {"\x1b", "\u202e"} & {*out}
        assert argv != ("--html", "-") or ("<script>alert" not in out and "<img" not in out)


def test_a_damaged_record_writes_nothing_to_the_terminal(changed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(changed, tmp_path / "h")
    place = min(folder.glob("*/*.json"))
    place.write_text(place.read_text().replace('"verdict":"', '"verdict":"\\u001b[31m'))
    code, _, err = run(folder)
    assert code == 2 and "\x1b" not in err and "is damaged" in err
