"""The page and its picture, from verdicts that are made up."""

import os
import re
from pathlib import Path

import pytest

from benchmarks.trial import plan
from benchmarks.trial.comparisons import comparisons
from benchmarks.trial.judging import Judged, Trial
from benchmarks.trial.page import page
from benchmarks.trial.pictures import figures
from benchmarks.trial.rules.registry import PERFGATE, RULES
from benchmarks.trial.rules.rule import Call, Rule
from tests.support.trial import lines

GOLDEN = Path(__file__).parents[2] / "golden/trial.md"
KINDS = (*plan.SAME, *plan.CHANGED)
LINES = lines(2, 0.002)
OVER = plan.SIZES[1]


def verdicts(better: str = "", without: str = "") -> Trial:
    """Let each rule call what is beyond its setting in three of four bundles, and a better one in all.

    Args:
        better: the rule that is.
        without: a kind that was not measured.
    """
    sizes = dict(zip(plan.CHANGED, plan.SIZES, strict=False))
    judged = []
    for bundle in range(24):
        for kind in KINDS:
            own, equal = {}, {}
            for number, rule in enumerate(RULES):
                beyond = sizes.get(kind, 0.0)
                worse = rule is not PERFGATE and (bundle + number) % 2
                found = beyond >= OVER and (rule.name == better or bundle % 4 > 0) and not worse * (beyond < 0.1)
                equal[rule.name] = Call(found or (rule.name == better and beyond >= OVER), 3.0)
                alarm = kind in plan.SAME and number > 0 and bundle % (number + 2) == 0
                own[rule.name] = Call(beyond > rule.own or alarm, 1.0 + number, inconclusive=number == 0 and bundle < 6)
            if kind != without:
                load = plan.UNDER[bundle % len(plan.UNDER)] if bundle % 2 else plan.AS_FOUND
                judged.append(Judged("sort", bundle, load, kind, own, equal))
    return Trial(judged, {rule.name: 0.03 for rule in RULES})


def written(trial: Trial) -> str:
    return page(trial, comparisons(LINES, 1), LINES, figures(trial))


def test_the_page_is_as_it_was() -> None:
    found = written(verdicts())
    if os.environ.get("PERFGATE_UPDATE_GOLDEN"):
        GOLDEN.write_text(found, encoding="utf-8")
    assert found == GOLDEN.read_text(encoding="utf-8")


def test_where_others_are_better_the_page_says_so_before_its_tables() -> None:
    assert "**No rule is better than perfgate** at +4.5%" in written(verdicts())
    found = written(verdicts(better="asv"))
    assert "**No rule is better" not in found
    before, _, _ = found.partition("| rule | set to |")
    assert "- +4.5%, of which perfgate calls 75%: asv 100% (" in before
    assert "100%▲" in found
    assert "▼" in found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule.name))
def test_a_rule_of_a_tool_names_its_source_at_a_commit(rule: Rule) -> None:
    for source in rule.sources:
        if source.url.startswith("https://github.com/"):
            assert re.search(r"/blob/[0-9a-f]{40}/|/pull/\d+$", source.url)
