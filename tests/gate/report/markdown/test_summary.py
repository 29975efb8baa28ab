import re

from gate.model.warnings.base import Said
from gate.model.warnings.hosts import Rebooted
from gate.model.warnings.setup import NothingRemembered
from gate.report.markdown import summary
from tests.gate.report import examples, gfm


def test_all_findings_are_there_and_few_at_first_sight() -> None:
    text = summary.render(examples.many(500))
    whole = gfm.read(text)
    rows = [row for row in whole.rows if len(row) == 4 and row[0] != "benchmark"]
    assert len(rows) == 500
    assert all(row[0].endswith("regression") for row in rows[:3])
    assert rows[-1][0].endswith("(within 3%)")
    sight = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert len([row for row in gfm.read(sight).rows if row[0] != "benchmark"]) == 50
    assert len(sight.splitlines()) < 90


def test_500_unchanged_are_a_few_lines_at_first_sight() -> None:
    report = examples.report("pass", [examples.finding(f"case-{i}") for i in range(500)])
    sight = re.sub(r"<details>.*?</details>", "", summary.render(report), flags=re.DOTALL)
    assert gfm.read(sight).rows == []
    assert "500 same" in sight


def test_it_has_what_a_comment_has_no_room_for() -> None:
    found = [examples.accepted(f"case-{i}") for i in range(40)]
    text = summary.render(examples.report("regression", found))
    assert "<summary>Details of 40 results</summary>" in text
    assert "unknown type name" in summary.render(examples.only_failures())


def test_every_warning_is_there_those_that_matter_first() -> None:
    later = NothingRemembered("fieller")
    others = [Said(f"case {i}: fewer") for i in range(20)]
    text = summary.render(examples.report("pass", [examples.finding()], warnings=[later, *others, Rebooted()]))
    warned = text.partition("<summary>What was measured, and by which rules</summary>")[0]
    items = [line for line in warned.splitlines() if line.startswith("- ")]
    assert items[:2] == ["- host: the machine was rebooted during the run", "- case 0: fewer"]
    assert {f"- {each.text}" for each in others} <= set(items)
    assert items[-1].startswith("- this host is not calibrated")
    assert sum(item.endswith(": fewer") for item in text.partition("<details>")[0].splitlines()) == 9
