"""What reports say of settings: findings, failures and builds that have some."""

import html as escaping
import re

import msgspec

from gate.model import Build, Failure
from gate.model.history import Controls
from gate.report import junit
from gate.report.markdown import comment, summary
from gate.report.page import html
from gate.report.page.html import builds_of
from gate.report.text import terminal
from gate.words import failures
from gate.words.failures import grouped
from tests.gate.report import examples


def test_settings_that_look_alike_are_told_apart_in_every_format() -> None:
    alike = [examples.finding("parse", factors={"n": value}) for value in (1, "1", "one")]
    report = msgspec.structs.replace(examples.factors(), findings=alike)
    for render in (terminal.render, comment.render, summary.render, html.render, junit.render):
        said = escaping.unescape(render(report))
        assert {'n="1"', "n=1", "n=one"} <= set(re.findall(r'n=(?:"1"|1|one)', said)), render


def test_a_failure_names_its_settings() -> None:
    failure = Failure(kind="execution", benchmark="x", side="head", build=1, execution=2, factors={"load": "busy"})
    assert failures.place(failure) == "build 1, start 2, load=busy"
    assert failures.title(failure) == "x (load=busy) failed on head"
    build = Failure(kind="build", side="head", build=1, factors={"opt": "O2", "n": 1}, status="exit 1")
    assert failures.title(build) == "head does not build (opt=O2, n=1): exit 1"
    long = Failure(kind="build", side="head", factors={f"factor{n}": "x" * 100 for n in range(20)})
    assert len(failures.title(long)) < 300


def test_a_group_of_failures_names_the_settings_that_all_of_them_have() -> None:
    each = [
        Failure(kind="execution", benchmark="x", side="head", build=0, execution=number, status="exit 3",
                factors={"load": "busy", "n": n})
        for number, n in enumerate((1, 8, 1))
    ]  # fmt: skip
    (mixed,) = grouped(each, by_output=False)
    assert failures.heading(mixed) == "x (load=busy) failed on head: exit 3"
    assert failures.places(mixed, 2) == "build 0, start 0, n=1; build 0, start 1, n=8; and 1 more"
    (alike,) = grouped([each[0], each[2]], by_output=False)
    assert failures.heading(alike) == failures.title(each[0]) == "x (load=busy, n=1) failed on head: exit 3"
    assert failures.places(alike, 3) == "build 0, start 0; build 0, start 2"
    assert failures.places(alike, 1, "round") == "round 0, start 0; and 1 more"


def test_builds_with_settings_stand_apart() -> None:
    builds = [
        Build(side=side, build=number, factors={"opt": opt}, artifacts={"app": f"sha256:{opt}{side}"})
        for opt in ("O3", "O2")
        for number in (0, 1)
        for side in ("head", "base")
    ]
    found = builds_of(builds)
    assert [row[:2] for row in found[:4]] == [
        ("0, opt=O2", "base"), ("0, opt=O2", "head"), ("0, opt=O3", "base"), ("0, opt=O3", "head"),
    ]  # fmt: skip


def test_every_format_says_how_many_controls_alarmed() -> None:
    report = msgspec.structs.replace(examples.regression(), controls=Controls(count=40, alarmed=2, e_value=1.1))
    for said in (
        junit.render(report),
        comment.render(report),
        summary.render(report),
        terminal.render(report, every=True),
    ):
        assert "2 of 40 controls showed a regression where nothing differs, 2.5% do by chance" in said
    assert "alarmed" not in terminal.render(report)
