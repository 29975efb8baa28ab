"""perfgate simulate: what it prints and writes, what it refuses, and that cores do not matter."""

from __future__ import annotations

import dataclasses
import io
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evidence.promises import Promise
from gate.cli.groups import RulesOptions
from gate.commands.simulate import components, pool, simulate
from gate.commands.simulate.components import NORMAL, TABLE_VII
from gate.commands.simulate.draws import Source
from gate.commands.simulate.options import Options, SizeOptions, SourceOptions
from gate.commands.simulate.pool import Results
from gate.commands.simulate.sections import Ask, Section, Setting, Table, as_markdown, as_text, asked, row
from gate.commands.simulate.simulate import run
from gate.commands.simulate.studies import Comparisons, Reports, Rules
from gate.model import FindingMemory, MeanSquare, Memory, Remembered, UserError
from tests.support.kalibera_jones import TABLE_III, TABLE_V_NEW, TABLE_V_OLD
from tests.support.lines import builds, text
from tests.support.screen import Terminal

SIZES = SizeOptions(builds=(3, 5), reports=1, cases=6, seed=3, cores=1)
RULES = RulesOptions(config=None, rules=None, sets=(), benchmarks=())


def simulated(runs: tuple[str, ...] = (), **more: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    options = Options(SourceOptions(runs, False), dataclasses.replace(SIZES, **more), RULES)
    assert run(options, out, err) == 0
    return out.getvalue(), err.getvalue()


def measured(tmp_path: Path, *, more: str = "") -> str:
    file = tmp_path / "measurements.jsonl"
    lines = [*builds("base", TABLE_V_OLD, benchmark="a|b"), *builds("head", TABLE_V_NEW, benchmark="a|b")]
    file.write_text(text(lines) + more)
    return str(file)


# --- what it shows ---------------------------------------------------------------------------------------------------


@pytest.mark.endtoend
def test_the_paper_is_simulated_into_a_page_that_fits_a_terminal(tmp_path: Path) -> None:
    page = tmp_path / "evidence.md"
    out, _ = simulated(markdown=page)
    titles = re.findall(r"^(.*)\n=+$", out, re.MULTILINE)
    assert titles == ["Simulated cases", "Coverage and width", "False alarms", "Power", "Stopping early"]
    assert max(len(line) for line in out.splitlines()) <= simulate.WIDTH
    assert "…" not in out
    assert "Rijndael OPT  0.40%      3.50%      9.30%     10 x 10" in out
    assert "`" not in out and "**" not in out
    written = page.read_text()
    assert [f"## {title}" for title in titles] == re.findall(r"^## .*$", written, re.MULTILINE)
    assert list(tmp_path.iterdir()) == [page]
    assert str(tmp_path) not in written
    command = "perfgate simulate --builds 3,5 --cases 6 --reports 1 --seed 3"
    assert f"    {command} --markdown evidence.md\n" in written


def test_measurements_give_their_own_components(tmp_path: Path) -> None:
    page = tmp_path / "own.md"
    out, err = simulated((measured(tmp_path),), markdown=page)
    # of Table V: T2 of builds is negative on one side; 2 starts x 2 values
    assert re.search(r"^a\|b time +[0-9.]+% +[0-9.]+% +[0-9.]+% +2 x 2 ", out, re.MULTILINE)
    assert "Promises" not in out and "Cost" not in out and "two layouts" not in out
    assert err == ""
    assert r"| a\|b time |" in page.read_text()


def test_cases_without_variance_are_left_out_and_named(tmp_path: Path) -> None:
    one = builds("base", TABLE_III[:1], benchmark="one"), builds("head", TABLE_III[:1], benchmark="one")
    flat = builds("base", [[[1]], [[1]]], benchmark="flat"), builds("head", [[[1]], [[1]]], benchmark="flat")
    run_with = measured(tmp_path, more=text([*one[0], *one[1], *flat[0], *flat[1]]))
    _, err = simulated((run_with,))
    assert err.splitlines() == [
        "perfgate: one time is left out: it needs two builds of each and a mean that is not 0",
        "perfgate: flat time is left out: it shows no spread",
    ]


def test_nothing_to_simulate_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(text([*builds("base", TABLE_III[:1]), *builds("head", TABLE_III[:1])]))
    with pytest.raises(UserError, match=r"one\.jsonl: no case to simulate: a variance needs two builds of each side"):
        simulated((str(file),))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"builds": (3, 1)}, "--builds 1: must be 2 to 200"),
        ({"builds": ()}, "a simulation needs at least one number of builds, one threshold and one effect"),
        ({"threshold": (-0.01,)}, "--threshold -1%: must be 0% to 100%"),
        ({"effect": (0.0,)}, "--effect 0%: must be above 0% to 100%"),
        ({"effect": (1.5,)}, "--effect 150%: must be above 0% to 100%"),
        ({"reports": 0}, "--reports 0: must be 1 to 10000000"),
        ({"cases": 2000}, "--cases 2000: must be 1 to 1000"),
        ({"cores": 0}, "--cores 0: must be at least 1"),
        ({"markdown": Path("/nowhere/at/all.md")}, "--markdown /nowhere/at/all.md: cannot be written there"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refused:
        simulated(**changes)
    assert str(refused.value) == message


# --- the history -----------------------------------------------------------------------------------------------------


def remembered(statistic: str, build: MeanSquare | None) -> FindingMemory:
    session = Remembered(
        session="s", created="2026-11-20T09:00:00Z", rounds=20, executions=4, iterations=5,
        iteration=MeanSquare(value=0.0004, df=300), execution=MeanSquare(value=0.00028, df=60), build=build,
        contrast=None,
    )  # fmt: skip
    return FindingMemory(benchmark="parse", metric="time", factors={"size": 3}, statistic=statistic, sessions=[session])


def test_what_is_remembered_gives_components(monkeypatch: pytest.MonkeyPatch) -> None:
    build = MeanSquare(value=0.00017, df=38)
    findings = [remembered("p99", build), remembered("mean", None), remembered("mean", build)]
    memory = Memory(findings=findings, contrast_nu=None, build_nu=None, unused=[])
    monkeypatch.setattr(components, "_recalled", lambda history, rules: memory)
    (found,) = components.of_history(None, RULES)
    assert (found.name, found.executions, found.iterations) == ("parse time size=3", 4, 5)
    # 0.0004; 0.00028 - 0.0004/5; 0.00017 - 0.00028/4
    assert (found.iteration, found.execution, found.build) == pytest.approx((0.02, 0.0002**0.5, 0.01))
    out = io.StringIO()
    assert run(Options(SourceOptions((), True), SIZES, RULES), out, io.StringIO()) == 0
    assert "parse time size=3" in out.getvalue()


def test_an_empty_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(components, "_recalled", lambda history, rules: None)
    with pytest.raises(UserError, match="nothing is known about this project on this host"):
        run(Options(SourceOptions((), True), SIZES, RULES), io.StringIO(), io.StringIO())


# --- the pool --------------------------------------------------------------------------------------------------------


def studies() -> tuple[Comparisons, Reports]:
    source = Source(TABLE_VII[:2], NORMAL)
    return (
        Comparisons(source, Rules(looks=(5,), interval="fieller"), (1.05, 1.05), (0.0, 0.02)),
        Reports(source, Rules(0.02, (4, 12)), (1.0, 1.1)),
    )


def run_all(*asked_for: pool.AnyStudy, reports: int = 30, seed: int = 5, cores: int = 1) -> Results:
    return pool.run_all(asked_for, reports, seed=seed, cores=cores, progress=io.StringIO())


def test_the_counts_do_not_depend_on_the_number_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "usable_cores", lambda: 2)
    monkeypatch.setattr("gate.commands.simulate.studies._CASES_AT_ONCE", 20)
    comparisons, reports = studies()
    alone, shared = (run_all(comparisons, reports, comparisons, cores=cores) for cores in (1, 2))
    assert reports.chunk == 10
    one, two = alone.of(comparisons), shared.of(comparisons)
    assert one.comparisons.tolist() == [60, 60]
    assert one.half_width.tolist() == two.half_width.tolist()
    assert one.worse.tolist() == two.worse.tolist()
    assert alone.of(reports).rounds.tolist() == shared.of(reports).rounds.tolist()
    assert set(alone.counts) == {comparisons, reports}


def test_there_are_no_more_processes_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "usable_cores", lambda: 1)
    monkeypatch.delattr(pool, "ProcessPoolExecutor")
    assert run_all(studies()[0], cores=999).of(studies()[0]).comparisons.tolist() == [60, 60]


def test_a_study_draws_the_same_whatever_else_is_asked_for() -> None:
    comparisons, reports = studies()
    first, alone = run_all(reports, comparisons).of(comparisons), run_all(comparisons).of(comparisons)
    other = run_all(comparisons, seed=6).of(comparisons)
    assert first.half_width.tolist() == alone.half_width.tolist() != other.half_width.tolist()


def test_progress_is_told_calmly_in_a_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_CALM", -1.0)
    monkeypatch.setattr("gate.commands.simulate.studies._CASES_AT_ONCE", 40)
    err = io.StringIO()
    pool.run_all([studies()[0]], 30, seed=5, cores=1, progress=err)
    lines = err.getvalue().splitlines()
    assert [line.split(", about ")[0] for line in lines] == ["perfgate: simulating: 33%", "perfgate: simulating: 67%"]


def test_progress_on_a_terminal_leaves_the_line_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    # every chunk is a while after the one before it
    monkeypatch.setattr("gate.commands.simulate.pool.time.monotonic", itertools.count(step=1.0).__next__)
    monkeypatch.setattr("gate.commands.simulate.studies._CASES_AT_ONCE", 40)
    err = Terminal()
    pool.run_all([studies()[0]], 30, seed=5, cores=1, progress=err)
    assert "simulating" in err.getvalue() and "━" in err.getvalue()
    assert err.screen.lines == [""]


# --- pages -----------------------------------------------------------------------------------------------------------

NOTHING = Results({})


def test_a_table_that_is_too_wide_becomes_a_list() -> None:
    table = Table(("`case`", "one", "two"), (("first", "1" * 30, "2" * 30),))
    assert as_text([Section("T", (table,))], NOTHING, 40).splitlines()[3:] == [
        "first",
        f"  one {'1' * 30},",
        f"    two {'2' * 30}",
    ]


def test_markdown_keeps_cells_in_their_columns() -> None:
    table = Table(("case", "one"), (("a|b [c] <d>", "1"),))
    assert as_markdown(("# Title", "    code"), [Section("S", ("words", table))], NOTHING) == (
        "# Title\n\n    code\n\n## S\n\nwords\n\n| case | one |\n| --- | ---: |\n| a\\|b \\[c\\] &lt;d> | 1 |\n"
    )


def test_a_section_asks_for_what_its_cells_need() -> None:
    comparisons, reports = studies()
    both = Ask((comparisons, reports), lambda results: str(results.of(reports).reports))
    section = Section("S", ("words", Table(("a", "b"), (row("x", both),))))
    assert list(asked([section])) == [comparisons, reports]
    assert as_text([section], run_all(*asked([section]), reports=7), 80).splitlines()[-1] == "x  7"


def test_a_promise_is_kept_missed_by_chance_or_broken() -> None:
    def kept(values: list[float], *, at_least: bool, draws: float = 1.0) -> str:
        promise = Promise("words", 0.5, at_least, (), lambda _: values, draws=draws)
        last = promise.row(10_000)[-1]
        assert isinstance(last, Ask)
        return last.make(NOTHING)

    # the standard error of a half in 10,000 is 0.005
    assert kept([0.7, 0.51], at_least=True) == "yes"
    assert kept([0.7, 0.49], at_least=True) == "within 3 errors"
    assert kept([0.7, 0.48], at_least=True) == "no"
    assert kept([0.7, 0.49], at_least=True, draws=4.0) == "no"
    assert kept([0.3, 0.49], at_least=False) == "yes"
    assert kept([0.3, 0.52], at_least=False) == "no"


def test_cases_of_a_report_come_in_turn() -> None:
    setting = Setting(TABLE_VII[:2], False, (3,), (0.0,), (0.05,), 5)
    assert [c.name for c in setting.in_turn] == ["FFT NA OPT", "FFT NA"] * 2 + ["FFT NA OPT"]
