"""The entries to paste: what they hold is what perfgate.toml takes, and covers the regression it was made of."""

import datetime
import re

import msgspec
import pytest

from gate.config.config_text import COMMAND_LINE, read_source
from gate.config.parse import parse
from gate.config.rules import accepts_of
from gate.config.types import Config
from gate.model import Whose
from gate.model.warnings.measured import TwoPrograms
from gate.report import terminal
from gate.report.formats import junit
from gate.report.markdown import comment
from gate.report.markdown.comment import entry
from gate.report.page import html
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


def test_an_entry_means_no_other_name() -> None:
    for name in ("what*", "is it?", "a[1]*", "[*]"):
        config = pasted(entry(examples.regressed(name), UNTIL, alone=True))
        assert len(accepts_of(config, name, "time", "mean")) == 1
        assert accepts_of(config, name.replace("*", "x").replace("?", "x"), "time", "mean") == []


def test_its_size_is_the_estimate_rounded_up() -> None:
    sizes = {1.083: "9%", 1.08: "8%", 2.3071: "131%", 1.00312: "0.32%", 1.000999: "0.100%"}
    slower = [(examples.regressed(estimate=ratio), ratio, size) for ratio, size in sizes.items()]
    for found, ratio, size in (
        *slower,
        (examples.regressed(estimate=0.8, better="higher", unit="1/s"), 1 / 0.8, "25%"),
    ):
        text = entry(found, UNTIL, alone=True)
        assert f'up_to = "{size}"' in text
        (accept,) = pasted(text).accept
        assert ratio <= 1 + float(accept.up_to) + 1e-9


def test_at_most_three_are_shown_and_only_of_regressions() -> None:
    from_zero = examples.report("regression", [examples.regressed(ratio=examples.interval(None, None, "withheld"))])
    for without in (examples.passing(), examples.only_failures(), from_zero):
        assert TITLE not in comment.render(without)
    one = comment.render(examples.regression())
    assert "in the rules that decide: base (perfgate.toml of main)." in gfm.read(one).text
    assert re.findall(r'benchmark = "(.*)"', one) == ["parse-large"]
    blocks = re.findall(r"```toml\n(.*?)```", one, re.DOTALL)
    assert {each.until for block in blocks for each in pasted(block).accept} == {datetime.date(2027, 1, 15)}
    many = comment.render(examples.many())
    assert many.count("[[accept]]\n") == 3 and "Write the others in the same way." in many


def test_of_a_run_that_does_not_say_when_it_was_an_entry_ends_by_today(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comment, "today", lambda: datetime.date(2026, 11, 20))
    for created in (None, "", "some day", "9999-12-31T23:59:59Z"):
        undated = msgspec.structs.replace(examples.regression(), run=examples.run_facts(created=created))
        assert "until = 2027-01-15" in comment.render(undated)


def test_two_given_programs_have_no_rules_to_add_to() -> None:
    report = examples.report("regression", [examples.regressed()], warnings=[TwoPrograms()])
    assert "[[accept]]" not in comment.render(report)
    # beside what was compared, once; of an error there is no verdict to be careful with
    failed = msgspec.structs.replace(report, findings=[], verdict="error")
    for form in (terminal.render, comment.render, junit.written, html.render):
        assert " ".join(form(report).partition("<script")[0].split()).count("another build of either may differ") == 1
        assert "another build" not in form(failed).partition("<script")[0]


def test_a_gate_without_a_file_needs_one_for_an_entry() -> None:
    firsts = {COMMAND_LINE: "Write perfgate.toml by `--save`, and add to it", "perfgate.toml": "Add to perfgate.toml"}
    for name, first in firsts.items():
        policy = examples.policy(whose=Whose(kind="named", name=name))
        part = comment.accept(examples.report("regression", [examples.regressed()], policy=policy))
        assert part.opening.startswith(f"{first}, with your reason")
