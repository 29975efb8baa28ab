"""The page and its pictures, from verdicts that are made up."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.trial import plan
from benchmarks.trial.comparisons import comparisons
from benchmarks.trial.judging import Judged, Rate, Trial
from benchmarks.trial.page import page
from benchmarks.trial.pictures import figures
from benchmarks.trial.programs import PROGRAMS
from benchmarks.trial.rules.registry import RULES
from benchmarks.trial.rules.rule import Call, Plan, Rule
from tests.support.trial import HOST, lines

GOLDEN = Path(__file__).parents[2] / "golden/trial.md"
KINDS = ("same", "edited", "relaid", *plan.CHANGED)


def verdicts() -> Trial:
    """Let rule k alarm to each (k + 2)th comparison without a change, and miss what is below its threshold."""
    judged = []
    for bundle in range(6):
        for place, kind in enumerate(KINDS):
            calls: dict[tuple[str, Plan], Call | None] = {}
            for number, rule in enumerate(RULES):
                seen = kind in plan.CHANGED and not rule.lets_pass(plan.CHANGED.index(kind))
                alarm = kind not in plan.CHANGED and number > 0 and (bundle + place) % (number + 2) == 0
                calls[rule.name, "default"] = Call(
                    seen or alarm, 3.0 + 30 * number, inconclusive=number == 0 and not seen
                )
                calls[rule.name, "equal"] = Call(seen, 3.0) if rule.equal else None
                if rule.sized is not None:
                    calls[rule.name, "sized"] = Call(seen and kind != "plus-2", 3.0)
            judged.append(Judged("sort", bundle, kind, calls))
    return Trial(judged, Rate.of_counts(1, 100, 20), tuple(tuple(range(k, k + 10)) for k in range(9)))


def test_the_page_is_as_it_was() -> None:
    found = page(verdicts(), comparisons(lines(1, 0.002), tuple(PROGRAMS), 1), HOST, 12.3, figures(verdicts()))
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_pictures_are_whole_documents_for_light_and_dark() -> None:
    for figure in figures(verdicts()):
        root = ElementTree.fromstring(figure.svg)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "prefers-color-scheme:dark" in figure.svg
        used = set(re.findall(r"var\((--[a-z]+)", figure.svg))
        assert used <= set(re.findall(r"(--[a-z]+):", figure.svg))
        for rule in RULES:
            sized = rule.sized.name if rule.sized is not None else rule.name
            # another size of the same tool has no place where all have one
            if figure.name != "both" or rule.sized is not None or not rule.threshold:
                assert (sized if figure.name == "both" else rule.name) in figure.svg
        # a phone gets the letters that the picture is drawn for
        assert "max-width" not in figure.svg


def test_a_rule_without_data_leaves_its_cells_empty() -> None:
    trial = verdicts()
    few = Trial([each for each in trial.judged if each.kind != "plus-6"], Rate.of_counts(0, 0, 0))
    found = page(few, comparisons(lines(1, 0.002), tuple(PROGRAMS), 1), HOST, 1, figures(few))
    row = next(line for line in found.splitlines() if line.startswith("| **perfgate** |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[4] == ""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_a_rule_of_a_tool_names_its_source_at_a_commit(rule: Rule) -> None:
    for source in rule.sources:
        if source.url.startswith("https://github.com/"):
            assert re.search(r"/blob/[0-9a-f]{40}/", source.url)
