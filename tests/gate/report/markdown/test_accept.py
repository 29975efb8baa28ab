"""The entries to paste: what they hold is what perfgate.toml takes, and covers the regression it was made of."""

import datetime
import re

import msgspec
import pytest

from gate.config.config_text import COMMAND_LINE, read_source
from gate.config.parse import parse
from gate.config.rules import accepts_of
from gate.config.types import Config
from gate.model import Finding, Whose
from gate.model.warnings.measured import TwoPrograms
from gate.report import junit
from gate.report.markdown import accept, comment, summary
from gate.report.markdown.accept import entry
from gate.report.page import html
from gate.report.text import terminal
from tests.gate.report import examples, gfm

UNTIL = datetime.date(2026, 12, 31)
TITLE = "<summary>To accept a known regression</summary>"


def pasted(text: str) -> Config:
    return parse(read_source(text, "perfgate.toml"))


@pytest.mark.parametrize("name", [*examples.HOSTILE, "\ud800 \U0001f600"])
@pytest.mark.parametrize("alone", [True, False])
def test_an_entry_covers_its_case_whatever_its_name(name: str, alone: bool) -> None:
    found = examples.regressed(name, metric="a*b" if alone else name)
    text = entry(found, UNTIL, alone=alone)
    assert all(line.isprintable() for line in text.splitlines())
    (accept,) = accepts_of(pasted(text), name, found.metric, "mean")
    assert accept.until == UNTIL
    assert accepts_of(pasted(text), f"{name}x", found.metric, "mean") == []
    assert bool(accepts_of(pasted(text), name, "other", "mean")) == alone


@pytest.mark.parametrize("name", ["what*", "is it?", "a[1]*", "[*]"])
def test_an_entry_means_no_other_name(name: str) -> None:
    config = pasted(entry(examples.regressed(name), UNTIL, alone=True))
    assert len(accepts_of(config, name, "time", "mean")) == 1
    assert accepts_of(config, name.replace("*", "x").replace("?", "x"), "time", "mean") == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (examples.regressed(estimate=1.083), "9%"),
        (examples.regressed(estimate=1.08), "8%"),
        (examples.regressed(estimate=2.3071), "131%"),
        (examples.regressed(estimate=1.00312), "0.32%"),
        (examples.regressed(estimate=1.000999), "0.100%"),
        (examples.regressed(estimate=0.8, better="higher", unit="1/s"), "25%"),
    ],
)
def test_its_size_is_the_estimate_rounded_up(found: Finding, expected: str) -> None:
    text = entry(found, UNTIL, alone=True)
    assert f'up_to = "{expected}"' in text
    (accept,) = pasted(text).accept
    ratio = found.ratio.estimate or 0
    assert (ratio if found.better == "lower" else 1 / ratio) <= 1 + float(accept.up_to) + 1e-9


@pytest.mark.parametrize("render", [comment.render, summary.render])
def test_at_most_three_are_shown_and_only_of_regressions(render: type) -> None:
    assert TITLE not in render(examples.passing())
    assert TITLE not in render(examples.only_failures())
    one = render(examples.regression())
    assert (TITLE in one) == (render is summary.render)
    assert "in the rules that decide: base (perfgate.toml of main)." in gfm.read(one).text
    assert re.findall(r'benchmark = "(.*)"', one) == ["parse-large"]
    assert {
        each.until for block in re.findall(r"```toml\n(.*?)```", one, re.DOTALL) for each in pasted(block).accept
    } == {datetime.date(2027, 1, 15)}
    many = render(examples.many())
    assert many.count("[[accept]]\n") == 3
    assert "Write the others in the same way." in many


@pytest.mark.parametrize("created", [None, "", "some day", "9999-12-31T23:59:59Z"])
def test_of_a_run_that_does_not_say_when_it_was_an_entry_ends_by_today(
    created: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accept, "today", lambda: datetime.date(2026, 11, 20))
    found = examples.regression()
    undated = msgspec.structs.replace(found, run=msgspec.structs.replace(found.run, created=created))
    assert "until = 2027-01-15" in comment.render(undated)


def test_what_has_no_ratio_has_no_entry() -> None:
    from_zero = examples.regressed(ratio=examples.interval(None, None, "withheld"))
    assert TITLE not in comment.render(examples.report("regression", [from_zero]))


def test_two_given_programs_have_no_rules_to_add_to() -> None:
    report = examples.report("regression", [examples.regressed()], warnings=[TwoPrograms()])
    assert "[[accept]]" not in comment.render(report)
    # beside what was compared, once; of an error there is no verdict to be careful with
    failed = msgspec.structs.replace(report, findings=[], verdict="error")
    for form in (terminal.render, comment.render, summary.render, junit.render, html.render):
        assert " ".join(form(report).partition("<script")[0].split()).count("another build of either may differ") == 1
        assert "another build" not in form(failed).partition("<script")[0]


@pytest.mark.parametrize(
    ("name", "first"),
    [(COMMAND_LINE, "Write perfgate.toml by `--save`, and add to it"), ("perfgate.toml", "Add to perfgate.toml")],
)
def test_a_gate_without_a_file_needs_one_for_an_entry(name: str, first: str) -> None:
    policy = examples.policy(whose=Whose(kind="named", name=name))
    report = msgspec.structs.replace(examples.report("regression", [examples.regressed()]), policy=policy)
    part = accept.accept(report)
    assert part.opening.startswith(f"{first}, with your reason")
