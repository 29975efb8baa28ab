"""The issue of a creep check: opened once, updated, closed and opened again, and left alone where a person decided."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest

from gate.github.issue import IssueMarker, Told, Wanted, digest_of, publish_issue
from gate.github.problems import Problem
from gate.model.history import CreepCase, CreepFacts, CreepVerdict, Pin, Suspect
from gate.report.markdown import issue as written
from tests.gate.report import examples
from tests.support.forge.server import FakeGitHub
from tests.support.forge.state import ISSUES

PIN = Pin(against="latest-tag", tag="v1.0", sha="a" * 40, commits=5)


@pytest.fixture
def forge(github: FakeGitHub) -> FakeGitHub:
    github.permissions.update(ISSUES)
    return github


def case(benchmark: str = "parse", verdict: CreepVerdict = "crept", **changes: Any) -> CreepCase:
    return examples.creep_case(benchmark, verdict, **changes)


def facts(*cases: CreepCase, **changes: Any) -> CreepFacts:
    made = CreepFacts(pin=PIN, nights=20, error=0.05, unused=None, history=False, cases=list(cases))
    return msgspec.structs.replace(made, **changes)


def told(forge: FakeGitHub, creep: CreepFacts, run: int, *, token: str | None = None, gate: str = "perfgate") -> Told:
    report = msgspec.structs.replace(examples.regression(), creep=creep)
    wanted = Wanted(
        id=gate, creep=creep, run=run, attempt=1, title=written.title(report), body=written.body(report, None),
        said=lambda change: written.said(change, creep),
    )  # fmt: skip
    return publish_issue(forge.client(token=token or forge.token), wanted)


def test_a_quiet_night_opens_nothing_and_a_creep_opens_one_issue(forge: FakeGitHub) -> None:
    forge.add_pull(12)
    assert told(forge, facts(case(verdict="none")), 1).did == "nothing"
    first = told(forge, facts(case()), 2)
    again = told(forge, facts(case()), 3)
    assert (first.did, again.did) == ("created", "updated") and first.url == again.url
    [issue] = forge.issues.values()
    assert issue["title"] == "perfgate: merges since v1.0 add up to a regression"
    assert "run=3.1" in issue["body"] and "Closing it by hand stops the updates" in issue["body"]
    assert forge.comments == []


def test_a_comment_is_written_when_the_state_changes_only(forge: FakeGitHub) -> None:
    told(forge, facts(case()), 1)
    told(forge, facts(case(), case("encode")), 2)
    told(forge, facts(case(), case("encode")), 3)
    # a single night without an alarm is not the end of it
    told(forge, facts(case(verdict="none", quiet=1), case("encode")), 4)
    told(forge, facts(case(verdict="none", quiet=2), case("encode", "none", quiet=1)), 5)
    assert [issue["state"] for issue in forge.issues.values()] == ["open"]
    done = told(forge, facts(case(verdict="none"), case("encode", "none")), 6)
    [issue] = forge.issues.values()
    assert (done.did, issue["state"], issue["state_reason"]) == ("closed", "closed", "completed")
    assert [each["body"] for each in forge.comments] == [
        "More benchmarks are slower than `v1.0` allows by now: `parse`, `encode`.",
        "Gone: three nights in a row without an alarm.",
    ]
    assert told(forge, facts(case(verdict="none")), 7).did == "left"
    assert told(forge, facts(case()), 8).did == "reopened"
    assert issue["state"] == "open" and forge.comments[-1]["body"] == "It is back: `parse`."


def test_what_a_person_closed_stays_closed_until_another_benchmark_creeps(forge: FakeGitHub) -> None:
    told(forge, facts(case()), 1)
    [issue] = forge.issues.values()
    issue["state"] = "closed"
    body = issue["body"]
    assert told(forge, facts(case()), 2).did == "left"
    assert (issue["state"], issue["body"], forge.comments) == ("closed", body, [])
    assert told(forge, facts(case(), case("encode")), 3).did == "created"
    assert told(forge, facts(case(), case("encode")), 4).did == "updated"
    assert [each["state"] for each in forge.issues.values()] == ["closed", "open"]


def test_an_accepted_creep_is_closed_and_says_why(forge: FakeGitHub) -> None:
    told(forge, facts(case()), 1)
    assert told(forge, facts(case(verdict="accepted", quiet=0)), 2).did == "closed"
    assert forge.comments[-1]["body"] == "Accepted by an entry in perfgate.toml: `parse`."


def test_another_pin_has_an_issue_of_its_own_and_the_old_one_says_so_once(forge: FakeGitHub) -> None:
    told(forge, facts(case()), 1)
    moved = msgspec.structs.replace(PIN, tag="v1.1", sha="b" * 40)
    for run in (2, 3):
        told(forge, facts(case(verdict="none"), pin=moved), run)
    [old] = forge.issues.values()
    assert old["state"] == "open"
    assert [each["body"] for each in forge.comments] == [
        "From now on perfgate compares with `v1.1`, so this issue is no longer updated."
    ]
    assert told(forge, facts(case(), pin=moved), 4).did == "created"


def test_an_older_run_changes_nothing(forge: FakeGitHub) -> None:
    told(forge, facts(case()), 5)
    [issue] = forge.issues.values()
    body = issue["body"]
    assert told(forge, facts(case(), case("encode")), 4).did == "older"
    assert issue["body"] == body and forge.comments == []


def test_a_forged_marker_and_another_gate_s_issue_are_nobody_s(forge: FakeGitHub) -> None:
    told(forge, facts(case()), 1, gate="other")
    marker = IssueMarker("perfgate", PIN.sha, "crept", frozenset(), 99, 1)
    forge.state.issue("mine", f"{marker.text}\nnot yours", "mallory")
    assert told(forge, facts(case()), 2).did == "created"
    assert [each["body"].split("\n")[1] for each in forge.issues.values()][1] == "not yours"


def test_a_person_s_token_finds_its_own_issue_again(forge: FakeGitHub) -> None:
    forge.add_token("person", "octocat")
    assert told(forge, facts(case()), 1, token="person").did == "created"
    assert told(forge, facts(case()), 2, token="person").did == "updated"


def test_without_the_permission_the_problem_names_it(forge: FakeGitHub) -> None:
    del forge.permissions["issues"]
    with pytest.raises(Problem, match="cannot open the issue of the creep check") as caught:
        told(forge, facts(case()), 1)
    assert caught.value.permission == "issues: write"


@pytest.mark.parametrize("name", examples.HOSTILE)
def test_hostile_names_stay_text(forge: FakeGitHub, name: str) -> None:
    suspect = Suspect(commit="c" * 40, subject=name, log_ratio=0.01, share=0.5, accepted=False)
    creep = facts(
        case(name, suspects=[suspect]), history=True, pin=msgspec.structs.replace(PIN, tag=name[:100] or "v1")
    )
    told(forge, creep, 1)
    told(forge, msgspec.structs.replace(creep, cases=[*creep.cases, case("more")]), 2)
    [issue] = forge.issues.values()
    marker = IssueMarker.parse(issue["body"])
    assert marker is not None and digest_of(creep.cases[0]) in marker.cases
    for text in (issue["body"].partition("\n")[2], forge.comments[0]["body"]):
        outside = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
        for bad in ("<script", "@team", "](", "\x1b", "<!-- perfgate", "\u202e", "www.evil"):
            assert bad not in outside
    assert "\n" not in issue["title"] and len(issue["title"]) <= 256
