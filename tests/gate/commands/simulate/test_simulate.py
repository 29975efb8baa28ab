"""perfgate simulate: what it prints and writes, what it refuses, and that cores do not matter."""

import dataclasses
import io
import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.evidence.page import as_markdown
from benchmarks.evidence.promises import Promise
from gate.cli.main import main
from gate.commands.simulate import studies as module
from gate.commands.simulate.chapters import WIDTH, run
from gate.commands.simulate.command import Options
from gate.commands.simulate.draws import NORMAL, TABLE_VII, CaseDraws
from gate.commands.simulate.sections import Ask, SimulatedSection, SimulatedTable, as_text
from gate.commands.simulate.studies import Comparisons, Reports, Results, Rules
from gate.model import UserError
from tests.support.kalibera_jones import TABLE_III, TABLE_V_NEW, TABLE_V_OLD
from tests.support.lines import builds, text
from tests.support.screen import Terminal

SIZES = Options((), builds=(3, 5), reports=1, cases=6, seed=3, cores=1)


def simulated(runs: tuple[str, ...] = (), **more: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    assert run(dataclasses.replace(SIZES, runs=runs, **more), out, err) == 0
    return out.getvalue(), err.getvalue()


def measured(tmp_path: Path, *, more: str = "") -> str:
    file = tmp_path / "measurements.jsonl"
    lines = [*builds("base", TABLE_V_OLD, benchmark="a|b"), *builds("head", TABLE_V_NEW, benchmark="a|b")]
    file.write_text(text(lines) + more)
    return str(file)


@pytest.mark.endtoend
def test_the_paper_is_simulated_and_fits_a_terminal() -> None:
    out, _ = simulated()
    titles = re.findall(r"^(.*)\n=+$", out, re.MULTILINE)
    assert titles == ["Simulated cases", "Coverage and width", "False alarms", "Power", "Stopping early"]
    assert max(len(line) for line in out.splitlines()) <= WIDTH
    assert "…" not in out
    assert "Rijndael OPT  0.40%      3.50%      9.30%     10 x 10" in out
    assert "`" not in out and "**" not in out


def test_measurements_give_their_own_components_and_cases_without_variance_are_left_out(tmp_path: Path) -> None:
    one = [*builds("base", TABLE_III[:1], benchmark="one"), *builds("head", TABLE_III[:1], benchmark="one")]
    flat = [*builds("base", [[[1]], [[1]]], benchmark="flat"), *builds("head", [[[1]], [[1]]], benchmark="flat")]
    out, err = simulated((measured(tmp_path, more=text([*one, *flat])),))
    # of Table V: T2 of builds is negative on one side; 2 starts x 2 values
    assert re.search(r"^a\|b +[0-9.]+% +[0-9.]+% +[0-9.]+% +2 x 2 ", out, re.MULTILINE)
    assert "Promises" not in out and "Cost" not in out and "two layouts" not in out
    told = [line for line in err.splitlines() if "simulating" not in line]
    assert told == ["perfgate: one time, flat time: left out, no spread over builds from which to plan"]
    (tmp_path / "one.jsonl").write_text(text(one))
    with pytest.raises(UserError, match=r"one\.jsonl: one build of each does not show the variance between builds"):
        simulated((str(tmp_path / "one.jsonl"),))


def test_numbers_that_make_no_sense_are_refused() -> None:
    for option, message in {
        "--builds=3,1": "--builds: '1' is not a whole number from 2 to 200",
        "--threshold=150%": "--threshold: 150% is more than 100%",
        "--effect=0%": "--effect: 0% is no change: write shares above 0%",
    }.items():
        err = io.StringIO()
        assert main(("simulate", option), io.StringIO(), err) == 2
        assert message in err.getvalue()


def studies() -> tuple[Comparisons, Reports]:
    source = CaseDraws(TABLE_VII[:2], NORMAL)
    return (
        Comparisons(source, Rules(looks=(5,), interval="fieller"), (1.05, 1.05), (0.0, 0.02)),
        Reports(source, Rules(0.02, (4, 12)), (1.0, 1.1)),
    )


def run_all(*asked_for: module.AnyStudy, reports: int = 30, seed: int = 5, cores: int = 1) -> Results:
    return module.run_all(asked_for, reports, seed=seed, cores=cores, progress=io.StringIO())


@pytest.mark.endtoend
def test_the_counts_depend_on_the_seed_but_not_on_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "usable_cores", lambda: 2)
    monkeypatch.setattr("gate.commands.simulate.studies._CASES_AT_ONCE", 20)
    comparisons, reports = studies()
    alone, shared = (run_all(reports, comparisons, reports, cores=cores) for cores in (1, 2))
    assert reports.chunk == 10
    one, two = alone.of(comparisons), shared.of(comparisons)
    assert one.comparisons.tolist() == [60, 60]
    assert one.half_width.tolist() == two.half_width.tolist()
    assert one.worse.tolist() == two.worse.tolist()
    assert alone.of(reports).rounds.tolist() == shared.of(reports).rounds.tolist()
    assert set(alone.counts) == {comparisons, reports}
    # there are no more processes than cores
    monkeypatch.setattr(module, "usable_cores", lambda: 1)
    monkeypatch.delattr(module, "ProcessPoolExecutor")
    by_itself = run_all(comparisons, cores=999).of(comparisons)
    other = run_all(comparisons, seed=6).of(comparisons)
    assert one.half_width.tolist() == by_itself.half_width.tolist() != other.half_width.tolist()


def test_progress_is_told_in_a_log_and_leaves_the_line_of_a_terminal_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gate.commands.simulate.studies._CASES_AT_ONCE", 40)
    err = io.StringIO()
    module.run_all([studies()[0]], 30, seed=5, cores=1, progress=err)
    # then a line now and then
    assert [line.split(", about ")[0] for line in err.getvalue().splitlines()] == ["perfgate: simulating: 33%"]
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    # every chunk is a while after the one before it
    monkeypatch.setattr("gate.commands.simulate.studies.time.monotonic", itertools.count(step=1.0).__next__)
    screen = Terminal()
    module.run_all([studies()[0]], 30, seed=5, cores=1, progress=screen)
    assert "simulating" in screen.getvalue() and "━" in screen.getvalue()
    assert screen.screen.lines == [""]


NOTHING = Results({})


def test_a_table_that_is_too_wide_becomes_a_list_and_markdown_keeps_cells_in_their_columns() -> None:
    table = SimulatedTable(("`case`", "one", "two"), (("first", "1" * 30, "2" * 30),))
    listed = as_text([SimulatedSection("T", (table,))], NOTHING, 40).splitlines()[3:]
    assert listed == ["first", f"  one {'1' * 30},", f"    two {'2' * 30}"]
    table = SimulatedTable(("case", "one"), (("a|b [c] <d>", "1"),))
    assert as_markdown(("# Title", "    code"), [SimulatedSection("S", ("words", table))], NOTHING) == (
        "# Title\n\n    code\n\n## S\n\nwords\n\n| case | one |\n| --- | ---: |\n| a\\|b \\[c\\] &lt;d> | 1 |\n"
    )


def test_a_promise_is_kept_missed_by_chance_or_broken() -> None:
    def kept(values: list[float], *, at_least: bool, draws: float = 1.0) -> str:
        promise = Promise("words", 0.5, at_least, (), lambda _: values, draws=draws)
        last = promise.row(10_000)[-1]
        assert isinstance(last, Ask)
        return last.make(NOTHING)

    # the standard error of a half in 10,000 is 0.005
    at_least = {worst: kept([0.7, worst], at_least=True) for worst in (0.51, 0.49, 0.48)}
    assert at_least == {0.51: "yes", 0.49: "within 3 errors", 0.48: "no"}
    assert kept([0.7, 0.49], at_least=True, draws=4.0) == "no"
    assert [kept([0.3, worst], at_least=False) for worst in (0.49, 0.52)] == ["yes", "no"]
