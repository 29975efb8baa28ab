"""perfgate history trend: what it says, in every format, of histories with known changes."""

from __future__ import annotations

import csv
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
from gate.history.trend_types import ChangePoint
from gate.model.history import AcceptedChange, HistoryRecord, Machine
from tests.support.histories import FACTS, MACHINE, change, creep, flat, history, kept, record, sha, step

OTHER = Machine(id="m2", facts={**FACTS, "kernel": "6.8"})
FORMATS = ("json", "csv", "markdown", "html")


def run(folder: Path, *argv: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(("history", "trend", "--folder", str(folder), *argv), out, err), out.getvalue(), err.getvalue()


def said(folder: Path, *argv: str) -> Any:
    code, out, err = run(folder, *argv, "--json", "-")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """120 commits: parse becomes 10% slower with the 60th, encode creeps, idle stays; the machine changes with the 91st."""
    rng = np.random.default_rng(1)
    true = {
        "parse": step(120, 60, 0.1),
        "encode": creep(rng, 120, 30, size=0.02),
        "idle": flat(120),
    }
    accepted = {60: AcceptedChange(up_to=0.12, until="2027-01-01", reason="checksums <b>now</b>")}
    records = history(
        1, true, machines=[MACHINE] * 90 + [OTHER], offsets=[0.0] * 90 + [0.3], accepted=accepted
    )  # fmt: skip
    return kept(tmp_path_factory.mktemp("history") / "h", records)


def test_text_says_what_changed_where_and_what_to_do(changed: Path) -> None:
    code, out, err = run(changed)
    assert (code, err) == (0, "")
    assert re.match(r"2 changes in 120 commits of 3 cases: 2 for the worse, 0 for the better\n", out)
    assert re.search(rf"parse: [\d.]+% slower \(.*\)\s+with {sha(60)[:10]}", out)
    assert f"$ perfgate check --base {sha(59)[:10]} --head {sha(60)[:10]} --benchmark parse\n" in out
    assert re.search(r"\$ perfgate bisect --good \w{10} --bad \w{10} --benchmark encode\n", out)
    assert f"From {sha(91)[:10]} (2025-04-08) on another machine: kernel 6.1 → 6.8." in " ".join(out.split())
    assert re.search(r"^idle +none +none", out, re.MULTILINE)


@pytest.mark.parametrize("columns", [40, 60, 80, 200])
def test_text_fits_the_terminal(changed: Path, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = [line for line in run(changed)[1].splitlines() if not line.lstrip().startswith("$ ")]
    assert max(map(len, lines)) <= columns


def test_json_has_every_number(changed: Path) -> None:
    found = said(changed)
    assert (found["schema"], found["family"]["method"], len(found["commits"])) == (1, "holm", 120)
    assert found["machines"][1]["changed"] == [{"fact": "kernel", "before": "6.1", "after": "6.8"}]
    cases = {case["benchmark"]: case for case in found["cases"]}
    (parse,) = cases["parse"]["changes"]
    assert (parse["commit"], parse["good"], parse["bad"], parse["commits"]) == (sha(60), sha(59), sha(60), 1)
    assert (parse["direction"], parse["cause"]) == ("worse", "code")
    assert parse["ratio"]["low"] < 1.1 < parse["ratio"]["high"]
    assert 1 < parse["shown"]["low"] < parse["ratio"]["low"]
    assert parse["p_adjusted"] < 0.05
    assert len(cases["idle"]["runs"]) == 120 and len(cases["idle"]["levels"]) == 121
    assert cases["idle"]["changes"] == []
    (encode,) = cases["encode"]["changes"]
    assert encode["commits"] > 1 and encode["suspects"][0]["ratio"]["estimate"] > 1
    assert cases["parse"]["accepted"][0]["reason"] == "checksums <b>now</b>"


def test_json_names_all_of_a_change() -> None:
    """A field that is added to a change is added to the JSON, or left out here on purpose."""
    shown = {"direction", "change", "shown", "p", "p_adjusted", "cause", "gradual", "ratios", "same", "controlled"}
    other = {"at", "first", "last", "good", "bad", "suspects"}
    assert set(ChangePoint.__struct_fields__) == shown | other


def test_csv_has_a_row_for_each_run_and_change(changed: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(changed, "--csv", "-")[1])))
    assert sum(row["row"] == "run" for row in rows) == 360
    changes = [row for row in rows if row["row"] == "change"]
    assert {row["benchmark"] for row in changes} == {"parse", "encode"}
    assert all(row["command"].startswith("perfgate ") and float(row["ratio"]) > 1 for row in changes)
    assert {len(row) for row in rows} == {32} and None not in rows[0]


def test_markdown_shows_commands_to_copy(changed: Path) -> None:
    code, out, _ = run(changed, "--markdown", "-")
    assert code == 0
    assert f"```sh\nperfgate check --base {sha(59)[:10]}" in out
    assert "| `idle` | none | none |" in out


def test_the_page_marks_what_happened(changed: Path) -> None:
    _, out, _ = run(changed, "--html", "-")
    assert out.count("<svg ") == 3
    assert out.count('<a href="#change-1"') >= 1 and 'id="change-1"' in out
    assert "accepted: checksums &lt;b&gt;now&lt;/b&gt;" in out and "<b>now" not in out
    assert "://" not in out.replace("http://www.w3.org/2000/svg", "")
    # a commit's values show on hovering
    assert re.search(rf"<title>{sha(60)[:10]} \"Change number 60\", 2025-03-05; level .*\nto its parent \+", out)


def test_a_change_of_the_machine_alone_is_no_change(tmp_path: Path) -> None:
    records = history(3, {"idle": flat(120)}, machines=[MACHINE] * 60 + [OTHER], offsets=[0.0] * 60 + [0.3])
    assert "No change in 120 commits of 1 case" in run(kept(tmp_path / "h", records))[1]


def test_a_machine_that_is_said_to_be_the_same_is_named_the_cause(tmp_path: Path) -> None:
    records = history(4, {"idle": flat(120)}, machines=[MACHINE], offsets=[0.0] * 60 + [0.15])
    found = said(kept(tmp_path / "h", records))
    assert [point["cause"] for point in found["cases"][0]["changes"]] == ["machine"]
    assert "The machine changed, not the code" in found["cases"][0]["changes"][0]["why"]


def test_controls_clear_the_code(tmp_path: Path) -> None:
    """The first commit is measured against itself every ten commits: it grows as all do."""
    moved = [0.0] * 60 + [0.06]
    records = history(5, {"idle": flat(120)}, offsets=moved)
    again = history(6, {"idle": flat(120)}, offsets=moved)
    controls: list[HistoryRecord] = [
        msgspec.structs.replace(each, commit=sha(0), parent=sha(0), run=f"control-{n}")
        for n, each in enumerate(again)
        if n % 4 == 0
    ]
    found = said(kept(tmp_path / "h", [*records, *controls]))
    (point,) = found["cases"][0]["changes"]
    assert point["controlled"] and point["cause"] == "machine"
    assert len(found["left_out"]["controls"]) == 30


def test_a_gap_is_bridged_by_levels_and_named(tmp_path: Path) -> None:
    records = [r for r in history(7, {"parse": step(120, 60, 0.2)}) if r.commit not in {sha(n) for n in range(58, 63)}]
    code, out, _ = run(kept(tmp_path / "h", records))
    assert code == 0
    assert re.search(r"in one or several of at least \d+ commits", " ".join(out.split()))
    assert re.search(r"\$ perfgate bisect --good \w{10} --bad \w{10} --benchmark parse\n", out)
    assert "1 gap in the chain" in " ".join(out.split())


def test_counts_are_compared_as_numbers(tmp_path: Path) -> None:
    """Exact metrics have no noise: every change counts, and equal numbers are none."""
    ratios = [0.0] * 30
    ratios[12] = 0.001
    level = np.cumsum(ratios) + 10
    records = [
        record(n, [change("size", r, float(at) - r / 2, 0.0, 5, metric="bytes", unit="B", df=None, method="exact")])
        for n, (r, at) in enumerate(zip(ratios, level, strict=True), 1)
    ]
    (case,) = said(kept(tmp_path / "h", records))["cases"]
    (point,) = case["changes"]
    assert (point["commit"], point["cause"], point["commits"]) == (sha(13), "code", 1)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("form", FORMATS)
def test_short_histories_are_shown_too(tmp_path: Path, count: int, form: str) -> None:
    folder = kept(tmp_path / "h", history(8, {"parse": flat(count)}))
    code, out, _ = run(folder, f"--{form}", "-")
    assert code == 0 and out.endswith("\n")
    assert run(folder)[1].startswith(f"No change in {count} commit")


@pytest.mark.parametrize("form", [None, *FORMATS])
def test_controls_alone_are_no_history(tmp_path: Path, form: str | None) -> None:
    folder = kept(tmp_path / "h", [record(1, [change("parse", 0.0, 0.0, 1e-4, 5)], parent=1)])
    code, out, _ = run(folder, *([f"--{form}", "-"] if form else []))
    assert code == 0 and out


def test_since_and_limit_cut_the_history(changed: Path) -> None:
    assert len(said(changed, "--limit", "20")["commits"]) == 20
    assert said(changed, "--since", sha(100)[:8])["commits"][0]["commit"] == sha(101)
    assert said(changed, "--since", "2025-03-05")["commits"][0]["commit"] == sha(60)
    assert said(changed, "--since", "2031-01-01")["commits"] == []
    assert "the part asked for" in run(changed, "--since", "2031-01-01")[1]


def test_benchmarks_are_chosen_by_name(changed: Path) -> None:
    assert [case["benchmark"] for case in said(changed, "--benchmark", "p*")["cases"]] == ["parse"]


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        (["--benchmark", "nothing"], "--benchmark nothing: no benchmark of the history matches; it has encode"),
        (["--since", "nowhere"], "--since nowhere: no commit of the history, and no date"),
        (["--since", "2026-13-45"], "--since 2026-13-45: is no date of the calendar"),
        (["--json", "-", "--csv", "-"], "both want standard output"),
        (["--threshold", "much"], "much"),
    ],
)
def test_what_names_nothing_is_refused(changed: Path, argv: list[str], why: str) -> None:
    code, _, err = run(changed, *argv)
    assert code == 2 and why in err and "Traceback" not in err


def test_an_empty_store_says_how_it_is_filled(tmp_path: Path) -> None:
    (tmp_path / "h").mkdir()
    code, _, err = run(tmp_path / "h")
    assert code == 2 and "perfgate history add" in err


@pytest.mark.parametrize("family", ["holm", "bh", "none"])
def test_every_family_finds_a_large_step(changed: Path, family: str) -> None:
    cases = {case["benchmark"]: case for case in said(changed, "--family", family)["cases"]}
    assert [point["commit"] for point in cases["parse"]["changes"]] == [sha(60)]


def test_the_rules_of_the_project_say_how_the_error_is_shared(
    changed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "perfgate.toml").write_text('[gate]\nfamily = "bh"\nconfidence = 0.99\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    found = said(changed)
    assert (found["family"]["method"], found["confidence"]) == ("bh", 0.99)
    assert said(changed, "--family", "none")["family"]["method"] == "none"


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>\u202e`|$(id)\n"
    records = [
        msgspec.structs.replace(each, subject="<img src=x onerror=alert(1)>\x1b[31m`|")
        for each in history(9, {name: step(60, 30, 0.3)})
    ]
    folder = kept(tmp_path / "h", records)
    for form in FORMATS:
        code, out, _ = run(folder, f"--{form}", "-")
        assert code == 0
        if form == "html":
            assert "<script>alert" not in out and "<img" not in out
        if form != "json":
            assert "\x1b" not in out and "\u202e" not in out
    text = run(folder)[1]
    assert "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize("form", [None, *FORMATS])
def test_ratios_beyond_any_number_are_shown(tmp_path: Path, form: str | None) -> None:
    changes = ([change("parse", 400.0, 0.0, 1e-4, 5)] for _ in range(12))
    folder = kept(tmp_path / "h", [record(number, each) for number, each in enumerate(changes, 1)])
    code, out, err = run(folder, *([f"--{form}", "-"] if form else []))
    assert (code, err) == (0, "") and out


def test_a_damaged_record_writes_nothing_to_the_terminal(changed: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(changed, tmp_path / "h")
    place = min(folder.glob("*/*.json"))
    place.write_text(place.read_text().replace('"verdict":"', '"verdict":"\\u001b[31m'))
    code, _, err = run(folder)
    assert code == 2 and "\x1b" not in err and "is damaged" in err


def test_the_page_counts_one_run_as_one(tmp_path: Path) -> None:
    folder = kept(tmp_path / "h", [record(1, [change("parse", 1.0, 0.0, 1e-4, 9)])])
    assert "Values of 1 run<" in run(folder, "--html", "-")[1]


def test_a_name_with_a_dash_is_no_option_of_the_command(tmp_path: Path) -> None:
    folder = kept(tmp_path / "h", history(1, {"-x": step(60, 30, 0.3)}))
    assert "--benchmark=-x\n" in run(folder)[1]
